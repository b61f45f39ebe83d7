"""A reranker in a whole recall: what it is sent, what its word changes, and what happens without it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from alaya_core.memory import Memory
from alaya_core.models.answers import RecallAnswer
from alaya_core.models.recall_parts import Candidate
from alaya_core.models.requests import RecallOptions
from alaya_core.services.recall.fuse import fuse
from alaya_core.services.recall.rerank import by_cosine, by_reranker, rerank
from alaya_core.stores.locking import HomeLocks
from tests.conftest import Clock, OpenMemory
from tests.core.providers.rerank_service import Judge, mute
from tests.core.services.conftest import AsAgent, Learned

QUERY = "docker container memory, gateway restart, go code tabs"
KEYS = {"JINA_API_KEY": "k", "COHERE_API_KEY": "k", "SILICONFLOW_API_KEY": "k", "VOYAGE_API_KEY": "k"}


@pytest.fixture
def judge(httpserver: HTTPServer) -> Judge:
    return Judge(httpserver)


def configure(home: Path, *, recall: dict[str, Any] | None = None, **rerank: Any) -> None:
    value = {"rerank": rerank, "recall": {"floor": 0, **(recall or {})}, "home": {"busy_timeout_s": 2}}
    (home / "config.json").write_text(json.dumps(value))


def ask(memory: Memory, query: str = QUERY, **options: Any) -> RecallAnswer:
    return memory.recall(query, RecallOptions(within="cards", **options))


def ids(answer: RecallAnswer) -> list[str]:
    return [hit.card_id for hit in answer.results]


def without(learned: Learned, open_memory: OpenMemory) -> RecallAnswer:
    """What is found when nobody reranks."""
    configure(learned.memory.home)
    answer = ask(open_memory(), typed=True)  # leaves the cards as warm as they were
    assert {learned.gateway, learned.tabs, learned.docker} <= set(ids(answer))
    return answer


# its word counts


@pytest.mark.parametrize("wanted", ["docker", "tabs"])
def test_the_order_changes_as_the_reranker_says(
    learned: Learned, open_memory: OpenMemory, judge: Judge, wanted: str
) -> None:
    mark = {"docker": "--memory=2g", "tabs": "gofmt"}[wanted]
    judge.score = lambda query, text: 0.95 if mark in text else 0.05
    configure(learned.memory.home, base_url=judge.url, model="m")
    answer = ask(open_memory())
    assert answer.degraded == []
    assert answer.results[0].card_id == getattr(learned, wanted)
    assert answer.results[0].why["rerank"] == 0.95
    assert {hit.why["rerank"] for hit in answer.results[1:]} == {0.05}
    assert len(judge.bodies) == 1
    assert judge.bodies[0]["query"] == QUERY


def test_its_weight_says_how_much_it_counts(learned: Learned, open_memory: OpenMemory, judge: Judge) -> None:
    judge.score = lambda query, text: 0.95 if "gofmt" in text else 0.05
    plain = without(learned, open_memory)
    configure(learned.memory.home, base_url=judge.url, weight=0)
    assert ids(ask(open_memory())) == ids(plain)
    configure(learned.memory.home, base_url=judge.url, weight=1)
    answer = ask(open_memory())
    assert answer.results[0].card_id == learned.tabs
    assert dict(answer.results[0].why)["rerank"] == 0.95


def test_an_identifier_found_verbatim_is_not_lost(learned: Learned, open_memory: OpenMemory, judge: Judge) -> None:
    judge.score = lambda query, text: 0.0 if "plugins.allow" in text else 0.7
    configure(learned.memory.home, base_url=judge.url)
    assert learned.gateway in ids(ask(open_memory(), "plugins.allow docker container", limit=3))


def test_a_hook_asks_it_too(learned: Learned, open_memory: OpenMemory, judge: Judge) -> None:
    configure(learned.memory.home, base_url=judge.url)
    ask(open_memory(), f"do you remember {QUERY}?", auto=True)
    assert len(judge.bodies) == 1


# what it is sent


def test_only_the_best_are_sent_and_the_others_do_not_gain_by_it(
    learned: Learned, open_memory: OpenMemory, judge: Judge
) -> None:
    first = ids(without(learned, open_memory))
    judge.score = lambda query, text: 0.1
    configure(learned.memory.home, base_url=judge.url, candidates=1)
    answer = ask(open_memory())
    [text] = judge.texts
    assert learned.memory.show(first[0]).card.content in text
    assert answer.results[0].card_id == first[0]
    assert any("not sent" in note for note in answer.results[1].why["notes"])


def test_a_card_is_sent_with_its_title_and_what_it_says(
    learned: Learned, open_memory: OpenMemory, judge: Judge
) -> None:
    configure(learned.memory.home, base_url=judge.url)
    ask(open_memory())
    card = learned.memory.show(learned.docker).card
    [text] = [text for text in judge.texts if "--memory=2g" in text]
    assert text.startswith(f"{card.title}\n")
    assert card.content in text


def test_secrets_in_query_and_cards_stay_here(learned: Learned, open_memory: OpenMemory, judge: Judge) -> None:
    key = "sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2"
    card = learned.memory.capture(f"The docker registry takes {key} as its password.").card
    configure(learned.memory.home, base_url=judge.url)
    answer = ask(open_memory(), f"docker registry with {key}")
    assert card.card_id in ids(answer)
    assert key not in json.dumps(judge.bodies)
    assert "[secret:" in judge.bodies[0]["query"]


def test_a_secret_that_an_older_version_stored_stays_here_too(memory: Memory, judge: Judge) -> None:
    configure(memory.home, base_url=judge.url)
    key = "sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2"
    with Memory.open(memory.home, environ={}) as again:
        rerank(again._work, "docker", (Candidate("c", f"Log in with {key}", f"The key {key}", score=0.5),))
    [text] = judge.texts
    assert key not in text
    assert text.startswith("The key [secret:")


def test_of_what_is_hidden_from_an_agent_nothing_is_sent(learned: Learned, as_agent: AsAgent, judge: Judge) -> None:
    configure(learned.memory.home, base_url=judge.url)
    ask(as_agent("main"), "vault of agent other painted turquoise, docker container")
    assert judge.texts
    assert "turquoise" not in "".join(judge.texts)


def test_nothing_is_locked_while_it_thinks(learned: Learned, open_memory: OpenMemory, judge: Judge) -> None:
    taken = []

    def take(_: Any) -> None:
        locks = HomeLocks(learned.memory.home / "locks", 0.0)
        with locks.writing("test"), locks.graph_writing(), locks.indexing():
            taken.append(True)

    configure(learned.memory.home, base_url=judge.url)
    memory = open_memory()
    ask(memory)
    judge.instead = take
    assert ask(memory, f"{QUERY} again").degraded == []
    assert taken == [True]


# off


@pytest.mark.parametrize("section", [{}, {"model": "m"}, {"api_key_env": "JINA_API_KEY", "weight": 1}])
def test_nobody_is_asked_unless_an_endpoint_is_named(
    learned: Learned, open_memory: OpenMemory, judge: Judge, section: dict[str, Any]
) -> None:
    configure(learned.memory.home, **section)
    memory = open_memory(environ=KEYS)
    answer = ask(memory)
    assert (answer.degraded, judge.bodies) == ([], [])
    assert all("rerank" not in hit.why for hit in answer.results)
    assert memory.status().sends_text_to == []
    assert "rerank" not in [check.name for check in memory.doctor().checks]


def test_the_stage_can_be_switched_off(learned: Learned, open_memory: OpenMemory, judge: Judge) -> None:
    configure(learned.memory.home, base_url=judge.url, recall={"off": ["rerank"]})
    memory = open_memory()
    answer = ask(memory)
    assert (answer.degraded, memory.status().sends_text_to) == ([], [])
    [check] = [check for check in memory.doctor().checks if check.name == "rerank"]
    assert "recall.off" in check.detail
    assert judge.bodies == []


def test_typing_asks_nobody(learned: Learned, open_memory: OpenMemory, judge: Judge) -> None:
    configure(learned.memory.home, base_url=judge.url)
    assert ask(open_memory(), typed=True).results
    assert judge.bodies == []


def test_when_nothing_was_found_nobody_is_asked(memory: Memory, open_memory: OpenMemory, judge: Judge) -> None:
    configure(memory.home, base_url=judge.url)
    ask(open_memory())
    assert judge.bodies == []


# without it


def test_when_it_fails_cosines_rerank_and_it_is_said(learned: Learned, open_memory: OpenMemory, judge: Judge) -> None:
    judge.instead = lambda _: Response("no", 401)
    plain = without(learned, open_memory)
    configure(learned.memory.home, base_url=judge.url)
    answer = ask(open_memory())
    assert set(ids(answer)) == set(ids(plain))
    [note] = answer.degraded
    assert note.startswith(f"no rerank: {judge.host}: HTTP 401")
    [best] = [hit for hit in answer.results if hit.card_id == learned.docker]
    assert best.why["rerank"] == best.why["vector"]
    assert "reranked by its vector" in best.why["notes"]


def test_a_service_that_does_not_answer_costs_its_time_limit_once(
    learned: Learned, open_memory: OpenMemory, clock: Clock
) -> None:
    with mute() as (url, asked):
        configure(learned.memory.home, base_url=url, timeout_s=0.2)
        memory = open_memory()
        host = url.removeprefix("http://").removesuffix("/v1")
        first = ask(memory)
        assert f"no rerank: {host} did not answer within 0.2 s" in first.degraded[0]
        second = ask(memory)
        assert "asked again in 30 s" in second.degraded[0]
        assert ids(first) == ids(second)
        assert len(asked) == 1
        clock.advance(ms=30_000)
        ask(memory)
        assert len(asked) == 2


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"provider": "jina", "model": "m"}, "JINA_API_KEY"),
        ({"provider": "jina"}, "rerank.model"),
        ({"provider": "nowhere", "model": "m"}, "nowhere"),
        ({"base_url": "somewhere"}, "base_url"),
    ],
)
def test_settings_that_do_not_work_cost_the_reranking_alone(
    learned: Learned, open_memory: OpenMemory, section: dict[str, Any], message: str
) -> None:
    configure(learned.memory.home, **section)
    memory = open_memory()
    answer = ask(memory)
    assert learned.docker in ids(answer)
    assert message in answer.degraded[0]
    assert memory.status().sends_text_to == []
    [check] = [check for check in memory.doctor().checks if check.name == "rerank"]
    assert check.status == "fail"
    assert message in check.detail


# who is told


def test_status_and_doctor_name_the_host(learned: Learned, open_memory: OpenMemory, judge: Judge) -> None:
    configure(learned.memory.home, base_url=judge.url, model="bge-reranker")
    memory = open_memory()
    assert memory.status().sends_text_to == [judge.host]
    assert judge.bodies == [], "status asks nobody"
    [check] = [check for check in memory.doctor().checks if check.name == "rerank"]
    assert check.status == "ok"
    assert "bge-reranker" in check.detail
    assert "nothing leaves this machine" in check.detail
    assert judge.texts == ["alaya"], "doctor sends nothing of the memory"


# pure


def fused(*similarities: float | None) -> tuple[Candidate, ...]:
    return fuse(
        [
            Candidate(f"c{at}", similarity=similarity, words=5 - at, coverage=0.9 - 0.1 * at)
            for at, similarity in enumerate(similarities)
        ],
        "query",
    )


def test_whoever_was_not_judged_stays_behind_those_who_were() -> None:
    before = fused(0.9, 0.8, 0.7, 0.65)
    found = by_reranker(before, [0.2, 0.3], 0.6)
    assert [candidate.id for candidate in found] == ["c1", "c0", "c2", "c3"]
    assert by_reranker(before, [0.0, 0.0], 1.0)[0].id == "c0"


def test_cosines_rerank_only_whom_the_vectors_brought() -> None:
    before = fused(0.9, None, 0.7)
    found = {candidate.id: candidate for candidate in by_cosine(before, 0.6)}
    own = {candidate.id: candidate.score for candidate in before}
    assert found["c1"].score == own["c1"]
    assert found["c0"].score == pytest.approx(0.6 * 0.9 + 0.4 * own["c0"])
    assert by_cosine((), 0.6) == ()
