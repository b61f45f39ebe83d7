"""The memory in numbers, and whether somebody should tidy it."""

from __future__ import annotations

import pytest

from alaya_core.clock import DAY_MS, HOUR_MS
from alaya_core.models.requests import IntrospectOptions
from alaya_core.services.stats import band_of, overdue
from tests.conftest import NOON
from tests.core.homes import write


def test_an_empty_memory(memory):
    answer = memory.stats()
    assert (answer.total, answer.active, answer.archived, answer.last_run) == (0, 0, 0, None)
    assert answer.by_importance == {"critical": 0, "high": 0, "medium": 0, "low": 0}


def test_each_card_is_counted_once(memory):
    made = [
        memory.capture("a", type="fact", importance=1.0),
        memory.capture("b", type="fact", importance=0.9, scope="project:x"),
        memory.capture("c", type="belief", importance=0.7),
        memory.capture("d", type="summary", importance=0.4),
        memory.capture("e", type="summary", importance=0.39),
    ]
    memory.archive(made[0].card.card_id)
    memory.forget(made[4].card.card_id)
    answer = memory.stats()
    assert (answer.total, answer.active, answer.archived) == (4, 3, 1)
    assert answer.by_type == {"fact": 2, "belief": 1, "summary": 1}
    assert answer.by_importance == {"critical": 2, "high": 1, "medium": 1, "low": 0}
    assert answer.by_standing == {"core": 0, "working": 3, "peripheral": 0}
    assert answer.by_scope == {"global": 3, "project:x": 1}


def test_an_agent_counts_what_it_sees(memory, open_memory):
    memory.capture("a")
    memory.capture("b", scope="agent:other")
    memory.capture("c", scope="agent:me")
    answer = open_memory(agent="me").stats()
    assert (answer.total, answer.by_scope) == (2, {"global": 1, "agent:me": 1})


def test_the_next_run_is_that_of_the_schedule(memory, home, open_memory):
    write(home / "config.json", {"introspect": {"schedule": "*/10 * * * *"}})
    assert open_memory().stats().next_run == NOON + 10 * 60_000


def test_a_schedule_that_is_none_is_said(memory, home, open_memory):
    write(home / "config.json", {"introspect": {"schedule": "whenever"}})
    memory = open_memory()
    assert memory.stats().next_run is None
    assert any("introspect.schedule: 'whenever'" in notice for notice in memory.notices)


def test_the_last_run_is_that_of_all_phases(memory, clock):
    memory.introspect(IntrospectOptions(phases=("cool-down",)))
    assert memory.stats().last_run is None
    clock.advance(hours=1)
    memory.introspect(IntrospectOptions())
    assert memory.stats().last_run == clock()


@pytest.mark.parametrize(
    ("importance", "band"),
    [(1.0, "critical"), (0.9, "critical"), (0.89, "high"), (0.7, "high"), (0.4, "medium"), (0.3, "low"), (0.0, "low")],
)
def test_bands(importance, band):
    assert band_of(importance) == band


def test_overdue():
    now = NOON
    assert overdue(None, None, now, 48) == ""
    assert overdue(now - 47 * HOUR_MS, now - 90 * DAY_MS, now, 48) == ""
    assert overdue(now - 49 * HOUR_MS, now - 90 * DAY_MS, now, 48).startswith("introspect ended last 2 days ago")
    assert overdue(None, now - 47 * HOUR_MS, now, 48) == ""
    assert overdue(None, now - 3 * DAY_MS, now, 48).startswith("no introspect ran in 3 days")
    assert overdue(now - 30 * HOUR_MS, now - DAY_MS, now, 24).startswith("introspect ended last 30 hours ago")
    assert overdue(now - 30 * DAY_MS, None, now, 48) == ""
    assert overdue(now + DAY_MS, now, now, 48) == ""
