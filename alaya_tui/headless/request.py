"""What a command is given: its arguments, the memory, and ways to hear from a person."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from alaya_core.errors import UsageError
from alaya_core.progress import CancelToken, ProgressSink
from alaya_tui.headless.diagnostics import Diagnostics, Interrupts

if TYPE_CHECKING:
    from alaya_core.memory import Memory

STDIN = "-"


@dataclass(frozen=True, slots=True)
class Request:
    """One run of one command.

    Attributes:
        args: What the parser read.
        told: stderr.
        interrupts: Ctrl+C.
        terminal: Whether a person reads stdout.
        emit: Writes a part of the answer while the rest is still to come: its data, or lines for a person.
    """

    args: Namespace
    told: Diagnostics
    interrupts: Interrupts
    terminal: bool
    emit: Callable[[Any, Sequence[str]], None] = lambda _data, _lines: None

    @contextlib.contextmanager
    def memory(self, environ: Mapping[str, str] | None = None) -> Iterator[Memory]:
        """The memory that the options and the environment name; its warnings go to stderr.

        Args:
            environ: Another environment than the process's.
        """
        from alaya_core.memory import Memory

        with Memory.open(self.args.home, agent=self.args.agent, environ=environ) as memory:
            for warning in memory.config.warnings:
                self.told.note(warning)
            try:
                yield memory
            finally:
                for notice in memory.notices:
                    self.told.note(notice)

    @contextlib.contextmanager
    def long_work(self, label: str) -> Iterator[tuple[ProgressSink, CancelToken]]:
        """While the block runs, there is a progress bar, and Ctrl+C asks it to stop after its step."""
        with self.interrupts.cancelling() as token, self.told.progress(label) as sink:
            yield sink, token

    @property
    def person(self) -> bool:
        """Whether somebody sits at both ends, so that secrets may be shown and screens opened."""
        return self.terminal and stdin_terminal()

    def agreed(self, question: str) -> bool:
        """Asks a person yes or no on stderr; without one at both ends the answer is no, unasked."""
        if not self.person or self.args.json:
            return False
        self.told.ask(question)
        with self.interrupts.raising():
            answer = sys.stdin.readline()
        return answer.strip().lower() in ("y", "yes", "j", "是")

    def text_of(self, words: list[str] | str) -> str:
        """A text argument: its words, or all of stdin for a bare `-`."""
        text = words if isinstance(words, str) else " ".join(words)
        return self._read() if text == STDIN else text

    def _read(self) -> str:
        stream = stdin_bytes(self.interrupts)
        if stdin_terminal():
            self.told.note("reading from the terminal; end with Ctrl+D")
        return stream.read().decode("utf-8-sig", "replace").rstrip("\n")


def stdin_terminal() -> bool:
    """Whether a person types into stdin."""
    return bool(sys.stdin and sys.stdin.isatty())


class _Stdin(io.RawIOBase):
    """stdin, with Ctrl+C obeyed at once while it is waited for."""

    def __init__(self, interrupts: Interrupts) -> None:
        self._interrupts = interrupts

    def readable(self) -> bool:
        return True

    def readinto(self, room: memoryview) -> int:  # type: ignore[override]
        with self._interrupts.raising():
            piece = os.read(sys.stdin.fileno(), len(room))
        room[: len(piece)] = piece
        return len(piece)


def stdin_bytes(interrupts: Interrupts) -> BinaryIO:
    """stdin as it came.

    Raises:
        UsageError: It is closed.
    """
    if sys.stdin is None:
        raise UsageError("stdin is closed, there is nothing to read", "pass the text or a path instead of -")
    return io.BufferedReader(_Stdin(interrupts))
