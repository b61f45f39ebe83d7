"""Filters from end to end: each leaves out what it says before anything is cut, and says what it left out."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from alaya_core.clock import DAY_MS
from alaya_core.errors import AmbiguousIdError, NotFoundError, UsageError
from alaya_core.memory import Memory
from alaya_core.models.card import Card, SourceRef
from alaya_core.models.card_types import CardType
from alaya_core.models.commit import card_created
from alaya_core.models.requests import Filters, RecallOptions
from tests.conftest import NOON, OpenMemory
from tests.core.homes import session, write
from tests.core.services.conftest import AsAgent, Learned
from tests.core.services.test_service_ingest import take

QUERY = "gateway restart"


def card(number: int, **fields: Any) -> Card:
    made = Card(
        id=f"card-{number:08x}{'0' * 24}",
        title=f"Gateway {number}",
        content=f"The gateway restart number {number} went well.",
        type=CardType.FACT,
        created_at=NOON,
        added_at=NOON,
        updated_at=NOON,
    )
    return replace(made, **fields)


@pytest.fixture
def shelf(memory: Memory) -> Memory:
    """Five cards about one thing, one of them an agent's own."""
    cards = [
        card(1, tags=("deploy",), entities=("Gateway",), importance=0.9, type=CardType.GOTCHA),
        card(2, tags=("deploy", "ops"), importance=0.6, origin="rules"),
        card(3, tags=("Vault",), importance=0.3, created_at=NOON - 90 * DAY_MS),
        card(4, scope="project:p", origin="memex", importance=0.5),
        card(5, scope="agent:other", tags=("turquoise",)),
    ]
    memory._work.commit("test", lambda _: [card_created(each) for each in cards])
    return memory


def found(memory: Memory, **filters: Any) -> set[int]:
    """The numbers of the cards that both a recall and a list find, which must be the same."""
    wanted = Filters(**filters)
    hits = memory.recall(QUERY, RecallOptions(filters=wanted, within="cards")).results
    rows = memory.list_cards(wanted).cards
    assert {hit.card_id for hit in hits} == {row.card_id for row in rows}
    return {int(hit.card_id[5:13], 16) for hit in hits}


def test_every_filter_in_recall_and_in_a_list(shelf: Memory) -> None:
    assert found(shelf) == {1, 2, 3, 4, 5}
    assert found(shelf, scope=("project:p", "agent:other")) == {4, 5}
    assert found(shelf, type=("gotcha",)) == {1}
    assert found(shelf, tag=("ops", "Vault")) == {2, 3}
    assert found(shelf, tier=("COLD",)) == set()
    assert found(shelf, standing=("working",)) == {1, 2, 3, 4, 5}
    assert found(shelf, origin=("rules", "memex")) == {2, 4}
    assert found(shelf, without_origin=("memex", "rules")) == {1, 3, 5}
    assert found(shelf, entity=("Gateway",)) == {1}
    assert found(shelf, since=NOON - DAY_MS) == {1, 2, 4, 5}
    assert found(shelf, until=NOON - DAY_MS) == {3}
    assert found(shelf, importance=0.6) == {1, 2}
    assert found(shelf, importance=0.0) == {1, 2, 3, 4, 5}
    assert found(shelf, importance=0.5, without_origin=("memex",), tag=("deploy",)) == {1, 2}


@pytest.mark.parametrize("sort", ["recent", "hottest"])
def test_pages_of_important_cards_add_up(shelf: Memory, sort: str) -> None:
    pages = [shelf.list_cards(Filters(importance=0.5), sort=sort, limit=2, offset=at) for at in (0, 2)]
    assert [len(page.cards) for page in pages] == [2, 2]
    assert {page.total for page in pages} == {4}


def test_what_is_not_a_number_lets_nothing_through(shelf: Memory) -> None:
    wanted = RecallOptions(filters=Filters(importance=float("nan")))
    assert shelf.recall(QUERY, wanted).results == []


