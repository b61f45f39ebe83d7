"""`introspect` and `review` on the command line: what scripts and cron see."""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path

import pytest

from alaya_core.memory import Memory
from alaya_core.stores.locking import HomeLocks
from tests.conftest import Clock
from tests.contracts.cli_runner import alaya, batch, finish, start
from tests.core.introspect.tidy_home import untidy


@pytest.fixture
def untidied(home: Path, tmp_path: Path) -> Path:
    """A home with something to do; its clock stands where the machine's does when the run begins."""
    clock = Clock(int(time.time() * 1000) - 400 * 86_400_000)
    with Memory.open(home, clock=clock, environ={}, create=True) as memory:
        untidy(memory, clock, tmp_path)
    return home


def test_a_dry_run_a_run_its_events_and_what_waits(untidied: Path) -> None:
    planned, ran, runs, watched, shown, review, wrong, again = batch(
        [
            ["introspect", "--dry-run", "--json"],
            ["introspect", "--json"],
            ["introspect", "--list", "--json"],
            ["introspect", "--watch", "--json"],
            ["introspect", "--watch"],
            ["review", "--json"],
            ["review", "accept"],
            ["introspect"],
        ],
        untidied,
    )
    assert (planned.status, planned.data["dry_run"], planned.data["run"]) == (0, True, "")
    assert [phase["status"] for phase in planned.data["phases"]] == ["planned"] * 6
    report = ran.data
    assert (ran.status, report["status"]) == (0, "done")
    assert [run["run"] for run in runs.data["runs"]] == [report["run"]]
    lines = [json.loads(line) for line in watched.text.splitlines()]
    assert lines[-1] == report
    assert [line["phase"] for line in lines[:-1] if line["kind"] == "phase"] == [p["phase"] for p in report["phases"]]
    assert report["run"] in shown.text
    assert review.data["items"] == []
    assert wrong.status == 2
    assert "Introspection complete" in again.text


def test_an_unknown_phase_is_refused(untidied: Path) -> None:
    assert alaya("introspect", "--phase", "sleep", home=untidied).status == 2


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGTERM")
def test_a_run_that_is_told_to_end_ends_with_a_report(untidied: Path) -> None:
    locks = HomeLocks(untidied / "locks", 10.0)
    with locks.writing("test"):  # it waits for the pen, so that it is surely at work when the signal comes
        process = start("introspect", "--json", home=untidied)
        while not list((untidied / "runs").glob("*.jsonl")):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
    done = finish(process)
    assert done.status == 130
    assert done.data["status"] == "cancelled"
    assert alaya("verify", "--json", home=untidied).data["ok"]
    assert alaya("introspect", "--json", home=untidied).data["status"] == "done"
