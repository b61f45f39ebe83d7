"""Whatever part of recall fails, the rest answers, says which part it was and what to do; and no tier changes an
answer."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from alaya_core.memory import Memory
from alaya_core.models.answers import RecallAnswer
from alaya_core.models.commit import card_created
from alaya_core.models.requests import RecallOptions
from alaya_core.stores.locking import HomeLocks
from tests.conftest import Clock, OpenMemory
from tests.contracts.cli_runner import alaya
from tests.core.homes import write
from tests.core.services.conftest import Learned
from tests.core.services.embedding_service import Words
from tests.core.stores.test_store_graph import card

ASKED = "docker container memory limit"
TALKED = "staging database db-7"
UNCOUNTED = RecallOptions(typed=True)
"""Leaves what it finds as warm as it was, so that the next answer may have the same scores."""

Harm = Callable[[Path], None]


def ids(answer: RecallAnswer) -> list[str]:
    return [hit.card_id for hit in answer.results]


def turns(answer: RecallAnswer) -> list[tuple[str, int]]:
    return [(passage.session_id, passage.turn) for passage in answer.passages]


def parts(home: Path, pattern: str) -> list[Path]:
    found = [path for path in home.glob(pattern) if path.is_file()]
    assert found, pattern
    return found


def deleted(pattern: str) -> Harm:
    def harm(home: Path) -> None:
        for path in parts(home, pattern):
            path.unlink()

    return harm


def garbled(pattern: str) -> Harm:
    def harm(home: Path) -> None:
        for path in parts(home, pattern):
            path.write_bytes(random.Random(7).randbytes(path.stat().st_size))

    return harm


def cut(pattern: str) -> Harm:
    def harm(home: Path) -> None:
        for path in parts(home, pattern):
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 3])

    return harm


CARD_WORDS = "lancedb/gen-*/cards.lance/_indices/**/*"
PASSAGE_WORDS = "lancedb/gen-*/passages.lance/_indices/**/*"
GRAPH = "kuzu/gen-*.kuzu"


@pytest.fixture
def saved(learned: Learned) -> Learned:
    """With words indexes and a matrix on the disk."""
    learned.memory.upkeep()
    learned.memory._work.vectors.save_matrix(())
    return learned


# one leg


@pytest.mark.parametrize("harm", [deleted(CARD_WORDS), garbled(CARD_WORDS), cut(CARD_WORDS)])
def test_without_the_words_of_cards_the_vectors_and_the_passages_answer(
    saved: Learned, open_memory: OpenMemory, harm: Harm
) -> None:
    before = open_memory().recall(f"{ASKED} {TALKED}")
    harm(saved.memory.home)
    with saved.memory._work.locks.indexing():  # nobody can mend it in passing
        answer = open_memory().recall(f"{ASKED} {TALKED}")
    assert answer.degraded == ["no words: the words index cannot be read: run `alaya rebuild l1`"]
    assert answer.results
    assert all("similarity" in hit.why or "vector" in " ".join(hit.why) for hit in answer.results)
    assert turns(answer) == turns(before)
    assert open_memory().recall(f"{ASKED} {TALKED}").degraded == [], "then it is mended in passing"


@pytest.mark.parametrize("harm", [deleted(PASSAGE_WORDS), garbled(PASSAGE_WORDS), cut(PASSAGE_WORDS)])
def test_without_the_words_of_passages_the_cards_answer(saved: Learned, open_memory: OpenMemory, harm: Harm) -> None:
    before = open_memory().recall(f"{ASKED} {TALKED}")
    harm(saved.memory.home)
    with saved.memory._work.locks.indexing():
        answer = open_memory().recall(f"{ASKED} {TALKED}")
    assert len(answer.degraded) == 1
    assert "words index cannot be read" in answer.degraded[0]
    assert "alaya rebuild l1" in answer.degraded[0]
    assert ids(answer) == ids(before)


def test_with_an_endpoint_that_is_down_the_words_answer(
    learned: Learned, open_memory: OpenMemory, httpserver: HTTPServer
) -> None:
    service = Words(httpserver)
    service.configure(learned.memory.home, "m", timeout_s=1)
    assert open_memory().reembed().done
    service.before = lambda _: Response(status=500)
    answer = open_memory().recall(ASKED)
    assert answer.results[0].card_id == learned.docker
    [said] = answer.degraded
    assert said.startswith("no vectors: ")
    assert str(httpserver.port) in said
    service.before = lambda _: None
    assert open_memory().recall(ASKED).degraded == []


def test_with_vectors_of_another_model_they_still_answer_and_say_so(
    learned: Learned, open_memory: OpenMemory, httpserver: HTTPServer
) -> None:
    service = Words(httpserver)
    before = open_memory().recall(ASKED, UNCOUNTED)
    service.configure(learned.memory.home, "m")
    answer = open_memory().recall(ASKED)
    [said] = answer.degraded
    assert said.endswith("but m is configured: run `alaya reembed`")
    assert [(hit.card_id, hit.score) for hit in answer.results] == [(hit.card_id, hit.score) for hit in before.results]
    assert service.asked == [], "nothing is sent to who did not make the vectors"


# the matrix is only a copy of what the table holds


@pytest.mark.parametrize(
    "harm",
    [
        deleted("lancedb/gen-*/matrix-*.f32"),
        cut("lancedb/gen-*/matrix-*.f32"),
        deleted("lancedb/gen-*/matrix-*.ids"),
        cut("lancedb/gen-*/matrix-*.ids"),
        garbled("lancedb/gen-*/matrix-*.ids"),
        deleted("lancedb/gen-*/matrix.json"),
        garbled("lancedb/gen-*/matrix.json"),
    ],
)
def test_a_spoilt_matrix_changes_nothing(saved: Learned, open_memory: OpenMemory, harm: Harm) -> None:
    before = open_memory().recall(ASKED, UNCOUNTED)
    harm(saved.memory.home)
    after = open_memory().recall(ASKED)
    assert after.degraded == []
    assert scores(after) == scores(before)


def scores(answer: RecallAnswer) -> list[tuple[str, float, Any]]:
    return [(hit.card_id, hit.score, hit.why) for hit in answer.results]


# the graph


def test_a_graph_that_another_process_writes_costs_neighbours_only(learned: Learned) -> None:
    before = learned.memory.recall("plugins.allow 通知")
    with HomeLocks(learned.memory.home / "locks", 0.1).graph_writing():
        done = alaya("recall", "plugins.allow 通知", "--json", "--context", home=learned.memory.home)
    assert done.status == 0
    assert done.data["degraded"] == ["graph busy"]
    assert [hit["card_id"] for hit in done.data["results"]] == ids(before)
    assert all(hit["related"] == [] for hit in done.data["results"])


@pytest.mark.parametrize("harm", [garbled(GRAPH), cut(GRAPH)])
def test_a_damaged_graph_costs_neighbours_only_until_somebody_makes_it_anew(
    learned: Learned, open_memory: OpenMemory, harm: Harm
) -> None:
    typed = RecallOptions(typed=True)  # which is no use of a card, and warms none
    before = open_memory().recall("plugins.allow 通知", typed)
    harm(learned.memory.home)
    with HomeLocks(learned.memory.home / "locks", 0.1).writing("other work"):
        answer = open_memory().recall("plugins.allow 通知", typed)
    assert [(hit.card_id, hit.score) for hit in answer.results] == [(hit.card_id, hit.score) for hit in before.results]
    assert len(answer.degraded) == 1
    assert "graph" in answer.degraded[0]
    mended = open_memory()
    answer = mended.recall("plugins.allow 通知", typed)
    assert answer.degraded == []
    assert [hit.related for hit in answer.results] == [hit.related for hit in before.results]
    assert any("a new one was made" in said for said in mended.notices)


# context


def test_without_the_sessions_the_context_comes_from_the_card(learned: Learned, open_memory: OpenMemory) -> None:
    options = RecallOptions(context=True, within="cards")
    before = {hit.card_id: hit.context for hit in open_memory().recall(TALKED, options).results}
    assert any(before.values())
    shutil.rmtree(learned.memory.home / "raw/sessions")
    answer = open_memory().recall(TALKED, options)
    assert answer.degraded == []
    after = {hit.card_id: hit.context for hit in answer.results}
    assert {key: [turn.content for turn in found or ()] for key, found in after.items()} == {
        key: [turn.content for turn in found or ()] for key, found in before.items()
    }


@pytest.mark.parametrize("harm", [garbled("raw/sessions/*/*"), cut("raw/sessions/*/*"), deleted("raw/contexts/*")])
def test_damaged_sessions_or_contexts_cost_context_only(learned: Learned, open_memory: OpenMemory, harm: Harm) -> None:
    before = open_memory().recall(TALKED)
    harm(learned.memory.home)
    answer = open_memory().recall(TALKED, RecallOptions(context=True))
    assert (ids(answer), turns(answer)) == (ids(before), turns(before))
    assert [hit.related for hit in answer.results] == [hit.related for hit in before.results]


# all at once


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (deleted(CARD_WORDS), None),
        (garbled(PASSAGE_WORDS), None),
        (garbled(GRAPH), None),
        (lambda home: shutil.rmtree(home / "lancedb"), None),
        (lambda home: shutil.rmtree(home / "kuzu"), None),
        (lambda home: shutil.rmtree(home / "raw/sessions"), None),
        (lambda home: shutil.rmtree(home / "cache"), None),
        (
            lambda home: write(home / "config.json", {"embedding": {"base_url": "http://127.0.0.1:9", "model": "m"}}),
            "m",
        ),
    ],
    ids=["words", "passage words", "graph", "L1", "L2", "sessions", "cache", "model"],
)
def test_at_the_command_line_it_exits_0(saved: Learned, harm: Harm, told: str | None) -> None:
    harm(saved.memory.home)
    done = alaya("recall", ASKED, "--json", "--context", home=saved.memory.home)
    assert done.status == 0, done.told
    assert saved.docker in [hit["card_id"] for hit in done.data["results"]]
    assert told is None or any(told in said for said in done.data["degraded"])


def test_everything_spoilt_at_once_still_answers(saved: Learned, open_memory: OpenMemory) -> None:
    home = saved.memory.home
    for harm in (garbled(CARD_WORDS), garbled(PASSAGE_WORDS), deleted("lancedb/gen-*/matrix*"), garbled(GRAPH)):
        harm(home)
    shutil.rmtree(home / "raw/sessions")
    locks = HomeLocks(home / "locks", 0.1)
    with locks.writing("other work"), locks.indexing():
        answer = open_memory().recall(ASKED, RecallOptions(context=True))
    assert saved.docker in ids(answer)
    assert len(answer.degraded) == 3, answer.degraded


# tiers


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """120 cards, some of them used."""
    home = tmp_path_factory.mktemp("tiers") / "home"
    things = ["walrus", "gateway", "docker", "violin", "harbour", "glacier", "pepper", "invoice", "网关", "数据库"]
    made = [
        card(n, title=f"{things[n % 10]} {n}", content=f"The {things[n % 10]} of house {n} needs {things[n // 12]}.")
        for n in range(120)
    ]
    with Memory.open(home, clock=Clock(), environ={}, create=True) as memory:
        memory._work.commit("test", lambda _: [card_created(each) for each in made])
        memory.rebuild("l1")
    return home


QUERIES = ("walrus in the harbour", "docker memory", "网关通知", "cold ice in the mountains", "unpaid bill")


def answers(home: Path) -> list[dict[str, Any]]:
    """What is found and why; apart from the tiers themselves."""
    with Memory.open(home, clock=Clock(), environ={}) as memory:
        found = [memory.recall(query, RecallOptions(typed=True)) for query in QUERIES]
    left_out = {"took_ms": True, "results": {"__all__": {"tier"}}}
    return [answer.model_dump(mode="json", exclude=left_out) for answer in found]  # type: ignore[arg-type]


def test_how_many_cards_are_hot_changes_no_answer(many: Path) -> None:
    found = []
    for limit in (0, 1, 5_000):
        write(many / "config.json", {"temperature": {"hot_limit": limit, "hot_threshold": 0.0}})
        with Memory.open(many, clock=Clock(), environ={}) as memory:
            memory.cool_down()
        found.append(answers(many))
    assert any(answer["results"] for answer in found[0])
    assert found[0] == found[1] == found[2]


def test_the_order_of_the_matrix_changes_no_answer(many: Path) -> None:
    write(many / "config.json", {})
    found = []
    for seed in (None, 1, 2, 3):
        with Memory.open(many, clock=Clock(), environ={}) as memory:
            order = sorted(memory._work.vectors.vectors())
            if seed is not None:
                random.Random(seed).shuffle(order)
            memory._work.vectors.save_matrix(order)
        found.append(answers(many))
    for matrix in many.glob("lancedb/gen-*/matrix*"):
        matrix.unlink()
    found.append(answers(many))
    assert all(each == found[0] for each in found)
