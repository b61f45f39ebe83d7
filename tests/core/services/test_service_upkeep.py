"""Upkeep: what gathers is folded and compacted, in small doses by itself, and nothing is lost by it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from alaya_core.memory import Memory
from alaya_core.models.requests import CardChanges, RecallOptions
from alaya_core.services.index import card_row
from alaya_core.services.lifecycle.vitals import AccessKind
from alaya_core.services.workspace import Workspace
from alaya_core.stores.accesses import AccessLine
from alaya_core.stores.vector_files import versions_in
from alaya_core.stores.vector_generation import MOST_VERSIONS
from alaya_core.stores.vector_tables import CARDS, Table, connect
from alaya_core.stores.vectors import VectorStore
from tests.conftest import HOUR_MS, Clock, OpenMemory
from tests.core.homes import segments
from tests.core.services.conftest import Learned
from tests.core.stores.test_store_vectors import SIZE, card, unit


@pytest.fixture
def store(tmp_path: Path) -> VectorStore:
    made = VectorStore(tmp_path / "lancedb")
    made.create("a-model", SIZE)
    return made


def work_of(memory: Memory) -> Workspace:
    return memory._work


def use_a_lot(memory: Memory, card_id: str, lines: int, at: int) -> None:
    """Accesses as recalls write them, an hour apart."""
    others = tuple((f"card-{number:032x}", 0.5) for number in range(9))
    for number in range(lines):
        when = at - (number % 48) * HOUR_MS
        work_of(memory).accesses.append(AccessLine(when, "", str(AccessKind.RECALL), ((card_id, 0.9), *others)))


def test_versions_do_not_gather_without_end(store: VectorStore) -> None:
    store.keep_s = 0.0
    most = 0
    for number in range(2 * MOST_VERSIONS + 20):
        store.cards.put([card_row(card(f"c{number % 30}", f"text {number}"), number, unit(number))])
        store.upkeep()
        most = max(most, store.versions())
    assert most < MOST_VERSIONS + 10
    assert sorted(store.vectors()) == sorted(f"c{number}" for number in range(30))
    assert store.upkeep(now=True) == ["cards"]
    assert store.upkeep(now=True) == []
    assert len(versions_in(store.path, CARDS)) <= 2
    assert len(list((store.path / "cards.lance" / "data").iterdir())) <= 2, (
        "all rows in one file, and those of the version before"
    )


def test_who_reads_an_old_version_reads_on(store: VectorStore) -> None:
    for number in range(5):
        store.cards.put([card_row(card(f"c{number}"), number, unit(number))])
    reader = Table(connect(store.path), CARDS, SIZE)
    reader._open().checkout(reader.version())  # as a query in its middle stands on one version
    store.upkeep(now=True)
    assert len(reader.rows(None, ["id"])) == 5
    store.cards.put([card_row(card("late"), 9, unit(9))])
    assert len(reader.rows(None, ["id"])) == 5
    assert len(VectorStore(store.path.parent).cards.rows(None, ["id"])) == 6


def test_what_a_killed_writer_left_in_a_table_is_removed(store: VectorStore) -> None:
    store.cards.put([card_row(card("a"), 1, unit(1))])
    left = store.path / "cards.lance" / "data" / "0101010101010101010101010101ffff.lance"
    left.write_bytes(b"half a file")
    store.keep_s = 0.0
    store.upkeep(now=True)
    assert not left.exists()
    assert list(store.vectors()) == ["a"]


def test_the_access_log_is_folded_at_a_write_and_never_at_a_recall(learned: Learned, clock: Clock) -> None:
    memory = learned.memory
    clock.advance(days=3)
    use_a_lot(memory, learned.docker, 600, clock.now - HOUR_MS)
    waiting = memory.status().upkeep["access_bytes_unfolded"]
    assert waiting > 256 << 10
    used = memory.show(learned.docker).card.access_count
    assert used >= 48
    memory.recall("docker container", RecallOptions(vectors=False))
    assert not (memory.home / "raw/vitals.jsonl").exists()
    memory.pin(learned.tabs)
    assert memory.status().upkeep["access_bytes_unfolded"] < 4_096, "the running hour waits"
    assert (memory.home / "raw/vitals.jsonl").exists()
    assert memory.show(learned.docker).card.access_count == pytest.approx(used + 1)
    logs = sum(path.stat().st_size for path in (memory.home / "raw/accesses").iterdir())
    assert logs > waiting, "the log is the record of every recall, and stays"


def test_a_busy_hour_is_not_folded_again_and_again(learned: Learned, clock: Clock) -> None:
    memory = learned.memory
    memory.cool_down()
    for _ in range(600):
        work_of(memory).accesses.append(AccessLine(clock.now, "", "recall", (("card-" + "1" * 32, 0.5),) * 12))
    memory.pin(learned.tabs)
    assert not (memory.home / "raw/vitals.jsonl").exists(), "it has nothing that could be folded yet"


def test_the_command_does_it_all_and_then_nothing(learned: Learned, clock: Clock, open_memory: OpenMemory) -> None:
    memory = learned.memory
    before = memory.recall("docker container memory", RecallOptions(typed=True)).model_dump(exclude={"took_ms"})
    for number in range(5):
        memory.edit(learned.docker, CardChanges(content=f"Docker gets {number} GB of memory, the container dies."))
        memory.recall("docker")
    memory.edit(learned.docker, CardChanges(content=before["results"][0]["content"]))
    clock.advance(hours=2)
    shutil.copytree(work_of(memory).vectors.path, memory.home / "lancedb/gen-9")
    (memory.home / "kuzu/made.json").write_text(json.dumps({"name": work_of(memory).graph.path.name, "bytes": 1}))
    work_of(memory).vectors.keep_s = 0.0
    waiting = memory.status().upkeep
    assert waiting["leftover_bytes"] > 0
    assert waiting["ledger_segments"] == 1
    assert waiting["cache_bytes"] > 0
    answer = memory.upkeep()
    for word in ("access log", "build left", "compacted", "graph anew", "texts that are gone"):
        assert any(word in said for said in answer.did), (word, answer.did)
    assert answer.after["lancedb"] < answer.before["lancedb"]
    assert answer.after["kuzu"] < answer.before["kuzu"]
    after = memory.status().upkeep
    assert (after["access_bytes_unfolded"], after["leftover_bytes"], after["rows_unindexed"]) == (0, 0, 0)
    assert after["table_versions"] <= 4
    assert memory.upkeep().did == []
    fresh = open_memory()
    assert fresh.verify().ok
    now = fresh.recall("docker container memory", RecallOptions(typed=True)).model_dump(exclude={"took_ms"})
    assert [hit["card_id"] for hit in now["results"]] == [hit["card_id"] for hit in before["results"]]


def test_what_cannot_be_let_go_yet_is_said_and_goes_later(learned: Learned, clock: Clock) -> None:
    memory, store = learned.memory, work_of(learned.memory).vectors
    for number in range(5):
        memory.edit(learned.docker, CardChanges(content=f"Docker gets {number} GB of memory, the container dies."))
        memory.recall("docker")
    first = memory.upkeep()
    young = store.versions() - 2
    assert young > 0
    assert f"{young} versions of the tables younger than 5 minutes stay, for their readers" in first.stays
    waiting = memory.status().upkeep["access_bytes_unfolded"]
    assert waiting > 0
    said = f"{waiting:,} bytes of the access log stay: they are of the hour that still runs, and an hour counts once"
    assert said in first.stays
    assert memory.upkeep().did == []
    store.keep_s = 0.0
    for path in store.path.glob("*/_versions/*"):
        os.utime(path, (1, 1))
    clock.advance(hours=1)
    then = memory.upkeep()
    assert any("old versions removed" in said for said in then.did), "though nothing was written since"
    assert any("access log" in said for said in then.did)
    assert not any("access log" in said for said in then.stays)
    assert memory.status().upkeep["access_bytes_unfolded"] == 0
    assert store.versions() <= 4


def test_an_empty_home_has_nothing_to_do(memory: Memory) -> None:
    assert memory.upkeep().did == []
    assert memory.status().upkeep["table_versions"] == 0


def test_everything_works_across_segments_of_the_ledger(open_memory: OpenMemory, home: Path) -> None:
    memory = open_memory()
    work_of(memory).ledger._segment_bytes = 2_000
    made = [memory.capture(f"fact number {number} of the ledger").card.card_id for number in range(12)]
    for card_id in made[:4]:
        memory.edit(card_id, CardChanges(content="changed in another segment"))
    memory.link(made[0], made[11], relation="DEPENDS_ON")
    assert len(segments(home)) >= 5
    assert memory.status().upkeep["ledger_segments"] == len(segments(home))
    again = open_memory()
    assert [commit.seq for commit in again.history(limit=100).commits] == list(range(17, 0, -1))
    assert len(again.history(made[0]).commits) >= 2
    again.recall("fact number")
    before = [row.model_dump() for row in again.list_cards().cards]
    assert again.rebuild().cards == 12
    assert [row.model_dump() for row in again.list_cards().cards] == before
    again.undo()
    again.undo()
    assert again.show(made[0]).related == []
    assert again.show(made[3]).card.content == "fact number 3 of the ledger"
    again.redo()
    answer = again.verify()
    assert answer.ok, answer.findings
