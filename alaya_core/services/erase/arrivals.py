"""What a person erased does not come back with its log: what comes in is compared with what was erased. No I/O."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from alaya_core.models.commit import erased_key
from alaya_core.models.session import SessionStream, Turn
from alaya_core.services.erase.needles import Needles
from alaya_core.services.erase.scrubbing import scrubbed, scrubbed_value, turn_texts
from alaya_core.services.erase.tombstones import tombstone
from alaya_core.stores.folding import Erased

REASON = "erased by a person; not taken in again"

Streams = Callable[[], Iterable[SessionStream]]
"""Reads a log from its start."""


class ErasedBefore:
    """Sessions and turns that were erased.

    Args:
        marks: Per hash of an id, what of it was erased.
    """

    def __init__(self, marks: Mapping[str, Erased]) -> None:
        self._marks = {key: mark for key, mark in marks.items() if mark.what != "card"}

    def session(self, session_id: str) -> bool:
        """Whether all of a session was erased."""
        mark = self._marks.get(erased_key(session_id))
        return mark is not None and mark.what == "session"

    def turns(self, session_id: str) -> frozenset[int]:
        """The turns of a session that were erased."""
        mark = self._marks.get(erased_key(session_id))
        return mark.turns if mark is not None else frozenset()

    def scrub_of(self, streams: Streams) -> LogScrub | None:
        """How the bytes of a log are to be kept; None = as they came, nothing in it was erased."""
        if not self._marks:
            return None
        ids = list(_ids(streams()))
        names = {session_id for session_id in ids if self.session(session_id)}
        if not names and not any(map(self.turns, ids)):
            return None
        told = self._told(streams, ids)
        return LogScrub((text for text, gone in told if gone), self._kept(streams, ids), names)

    def _kept(self, streams: Streams, ids: Sequence[str]) -> Iterator[str]:
        return (text for text, gone in self._told(streams, ids) if not gone)

    def _told(self, streams: Streams, ids: Sequence[str]) -> Iterator[tuple[str, bool]]:
        """Every text of a log, a turn at a time, and whether it was erased."""
        for session_id, stream in zip(ids, streams(), strict=True):
            whole, numbers = self.session(session_id), self.turns(session_id)
            for at, turn in enumerate(stream.turns):
                yield from ((text, whole or at in numbers) for text in turn_texts(turn))


class LogScrub:
    """Takes what was erased out of the bytes of a log.

    Args:
        gone: What was erased; kept: what else the log says.
        names: Sessions that are gone as a whole.
    """

    def __init__(self, gone: Iterable[str], kept: Iterable[str], names: Iterable[str] = ()) -> None:
        self._names = list(names)
        self._needles = Needles(gone, kept=kept, names=self._names)

    @classmethod
    def of_turns(cls, turns: Callable[[], Iterable[Turn]], numbers: frozenset[int]) -> LogScrub:
        """Of a log of one session: without some of its turns."""
        gone = [text for at, turn in enumerate(turns()) if at in numbers for text in turn_texts(turn)]
        return cls(gone, (text for at, turn in enumerate(turns()) if at not in numbers for text in turn_texts(turn)))

    def clean(self, data: bytes) -> bytes | None:
        """The log without it; None where that cannot be made sure of."""
        if not self._needles:
            return data
        clean: bytes | None = data
        for name in self._names or [""]:
            clean = scrubbed(clean, self._needles, name) if clean is not None else None
        return None if clean == data else clean

    def clean_value(self, value: dict[str, Any]) -> dict[str, Any]:
        """What a log says of itself, without it."""
        cleaned: dict[str, Any] = scrubbed_value(value, self._needles)
        return cleaned


def buried(turns: Iterable[Turn], numbers: frozenset[int]) -> Iterator[Turn]:
    """The turns of a session, those of some numbers as tombstones."""
    return (tombstone(turn) if at in numbers else turn for at, turn in enumerate(turns))


def _ids(streams: Iterable[SessionStream]) -> Iterator[str]:
    for stream in streams:
        collections.deque(stream.turns, maxlen=0)  # the header is whole only behind them
        yield stream.header.id
