"""The only writer of stderr: errors, notes and progress; and the one place that knows exit statuses."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

from alaya_core.errors import AlayaError
from alaya_core.progress import CancelToken, ProgressSink
from alaya_core.text import safe_line, safe_text

CANCELLED = 130


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception, told to a person and to a script."""

    code: str
    message: str
    hint: str
    retryable: bool
    status: int

    def envelope(self) -> dict[str, object]:
        """What `--json` prints of it."""
        told = {"code": self.code, "message": self.message, "hint": self.hint, "retryable": self.retryable}
        return {"error": told}


def describe(error: BaseException) -> Failure:
    """What an exception means to whoever ran the command."""
    if isinstance(error, AlayaError):
        return Failure(error.code, error.message, error.hint, error.retryable, error.exit_status)
    if isinstance(error, KeyboardInterrupt):
        return Failure("cancelled", "cancelled", "", False, CANCELLED)
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return Failure("failed", f"{where}{error.strerror}", "", False, 1)
    hint = "this is a fault of Alaya's; run it again with --verbose to see where"
    return Failure("internal", f"internal error: {type(error).__name__}: {error}", hint, False, 1)


class Diagnostics:
    """Speaks to a person on stderr.

    Args:
        stream: stderr; None when it is closed.
        quiet: Whether notes and progress are unwanted.
        verbose: Whether failures come with their traceback.
    """

    def __init__(self, stream: TextIO | None, *, quiet: bool = False, verbose: bool = False) -> None:
        self.quiet = quiet
        self.verbose = verbose
        self._stream = stream
        # what cannot be encoded is escaped: a message must not fail because of what it quotes
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")

    @property
    def terminal(self) -> bool:
        """Whether somebody is watching."""
        return self._stream is not None and self._stream.isatty()

    def note(self, text: str) -> None:
        """Says something worth knowing, unless quiet."""
        if not self.quiet:
            self._write(f"alaya: {safe_line(text)}")

    def ask(self, question: str) -> None:
        """Puts a question, even when quiet; the answer is typed behind it."""
        if self._stream is not None:
            with contextlib.suppress(OSError, ValueError):
                self._stream.write(f"alaya: {safe_line(question)} [y/N] ")
                self._stream.flush()

    def failed(self, error: BaseException, failure: Failure) -> None:
        """Says what went wrong and what to do about it; with `--verbose`, also where."""
        self._write(f"alaya: {safe_line(failure.message)}")
        if failure.hint:
            self._write(f"hint: {safe_line(failure.hint)}")
        self.trace(error)

    def trace(self, error: BaseException) -> None:
        """With `--verbose`, where it went wrong."""
        if self.verbose:
            self._write(safe_text("".join(traceback.format_exception(error))).rstrip())

    @contextlib.contextmanager
    def progress(self, label: str) -> Iterator[ProgressSink]:
        """Shows a bar while the block runs: at a terminal, unless quiet, and only once it has taken a second."""
        from alaya_core.progress import silent

        if self._stream is None or self.quiet or not self.terminal:
            yield silent
            return
        from alaya_tui.headless.diagnostics_progress import Bar

        with Bar(self._stream, label) as bar:
            yield bar.show

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        # a reader of stderr that went away must not turn an answer into a failure
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(text + "\n")
            self._stream.flush()


class Interrupts:
    """What Ctrl+C (and SIGTERM) does: ask long work to stop after its step, else stop at once; a second one always
    stops at once."""

    def __init__(self) -> None:
        self._asked = False
        self._token: CancelToken | None = None

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Takes over SIGINT and SIGTERM, unless ignored from outside (`nohup`, a shell's `&`), and gives them back."""
        import signal

        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        taken = [number for number, was in before.items() if was not in (signal.SIG_IGN, None)]
        for number in taken:
            signal.signal(number, self._on_signal)
        try:
            yield
        finally:
            for number in taken:
                signal.signal(number, before[number])

    @contextlib.contextmanager
    def cancelling(self) -> Iterator[CancelToken]:
        """While the block runs, the first Ctrl+C sets the token instead of raising."""
        self._token = CancelToken()
        try:
            yield self._token
        finally:
            self._token = None

    @contextlib.contextmanager
    def raising(self) -> Iterator[None]:
        """While the block runs, Ctrl+C raises after all: it waits for somebody else, who may never come."""
        token, self._token = self._token, None
        try:
            yield
        finally:
            self._token = token

    def _on_signal(self, *_: object) -> None:
        if self._token is None and not self._asked:
            self._asked = True
            raise KeyboardInterrupt
        if self._asked:
            _raw("\x1b[?25h\nalaya: stopped\n")
            os._exit(CANCELLED)
        self._asked = True
        if self._token is not None:
            self._token.cancel()
        _raw("\nalaya: stopping after this step (Ctrl+C again stops at once)\n")


def _raw(text: str) -> None:
    """Past the stream object: a signal may arrive in the middle of one of its writes, and it cannot be re-entered."""
    if not sys.stderr or not sys.stderr.isatty():
        text = text.removeprefix("\x1b[?25h").lstrip("\n")
    with contextlib.suppress(OSError):
        os.write(2, text.encode())
