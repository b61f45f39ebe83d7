"""The bytes of a log without what was erased; everything else in them as it was. No I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from alaya_core.models.session import Turn
from alaya_core.safe_json import load_json
from alaya_core.services.erase.needles import ERASED, RUN, Needles, normalised

LARGEST = 256 << 20
"""Bytes of a log beyond which it is dropped instead: it would have to be held in memory."""

_STRUCTURE = frozenset(
    (
        *("type", "role", "kind", "id", "uuid", "parentId", "parentUuid", "parent_id", "sessionId", "session_id"),
        *("timestamp", "ts", "created_at", "version"),
    )
)
"""Keys whose short values say how a log is built, not what was said."""
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_NAME = re.compile(r"[A-Za-z0-9_.:+/@-]{1,64}")
_TURNS = ("turns", "messages", "sessions")


def turn_texts(turn: Turn) -> Iterator[str]:
    """All that a turn says: its content, its thinking, and what it gave to tools."""
    yield turn.content
    yield turn.text
    yield turn.thinking
    for text in strings((*(call.arguments for call in turn.tool_calls), dict(turn.extra))):
        if len(normalised(text)) >= RUN:
            yield text


def strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)


def scrubbed(data: bytes, needles: Needles, session_id: str = "") -> bytes | None:
    """A log without what the needles find; None when that cannot be made sure of.

    Args:
        data: The log, as it came.
        session_id: A session that goes as a whole: entries that carry its id are emptied.
    """
    if len(data) > LARGEST:
        return None
    text = data.decode("utf-8", "surrogateescape")
    first = next((line for line in text.split("\n") if line.strip()), "").removeprefix("\ufeff")
    if isinstance(_parsed(first), dict):
        done = "".join(_line(line, needles, session_id) for line in _LINES.findall(text))
    elif (whole := _parsed(text.removeprefix("\ufeff"))) is not None:
        indent = 2 if "\n" in text.strip() else None
        done = _dumped(_value(whole, needles, session_id), indent) + "\n"
    else:
        done = needles.cut(text)
    return None if needles.found_in(done) else done.encode("utf-8", "surrogateescape")


def scrubbed_value(value: Any, needles: Needles) -> Any:
    """A JSON value with every string that holds some of it replaced."""
    return _value(value, needles, "")


def _line(line: str, needles: Needles, session_id: str) -> str:
    if not (needles.found_in(line) or needles.standing_alone or (session_id and session_id in line)):
        return line
    raw = _parsed(line.removeprefix("\ufeff"))
    if raw is None:
        return needles.cut(line)
    # One entry a line: what stands beside the text (a picture of it, a name) goes with it.
    many = isinstance(raw, dict) and any(isinstance(raw.get(key), list) for key in _TURNS)
    found = any(needles.found_in(text) for text in strings(raw))
    done = _value(raw, needles, session_id) if many or not found else _emptied(raw, "")
    if done == raw:
        return line
    return _dumped(done) + line[len(line.rstrip("\r\n")) :]


def _value(value: Any, needles: Needles, session_id: str) -> Any:
    if isinstance(value, str):
        return ERASED if needles.found_in(value) else value
    if isinstance(value, list):
        return [_value(item, needles, session_id) for item in value]
    if not isinstance(value, dict):
        return value
    if session_id and session_id in [item for item in value.values() if isinstance(item, str)]:
        return _emptied({key: item for key, item in value.items() if item != session_id}, "")
    if "role" in value and any(needles.found_in(text) for text in strings(value)):
        return _emptied(value, "")
    return {_value(key, needles, ""): _value(item, needles, session_id) for key, item in value.items()}


def _emptied(value: Any, key: str) -> Any:
    """An entry of which only the skeleton stays."""
    if isinstance(value, str):
        return value if key in _STRUCTURE and _NAME.fullmatch(value) else ERASED
    if isinstance(value, list):
        return [_emptied(item, key) for item in value]
    if isinstance(value, dict):
        return {name if _NAME.fullmatch(name) else ERASED: _emptied(item, name) for name, item in value.items()}
    return value


def _parsed(text: str) -> Any:
    try:
        return load_json(text)
    except ValueError:
        return None


def _dumped(value: Any, indent: int | None = None) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half an emoji, written as an escape
        return json.dumps(value, indent=indent)
    return text