def test_filters_are_judged_before_the_cut(memory: Memory) -> None:
    better = [
        card(n, content="gateway restart " * 3, title="gateway restart", origin="memex", importance=0.1)
        for n in range(1, 301)
    ]
    seen = [card(n, content=f"A restart of a gateway, seen once in room {n}.") for n in (901, 902, 903)]
    memory._work.commit("test", lambda _: [card_created(each) for each in (*better, *seen)])
    want = {each.id for each in seen}
    without = memory.recall(QUERY, max_results=5, include_memex=False)
    assert {hit.card_id for hit in without.results} == want
    important = memory.recall(QUERY, RecallOptions(limit=5, filters=Filters(importance=0.4)))
    assert {hit.card_id for hit in important.results} == want


def test_plain_arguments_of_recall(learned: Learned) -> None:
    memory, query = learned.memory, "staging database db-7 kubernetes tabs go"
    assert len(memory.recall(query, max_results=1).results) == 1
    assert memory.recall(query, max_results=0).results == []
    assert memory.recall(query).passages
    assert memory.recall(query, include_sessions=False).passages == []
    wanted = RecallOptions(limit=1, filters=Filters(origin=("human",)))
    both = memory.recall("docker container memory, go code gofmt tabs", wanted, max_results=2)
    assert {hit.card_id for hit in both.results} == {learned.docker, learned.tabs}
    with pytest.raises(UsageError):
        memory.recall(query, RecallOptions(within="passages"), include_sessions=False)
    with pytest.raises(UsageError):
        memory.recall(query, max_results=-1)


def test_an_emptied_answer_says_which_filter_to_drop(shelf: Memory) -> None:
    wanted = Filters(type=("gotcha",), tag=("ops",))
    assert shelf.recall(QUERY, RecallOptions(filters=wanted)).filtered.without == {"type": 1, "tag": 1, "all": 5}
    assert shelf.list_cards(wanted).without == {"type": 1, "tag": 1, "all": 5}
    one = Filters(tier=("COLD",))
    assert shelf.recall(QUERY, RecallOptions(filters=one)).filtered.without == {"tier": 5, "all": 5}
    assert shelf.list_cards(one).without == {"tier": 5, "all": 5}
    three = Filters(type=("gotcha",), importance=0.95, until=NOON - DAY_MS)
    counts = {"type": 0, "importance": 0, "until": 0, "all": 5}
    assert shelf.recall(QUERY, RecallOptions(filters=three)).filtered.without == counts
    nothing = shelf.recall("zebra crossing paint", RecallOptions(filters=Filters(type=("event",)), vectors=False))
    assert nothing.filtered.without == {"type": 0, "all": 0}


def test_an_answer_that_is_not_empty_and_one_without_filters_count_nothing(shelf: Memory) -> None:
    assert shelf.recall(QUERY, RecallOptions(filters=Filters(type=("gotcha",)))).filtered.without == {}
    assert shelf.list_cards(Filters(type=("gotcha",))).without == {}
    assert shelf.recall("zebra crossing paint", RecallOptions(vectors=False)).filtered.without == {}
    typing = RecallOptions(filters=Filters(type=("event",)), typed=True)
    assert shelf.recall(QUERY, typing).filtered.without == {}, "not at every keystroke"


def test_passages_are_counted_among_what_filters_left_out(learned: Learned) -> None:
    query = "staging database db-7 port"
    wanted = Filters(session="talk-1", until=1)
    both = learned.memory.recall(query, RecallOptions(filters=wanted)).filtered.without
    passages = learned.memory.recall(query, RecallOptions(filters=wanted, within="passages")).filtered.without
    cards = learned.memory.recall(query, RecallOptions(filters=wanted, within="cards")).filtered.without
    assert passages["until"] > 0
    assert cards["until"] > 0
    assert both["until"] == passages["until"] + cards["until"]
    scoped = RecallOptions(filters=Filters(scope=("global",)), within="passages")
    counts = learned.memory.recall(query, scoped).filtered.without
    assert counts["scope"] == counts["all"] > 0
    scoped = RecallOptions(filters=Filters(scope=("agent:main",), until=1), within="passages")
    counts = learned.memory.recall(query, scoped).filtered.without
    assert (counts["scope"], counts["until"]) == (0, counts["all"])


def test_passages_alone_say_which_filters_they_cannot_meet(learned: Learned) -> None:
    wanted = RecallOptions(filters=Filters(type=("fact",), session="talk-1"), within="passages")
    answer = learned.memory.recall("staging database", wanted)
    assert answer.passages
    assert answer.filtered.notes == ["passages are not filtered by type: only cards have that"]


