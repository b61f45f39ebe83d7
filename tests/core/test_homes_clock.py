"""Clocks that go back or change: the order of things is that of the ledger, and nothing is of a negative age."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from alaya_core.clock import DAY_MS, iso, local, parse_when
from alaya_core.memory import Memory
from alaya_core.models.requests import CardChanges, Filters, RecallOptions
from tests.conftest import NOON, Clock, OpenMemory
from tests.core.homes import ledger_lines

WORDS = RecallOptions(vectors=False)


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def alive(memory: Memory) -> None:
    """Whatever the clock says, every card has a temperature, a tier and no negative age."""
    for row in memory.list_cards(Filters(archived=True)).cards:
        assert 0.0 <= row.temperature <= 1.0
        shown = memory.show(row.card_id).card
        assert shown.temperature == row.temperature
        assert shown.access_count >= 0
    bands = memory.status().temperature
    assert sum(bands.values()) == memory.status().graph.cards


def test_a_clock_set_back_two_days(memory: Memory, clock: Clock, open_memory: OpenMemory) -> None:
    first = memory.capture("the gateway was seen before the clock went back").card.card_id
    memory.recall("gateway", WORDS)
    clock.advance(days=-2)
    second = memory.capture("the gateway was seen after the clock went back").card.card_id
    memory.edit(first, CardChanges(title="edited after the clock went back"))
    assert [commit.seq for commit in memory.history().commits] == [3, 2, 1]
    assert [commit.at for commit in memory.history().commits] == [clock.now, clock.now, NOON]
    assert [commit.seq for commit in memory.history(first).commits] == [3, 1]
    assert {hit.card_id for hit in memory.recall("gateway", WORDS).results} == {first, second}
    alive(memory)
    memory.cool_down()
    alive(memory)
    assert {hit.card_id for hit in memory.recall("gateway clock", WORDS).results} == {first, second}
    clock.advance(days=2, hours=1)
    memory.recall("gateway", WORDS)
    memory.cool_down()
    alive(memory)
    memory.rebuild("l2")
    assert memory.show(first).card.title == "edited after the clock went back"
    assert [line["seq"] for line in ledger_lines(memory.home)] == [1, 2, 3]
    assert open_memory().verify().ok


def test_cards_from_the_future_are_hot_and_counted_as_of_now(memory: Memory, clock: Clock) -> None:
    future = memory.capture("written by a clock that ran ahead").card.card_id
    clock.advance(days=-400)
    alive(memory)
    assert memory.show(future).card.tier == "HOT"
    assert [row.card_id for row in memory.list_cards(Filters(since=clock.now - DAY_MS)).cards] == [future]
    assert memory.list_cards(Filters(until=clock.now)).cards == []
    assert memory.cool_down() == (0, 0)
    alive(memory)


def test_the_last_change_is_the_one_with_the_highest_number(memory: Memory, clock: Clock) -> None:
    card = memory.capture("a card", title="one").card.card_id
    clock.advance(hours=5)
    memory.edit(card, CardChanges(title="two"))
    clock.advance(days=-2)
    memory.edit(card, CardChanges(title="three"))
    assert memory.undo().undone
    assert memory.show(card).card.title == "two"
    memory.undo()
    assert memory.show(card).card.title == "one"
    memory.redo()
    assert memory.show(card).card.title == "two"


@pytest.mark.parametrize(
    ("day", "begins", "ends"),
    [
        ("2026-10-25", "2026-10-24T22:00:00Z", "2026-10-25T22:59:59Z"),
        ("2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T21:59:59Z"),
        ("2026-07-01", "2026-06-30T22:00:00Z", "2026-07-01T21:59:59Z"),
        ("2026-10", "2026-09-30T22:00:00Z", "2026-10-31T22:59:59Z"),
        ("2026-03", "2026-02-28T23:00:00Z", "2026-03-31T21:59:59Z"),
        ("2026-12", "2026-11-30T23:00:00Z", "2026-12-31T22:59:59Z"),
    ],
)
@pytest.mark.usefixtures("berlin")
def test_days_and_months_over_the_change_of_clocks(day: str, begins: str, ends: str) -> None:
    assert iso(parse_when(day, NOON)) == begins
    assert iso(parse_when(day, NOON, end_of_day=True)) == ends


@pytest.mark.usefixtures("berlin")
def test_an_hour_that_is_there_twice(memory: Memory, clock: Clock) -> None:
    """02:30 summer time, then 02:30 winter time: an hour apart, in the order they were."""
    clock.now = parse_when("2026-10-25T00:30:00+00:00", 0)
    early = memory.capture("half past two, the first time").card.card_id
    clock.advance(hours=1)
    late = memory.capture("half past two, the second time").card.card_id
    assert [local(commit.at, "%H:%M") for commit in memory.history().commits] == ["02:30", "02:30"]
    assert [row.card_id for row in memory.list_cards().cards] == [late, early]
    day = Filters(since=parse_when("2026-10-25", clock.now), until=parse_when("2026-10-25", clock.now, end_of_day=True))
    assert memory.list_cards(day).total == 2
    clock.advance(hours=21)  # 23:30 on a day of 25 hours
    memory.capture("late in the evening of that day")
    assert memory.list_cards(day).total == 3
    clock.advance(hours=1)
    memory.capture("the next morning")
    assert memory.list_cards(day).total == 3
    alive(memory)
