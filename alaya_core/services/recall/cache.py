"""Answers kept for a moment: the same question again, while nothing changed, is not worth a second search."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from alaya_core.models.answers.recall import RecallAnswer

MOST = 64
"""Answers that are kept."""

Uses = tuple[tuple[str, float], ...]
"""The cards of an answer and the similarity of each, for the access log."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer, and what it counts as a use of."""

    answer: RecallAnswer
    uses: Uses


@dataclass(frozen=True, slots=True)
class _Entry:
    kept: Kept
    at: int


class RecallCache:
    """The last answers of one process over one state of the memory; safe to use from several threads.

    Once the state is another, all of them go at once, so that nothing stays in memory that was erased on the disk.

    Args:
        ttl_s: Seconds an answer is good for; 0 keeps none.
        clock: Now, in ms.
    """

    def __init__(self, ttl_s: float, clock: Callable[[], int]) -> None:
        self._ttl_ms = ttl_s * 1000
        self._clock = clock
        self._state: object = None
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def on(self) -> bool:
        """Whether anything is kept at all."""
        return self._ttl_ms > 0

    def get(self, key: Hashable, state: object) -> Kept | None:
        """A copy of what was answered, if that still holds.

        Args:
            key: What was asked, how, and by whom.
            state: What the memory is like now.
        """
        with self._lock:
            self._move_to(state)
            entry = self._entries.get(key)
            # a clock that was put back makes an entry of the future, which is as little to be trusted as an old one
            if entry is None or not 0 <= self._clock() - entry.at < self._ttl_ms:
                self._entries.pop(key, None)
                return None
            self._entries.move_to_end(key)
        return _copy(entry.kept)

    def put(self, key: Hashable, state: object, kept: Kept) -> None:
        """Keeps an answer, unless it lacks something that another try might have.

        Args:
            key: What was asked, how, and by whom.
            state: What the memory was like from before the search to after it.
        """
        answer = kept.answer
        if not self.on or answer.stale or answer.degraded or answer.skipped:
            return
        copied = _copy(kept)
        with self._lock:
            self._move_to(state)
            self._entries[key] = _Entry(copied, self._clock())
            self._entries.move_to_end(key)
            while len(self._entries) > MOST:
                self._entries.popitem(last=False)

    def _move_to(self, state: object) -> None:
        if state != self._state:
            self._entries.clear()
            self._state = state


def _copy(kept: Kept) -> Kept:
    return Kept(kept.answer.model_copy(deep=True), kept.uses)
