"""Bulk deletion: the cards that were meant, all of them, none besides, and all back by one undo."""

from __future__ import annotations

import pytest

from alaya_core.errors import UsageError
from alaya_core.models.requests import Filters
from tests.conftest import Clock
from tests.core.homes import ledger_lines


def titles(memory, **filters) -> set[str]:
    return {row.title for row in memory.list_cards(Filters(archived=True, **filters)).cards}


@pytest.fixture
def filled(memory, clock: Clock):
    """Cards `old x`, `old y` (archived), a day later `new x` and `new y`; x is of project:x."""
    for when in ("old", "new"):
        for scope in ("project:x", "global"):
            memory.capture(f"{when} {scope[-1]}", title=f"{when} {'x' if scope != 'global' else 'y'}", scope=scope)
        clock.advance(days=1)
    memory.archive(next(row.card_id for row in memory.list_cards(Filters()).cards if row.title == "old y"))
    return memory


def test_nothing_named_is_refused(filled):
    with pytest.raises(UsageError, match="every card would go"):
        filled.delete_bulk(scope=None, before=None, done=True)
    assert len(titles(filled)) == 4


def test_without_being_told_to_it_only_says_which(filled, home):
    before = len(ledger_lines(home))
    answer = filled.delete_bulk(scope="project:x", before=None)
    assert (answer.done, answer.run, set(answer.titles)) == (False, None, {"old x", "new x"})
    assert len(ledger_lines(home)) == before


@pytest.mark.parametrize(
    ("scope", "days", "gone"),
    [
        ("project:x", None, {"old x", "new x"}),
        (None, 1.5, {"old x", "old y"}),
        ("project:x", 1.5, {"old x"}),
        ("project:nowhere", None, set()),
        (None, 400, set()),
    ],
)
def test_what_fits_goes_and_one_undo_brings_it_back(filled, clock, scope, days, gone):
    everything = titles(filled)
    before = None if days is None else clock() - int(days * 86_400_000)
    answer = filled.delete_bulk(scope=scope, before=before, done=True)
    assert set(answer.titles) == gone
    assert titles(filled) == everything - gone
    assert (answer.run is None) == (not gone)
    if answer.run:
        filled.undo(run=answer.run)
        assert titles(filled) == everything
        assert titles(filled, scope=("global",)) == {"old y", "new y"}


def test_the_moment_itself_is_not_before_it(filled, clock):
    [made] = [row.created_at for row in filled.list_cards(Filters()).cards if row.title == "new y"]
    assert "new y" not in filled.delete_bulk(scope=None, before=made).titles
    assert "new y" in filled.delete_bulk(scope=None, before=made + 1).titles


def test_pinned_cards_stay_and_that_is_said(filled):
    kept = next(row.card_id for row in filled.list_cards(Filters()).cards if row.title == "old x")
    filled.pin(kept)
    answer = filled.delete_bulk(scope="project:x", before=None, done=True)
    assert answer.titles == ["new x"]
    assert "1 pinned card stays" in answer.note
    assert "old x" in titles(filled)


def test_an_agent_reaches_only_what_it_sees(filled, open_memory):
    filled.capture("mine", title="mine", scope="agent:me")
    agent = open_memory(agent="me")
    with pytest.raises(UsageError, match="cannot see"):
        agent.delete_bulk(scope="project:x", before=None, done=True)
    answer = agent.delete_bulk(scope=None, before=2**45, done=True)
    assert set(answer.titles) == {"old y", "new y", "mine"}
    assert titles(filled) == {"old x", "new x"}


def test_a_scope_that_is_none(filled):
    with pytest.raises(UsageError, match="not a scope"):
        filled.delete_bulk(scope="everything", before=None)


def test_many_cards_are_one_run(memory, home):
    for number in range(7):
        memory.capture(f"card {number}", scope="custom:heap")
    answer = memory.delete_bulk(scope="custom:heap", before=None, done=True)
    lines = [line for line in ledger_lines(home) if line["run"] == answer.run]
    assert sum(len(line["events"]) for line in lines) == 7
    assert {line["actor"] for line in lines} == {"human"}
