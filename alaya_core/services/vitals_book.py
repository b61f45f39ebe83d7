"""What use has done to every card: the folded vitals, and the accesses logged since."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext

from alaya_core.models.card import Vitals
from alaya_core.services.lifecycle.vitals import Access, AccessKind, fold, whole_hours_before
from alaya_core.stores.accesses import AccessLine, AccessLog


class VitalsBook:
    """Reads the access log as far as it goes, and then only what came since.

    Args:
        log: The home's access log.
    """

    def __init__(self, log: AccessLog) -> None:
        self._log = log
        self._lock = threading.Lock()
        self._stamp: object = None
        self._vitals: Mapping[str, Vitals] = {}
        self._fold_stamp: object = ()
        self._size = 0
        self._prior: Mapping[str, Vitals] = {}
        self._ends: dict[str, int] = {}
        self._recent: dict[str, list[Access]] = {}  # what is not in a fold, by card

    def all(self) -> Mapping[str, Vitals]:
        """Vitals by card id; a card that was never accessed has none."""
        with self._lock:
            stamp = self._log.stamp()
            if stamp != self._stamp:
                self._read_on()
                self._stamp = stamp
            return self._vitals

    def _read_on(self) -> None:
        """Takes in what was logged since; reads all of it only after a fold, or when the log was rewritten."""
        fold_stamp, size = self._log.fold_stamp(), self._log.bytes()
        if fold_stamp != self._fold_stamp or size < self._size:
            self._prior, self._ends = self._log.folded()
            self._recent, self._vitals = {}, self._prior
        self._fold_stamp, self._size = fold_stamp, size
        touched: set[str] = set()
        for name, end, line in self._log.unfolded(self._ends):
            self._ends[name] = end
            for access in _accesses(line):
                self._recent.setdefault(access.card_id, []).append(access)
                touched.add(access.card_id)
        if touched:
            again = (access for card in touched for access in self._recent[card])
            self._vitals = {**self._vitals, **fold(self._prior, again)}

    def of(self, card_id: str) -> Vitals:
        """One card's vitals."""
        return self.all().get(card_id, Vitals())

    def unfolded_bytes(self) -> int:
        """How much of the access log is in no fold yet; cheap."""
        try:
            return self._log.unfolded_bytes()
        except (OSError, TypeError, ValueError):  # a fold that cannot be read counts for nothing
            return self._log.bytes()

    def write_fold(self, now: int) -> None:
        """The same as `fold` for somebody who holds the writer lock."""
        self.fold(now, nullcontext)

    def fold(self, now: int, pen: Callable[[], AbstractContextManager[None]]) -> int:
        """Folds the log up to the running hour, so that it need not be read from its start again.

        Args:
            pen: Takes the writer lock, for the moment of writing.

        Returns:
            Bytes of the log that were folded; 0 where there was nothing to fold, or another process was quicker.
        """
        stamp, before = self._log.fold_stamp(), self.unfolded_bytes()
        prior, marks = self._log.folded()
        until = whole_hours_before(now)
        recent: list[Access] = []
        ended: set[str] = set()
        taken = dict(marks)
        for name, end, line in self._log.unfolded(marks):
            if line.at >= until:
                ended.add(name)
            if name not in ended:
                recent.extend(_accesses(line))
                taken[name] = end
        if taken == marks:
            return 0
        with pen():
            if self._log.fold_stamp() != stamp:
                return 0
            self._log.write_fold({**prior, **fold(prior, recent)}, taken)
        return before - self.unfolded_bytes()


def _accesses(line: AccessLine) -> list[Access]:
    if line.kind not in set(AccessKind):
        return []
    return [Access(card, line.at, AccessKind(line.kind), line.agent, similarity) for card, similarity in line.cards]
