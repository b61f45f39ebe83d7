"""Small readings that all formats share: times, sizes, names and text of values that may be anything."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from alaya_core.models.session import SessionHeader, Turn
from alaya_core.text import storable

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_MS = -62_135_596_800_000  # year 1
_MAX_DEPTH = 60
_LAST_MS = 253_402_300_799_999  # year 9999


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set to look names up in."""
    return frozenset(text.split())


def to_ms(value: Any) -> int | None:
    """A time of any spelling as milliseconds since the epoch, UTC; None if it is none.

    Numbers (and strings of digits) below 1e11 are seconds, below 1e14 milliseconds, else microseconds. A time without
    a zone is UTC.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        return _parse_time(value.strip())
    if isinstance(value, int | float):
        return _scaled(value)
    return None


def _parse_time(text: str) -> int | None:
    if not text or len(text) > 40:
        return None
    try:
        return _scaled(float(text) if "." in text or "e" in text.lower() else int(text))
    except ValueError:
        pass
    try:
        parsed = datetime.fromisoformat(text)
        parsed = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
        return (parsed - _EPOCH) // timedelta(milliseconds=1)
    except (ValueError, OverflowError):
        return None


def _scaled(number: int | float) -> int | None:
    if isinstance(number, float) and not math.isfinite(number):
        return None
    size = abs(number)
    if size < 1e11:
        ms = round(number * 1000)
    elif size < 1e14:
        ms = round(number)
    else:
        ms = int(number) // 1000
    return ms if _FIRST_MS <= ms <= _LAST_MS else None


def text_of(value: Any) -> str:
    """A string that every store can hold; empty for anything that is not a string."""
    return _storable(value) if isinstance(value, str) else ""


def _storable(text: str) -> str:
    """`storable`, which looks at every character, only where there is something to replace."""
    if "\x00" in text:
        return storable(text)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return storable(text)
    return text


def word_of(value: Any) -> str:
    """The value itself if it is a string, as types and roles are to be; else an empty one."""
    return value if isinstance(value, str) else ""


def name_of(value: Any, limit: int = 200) -> str:
    """A short name or id: a string or number as one line of at most `limit` characters."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    text = _storable(value) if isinstance(value, str) else format(value, "d") if abs(value) < 10**18 else ""
    return " ".join(text.split())[:limit]


def clean(value: Any, _depth: int = 0) -> Any:
    """A decoded JSON value with every string in it made storable, and cut off where it is nested beyond reason."""
    if isinstance(value, str):
        return _storable(value)
    if _depth > _MAX_DEPTH:
        return "[nested too deeply]"
    if isinstance(value, list):
        return [clean(item, _depth + 1) for item in value]
    if isinstance(value, dict):
        return {_storable(str(key)): clean(item, _depth + 1) for key, item in value.items()}
    return value


def mapping(value: Any) -> Mapping[str, Any]:
    """The value itself if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def compact_json(value: Any) -> str:
    """A decoded JSON value as one line of text."""
    return _storable(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))


def decoded(value: Any) -> Any:
    """Arguments of a tool call: decoded where they are a string of JSON, else as they are."""
    if isinstance(value, str) and value[:1] in "{[":
        try:
            return clean(json.loads(value, strict=False, parse_constant=str))
        except (ValueError, RecursionError):
            return storable(value)
    return clean(value)


def human_size(count: int) -> str:
    """Bytes for people: `8 B`, `12 KB`, `1.2 MB`."""
    if count < 1_000:
        return f"{count} B"
    if count < 1_000_000:
        return f"{round(count / 1_000)} KB"
    return f"{count / 1_000_000:.1f} MB"


class Tally:
    """What a session's metadata says once all of its turns have been seen."""

    def __init__(self, header: SessionHeader) -> None:
        self._header = header
        self._first: int | None = None
        self._last: int | None = None
        self.model = ""
        self.tokens = 0

    def usage(self, numbers: Iterable[Any]) -> None:
        """Adds tokens; what is no count is ignored."""
        self.tokens += sum(n for n in numbers if isinstance(n, int) and not isinstance(n, bool) and n > 0)

    def turn(self, turn: Turn) -> Turn:
        """Notes a turn's time and hands it back."""
        if turn.timestamp is not None:
            self._first = turn.timestamp if self._first is None else min(self._first, turn.timestamp)
            self._last = turn.timestamp if self._last is None else max(self._last, turn.timestamp)
            if self._header.timestamp is None:
                self._header.timestamp = turn.timestamp
        return turn

    def close(self) -> None:
        """Writes the sums into the header."""
        metadata = self._header.metadata
        if self.model:
            metadata["model"] = self.model
        if self.tokens:
            metadata["tokens"] = self.tokens
        if self._first is not None and self._last is not None:
            metadata.setdefault("duration_ms", self._last - self._first)