def test_counts_and_names_tell_nothing_of_what_is_hidden(shelf: Memory, open_memory: OpenMemory) -> None:
    agent = open_memory(agent="main")
    wanted = Filters(tag=("turquois",))
    asked = RecallOptions(within="cards", filters=wanted)
    assert agent.recall(QUERY, asked).filtered.without == agent.list_cards(wanted).without == {"tag": 3, "all": 3}
    for notes in (agent.recall(QUERY, asked).filtered.notes, agent.list_cards(wanted).notes):
        assert notes == ["no card has tag 'turquois'"]
    for notes in (shelf.recall(QUERY, asked).filtered.notes, shelf.list_cards(wanted).notes):
        assert notes == ["no card has tag 'turquois'; close: turquoise"]


def test_what_only_cards_have_leaves_passages_out_and_says_so(shelf: Memory) -> None:
    both = shelf.recall(QUERY, RecallOptions(filters=Filters(type=("fact",)))).filtered.notes
    assert both == ["no passages were looked for: only cards have type"]
    assert shelf.recall(QUERY).filtered.notes == []


def test_names_that_no_card_has_are_told_beside_what_was_found(shelf: Memory) -> None:
    wanted = Filters(tag=("deploy", "vault", "zzz"))
    notes = ["no card has tag 'vault'; close: Vault", "no card has tag 'zzz'"]
    answer = shelf.recall(QUERY, RecallOptions(within="cards", filters=wanted))
    assert len(answer.results) == 2
    assert answer.filtered.notes == notes
    assert shelf.list_cards(wanted).notes == notes
    assert shelf.list_cards(Filters(entity=("Gatewy",))).notes == ["no card has entity 'Gatewy'; close: Gateway"]
    assert shelf.list_cards(Filters(tag=("ops",))).notes == []
    apart = Filters(tag=("ops",), type=("gotcha",))
    assert shelf.recall(QUERY, RecallOptions(within="cards", filters=apart)).filtered.notes == [], (
        "there is such a card, not this one"
    )


def test_a_session_by_its_beginning(learned: Learned, as_agent: AsAgent, tmp_path: Any) -> None:
    memory = learned.memory
    for name in ("2026-11-30-alpha", "2026-11-30-beta"):
        take(memory, write(tmp_path / f"{name}.json", session(name, ["One walrus."])))
    assert memory.session_id("talk-1") == "talk-1"
    assert memory.session_id("2026-11-30-a") == "2026-11-30-alpha"
    with pytest.raises(AmbiguousIdError, match="2026-11-30-alpha, 2026-11-30-beta"):
        memory.session_id("2026-11-30")
    with pytest.raises(NotFoundError) as refused:
        memory.session_id("2026")
    assert "2026-11-30-alpha" in refused.value.hint
    with pytest.raises(NotFoundError) as hidden:
        as_agent("stranger").session_id("2026-11-30")
    assert "alpha" not in hidden.value.message + hidden.value.hint
    assert as_agent("main").session_id("2026-11-30-a") == "2026-11-30-alpha"


def test_a_session_that_only_cards_know_can_be_named(memory: Memory) -> None:
    memory._work.commit("test", lambda _: [card_created(card(1, sources=(SourceRef("elsewhere", (0,)),)))])
    assert memory.session_id("elsewhere") == "elsewhere"


def test_any_mix_of_filters_agrees_with_a_look_at_every_card(shelf: Memory) -> None:
    chance = random.Random(7)
    everything = shelf.list_cards(limit=100).cards
    for _ in range(12):
        least, kinds = chance.choice([None, 0.4, 0.6]), chance.choice([(), ("fact",), ("fact", "gotcha")])
        origins, without = chance.choice([(), ("human",)]), chance.choice([(), ("memex",), ("human",)])
        expected = {
            int(row.card_id[5:13], 16)
            for row in everything
            if (least is None or row.importance >= least)
            and (not kinds or row.type in kinds)
            and (not origins or row.origin in origins)
            and row.origin not in without
        }
        wanted = {"importance": least, "type": kinds, "origin": origins, "without_origin": without}
        assert found(shelf, **wanted) == expected, wanted
