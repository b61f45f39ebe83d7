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

    def __init__(self, home: Path, columns: int = 100, lines: int = 30, code: str = RUN) -> None:
        import struct
        import termios

        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "TEXTUAL_ANIMATIONS": "none"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, str(home)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            close_fds=True,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that it hears when the terminal goes
        )
        os.close(slave)
        self.written = b""

    def wait_for(self, text: str) -> None:
        """Reads until the text was written since the last key."""
        deadline = time.monotonic() + PATIENCE
        while text not in plain(self.written[self.mark :]):
            assert time.monotonic() < deadline, plain(self.written)[-3_000:]
            self._read()

    def press(self, keys: str | bytes) -> None:
        """Types."""
        self.mark = len(self.written)
        os.write(self.master, keys.encode() if isinstance(keys, str) else keys)

    mark = 0
    gone = False

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
        self.hang_up()

    def hang_up(self) -> None:
        """The terminal goes away."""
        if not self.gone:
            self.gone = True
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


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_leaves_the_terminal_as_it_was(home: Path, name: str):
    import signal

    number = getattr(signal, name)
    terminal = Terminal(home)
    try:
        terminal.wait_for("loading the engine")
        terminal.process.send_signal(number)
        assert terminal.leave() == 128 + number
    finally:
        terminal.close()
    for switched in (b"\x1b[?1049l", b"\x1b[?1000l", b"\x1b[?25h"):
        assert switched in terminal.written
    assert b"Traceback" not in terminal.written


def test_a_terminal_that_goes_away_ends_it(home: Path):
    terminal = Terminal(home)
    try:
        terminal.wait_for("10 cards, hottest first")
        terminal.hang_up()
        assert terminal.process.wait(20) not in (0, None)
    finally:
        terminal.close()


def test_bytes_that_are_no_text_are_borne(home: Path):
    terminal = Terminal(home)
    try:
        terminal.wait_for("10 cards, hottest first")
        terminal.press(b"\xff\x9b\xc3(docker")
        terminal.wait_for("docker")
        terminal.press("\x11")
        assert terminal.leave() == 0
    finally:
        terminal.close()
    assert b"Traceback" not in terminal.written


CRASH = """
import sys
from alaya_tui import app
app.AlayaApp.on_ready = lambda self: self.panic("it broke")
sys.exit(app.run_app(home=sys.argv[1], agent=None))
"""


def test_a_crash_is_no_success(home: Path):
    terminal = Terminal(home, code=CRASH)
    try:
        assert terminal.leave() == 1
    finally:
        terminal.close()
    assert "it broke" in plain(terminal.written)
