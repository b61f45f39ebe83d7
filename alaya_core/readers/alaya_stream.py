"""Alaya's own session files, read a turn at a time whatever their size."""

from __future__ import annotations

import codecs
import itertools
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, BinaryIO

import ijson

from alaya_core.models.session import SessionHeader, SessionStream, Turn
from alaya_core.readers.alaya import fill_header, foreign_turn, is_own, own_turn
from alaya_core.readers.fields import Tally
from alaya_core.readers.jsonl import BOM, BadLine, decode_line, lines, rewound
from alaya_core.readers.sources import SourceHints

Event = tuple[str, Any]

_MAX_DEPTH = 100
_SMALL = 4 * 1024 * 1024
_REPLACED = "invalid UTF-8: the bad bytes replaced, the rest kept"
_CUT_WORD = re.compile(rb"(?:^|[\[,:\s])(?:t|tr|tru|f|fa|fal|fals|n|nu|nul|-|-?[\d.eE+-]+)$")


def read_alaya(file: BinaryIO, hints: SourceHints, *, small: int = _SMALL) -> Iterator[SessionStream]:
    """The sessions of a file: one, an array of them, one a line, or simply one after the other.

    Args:
        file: The file from its beginning.
        hints: What is known beside its bytes.
        small: Up to how many bytes a file is decoded at once, which forgives more than the piecemeal parser can.
    """
    head = file.read(small + 1)
    if len(head) <= small:
        text = head.decode("utf-8-sig", "replace")
        replaced = "\ufffd" in text and not _is_utf8(head)
        try:
            value = json.loads(text, strict=False, parse_constant=str)
        except (ValueError, RecursionError):
            pass
        else:
            yield from _by_value(value, hints, replaced)
            return
    source = rewound(head, file)
    yield from _by_line(source, hints) if _is_one_a_line(head) else _by_event(source, hints)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _by_value(value: Any, hints: SourceHints, replaced: bool) -> Iterator[SessionStream]:
    values = value if isinstance(value, list) else [value]
    sessions = [item for item in values if isinstance(item, dict)]
    for number, fields in enumerate(sessions or [{}], 1):
        stream = _whole_session(fields, hints, number)
        if replaced and number == 1:
            stream.skip(None, _REPLACED)
        for _ in range(len(values) - len(sessions) if number >= len(sessions) else 0):
            stream.skip(None, "an entry that is not a session")
        yield stream


def _whole_session(fields: dict[str, Any], hints: SourceHints, number: int) -> SessionStream:
    stream = SessionStream(SessionHeader(""), iter(()))
    fill_header(stream.header, fields, hints.agent, _fallback_id(hints, number))
    stream.turns = _listed_turns(stream, fields)
    return stream


def _is_one_a_line(head: bytes) -> bool:
    first, newline, rest = head.removeprefix(BOM).lstrip().partition(b"\n")
    if not newline or not rest.strip():
        return False
    try:
        return isinstance(json.loads(first, strict=False), dict)
    except (ValueError, RecursionError):
        return False


def _fallback_id(hints: SourceHints, number: int) -> str:
    stem = hints.name.rpartition(".")[0] or hints.name or "session"
    return stem if number == 1 else f"{stem}-{number}"


def _by_line(file: BinaryIO, hints: SourceHints) -> Iterator[SessionStream]:
    """A session a line: a bad line costs that line, and is told with the session after it, or before it at the end."""
    stream = SessionStream(SessionHeader(""), iter(()))
    number = 0
    waiting: SessionStream | None = None
    for line in lines(file):
        data = (line.data or b"").removeprefix(BOM).strip()
        if line.data is not None and not data:
            continue
        try:
            if line.data is None:
                raise BadLine("longer than 64 MB")
            fields = decode_line(data, line.number, stream)
        except BadLine as error:
            stream.skip(line.number, "cut short at the end of the file" if not line.ended else str(error))
            continue
        if waiting is not None:
            yield waiting
        number += 1
        waiting, stream = stream, SessionStream(SessionHeader(""), iter(()))
        fill_header(waiting.header, fields, hints.agent, _fallback_id(hints, number))
        waiting.turns = _listed_turns(waiting, fields)
    if waiting is not None:
        for skipped in stream.skipped:
            waiting.skip(skipped.line, skipped.reason)
        yield waiting
    elif stream.skipped:
        stream.header.id, stream.header.format = _fallback_id(hints, 1), "alaya"
        yield stream


def _listed_turns(stream: SessionStream, fields: dict[str, Any]) -> Iterator[Turn]:
    tally = Tally(stream.header)
    turns = fields.get("turns")
    for number, turn in enumerate(turns if isinstance(turns, list) else []):
        if isinstance(turn, dict):
            yield tally.turn(own_turn(turn) if is_own(fields) else foreign_turn(turn))
        else:
            stream.skip(None, f"entry {number} of turns is not an object")


class _Utf8:
    """A file whose bytes that are no UTF-8 have become replacement characters, and whose BOM is gone."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._left = b""
        self._tail = b""
        self.replaced = False

    def ends_in_a_word(self) -> bool:
        """Whether the text stops inside `true`, `false`, `null` or a number, which the parser takes for bad text."""
        return _CUT_WORD.search(self._tail) is not None

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes; empty only at the end, as the parser demands."""
        if size == 0:
            return b""
        while not self._left:
            data = self._file.read(size if size > 0 else 65_536)
            text = self._decoder.decode(data, final=not data)
            self.replaced = self.replaced or ("\ufffd" in text and b"\xef\xbf\xbd" not in data)
            self._left = text.encode("utf-8")
            self._tail = (self._tail + self._left)[-16:]
            if not data:
                break
        given, self._left = (self._left[:size], self._left[size:]) if size > 0 else (self._left, b"")
        return given


