"""The index follows the ledger: what it lacks is made later, what is gone is gone, what breaks is mended or said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from alaya_core.errors import BusyError
from alaya_core.memory import Memory
from alaya_core.models.answers import RecallAnswer
from alaya_core.models.requests import RecallOptions
from alaya_core.services.index.waiting import waiting_since
from alaya_core.services.index.writer import Writer
from tests.conftest import OpenMemory
from tests.core.fault_cli import alaya
from tests.core.services.conftest import Learned
from tests.core.services.embedding_service import Words

ASKED = "网关重启之前 plugins.allow 通知"
BROKEN = "the words index cannot be read: run `alaya rebuild l1`"


@pytest.fixture
def words(httpserver: HTTPServer) -> Words:
    return Words(httpserver)


def ask(memory: Memory, query: str, **options: object) -> RecallAnswer:
    return memory.recall(query, RecallOptions(typed=True, **options))  # type: ignore[arg-type]


def ids(answer: RecallAnswer) -> list[str]:
    return [hit.card_id for hit in answer.results]


def by_vector(answer: RecallAnswer) -> set[str]:
    return {hit.card_id for hit in answer.results if "vector" in hit.why}


def down(_: int) -> Response:
    return Response("no", 401)


def pending(memory: Memory) -> int:
    return memory._work.vectors.mark().pending


def with_the_graph_behind(memory: Memory, text: str) -> str:
    """Captures a card as a writer that is killed between the ledger and the graph leaves it."""
    path = memory._work.graph.path
    kept = {one: one.read_bytes() for one in path.parent.iterdir() if one.is_file()}
    card_id = memory.capture(text).card.card_id
    for one in path.parent.iterdir():
        one.write_bytes(kept[one]) if one in kept else one.unlink()
    return card_id


def test_a_card_that_the_graph_does_not_know_yet_is_not_taken_as_gone(
    learned: Learned, open_memory: OpenMemory
) -> None:
    card_id = with_the_graph_behind(learned.memory, "The walrus plays the xylophone.")
    work = open_memory()._work
    writer = Writer(work, work.vectors.generation, None, shown=False, patience_s=0.1)
    writer.target = waiting_since(work, work.vectors.mark().ledger).target
    with learned.memory._work.locks.writing("another"), pytest.raises(BusyError):
        writer.cards([card_id])
    writer.cards([card_id])
    assert card_id in work.vectors.inspect().hashes


def test_a_reader_beside_a_writer_says_that_it_lacks_a_change(learned: Learned, open_memory: OpenMemory) -> None:
    card_id = with_the_graph_behind(learned.memory, "The walrus plays the xylophone.")
    before = learned.memory._work.vectors.mark().seq
    reader = open_memory()
    with learned.memory._work.locks.writing("another"):
        answer = ask(reader, "walrus xylophone")
        assert answer.stale
        assert reader._work.vectors.mark().seq == before, "the change is still waiting"
    answer = ask(reader, "walrus xylophone")
    assert (ids(answer)[0], answer.stale) == (card_id, False)
    assert reader.verify().ok


def test_a_rebuild_beside_a_graph_that_is_behind_loses_nothing(learned: Learned, open_memory: OpenMemory) -> None:
    card_id = with_the_graph_behind(learned.memory, "The walrus plays the xylophone.")
    memory = open_memory()
    memory.rebuild("l1")
    assert ids(ask(memory, "walrus xylophone"))[0] == card_id
    assert memory.verify().ok


def test_cards_that_are_gone_leave_no_vectors_behind(learned: Learned, open_memory: OpenMemory) -> None:
    memory, other = learned.memory, open_memory()
    for number in range(6):
        memory.capture(f"The {number}. walrus plays the xylophone.")
    memory.rebuild("l1")  # the saved matrix has them all
    for one in (memory, other):
        assert len(by_vector(ask(one, "walrus xylophone"))) >= 5
    for _ in range(5):
        memory.undo()
    for one in (memory, other, open_memory()):
        answer = ask(one, "walrus xylophone")
        assert answer.degraded == []
        assert len(by_vector(answer)) >= 1
    memory.forget(ids(answer)[0])
    for one in (memory, other, open_memory()):
        assert ask(one, "walrus xylophone").degraded == []


def test_after_an_outage_readers_make_a_few_vectors_each(
    learned: Learned, open_memory: OpenMemory, words: Words
) -> None:
    words.configure(learned.memory.home, "letters")
    path = learned.memory.home / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"recall": {"candidates": 100}}))
    open_memory().reembed()
    words.before = down
    memory = open_memory()
    made = {memory.capture(f"The {number}. walrus plays the xylophone.").card.card_id for number in range(70)}
    asked = words.requests
    answer = ask(memory, "walrus xylophone", limit=100)
    assert made <= set(ids(answer))
    assert not by_vector(answer)
    assert words.requests - asked <= 3, "a reader does not insist"
    assert pending(memory) == 70
    words.before = lambda _: None
    ask(memory, "walrus")
    assert pending(memory) == 6
    matrix = memory._work.vectors.matrix()
    assert len(matrix.vectors_of(made)) == 64
    ask(open_memory(), "walrus")
    assert pending(memory) == 0
    for one in (memory, open_memory()):
        answer = ask(one, "walrus xylophone", limit=100)
        assert (answer.degraded, answer.stale) == ([], False)
        assert made <= by_vector(answer)
    assert memory.verify().ok


def test_after_an_outage_whoever_has_the_time_makes_all_vectors(
    learned: Learned, open_memory: OpenMemory, words: Words
) -> None:
    words.configure(learned.memory.home, "letters")
    open_memory().reembed()
    for job in (Memory.distill, lambda one: one.ingest([learned.source]), Memory.upkeep):
        words.before = down
        memory = open_memory()
        for number in range(20):
            memory.capture(f"The {number}. walrus of {job} plays the xylophone.")
        said = memory.upkeep().stays if job is Memory.upkeep else []
        assert job is not Memory.upkeep or any(
            one.startswith("20 cards without a vector (no vectors: ") for one in said
        )
        ask(memory, "walrus")
        assert pending(memory) == 20
        words.before = lambda _: None
        job(memory)
        assert pending(memory) == 0
    assert memory.upkeep().did == []
    assert memory.verify().ok


def harm(home: Path, how: str) -> None:
    for index in home.glob("lancedb/gen-*/*/_indices"):
        if how == "deleted":
            shutil.rmtree(index)
        for path in index.rglob("*"):
            if path.is_file() and how == "garbled":
                path.write_bytes(bytes(byte ^ 0x55 for byte in path.read_bytes()))
            elif path.is_file() and how == "cut":
                path.write_bytes(path.read_bytes()[:100])


@pytest.mark.parametrize("how", ["deleted", "garbled", "cut"])
def test_a_broken_words_index_is_made_anew_by_whoever_meets_it(
    learned: Learned, open_memory: OpenMemory, how: str
) -> None:
    before = ask(learned.memory, ASKED)
    assert before.passages
    assert before.results
    harm(learned.memory.home, how)
    memory = open_memory()
    assert memory._work.vectors.inspect().words_broken == ["cards", "passages"]
    with learned.memory._work.locks.indexing():
        answer = ask(open_memory(), ASKED)
    assert sorted(answer.degraded) == [f"no passages by words: {BROKEN}", f"no words: {BROKEN}"]
    assert answer.results, "the vectors answer"
    answer = ask(open_memory(), ASKED)
    assert (answer.degraded, ids(answer)) == ([], ids(before))
    assert [hit.why for hit in answer.passages] == [hit.why for hit in before.passages]
    assert open_memory()._work.vectors.inspect().words_broken == []
    harm(learned.memory.home, how)
    open_memory().upkeep()
    assert open_memory()._work.vectors.inspect().words_broken == []


@pytest.mark.slow
@pytest.mark.parametrize("limit", [300, 2_000, 6_000, 20_000, 60_000])
def test_recall_on_a_full_disk_answers_from_what_is_there(
    learned: Learned, open_memory: OpenMemory, limit: int
) -> None:
    memory = learned.memory
    memory.capture("The walrus plays the xylophone.")
    harm(memory.home, "deleted")
    said = alaya(memory.home, "recall", "docker container memory", limit=limit)
    assert said.status == 0, said
    assert said.document["results"]
    assert said.document["stale"] or limit > 6_000
    for one in (memory, open_memory()):
        answer = ask(one, "walrus xylophone")
        assert (len(ids(answer)) > 0, answer.stale, answer.degraded) == (True, False, [])
    assert memory.verify().ok
