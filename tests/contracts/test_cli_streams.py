"""Pipes that close, encodings that lack characters, full disks, Ctrl+C: the streams of a command line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.contracts.cli_runner import COMMAND, alaya, environment, finish, start

posix = pytest.mark.skipif(os.name != "posix", reason="pipes and signals of POSIX")


def wait_until_read(write_end: int) -> None:
    """Waits until the process at the other end has read what was written."""
    import fcntl
    import struct
    import termios

    deadline = time.monotonic() + 30
    while struct.unpack("i", fcntl.ioctl(write_end, termios.FIONREAD, b"\0\0\0\0"))[0]:
        assert time.monotonic() < deadline, "nobody reads"
        time.sleep(0.02)


@posix
@pytest.mark.parametrize("words", [["list"], ["list", "--json"], ["--help"], ["history"]])
def test_a_reader_that_goes_away_is_no_failure(filled, words):
    read_end, write_end = os.pipe()
    os.close(read_end)
    process = start(*words, home=filled.path, stdout=write_end)
    os.close(write_end)
    done = finish(process)
    assert (done.status, done.told) == (0, "")


@posix
def test_a_closed_stdout_is_no_failure(filled):
    line = " ".join([*COMMAND, "--home", str(filled.path), "list", ">&-"])
    done = subprocess.run(["sh", "-c", line], capture_output=True, env=environment(), timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told(filled):
    with Path("/dev/full").open("wb") as full:
        done = finish(start("list", home=filled.path, stdout=full))
    assert done.status == 1
    assert "No space left" in done.told


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_an_encoding_that_lacks_characters(filled, encoding):
    settings = {"PYTHONIOENCODING": encoding}
    for words in (["status"], ["show", filled.hostile], ["list"]):
        done = alaya(*words, home=filled.path, env=settings)
        assert done.status == 0, done
        done.raw.decode(encoding)
    data = alaya("show", filled.distilled, "--json", home=filled.path, env=settings)
    assert data.raw.isascii()
    assert data.data == alaya("show", filled.distilled, "--json", home=filled.path).data


def test_a_missing_locale_still_gives_utf_8(filled):
    done = alaya("status", home=filled.path, env={"LC_ALL": "C", "LANG": "C"})
    assert done.text.startswith("📊")


def test_half_a_character_in_an_argument(filled):
    # an argument of bytes that are no UTF-8 arrives as lone surrogates
    command: list[str | bytes] = [*COMMAND, "--home", str(filled.path), "list", "--tag", b"\xff\xfe", "--json"]
    done = subprocess.run(command, capture_output=True, env=environment(), timeout=60, check=False)
    assert done.returncode == 0, done
    assert b"Traceback" not in done.stderr


@posix
@pytest.mark.parametrize("words", [["capture", "-"], ["ingest", "-"]])
def test_ctrl_c_while_waiting_for_stdin(filled, words):
    read_end, write_end = os.pipe()
    process = start(*words, "--json", home=filled.path, stdin=read_end)
    os.write(write_end, b"the beginning of a text\n")
    wait_until_read(write_end)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    done = finish(process)
    os.close(read_end)
    os.close(write_end)
    assert (done.status, done.error["code"]) == (130, "cancelled")


def test_nothing_waits_for_an_answer_without_a_terminal(filled):
    for words in (["forget", filled.other], ["restore", filled.other], ["capture", "-"]):
        done = alaya(*words, home=filled.path)
        assert done.status in (0, 2)


def test_stdout_holds_the_answer_only(filled):
    (filled.path / "config.json").write_text('{"recall": {"colour": 1}}')
    loud = alaya("list", "--json", "--verbose", home=filled.path)
    quiet = alaya("list", "--json", "--quiet", home=filled.path)
    (filled.path / "config.json").write_text("{}")
    assert loud.data["cards"]
    assert "recall.colour" in loud.told
    assert quiet.told == ""


def test_python_m_is_the_same(filled):
    command = [sys.executable, "-m", "alaya_tui", "--home", str(filled.path), "list", "--headless", "--json"]
    done = subprocess.run(command, capture_output=True, env=environment(), timeout=60, check=False)
    assert done.returncode == 0
    assert done.stdout == alaya("list", "--json", home=filled.path).raw