def _by_event(file: BinaryIO, hints: SourceHints) -> Iterator[SessionStream]:
    events = _Events(file)
    number = 0
    strays = SessionStream(SessionHeader("", format="alaya"), iter(()))
    while event := events.next():
        name, _ = event
        if name == "start_map":
            number += 1
            reader = _SessionReader(events, hints, _fallback_id(hints, number))
            for skipped in strays.skipped:
                reader.stream.skip(skipped.line, skipped.reason)
            strays = SessionStream(SessionHeader("", format="alaya"), iter(()))
            yield reader.stream
            reader.drain()
        elif name not in ("start_array", "end_array"):
            strays.skip(None, "an entry that is not a session")
    if (events.problem and not number) or strays.skipped:
        strays.header.id = _fallback_id(hints, number + 1)
        if events.problem:
            strays.skip(None, events.problem)
        yield strays


class _Events:
    """The parser's events; where the text breaks off they end, and `problem` says how."""

    def __init__(self, file: BinaryIO) -> None:
        self.source = _Utf8(file)
        self._events = iter(ijson.basic_parse(self.source, multiple_values=True))
        self.problem = ""
        self._peeked: Event | None = None

    def next(self) -> Event | None:
        """The next event; None at the end."""
        if self._peeked is not None:
            peeked, self._peeked = self._peeked, None
            return peeked
        if self.problem:
            return None
        try:
            event: Event | None = next(self._events, None)
        except ijson.IncompleteJSONError as error:
            said = str(error).lower()
            cut = "incomplete" in said or "premature" in said or self.source.ends_in_a_word()
            self.problem = "the file is cut short here" if cut else f"not JSON from here on: {_reason(error)}"
            return None
        except (ijson.JSONError, ValueError, RecursionError) as error:
            self.problem = f"not JSON from here on: {_reason(error)}"
            return None
        return event

    def breaks_off(self) -> bool:
        """Whether the text breaks off before its next event."""
        if self._peeked is None:
            self._peeked = self.next()
        return bool(self.problem)

    def value(self, event: Event) -> Any:
        """The whole value that begins with an event; None if it breaks off or is nested beyond reason."""
        builder = ijson.ObjectBuilder()
        depth = deepest = 0
        current: Event | None = event
        while current is not None:
            name, value = current
            if deepest <= _MAX_DEPTH:
                builder.event(name, _plain_number(value))
            depth += (name in ("start_map", "start_array")) - (name in ("end_map", "end_array"))
            deepest = max(deepest, depth)
            if depth == 0:
                return builder.value if deepest <= _MAX_DEPTH else None
            current = self.next()
        return None


def _reason(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0].strip()[:200]


def _plain_number(value: Any) -> Any:
    if not isinstance(value, Decimal):
        return value
    return int(value) if value == value.to_integral_value() and value.as_tuple().exponent == 0 else float(value)


class _SessionReader:
    """Reads one session out of the events; its fields may come in any order, also after the turns."""

    def __init__(self, events: _Events, hints: SourceHints, fallback_id: str) -> None:
        self._events = events
        self._hints = hints
        self._fallback_id = fallback_id
        self._fields: dict[str, Any] = {}
        self._count = 0
        self.stream = SessionStream(SessionHeader(fallback_id, format="alaya"), iter(()))
        turns = self._read()
        # Up to the first turn at once, so that the header is filled in before anybody reads turns.
        first = next(turns, None)
        self._fill()
        self._turns_left = turns
        self.stream.turns = itertools.chain([] if first is None else [first], turns)

    def drain(self) -> None:
        """Passes over the turns that the caller left, up to the next session."""
        for _ in self._turns_left:
            pass

    def _fill(self) -> None:
        fill_header(self.stream.header, self._fields, self._hints.agent, self._fallback_id)

    def _read(self) -> Iterator[Turn]:
        events = self._events
        first_time: int | None = None
        while (event := events.next()) and event[0] == "map_key":
            key = str(event[1])
            begin = events.next()
            if begin is None:
                break
            if key == "turns" and begin[0] == "start_array":
                for turn in self._turns():
                    first_time = turn.timestamp if first_time is None else first_time
                    yield turn
                continue
            value = events.value(begin)
            if not events.problem:
                self._fields[key] = value
        self._fill()
        if self.stream.header.timestamp is None:
            self.stream.header.timestamp = first_time
        if events.source.replaced:
            events.source.replaced = False
            self.stream.skip(None, _REPLACED)
        if events.breaks_off():
            last = f"after turn {self._count - 1}: " if self._count else ""
            self.stream.skip(None, last + events.problem)

    def _turns(self) -> Iterator[Turn]:
        own = is_own(self._fields)
        number = 0
        while (event := self._events.next()) and event[0] != "end_array":
            value = self._events.value(event)
            if self._events.problem:
                return
            if isinstance(value, dict):
                self._count += 1
                yield own_turn(value) if own else foreign_turn(value)
            else:
                self.stream.skip(None, f"entry {number} of turns is not an object")
            number += 1
