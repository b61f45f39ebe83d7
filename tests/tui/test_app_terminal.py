"""In a real terminal: it starts, finds, opens, leaves; and nothing stored reaches the terminal as a command."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

pty = pytest.importorskip("pty")
fcntl = pytest.importorskip("fcntl")

RUN = "import sys; from alaya_tui.app import run_app; sys.exit(run_app(home=sys.argv[1], agent=None))"
PATIENCE = 60.0


class Terminal:
    """A pseudo-terminal with the app in it."""

    def __init__(self, home: Path, columns: int = 100, lines: int = 30) -> None:
        import struct
        import termios

        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "TEXTUAL_ANIMATIONS": "none"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUN, str(home)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            close_fds=True,
        )
        os.close(slave)
        self.written = b""

    def wait_for(self, text: str) -> None:
        """Reads until the text was written since the last key."""
        deadline = time.monotonic() + PATIENCE
        while text not in plain(self.written[self.mark :]):
            assert time.monotonic() < deadline, plain(self.written)[-3_000:]
            self._read()

    def press(self, keys: str) -> None:
        """Types."""
        self.mark = len(self.written)
        os.write(self.master, keys.encode())

    mark = 0

    def leave(self) -> int:
        """Reads to the end and gives the exit status."""
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < deadline:
            self._read()
        self._read()
        return self.process.wait(1)

    def close(self) -> None:
        """Ends it, if it still runs."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)

    def _read(self) -> None:
        if select.select([self.master], [], [], 0.05)[0]:
            try:
                self.written += os.read(self.master, 65_536)
            except OSError:  # the other end is closed
                return


def plain(written: bytes) -> str:
    """What was written, without what moves the cursor or colours."""
    text = written.decode("utf-8", "replace")
    return re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]", "", text)


def test_a_visit(home: Path):
    terminal = Terminal(home)
    try:
        terminal.wait_for("10 cards, hottest first")
        terminal.wait_for("closes nothing")
        terminal.press("docker")
        terminal.wait_for(" ms")
        terminal.press("\r")
        terminal.wait_for("Search > Docker needs a memory limit")
        terminal.press("\x1b")
        time.sleep(0.2)  # a lone escape is told from a sequence by what does not follow
        terminal.press("\x11")
        started = time.monotonic()
        assert terminal.leave() == 0
        assert time.monotonic() - started < 5
    finally:
        terminal.close()
    assert b"\x1b]52" not in terminal.written, "the clipboard"
    assert b"\x1b]0" not in terminal.written, "the title"
    assert b"\x9b31m" not in terminal.written
    assert "\u202e".encode() not in terminal.written
    assert "\u241b]52;c;aGk=\u2407" in plain(terminal.written), "it was on the screen, as a text"
    assert b"Traceback" not in terminal.written


def test_leaving_does_not_wait_for_the_engine(home: Path):
    terminal = Terminal(home)
    try:
        terminal.wait_for("loading the engine")
        terminal.press("\x11")
        started = time.monotonic()
        assert terminal.leave() == 0
        assert time.monotonic() - started < 2.5
    finally:
        terminal.close()
    assert b"Traceback" not in terminal.written
