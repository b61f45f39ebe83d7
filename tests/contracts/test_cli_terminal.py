"""The command line at a real terminal (a pseudo one): wrapped, styled, with progress, and secrets only for a person."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from alaya_core.text import cells
from tests.contracts.cli_runner import COMMAND, environment

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs pseudo terminals")

STYLE = re.compile(r"\x1b\[(?:1|2|22)m")
COLUMNS = 60
HIDE_CURSOR = b"\x1b[?25l"  # what a progress bar begins with


def at_terminal(words: Sequence[str], home: Path, *, typed: bytes = b"", after: bytes = b"") -> tuple[int, str]:
    """Runs a command at a terminal of 60 columns; types into it once it has shown something, or after two seconds.

    Returns:
        The exit status, and everything that was written to the terminal.
    """
    import pty
    import termios

    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, COLUMNS))
    settings = environment({"TERM": "xterm-256color"})
    for name in ("COLUMNS", "LINES", "NO_COLOR"):
        settings.pop(name, None)
    command = [*COMMAND, "--home", str(home), *words]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=settings)
    os.close(theirs)
    if typed and not after:
        time.sleep(2)
    seen = b""
    with contextlib.suppress(OSError):  # Linux says EIO when the last writer is gone
        while True:
            if typed and after in seen:
                os.write(ours, typed)
                typed = b""
            if not (piece := os.read(ours, 65_536)):
                break
            seen += piece
    os.close(ours)
    return process.wait(60), seen.decode("utf-8", "replace").replace("\r\n", "\n")


def test_lines_fit_and_titles_stand_out(filled):
    status, seen = at_terminal(["show", filled.distilled], filled.path)
    assert status == 0
    assert "\x1b[1m" in seen
    plain = STYLE.sub("", seen)
    assert "\x1b" not in plain
    # a command to copy stays whole, however long the path in it
    assert max(cells(line) for line in plain.splitlines() if " with: alaya " not in line) <= COLUMNS


def test_json_at_a_terminal_is_indented_and_harmless(filled):
    status, seen = at_terminal(["show", filled.hostile, "--json"], filled.path)
    assert status == 0
    assert '\n  "card": {' in seen
    assert not re.search("[\x1b\x9b\u202e]", seen)


def test_secrets_may_be_revealed_to_a_person(filled):
    status, _ = at_terminal(["trace", filled.distilled, "--reveal"], filled.path)
    assert status == 0


def test_work_that_takes_a_second_shows_progress(filled):
    typed = b"user: hello there\nassistant: hi\n\x04\x04"
    status, seen = at_terminal(["ingest", "-", "--format", "text"], filled.path, typed=typed, after=HIDE_CURSOR)
    assert "ingest" in seen
    assert "\x1b[?25h" in seen
    assert "0:00:0" in seen
    assert status in (0, 1, 2)


def test_quiet_shows_none(filled):
    _, seen = at_terminal(["ingest", "-", "--quiet", "--format", "text"], filled.path, typed=b"hi\n\x04\x04")
    assert "\x1b[?25" not in seen
