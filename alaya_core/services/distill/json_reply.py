"""The JSON in a model's answer, whatever stands around it and wherever it was cut off. No I/O."""

from __future__ import annotations

import json
import re
from typing import Any

_LONGEST = 2_000_000
_TRIES = 60
_DECODER = json.JSONDecoder(strict=False)  # models put bare newlines into strings
_OPENING = re.compile(r"[{\[]")
_CLOSES = {"{": "}", "[": "]"}
_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_THINKS = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_LIST_DEPTH = 2  # of the list whose elements are whole things: the answer itself, or a list in it


def json_in(text: str) -> tuple[Any, bool]:
    """The largest JSON object or array in a text.

    Thinking (`<think>...</think>`, an unclosed one too), fences and chat around it are passed over; commas before a
    closing bracket are forgiven. Of one that was cut off, what stands behind its last whole element is left out; one
    that was cut off before any element was whole is none.

    Returns:
        The value, and whether something was left out.

    Raises:
        ValueError: There is none.
    """
    if len(text) > _LONGEST:
        raise ValueError("it is too long")
    # What begins with JSON has no thinking before it, and may have some quoted in it.
    at_once = text.lstrip().startswith(("{", "[", "```"))
    found = (_largest(text) if at_once else None) or _largest(spoken(text))
    if found is not None:
        return found
    raise ValueError("there is no JSON in it")


def spoken(text: str) -> str:
    """An answer without the thinking before it."""
    *_, last = _THOUGHT.split(text)
    return _THINKS.split(last, maxsplit=1)[0]


def _largest(text: str) -> tuple[Any, bool] | None:
    best: tuple[int, Any, bool] | None = None
    at = 0
    for _ in range(_TRIES):
        opening = _OPENING.search(text, at)
        if opening is None:
            break
        start = opening.start()
        value, end, mended = _read(text, start)
        if end is None:
            break
        if end > start and (best is None or end - start > best[0]):
            best = (end - start, value, mended)
        at = max(end, start + 1)
    return None if best is None else best[1:]


def _read(text: str, start: int) -> tuple[Any, int | None, bool]:
    """The value that begins at a bracket, where it ends, and whether something was left out. It ends at its start
    where there is none, and at None where it was cut off before anything in it was whole: what else stands in there is
    a part of it."""
    try:
        value, end = _DECODER.raw_decode(text, start)
        return value, end, False
    except RecursionError:
        return None, None, False
    except ValueError:
        pass
    kept, stop, mended = _mended(text, start)
    try:
        return (_DECODER.decode(kept), stop, mended) if kept else (None, stop, False)
    except (ValueError, RecursionError):
        return None, start, False


def _mended(text: str, start: int) -> tuple[str, int | None, bool]:
    """The text of a value without stray commas, closed behind its last whole element where it was cut off; where it
    ends, as `_read` says it; whether it was cut off."""
    out: list[str] = []
    stack: list[str] = []
    whole: tuple[int, str] | None = None  # how much of `out` is whole, and what closes it
    at = start
    while at < len(text):
        char = text[at]
        if char == '"':
            stop = _string_end(text, at)
            if stop is None:
                break
            out.append(text[at:stop])
            at = stop
            continue
        if char in _CLOSES:
            stack.append(char)
        elif char == "," and _at_elements(stack):
            whole = (len(out), _closing(stack))
        elif char in "}]":
            if _CLOSES[stack.pop()] != char:
                return "", start, False
            _drop_comma(out)
        out.append(char)
        at += 1
        if not stack:
            return "".join(out), at, False
        if char in "}]" and _at_elements(stack):
            whole = (len(out), _closing(stack))
    return ("".join(out[: whole[0]]) + whole[1], len(text), True) if whole else ("", None, False)


def _drop_comma(out: list[str]) -> None:
    while out and (out[-1].isspace() or out[-1] == ","):
        out.pop()


def _string_end(text: str, start: int) -> int | None:
    at = start + 1
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text[at] == '"':
            return at + 1
        else:
            at += 1
    return None


def _at_elements(stack: list[str]) -> bool:
    return len(stack) == 1 or (len(stack) == _LIST_DEPTH and stack[-1] == "[")


def _closing(stack: list[str]) -> str:
    return "".join(_CLOSES[opening] for opening in reversed(stack))
