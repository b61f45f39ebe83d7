"""The only writer of stdout: JSON documents and text, whatever the encoding, whoever stops reading."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TextIO

from alaya_core.text import safe_text
from alaya_tui.headless.render_layout import Page, call_on

_SURROGATE = re.compile("[\ud800-\udfff]")
# DEL, C1 controls and bidirectional overrides pass JSON unescaped, and a terminal may obey them
_ACTS = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_STYLE = re.compile(r"(\x1b\[(?:1|2|22)m)")
LEAST_WIDTH = 30


class OutputGone(Exception):
    """Whoever read stdout has stopped reading (`| head`)."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a command answers.

    Attributes:
        data: Plain data or a pydantic model, for JSON.
        lines: Lays the answer out for a person.
        status: The exit status.
    """

    data: Any
    lines: Callable[[Page], Iterable[str]]
    status: int = 0


class Output:
    """stdout, made safe to write to."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.terminal = bool(stream and stream.isatty())
        if reconfigure := getattr(stream, "reconfigure", None):
            # an encoding that lacks a character must not fail; newlines stay as written on every platform
            reconfigure(errors="backslashreplace", newline="\n")

    def page(self, home: str | None = None) -> Page:
        """What the terminal is like; without one, lines are never wrapped and never coloured."""
        call = call_on(home)
        if not self.terminal:
            return Page(width=None, call=call)
        width = max(LEAST_WIDTH, shutil.get_terminal_size().columns)
        # NO_COLOR and TERM describe the terminal, they are no settings of Alaya's: hence not config.py's business
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") in (None, "dumb")
        return Page(width=width, colour=not plain, call=call)

    def text(self, lines: Iterable[str]) -> None:
        """Writes lines for a person; what could still act on a terminal, other than our own bold and dim, is shown."""
        whole = "".join(f"{line}\n" for line in lines)
        styled = _STYLE.split(whole)
        self._write("".join(part if _STYLE.fullmatch(part) else safe_text(part) for part in styled))

    def document(self, data: Any) -> None:
        """Writes one JSON document: on one line for programs, indented for people."""
        if hasattr(data, "model_dump"):
            data = data.model_dump(mode="json")
        self._write(self._encoded(data) + "\n")

    def line(self, data: Any) -> None:
        """Writes one document of several, each on a line of its own."""
        if hasattr(data, "model_dump"):
            data = data.model_dump(mode="json")
        self._write(self._encoded(data, on_one_line=True) + "\n")

    def abandon(self) -> None:
        """After the reader went away: points stdout at nothing, so that no later flush complains."""
        if self._stream is None:
            return
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)

    def _encoded(self, data: Any, *, on_one_line: bool = False) -> str:
        # a pipe that is not UTF-8 gets plain ASCII: whoever reads JSON reads that as what was meant
        plain = _name(self._stream) not in ("utf-8", "utf8")
        indent = 2 if self.terminal and not on_one_line else None
        text = _dumps(data, ensure_ascii=False, indent=indent)
        # half a character is no text: strict parsers refuse even its escape
        text = _SURROGATE.sub("\ufffd", text)
        if plain:
            text = _dumps(json.loads(text), ensure_ascii=True, indent=indent)
        if self.terminal:
            text = _ACTS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
        return text

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except BrokenPipeError:
            raise OutputGone from None


def _name(stream: TextIO | None) -> str:
    return ((stream.encoding if stream else None) or "utf-8").lower()


def _dumps(data: Any, **settings: Any) -> str:
    try:
        return json.dumps(data, allow_nan=False, **settings)
    except ValueError:
        return json.dumps(_without_nan(data), allow_nan=False, **settings)


def _without_nan(value: Any) -> Any:
    """NaN and infinities are no JSON: they become null."""
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if isinstance(value, dict):
        return {key: _without_nan(each) for key, each in value.items()}
    return [_without_nan(each) for each in value] if isinstance(value, list | tuple) else value
