"""Verify finds every fault that was planted, and mends what can be mended; rebuild needs nothing but `raw/`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from alaya_core.errors import UsageError
from alaya_core.memory import Memory
from alaya_core.models.requests import Filters
from alaya_core.stores.graph_engine import open_graph
from alaya_core.stores.graph_rows import CARD_COLUMNS
from alaya_core.stores.vectors import VectorStore
from tests.conftest import OpenMemory
from tests.core.homes import found_ids, kinds, session, write
from tests.core.services.conftest import Learned
from tests.core.services.test_service_ingest import take

SESSION = "raw/sessions/2026-11/talk-1.json"


TABS = "MATCH (c:Card {title: 'Tabs in Go'})"
LINK = "MATCH ()-[r:LINK {relation: 'DEPENDS_ON'}]->()"
MADE_UP = f"{TABS} CREATE (:Card {{id: 'x', {', '.join(f'{name}: c.{name}' for name in CARD_COLUMNS)}}})"


def in_graph(statement: str) -> Callable[[Path], None]:
    """Behind the ledger's back."""

    def run(home: Path) -> None:
        [path] = (home / "kuzu").glob("gen-*.kuzu")
        with open_graph(path, write=True) as graph:
            graph.run(statement)

    return run


def tables(home: Path) -> VectorStore:
    return VectorStore(home / "lancedb")


def double_row(home: Path) -> None:
    store = tables(home)
    store.cards.add(store.cards.rows(None, None, 1))


def bad_vector(home: Path) -> None:
    store = tables(home)
    [row] = store.cards.rows("title = 'Tabs in Go'")
    store.cards.put([row | {"vector": np.zeros(512, np.float32)}])


def other_text(home: Path) -> None:
    store = tables(home)
    [row] = store.cards.rows("title = 'Tabs in Go'")
    store.cards.put([row | {"content_hash": "0" * 64}])


def unknown_row(home: Path) -> None:
    store = tables(home)
    [row] = store.cards.rows("title = 'Tabs in Go'")
    store.cards.add([row | {"id": "card-nobody"}])


def double_passage(home: Path) -> None:
    store = tables(home)
    store.passages.add(store.passages.rows(None, None, 1))


def no_vector(home: Path) -> None:
    store = tables(home)
    [row] = store.cards.rows("title = 'Tabs in Go'")
    store.cards.put([row | {"vector": None}])


def change_turn(home: Path) -> None:
    path = home / SESSION
    path.write_bytes(path.read_bytes().replace(b"host db-7", b"host db-8"))


def cut_session(home: Path) -> None:
    (home / SESSION).write_bytes((home / SESSION).read_bytes()[:300])


def stray_session(home: Path) -> None:
    shutil.copy(home / SESSION, (home / SESSION).with_name("x.json"))


def stray_context(home: Path) -> None:
    [first, *_] = (home / "raw/contexts").iterdir()
    shutil.copy(first, first.with_name("card-nobody-context.json"))


def tear_ledger(home: Path) -> None:
    with (home / "raw/ledger/000000000001.jsonl").open("ab") as file:
        file.write(b'{"v":1,"seq":99')


def flip_ledger(home: Path) -> None:
    path = home / "raw/ledger/000000000001.jsonl"
    path.write_bytes(path.read_bytes().replace(b"Docker", b"Dorker", 1))


def drop_line(home: Path) -> None:
    path = home / "raw/ledger/000000000001.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2] + lines[3:]))


def remove(pattern: str) -> Callable[[Path], None]:
    def run(home: Path) -> None:
        for path in list(home.glob(pattern)):
            path.unlink()

    return run


