"""Trace: from a card to the very turns it came from, whatever became of their log."""

from __future__ import annotations

from pathlib import Path

import pytest

from alaya_core.errors import NotFoundError
from alaya_core.memory import Memory
from alaya_core.models.answers import TraceSession, TraceTurn
from alaya_core.models.requests import RecallOptions
from tests.conftest import OpenMemory
from tests.core.homes import TALK, kinds, session, write
from tests.core.services.conftest import Learned
from tests.core.services.test_service_ingest import take

SECRET = "sk-proj-" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"


def card_of(memory: Memory, word: str) -> str:
    """The distilled card whose text holds a word."""
    return next(
        row.card_id
        for row in memory.list_cards(limit=500).cards
        if row.origin == "rules" and word in memory.show(row.card_id).card.content
    )


def only(memory: Memory, card: str, **options: bool) -> TraceSession:
    [found] = memory.trace(card, **options).sessions
    return found


def relevant(found: TraceSession) -> list[TraceTurn]:
    return [turn for turn in found.turns if turn.relevant]


def test_a_card_leads_to_the_turn_it_came_from(learned: Learned) -> None:
    found = only(learned.memory, card_of(learned.memory, "db-7"))
    assert (found.session_id, found.channel, found.agent, found.total) == ("talk-1", "cli", "main", 8)
    assert (learned.memory.home / "raw/sessions/2026-11/talk-1.json").samefile(found.path)
    assert TALK[0] in [turn.content for turn in relevant(found)]
    assert [turn.relevant for turn in found.turns] == [True] * len(found.turns)
    assert all(TALK[turn.turn] == turn.content for turn in found.turns)


def test_in_full_the_whole_session_with_its_own_turns_marked(learned: Learned) -> None:
    card = card_of(learned.memory, "db-7")
    own = {turn.turn for turn in only(learned.memory, card).turns}
    found = only(learned.memory, card, full=True)
    assert [turn.content for turn in found.turns] == list(TALK)
    assert {turn.turn for turn in relevant(found)} == own
    assert len(own) < len(TALK)


def test_every_distilled_card_can_be_traced(learned: Learned) -> None:
    assert learned.distilled
    for card in learned.distilled:
        assert relevant(only(learned.memory, card))


def test_a_card_by_hand_came_from_nowhere(learned: Learned) -> None:
    assert learned.memory.trace(learned.tabs).sessions == []
    with pytest.raises(NotFoundError):
        learned.memory.trace("card-ffffffff")


def test_secrets_are_masked_unless_revealed(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory()
    said = [f"Remember: the api key of staging is {SECRET} and it never expires.", "Noted.", *TALK]
    take(memory, write(tmp_path / "s.json", session("s", said)))
    memory.distill()
    cards = [row.card_id for row in memory.list_cards().cards if "staging" in memory.show(row.card_id).card.content]
    traces = [memory.trace(card, full=True) for card in cards]
    assert traces
    for answer in traces:
        assert SECRET not in answer.model_dump_json()
        assert answer.masked
    assert SECRET in memory.trace(cards[0], full=True, reveal=True).model_dump_json()
    assert SECRET.encode() not in b"".join(path.read_bytes() for path in (memory.home / "raw/contexts").iterdir())
    assert SECRET.encode() not in b"".join(path.read_bytes() for path in (memory.home / "raw/ledger").glob("*.jsonl"))


LONG = [*(f"Just some small talk about topic {n}, nothing else." for n in range(20)), TALK[0], "Noted."]


@pytest.fixture
def repaired(open_memory: OpenMemory, tmp_path: Path) -> tuple[Memory, str, Path]:
    """A memory with a card that came from turn 20 of a long session, its id, and the session's file."""
    memory = open_memory()
    path = write(tmp_path / "s.json", session("s", LONG))
    take(memory, path)
    memory.distill()
    card = card_of(memory, "db-7")
    assert 20 in [turn.turn for turn in only(memory, card).turns]
    return memory, card, path


def retake(memory: Memory, path: Path, texts: list[str]) -> None:
    """The log comes again, repaired from turn 18 on; the turns before are the same."""
    value = session("s", texts)
    for turn in value["turns"]:
        if turn["content"] == TALK[0]:
            turn["timestamp"] = session("s", LONG)["turns"][20]["timestamp"]
    [outcome] = take(memory, write(path, value)).sessions
    assert (outcome.status, outcome.session_id) == ("grown", "s"), outcome


def test_a_turn_that_moved_is_found_where_it_is_now(repaired: tuple[Memory, str, Path]) -> None:
    memory, card, path = repaired
    retake(memory, path, [*LONG[:18], "A line that was lost.", "And another one.", "A third.", *LONG[18:]])
    [turn] = [turn for turn in relevant(only(memory, card)) if turn.content == TALK[0]]
    assert (turn.turn, turn.moved_from) == (23, 20)
    [turn] = [turn for turn in relevant(only(memory, card, full=True)) if turn.content == TALK[0]]
    assert turn.turn == 23


def test_a_turn_that_the_repair_took_away_is_shown_as_it_was(repaired: tuple[Memory, str, Path]) -> None:
    memory, card, path = repaired
    retake(memory, path, [*LONG[:18], *(f"Something else entirely, number {n}." for n in range(6))])
    for full in (False, True):
        shown = [turn.content for turn in relevant(only(memory, card, full=full))]
        assert TALK[0] in shown, full
        assert not [text for text in shown if text.startswith("Something else")], full


@pytest.mark.parametrize("damage", ["gone", "garbage", "cut", "one turn"])
def test_a_session_that_is_gone_still_gives_the_turns_of_its_cards(learned: Learned, damage: str) -> None:
    memory = learned.memory
    card = card_of(memory, "db-7")
    before = {(turn.turn, turn.role, turn.content) for turn in only(memory, card).turns}
    path = memory.home / "raw/sessions/2026-11/talk-1.json"
    data = path.read_bytes()
    if damage == "gone":
        path.unlink()
    elif damage == "garbage":
        path.write_bytes(b"\x00garbage")
    elif damage == "cut":
        path.write_bytes(data[:150])
    else:
        path.write_bytes(data.replace(b'"content": "Remember', b'"content" "Remember!'))
    found = only(memory, card)
    assert {(turn.turn, turn.role, turn.content) for turn in found.turns} == before
    assert found.missing
    assert found.session_id == "talk-1"
    answer = memory.recall("db-7 staging database", RecallOptions(context=True))
    assert card in [hit.card_id for hit in answer.results]
    assert not [said for said in answer.degraded if "graph" in said]
    assert kinds(memory.verify()) & {"session_missing", "session_differs"}


def test_without_its_context_a_card_is_traced_by_its_session(learned: Learned) -> None:
    memory = learned.memory
    card = card_of(memory, "db-7")
    for path in (memory.home / "raw/contexts").iterdir():
        path.unlink()
    assert TALK[0] in [turn.content for turn in only(memory, card).turns]
    assert kinds(memory.verify()) == {"context_missing"}
    assert memory.verify(fix=True, yes=True).ok
    assert kinds(memory.verify()) == set()
    (memory.home / "raw/sessions/2026-11/talk-1.json").unlink()
    assert TALK[0] in [turn.content for turn in only(memory, card).turns]


def test_recall_brings_the_turns_of_a_hit(learned: Learned) -> None:
    answer = learned.memory.recall("staging database port", RecallOptions(context=True, within="cards"))
    context = {hit.card_id: hit.context for hit in answer.results}[card_of(learned.memory, "db-7")]
    assert context is not None
    assert TALK[0] in [turn.content for turn in context]
