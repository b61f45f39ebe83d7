"""What use has done to every card: the folded vitals, and the accesses logged since."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from alaya_core.models.card import Vitals
from alaya_core.services.lifecycle.vitals import Access, AccessKind, fold, whole_hours_before
from alaya_core.stores.accesses import AccessLine, AccessLog

_FOLD_BYTES = 1 << 20


class VitalsBook:
    """Reads the access log as far as it goes, and again only when it moved.

    Args:
        log: The home's access log.
    """

    def __init__(self, log: AccessLog) -> None:
        self._log = log
        self._lock = threading.Lock()
        self._stamp: object = None
        self._vitals: Mapping[str, Vitals] = {}

    def all(self) -> Mapping[str, Vitals]:
        """Vitals by card id; a card that was never accessed has none."""
        with self._lock:
            stamp = self._log.stamp()
            if stamp != self._stamp:
                prior, marks = self._log.folded()
                recent = [access for _, _, line in self._log.unfolded(marks) for access in _accesses(line)]
                self._vitals = {**prior, **fold(prior, recent)}
                self._stamp = stamp
            return self._vitals

    def of(self, card_id: str) -> Vitals:
        """One card's vitals."""
        return self.all().get(card_id, Vitals())

    def write_fold(self, now: int) -> None:
        """Folds the log up to the running hour, so that it need not be read from its start again; the caller holds
        the writer lock."""
        prior, marks = self._log.folded()
        until = whole_hours_before(now)
        recent: list[Access] = []
        ended: set[str] = set()
        for name, end, line in self._log.unfolded(marks):
            if line.at >= until:
                ended.add(name)
            if name not in ended:
                recent.extend(_accesses(line))
                marks[name] = end
        self._log.write_fold({**prior, **fold(prior, recent)}, marks)

    @property
    def fold_is_due(self) -> bool:
        """Whether enough of the log is unfolded to be worth a fold."""
        _, marks = self._log.folded()
        return self._log.bytes() - sum(marks.values()) > _FOLD_BYTES


def _accesses(line: AccessLine) -> list[Access]:
    if line.kind not in set(AccessKind):
        return []
    return [Access(card, line.at, AccessKind(line.kind), line.agent, similarity) for card, similarity in line.cards]