# fault -> (what does it, what is found, whether `--fix` mends it)
FAULTS: dict[str, tuple[Callable[[Path], object], str, bool]] = {
    "card gone from the graph": (in_graph(f"{TABS} DETACH DELETE c"), "graph_card_missing", True),
    "card made up in the graph": (in_graph(MADE_UP), "graph_card_unknown", True),
    "card changed in the graph": (in_graph(f"{TABS} SET c.importance = 0.123"), "graph_card_differs", True),
    "link gone": (in_graph(f"{LINK} DELETE r"), "graph_link_missing", True),
    "link twice as heavy": (in_graph(f"{LINK} SET r.weight = 1.0"), "graph_link_differs", True),
    "session gone from the graph": (in_graph("MATCH (s:Session) DETACH DELETE s"), "graph_session_missing", True),
    "session longer in the graph": (in_graph("MATCH (s:Session) SET s.turns = 99"), "graph_session_differs", True),
    "row gone": (lambda h: tables(h).cards.remove("title = 'Tabs in Go'"), "row_missing", True),
    "row twice": (double_row, "row_duplicate", True),
    "row of nobody": (unknown_row, "row_unknown", True),
    "row of another text": (other_text, "row_differs", True),
    "vector gone": (no_vector, "vector_missing", True),
    "vector of zeros": (bad_vector, "vector_bad", True),
    "passage twice": (double_passage, "passage_duplicate", True),
    "passages gone": (lambda h: tables(h).passages.remove("turn = 2"), "passage_count", True),
    "vector tables gone": (lambda h: shutil.rmtree(h / "lancedb"), "no_vectors", True),
    "torn last line": (tear_ledger, "torn_line", True),
    "flipped letter in the ledger": (flip_ledger, "ledger_checksum", False),
    "line gone from the ledger": (drop_line, "ledger_gap", False),
    "session file gone": (remove(SESSION), "session_missing", False),
    "turn changed": (change_turn, "session_differs", False),
    "session cut": (cut_session, "session_differs", False),
    "session of nobody": (stray_session, "session_unknown", False),
    "source gone": (remove("raw/sources/*"), "source_missing", False),
    "context gone": (remove("raw/contexts/*"), "context_missing", True),
    "context of nobody": (stray_context, "context_unknown", True),
    "open to others": (lambda h: (h / "raw/ledger").chmod(0o755), "permissions", True),
    "a file open to others": (lambda h: (h / "config.json").chmod(0o644), "permissions", True),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_every_planted_fault_is_found(learned: Learned, open_memory: OpenMemory, name: str) -> None:
    plant, expected, mendable = FAULTS[name]
    home = learned.memory.home
    learned.memory.close()
    plant(home)
    memory = open_memory()
    answer = memory.verify()
    assert not answer.ok
    assert expected in kinds(answer)
    assert all(finding.fix for finding in answer.findings)
    assert kinds(memory.verify()) == kinds(answer), "looking changes nothing"
    fixed = memory.verify(fix=True)
    assert fixed.ok == mendable, fixed
    assert bool(fixed.fixed) >= mendable
    if mendable:
        assert open_memory().verify().ok
        assert memory.show(learned.tabs).card.content.startswith("Format Go code")


def test_a_sound_home_says_what_was_looked_at(learned: Learned) -> None:
    answer = learned.memory.verify()
    assert answer.ok, answer.findings
    cards = 4 + len(learned.distilled)
    assert answer.checked["cards"] == answer.checked["vectors"] == cards
    assert answer.checked["sessions"] == 1
    assert answer.checked["passages"] == 8


def test_an_id_far_from_its_timestamp_is_told(memory: Memory, tmp_path: Path) -> None:
    take(memory, write(tmp_path / "s.json", session("session-20250101-120000")))
    assert "session_time" in kinds(memory.verify())


def snapshot(memory: Memory) -> str:
    """All that a person can see of a memory."""
    rows = memory.list_cards(Filters(archived=True), limit=1000, sort="title").cards
    seen = [memory.show(row.card_id).model_dump(mode="json") for row in rows]
    traces = [memory.trace(row.card_id).model_dump(mode="json") for row in rows]
    history = memory.history(limit=1000).model_dump(mode="json")
    return json.dumps([seen, traces, history], sort_keys=True, ensure_ascii=False)


def test_everything_comes_back_from_nothing_but_raw(learned: Learned, open_memory: OpenMemory) -> None:
    memory = learned.memory
    memory.archive(learned.docker)
    memory.forget(learned.tabs)
    memory.pin(learned.gateway)
    before, home = snapshot(memory), memory.home
    hits = found_ids(memory, "plugins.allow gateway", typed=True)
    memory.close()
    for path in home.iterdir():
        if path.name != "raw":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in home.rglob("*.idx"):
        path.unlink()
    again = open_memory()
    assert snapshot(again) == before
    answer = again.rebuild()
    assert answer.rebuilt == ["l2", "l1"]
    assert (answer.cards, answer.sessions, answer.vectors_pending) == (4 + len(learned.distilled), 1, 0)
    assert snapshot(again) == before
    assert found_ids(again, "plugins.allow gateway", typed=True) == hits
    assert again.verify().ok
    assert again.restore(learned.tabs).card.state == "active"


@pytest.mark.parametrize("what", ["all", "l1", "l2"])
def test_a_rebuild_of_a_living_home_changes_nothing(learned: Learned, what: str) -> None:
    before = snapshot(learned.memory)
    stages: set[str] = set()
    learned.memory.rebuild(what, progress=lambda step: stages.add(step.stage))  # type: ignore[arg-type]
    assert snapshot(learned.memory) == before
    assert learned.memory.verify().ok
    assert stages
    for folder in ("kuzu", "lancedb"):
        assert len([path for path in (learned.memory.home / folder).glob("gen-*") if "." not in path.suffix[1:]]) == 1


def test_what_cannot_be_rebuilt(memory: Memory) -> None:
    with pytest.raises(UsageError):
        memory.rebuild("l3")  # type: ignore[arg-type]


def test_an_empty_home_is_sound_and_can_be_rebuilt(memory: Memory) -> None:
    assert memory.verify().ok
    assert memory.rebuild("l2").cards == 0
    assert memory.verify().ok
