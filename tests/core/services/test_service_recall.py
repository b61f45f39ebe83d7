"""Recall from end to end: found by words or meaning, explained, filtered, scoped, and degraded one leg at a time."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from alaya_core.memory import Memory
from alaya_core.models.answers import RecallAnswer
from alaya_core.models.requests import CardChanges, Filters, RecallOptions
from alaya_core.stores.locking import HomeLocks
from tests.conftest import Clock, OpenMemory
from tests.core.homes import START, TALK, found_ids, session, write
from tests.core.services.conftest import AsAgent, Learned
from tests.core.services.test_service_ingest import take


def access_lines(memory: Memory) -> int:
    return sum(len(path.read_bytes().splitlines()) for path in (memory.home / "raw/accesses").glob("*.jsonl"))


def test_a_card_is_found_by_its_words_in_either_language(learned: Learned) -> None:
    for query in ("plugins.allow", "网关重启", "check plugins.allow before restarting"):
        assert learned.gateway in found_ids(learned.memory, query), query
    assert found_ids(learned.memory, "container --memory")[0] == learned.docker


def test_a_card_is_found_by_its_meaning_alone(learned: Learned) -> None:
    card = learned.memory.capture("The meeting was moved to Thursday afternoon.").card.card_id
    query = "会议改到星期四下午"
    assert found_ids(learned.memory, query, within="cards")[0] == card
    assert card not in found_ids(learned.memory, query, vectors=False)


def test_every_hit_says_why_and_what_it_is(learned: Learned) -> None:
    answer = learned.memory.recall("gateway plugins.allow notification")
    assert answer.query == "gateway plugins.allow notification"
    assert (answer.degraded, answer.stale) == ([], False)
    assert [hit.score for hit in answer.results] == sorted((hit.score for hit in answer.results), reverse=True)
    for hit in answer.results:
        assert hit.why
        assert 0 < hit.score <= 1
        card = learned.memory.show(hit.card_id).card
        assert (hit.title, hit.content, hit.tier, hit.scope) == (card.title, card.content, card.tier, card.scope)


def test_neighbours_stand_under_their_hit(learned: Learned) -> None:
    hits = {hit.card_id: hit for hit in learned.memory.recall("plugins.allow 通知").results}
    docker = next(found for found in hits[learned.gateway].related if found.card_id == learned.docker)
    assert (docker.relation, docker.direction, docker.score) == ("DEPENDS_ON", "out", 0.8)


def test_passages_lead_to_the_cards_that_came_from_them(learned: Learned) -> None:
    answer = learned.memory.recall("staging database db-7", RecallOptions(within="passages"))
    assert answer.results == []
    best = answer.passages[0]
    assert (best.session_id, best.turn, best.role, best.text) == ("talk-1", 0, "user", TALK[0])
    assert set(best.cards) <= set(learned.distilled)
    assert best.cards


def test_what_fell_below_the_floor_is_counted(learned: Learned) -> None:
    answer = learned.memory.recall("zebra crossing paint supplier")
    assert learned.gateway not in [hit.card_id for hit in answer.results]
    strict = learned.memory.home / "config.json"
    write(strict, {"recall": {"floor": 1.0}})
    with Memory.open(learned.memory.home, environ={}) as memory:
        answer = memory.recall("docker memory limit container")
        assert answer.results == []
        assert answer.filtered.below_floor > 0
        assert answer.filtered.best is not None


def test_limits_and_filters(learned: Learned) -> None:
    memory = learned.memory
    query = "gateway docker go container plugins.allow memory"
    assert len(found_ids(memory, query, limit=1)) == 1
    assert found_ids(memory, query, filters=Filters(entity=("Docker",))) == [learned.docker]
    assert found_ids(memory, query, filters=Filters(tag=("net",))) == [learned.gateway]
    assert found_ids(memory, query, filters=Filters(tier=("COLD",))) == []
    assert set(found_ids(memory, query, filters=Filters(origin=("rules",)))) <= set(learned.distilled)
    assert found_ids(memory, query, filters=Filters(until=1)) == []
    answer = memory.recall("db-7 staging", RecallOptions(filters=Filters(session="talk-1")))
    assert {hit.card_id for hit in answer.results} <= set(learned.distilled)
    assert {found.session_id for found in answer.passages} == {"talk-1"}
    later = Filters(since=START + 3_600_000, until=START + 7_200_000)
    answer = memory.recall("db-7 staging", RecallOptions(filters=later))
    assert (answer.results, answer.passages) == ([], [])
    assert memory.recall("db-7 staging", RecallOptions(filters=Filters(type=("fact",)))).passages == []


def test_an_agent_finds_only_what_it_may_see(learned: Learned, as_agent: AsAgent) -> None:
    query = "vault painted turquoise"
    assert found_ids(learned.memory, query)[0] == learned.secret
    assert found_ids(as_agent("other"), query)[0] == learned.secret
    assert learned.secret not in found_ids(as_agent("main"), query)
    stranger = as_agent("stranger").recall("staging database db-7")
    assert stranger.passages == []
    assert not {hit.card_id for hit in stranger.results} & set(learned.distilled)
    own = as_agent("main").recall("staging database db-7")
    assert own.passages[0].session_id == "talk-1"
    main = as_agent("main").recall("plugins.allow 通知")
    assert all(found.card_id != learned.secret for hit in main.results for found in hit.related)


def test_what_was_just_captured_is_found_at_once(learned: Learned, open_memory: OpenMemory) -> None:
    card = open_memory().capture("The xylophone is stored in room 42.").card.card_id
    answer = learned.memory.recall("where is the xylophone")
    assert card in [hit.card_id for hit in answer.results]
    assert not answer.stale
    learned.memory.edit(card, CardChanges(content="The harpsichord is stored in room 42.", title="harpsichord"))
    assert card in found_ids(learned.memory, "harpsichord")
    assert card not in found_ids(learned.memory, "xylophone", vectors=False)


def test_a_superseded_card_stands_under_its_successor(learned: Learned) -> None:
    memory = learned.memory
    text = "Start the container with --memory=4g or the host kills it."
    new = memory.capture(text, title="Docker memory limit 4g").card
    memory.edit(learned.docker, CardChanges(superseded_by=new.card_id))
    hits = memory.recall("docker container memory limit").results
    ids = [hit.card_id for hit in hits]
    assert new.card_id in ids
    if learned.docker in ids:
        assert ids.index(new.card_id) < ids.index(learned.docker)
        assert hits[ids.index(learned.docker)].state == "superseded"


def test_what_counts_as_a_use(learned: Learned, clock: Clock, as_agent: AsAgent) -> None:
    memory = learned.memory
    clock.advance(hours=2)

    def count() -> float:
        return memory.show(learned.docker).card.access_count

    query, before = "docker container memory limit", count()
    memory.recall(query, RecallOptions(typed=True))
    assert count() == before, "typing is no use"
    memory.recall(query)
    assert count() == before + 1
    memory.recall(query)
    assert count() == before + 1, "once an hour"
    memory.opened(learned.docker, query=query)
    assert count() == before + 1
    clock.advance(hours=1)
    memory.opened(learned.docker, query=query)
    memory.opened(learned.docker, query=" ")
    assert count() == before + 2
    clock.advance(hours=1)
    memory.recall(f"do you remember the {query}?", RecallOptions(auto=True))
    assert count() == pytest.approx(before + 2.2)
    as_agent("main").recall(query)
    assert count() == pytest.approx(before + 3.2), "another agent in the same hour"
    memory.show(learned.docker)
    memory.list_cards()
    memory.trace(learned.distilled[0])
    assert count() == pytest.approx(before + 3.2)


def test_an_unasked_recall_first_asks_whether_it_is_needed(learned: Learned) -> None:
    lines = access_lines(learned.memory)
    answer = learned.memory.recall("ok thanks", RecallOptions(auto=True))
    assert answer.skipped
    assert (answer.results, answer.passages) == ([], [])
    assert access_lines(learned.memory) == lines
    assert learned.memory.recall("remember what docker needs?", RecallOptions(auto=True)).skipped is None


def test_a_model_that_cannot_be_used_costs_nothing_that_is_there(learned: Learned) -> None:
    write(learned.memory.home / "config.json", {"embedding": {"base_url": "http://127.0.0.1:9/v1", "model": "m"}})
    with Memory.open(learned.memory.home, environ={}) as memory:
        answer = memory.recall("docker container memory")
        assert answer.results[0].card_id == learned.docker
        assert any("m is configured: run `alaya reembed`" in said for said in answer.degraded)


def test_without_tables_it_says_so(learned: Learned) -> None:
    shutil.rmtree(learned.memory.home / "lancedb")
    with Memory.open(learned.memory.home, environ={}) as memory:
        answer = memory.recall("docker container memory")
        assert answer.results[0].card_id == learned.docker, "few cards are indexed in passing"


def test_broken_tables_degrade_and_are_mended(learned: Learned) -> None:
    for folder in (learned.memory.home / "lancedb").glob("gen-*/cards.lance"):
        shutil.rmtree(folder)
    with Memory.open(learned.memory.home, environ={}) as memory:
        answer = memory.recall("staging database db-7")
        assert any("words" in said or "vectors" in said for said in answer.degraded)
        assert memory.rebuild("l1").vectors_pending == 0
        assert memory.recall("docker container memory").results[0].card_id == learned.docker


def test_a_busy_graph_costs_only_the_neighbours(learned: Learned) -> None:
    locks = HomeLocks(learned.memory.home / "locks", 0.1)
    with locks.graph_writing():
        answer = learned.memory.recall("plugins.allow 通知")
    assert learned.gateway in [hit.card_id for hit in answer.results]
    assert all(hit.related == [] for hit in answer.results)
    assert answer.degraded == ["graph busy"]


def test_while_another_process_writes_it_answers_from_what_is_there(learned: Learned, open_memory: OpenMemory) -> None:
    card = open_memory().capture("The xylophone is stored in room 42.").card.card_id
    locks = HomeLocks(learned.memory.home / "locks", 0.1)
    with locks.writing("long work"), locks.indexing():
        answer = learned.memory.recall("xylophone or docker container")
        assert answer.stale
        assert card not in [hit.card_id for hit in answer.results]
    assert card in found_ids(learned.memory, "xylophone")


def test_nothing_found_is_an_answer(memory: Memory) -> None:
    answer = memory.recall("anything")
    assert (answer.results, answer.passages, answer.stale) == ([], [], False)
    assert answer.took_ms < 9_000, "it waited for itself"
    memory.capture("one card")
    assert memory.recall("").results == []
    assert memory.recall(" \n").passages == []


def test_what_only_chance_brings_is_no_answer_and_counted(learned: Learned, open_memory: OpenMemory) -> None:
    learned.memory.capture("The walrus keeps warm at night with a thick layer of fat under its skin.")
    query = "which animals live on the ice"
    config = learned.memory.home / "config.json"

    def ask(*off: str) -> RecallAnswer:
        config.write_text(json.dumps({"recall": {"off": off}}))
        return open_memory().recall(query, RecallOptions(within="cards", typed=True))

    doubted, believed = ask(), ask("doubt")
    assert [("walrus" in hit.content, "doubt" in hit.why) for hit in believed.results] == [(True, False)]
    assert doubted.results == []
    assert doubted.filtered.below_floor == believed.filtered.below_floor + 1
    assert doubted.filtered.best is not None
    assert doubted.filtered.best < open_memory().config.recall.floor
    assert learned.memory.recall("what keeps a walrus warm at night?").results[0].content.startswith("The walrus")


def test_a_session_that_grew_before_it_was_indexed_is_searched_whole(learned: Learned, tmp_path: Path) -> None:
    texts = ["The walrus sings at noon.", "And the ostrich listens."]
    for count in (1, 2):
        take(learned.memory, write(tmp_path / "s.json", session("animals", texts[:count])))
    for query in ("walrus", "ostrich"):
        [passage] = learned.memory.recall(query, RecallOptions(within="passages")).passages
        assert query in passage.text


def test_a_session_that_grew_or_was_repaired_is_searched_as_it_is_now(learned: Learned, tmp_path: Path) -> None:
    memory = learned.memory
    grown = [*TALK[:7], "The walrus sings at noon.", "And the ostrich listens."]
    [outcome] = take(memory, write(tmp_path / "s.json", session("talk-1", grown))).sessions
    assert outcome.status == "grown"
    for query, found in (("walrus", True), ("ostrich", True), ("好的，我会先设置", False)):
        turns = [passage.text for passage in memory.recall(query, RecallOptions(within="passages")).passages]
        assert any(query in text for text in turns) == found, query
    assert memory.verify().ok
