"""Every file of the example data through the whole engine: what comes in is counted, comes in once, and is sound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from alaya_core.memory import Memory
from alaya_core.models.answers import IngestReport
from tests.conftest import Clock
from tests.core.homes import ledger_lines

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"

COUNTS = {
    "sessions": {"new": 25, "turns": 2055, "new_turns": 2055, "skipped_lines": 15, "passed_over": 1},
    # Of the invented ones a session lies there twice as file and database, and one four times as seed.
    "invented": {"new": 12, "unchanged": 4, "turns": 97, "new_turns": 75, "skipped_lines": 12, "passed_over": 26},
}
TURNS = {
    "ses_stage0_small": (13, 8),
    "019fc8be-3658-7ca3-9e29-000000000000": (27, 0),
    "openclaw-stage0-drift": (4, 1),
    "edge_cases": (12, 6),
    "ffae836b-9420-4060-ac13-7745215f90ff": (992, 0),
    "d703a1a9-1b7b-4fb1-b512-c9738b1fe617": (914, 0),
    "66666666-2222-4333-8444-555555555555": (30, 11),
    "11111111-2222-4333-8444-555555555555": (17, 0),
    "cc-1": (10, 0),
    "019b-x": (7, 0),
    "session-20260331-062900": (2, 0),
    "session-20260331-062901": (2, 0),
    "../../etc/passwd": (1, 0),
}
"""Some of the sessions: turns, and lines that could not be read."""


@dataclass(frozen=True)
class Taken:
    """All of the data, taken in once."""

    memory: Memory
    reports: dict[str, IngestReport]


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Taken]:
    for folder in COUNTS:
        if not (DATA / folder).is_dir():
            pytest.skip(f"the example data is not at {DATA / folder}")
    home = tmp_path_factory.mktemp("data") / "home"
    with Memory.open(home, clock=Clock(), environ={}, create=True) as memory:
        yield Taken(memory, {folder: memory.ingest([DATA / folder]) for folder in COUNTS})


def test_everything_is_counted(taken: Taken) -> None:
    assert {folder: report.counts for folder, report in taken.reports.items()} == COUNTS
    known = {
        outcome.session_id: (outcome.turns, outcome.skipped_count)
        for report in taken.reports.values()
        for outcome in report.sessions
        if outcome.status == "new"
    }
    assert {name: known.get(name) for name in TURNS} == TURNS
    assert all(passed.reason for report in taken.reports.values() for passed in report.passed_over)


def test_the_ledger_and_every_layer_hold_as_much(taken: Taken) -> None:
    events = [event for line in ledger_lines(taken.memory.home) for event in line["events"]]
    assert {event["kind"] for event in events} == {"session.ingested"}
    assert sum(event["session"]["turns"] for event in events) == 2055 + 75
    assert sum(event["skipped"] for event in events) == 15 + 11
    status = taken.memory.status()
    assert (status.raw.sessions, status.raw.turns) == (37, 2130)
    assert status.vectors.passages > 1_500


def test_a_second_time_changes_nothing(taken: Taken) -> None:
    before = ledger_lines(taken.memory.home)
    for folder, counts in COUNTS.items():
        again = taken.memory.ingest([DATA / folder])
        assert {outcome.status for outcome in again.sessions} == {"unchanged"}
        assert again.counts["new_turns"] == 0
        assert again.counts["unchanged"] == counts["new"] + counts.get("unchanged", 0)
    assert ledger_lines(taken.memory.home) == before


def test_all_of_it_is_sound(taken: Taken) -> None:
    answer = taken.memory.verify()
    assert answer.ok, answer.findings
    root = (taken.memory.home / "raw/sessions").resolve()
    paths = [outcome.path for report in taken.reports.values() for outcome in report.sessions]
    assert all((taken.memory.home / path).resolve().is_relative_to(root) for path in paths)


def test_what_was_said_is_found_where_it_was_said(taken: Taken) -> None:
    best = taken.memory.recall("为什么没收到 Gateway 重启通知").passages[0]
    assert (best.session_id, best.turn) == ("11111111-2222-4333-8444-555555555555", 0)
