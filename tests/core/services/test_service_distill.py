"""Distill: each session once, each card with its turns, nothing learnt twice, nothing lost when it is cut off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from alaya_core.errors import NotFoundError
from alaya_core.memory import Memory
from alaya_core.models.answers import DistillReport
from alaya_core.models.requests import Filters
from alaya_core.progress import CancelledError, CancelToken, Progress
from alaya_core.services.distill.run import distill
from tests.core.homes import START, TALK, ledger_lines, session, write
from tests.core.services.conftest import Learned
from tests.core.services.test_service_ingest import take


def learn(memory: Memory, **options: Any) -> DistillReport:
    """Without the index."""
    chosen: dict[str, Any] = {"session": None, "redo": False, "progress": lambda _: None, "cancel": None}
    return distill(memory._work, **(chosen | options))


@pytest.fixture
def taken(memory: Memory, tmp_path: Path) -> Memory:
    take(memory, write(tmp_path / "s.json", session("s1")))
    return memory


def contents(memory: Memory) -> list[str]:
    return sorted(memory.show(row.card_id).card.content for row in memory.list_cards(limit=500).cards)


def test_cards_are_made_with_their_turns_and_scope(taken: Memory) -> None:
    report = learn(taken)
    [outcome] = report.sessions
    assert (outcome.session_id, outcome.status) == ("s1", "done")
    assert report.counts["cards"] == len(outcome.cards) > 0
    for made in outcome.cards:
        card = taken.show(made.card_id)
        assert (card.card.origin, card.card.scope, card.card.source_sessions) == ("rules", "agent:main", ["s1"])
        assert (card.card.distilled_by, card.card.created_at // 60_000) == (report.distiller, START // 60_000)
        assert card.sources[0].turns
        assert (taken.home / f"raw/contexts/{made.card_id}-context.json").exists()
    assert any("db-7" in text for text in contents(taken))
    assert any("plugins.allow" in text for text in contents(taken))
    assert taken.status().raw.undistilled == 0
    lines = ledger_lines(taken.home)
    assert lines[-1]["run"].startswith("run-")
    assert lines[-1]["events"][-1]["kind"] == "session.distilled"


def test_a_session_is_distilled_once(taken: Memory) -> None:
    learn(taken)
    before = ledger_lines(taken.home)
    assert learn(taken).sessions == []
    assert ledger_lines(taken.home) == before


def test_again_makes_nothing_twice(taken: Memory) -> None:
    learn(taken)
    before = contents(taken)
    [outcome] = learn(taken, redo=True).sessions
    assert outcome.cards == []
    assert "known already" in outcome.reason
    assert contents(taken) == before


def test_of_a_grown_session_only_what_is_new(taken: Memory, tmp_path: Path) -> None:
    learn(taken)
    before = contents(taken)
    more = [*TALK, "Remember: the backup server is called otter and runs at 3 am.", "Noted."]
    take(taken, write(tmp_path / "s.json", session("s1", more)))
    assert taken.status().raw.undistilled == 1
    [outcome] = learn(taken).sessions
    assert outcome.cards
    for made in outcome.cards:
        assert min(taken.show(made.card_id).sources[0].turns) >= len(TALK)
    assert any("otter" in text for text in contents(taken))
    assert set(before) < set(contents(taken))


def test_what_was_said_in_two_sessions_is_one_card_with_both_sources(taken: Memory, tmp_path: Path) -> None:
    take(taken, write(tmp_path / "t.json", session("s2")))
    report = learn(taken)
    assert len(contents(taken)) == len(set(contents(taken)))
    made = report.sessions[0].cards[0].card_id
    assert taken.show(made).card.source_sessions == ["s1", "s2"]
    assert {found.session_id for found in taken.trace(made).sessions} == {"s1", "s2"}
    other = session("s3", agent="other")
    take(taken, write(tmp_path / "u.json", other))
    assert learn(taken).sessions[0].cards, "another agent's memory is its own"


def test_a_forgotten_card_is_not_learnt_again_into_its_place(taken: Memory) -> None:
    made = learn(taken).sessions[0].cards[0].card_id
    taken.forget(made)
    learn(taken, redo=True)
    with pytest.raises(NotFoundError):
        taken.show(made)


def test_sessions_that_say_nothing_are_skipped_with_the_reason(memory: Memory, tmp_path: Path) -> None:
    nothing = write(tmp_path / "s.json", session("empty", []))
    take(memory, nothing, write(tmp_path / "t.json", session("ok", ["ok", "thanks"])))
    outcomes = {outcome.session_id: outcome for outcome in learn(memory).sessions}
    assert outcomes["ok"].status == "skipped"
    assert outcomes["ok"].reason
    assert memory.list_cards().total == 0
    assert learn(memory).sessions == []


def test_one_session_by_its_id(taken: Memory, tmp_path: Path) -> None:
    take(taken, write(tmp_path / "t.json", session("s2")))
    assert [outcome.session_id for outcome in learn(taken, session="s2").sessions] == ["s2"]
    assert taken.status().raw.undistilled == 1
    for unknown in ("none", "x' OR 1=1 --", "", "\ud800", "a\x00"):
        with pytest.raises(NotFoundError):
            learn(taken, session=unknown)


def test_a_session_whose_file_is_gone_is_left_for_later(taken: Memory, tmp_path: Path) -> None:
    take(taken, write(tmp_path / "t.json", session("s2", TALK[:2])))
    (taken.home / "raw/sessions/2026-11/s1.json").unlink()
    outcomes = {outcome.session_id: outcome.status for outcome in learn(taken).sessions}
    assert outcomes == {"s1": "retry", "s2": "done"}
    assert taken.status().raw.undistilled == 1


def test_what_was_done_before_it_was_cancelled_stays(taken: Memory, tmp_path: Path) -> None:
    second = write(tmp_path / "t.json", session("s2", agent="b"))
    take(taken, second, write(tmp_path / "u.json", session("s3", agent="c")))
    token = CancelToken()

    def stop_at_second(step: Progress) -> None:
        if step.done == 1:
            token.cancel()

    with pytest.raises(CancelledError):
        learn(taken, progress=stop_at_second, cancel=token)
    assert taken.status().raw.undistilled in (1, 2)
    assert taken.list_cards().total > 0
    learn(taken)
    assert taken.status().raw.undistilled == 0


def test_distilled_cards_are_found_and_linked(learned: Learned) -> None:
    assert learned.memory.list_cards(Filters(origin=("rules",))).total == len(learned.distilled)
    assert learned.memory.list_cards(Filters(session="talk-1")).total == len(learned.distilled)
    assert learned.memory.verify().ok
