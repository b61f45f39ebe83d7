"""What comes out when something breaks or is told to stop: one line, the right status, a traceback only on request."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from alaya_core.errors import BusyError, ProviderRefusedError
from alaya_core.progress import CancelledError
from alaya_tui.headless.diagnostics import describe
from alaya_tui.headless.run import guarded
from tests.contracts.cli_runner import environment

LONG_WORK = """
import sys, time
from alaya_tui.headless.diagnostics import Interrupts
from alaya_tui.headless.run import guarded

def work(session):
    with interrupts.cancelling() as token:
        print("ready", flush=True)
        while True:
            time.sleep(0.01)
            if sys.argv[1] == "obeys":
                token.check()

interrupts = Interrupts()
with interrupts.installed():
    sys.exit(guarded([], work))
"""


def broken(_: object) -> int:
    raise KeyError("\x1b[31mx")


def test_an_unforeseen_failure_is_one_line_and_status_1(capsys):
    assert guarded([], broken) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("alaya: internal error: KeyError:")
    assert "Traceback" not in err
    assert "\x1b" not in err


def test_verbose_adds_the_traceback(capsys):
    assert guarded(["--verbose"], broken) == 1
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "\x1b" not in err


def test_with_json_it_is_an_envelope(capsys):
    assert guarded(["list", "--json"], broken) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["error"]["code"] == "internal"
    assert err == ""


@pytest.mark.parametrize(
    ("error", "code", "status", "retryable"),
    [
        (BusyError("x"), "busy", 5, True),
        (ProviderRefusedError("x"), "provider_refused", 4, False),
        (CancelledError("x"), "cancelled", 130, False),
        (KeyboardInterrupt(), "cancelled", 130, False),
        (PermissionError(13, "Permission denied", "/h/config.json"), "failed", 1, False),
        (RuntimeError("x"), "internal", 1, False),
    ],
)
def test_every_exception_has_its_status(error, code, status, retryable):
    failure = describe(error)
    assert (failure.code, failure.status, failure.retryable) == (code, status, retryable)


def test_a_file_that_cannot_be_read_is_named():
    assert describe(PermissionError(13, "Permission denied", "/h/x")).message == "/h/x: Permission denied"


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(("how", "signals", "told"), [("obeys", 1, "alaya: cancelled"), ("deaf", 2, "alaya: stopped")])
def test_ctrl_c_asks_first_and_insists_then(how, signals, told):
    process = subprocess.Popen(
        [sys.executable, "-c", LONG_WORK, how], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    first = process.stderr.readline()
    assert b"stopping after this step" in first
    if signals == 2:
        process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert told in err.decode()
    assert "Traceback" not in err.decode()
