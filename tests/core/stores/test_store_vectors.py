"""The vector tables and the matrix: what was put is found, whatever it is called, and never twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from alaya_core import words
from alaya_core.models.card import Card
from alaya_core.models.card_types import CardType
from alaya_core.models.requests import Filters
from alaya_core.services.index import card_row
from alaya_core.stores.ledger import LedgerMark
from alaya_core.stores.matrix import Matrix, Overlay, load_matrix, save_matrix
from alaya_core.stores.vector_state import VectorMark, at
from alaya_core.stores.vectors import VectorStore

SIZE = 8
NASTY = "O'Brien' OR 1=1 -- \" \\ % _ 中文"
Vector = NDArray[np.float32]


def unit(seed: int) -> Vector:
    vector = np.random.default_rng(seed).normal(size=SIZE).astype(np.float32)
    return vector / np.linalg.norm(vector)


def card(name: str, content: str = "some content", **fields: Any) -> Card:
    return Card(name, f"title of {name}", content, CardType.FACT, 1, 1, 1, **fields)


@pytest.fixture
def store(tmp_path: Path) -> VectorStore:
    made = VectorStore(tmp_path / "lancedb")
    made.create("a-model", SIZE)
    return made


def put(store: VectorStore, made: Card, seed: int | None = 1, seq: int = 1) -> None:
    store.cards.put([card_row(made, seq, None if seed is None else unit(seed))])


def found(store: VectorStore, query: str, filters: Filters | None = None, scopes: list[str] | None = None) -> list[str]:
    return [row["id"] for row in store.match_cards(words.match_query(query), filters or Filters(), scopes, 10)]


def test_a_card_is_found_by_its_words_before_and_after_the_index(store: VectorStore) -> None:
    put(store, card("a", "The gateway needs plugins.allow"))
    put(store, card("b", "网关重启之前先设置通知"))
    for _ in range(2):
        assert found(store, "plugins.allow") == ["a"]
        assert found(store, "通知") == ["b"]
        assert found(store, "nothing of that") == []
        store.upkeep()
    put(store, card("c", "gateway gateway, written after the index was made"))
    assert set(found(store, "gateway")) == {"a", "c"}


def test_the_same_id_is_replaced_never_doubled(store: VectorStore) -> None:
    rows = [card_row(card(NASTY, f"version {n}"), n, unit(n)) for n in range(3)]
    store.cards.put(rows)
    put(store, card(NASTY, "version last"), 9)
    assert store.cards.count() == 1
    assert store.card_rows([NASTY])[NASTY]["content"] == "version last"
    assert np.allclose(store.vectors()[NASTY], unit(9))
    assert store.inspect().duplicates == []


def test_filters_hold_whatever_is_in_a_value(store: VectorStore) -> None:
    put(store, card("a", tags=(NASTY,), entities=("E",), scope="agent:x"))
    put(store, card("b", tags=("other",)))
    assert found(store, "content", Filters(tag=(NASTY,))) == ["a"]
    assert found(store, "content", Filters(tag=("' OR true --",))) == []
    assert found(store, "content", Filters(entity=("E", "none"))) == ["a"]
    assert found(store, "content", scopes=["global"]) == ["b"]
    assert store.allowed(Filters(scope=("agent:x",)), None) == {"a"}
    assert store.allowed(Filters(), None) is None
    assert found(store, "content", Filters(tag=("nul\x00", "\ud800"))) == []
    assert set(found(store, "content", Filters(since=1, until=1))) == {"a", "b"}
    assert found(store, "content", Filters(since=2)) == []


def test_rows_go_with_exactly_their_ids(store: VectorStore) -> None:
    for name in (NASTY, "b", "c"):
        put(store, card(name))
    store.remove_cards([NASTY, "none"])
    store.remove_cards([])
    assert sorted(store.vectors()) == ["b", "c"]


def test_passages_from_a_turn_on_are_removed(store: VectorStore) -> None:
    fields = {"piece": 0, "role": "user", "kind": "message", "text": "hello", "words": "hello", "scope": "global"}
    rows = [
        {"id": f"{name}#{turn}.0", "session_id": name, "turn": turn, "timestamp": None, **fields}
        for name in ("s'1", "s2")
        for turn in range(4)
    ]
    store.generation.spoken.add(rows)
    store.remove_passages("s'1", 2)
    left = store.passages.rows(None, ["id"])
    assert sorted(row["id"] for row in left) == ["s'1#0.0", "s'1#1.0", "s2#0.0", "s2#1.0", "s2#2.0", "s2#3.0"]
    spoken = store.generation.spoken
    hits, _ = spoken.match("hello", Filters(session="s'1"), None, 10)
    assert {row["turn"] for row in spoken.rows(hits.tolist()).values()} == {0, 1}


def test_cards_without_a_vector_have_none(store: VectorStore) -> None:
    put(store, card("a"), None)
    put(store, card("b"), 2)
    assert list(store.vectors()) == ["b"]
    assert store.cards.count("vector IS NULL") == 1
    matrix = store.matrix()
    assert [one for one, _ in matrix.nearest(unit(1), 5)] == ["b"]


def test_an_empty_store_answers(store: VectorStore) -> None:
    assert found(store, "anything") == []
    assert store.matrix().nearest(unit(1), 5) == []
    assert store.inspect().with_vector == 0
    store.save_matrix([])
    assert store.matrix().nearest(unit(1), 5) == []


def test_vectors_of_a_text_are_used_again_only_for_that_text(store: VectorStore) -> None:
    known = card("a", "the text")
    put(store, known, 3)
    assert np.allclose(store.vectors_of_text({"a": known.content_hash()})["a"], unit(3))
    assert store.vectors_of_text({"a": card("a", "another").content_hash()}) == {}


def test_the_matrix_follows_what_changed_since_it_was_saved(store: VectorStore) -> None:
    for number in range(5):
        put(store, card(f"c{number}"), number, seq=1)
    store.set_mark(at(store.mark(), LedgerMark(1)))
    store.save_matrix(["c4", "c3"])
    assert list(store.matrix().ids)[:2] == ["c4", "c3"]
    put(store, card("c0"), 100, seq=2)  # another vector
    put(store, card("c1"), None, seq=2)  # gave it up
    put(store, card("c9"), 101, seq=2)  # new
    store.set_mark(at(store.mark(), LedgerMark(2)))
    for reader in (store, VectorStore(store.path.parent)):
        matrix = reader.matrix()
        nearest = dict(matrix.nearest(unit(7), 20))
        expected = {"c0": 100, "c2": 2, "c3": 3, "c4": 4, "c9": 101}
        assert set(nearest) == set(expected)
        for name, seed in expected.items():
            assert nearest[name] == pytest.approx(float(unit(seed) @ unit(7)), abs=1e-5)
            assert np.allclose(matrix.vectors_of([name])[name], unit(seed))
        assert matrix.vectors_of(["c1", "none"]) == {}


def test_the_mark_outlives_garbage(store: VectorStore) -> None:
    store.set_mark(VectorMark(7, "s", 9, "a-model", SIZE, 1, 2))
    assert VectorStore(store.path.parent).mark() == VectorMark(7, "s", 9, "a-model", SIZE, 1, 2)
    (store.path / "mark.json").write_bytes(b"[1]")
    assert store.mark() == VectorMark()


def test_bad_vectors_are_found(store: VectorStore) -> None:
    store.cards.put([card_row(card("zero"), 1, np.zeros(SIZE, np.float32)), card_row(card("ok"), 1, unit(1))])
    assert store.inspect().bad_vectors == ["zero"]


def test_a_new_generation_takes_the_place_of_the_old(store: VectorStore) -> None:
    put(store, card("old"))
    fresh = store.new_generation()
    fresh.create("a-model", SIZE)
    fresh.cards.put([card_row(card("new"), 1, unit(1))])
    assert list(store.vectors()) == ["old"]
    old = store.path
    store.switch_to(fresh)
    assert list(store.vectors()) == ["new"]
    assert not old.exists()


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 40), st.integers(1, 50), st.sets(st.integers(0, 45)), st.sets(st.integers(0, 45)),
    st.none() | st.sets(st.integers(0, 45)),
)  # fmt: skip
def test_the_nearest_are_those_of_a_plain_loop(
    count: int, wanted: int, hidden: set[int], over: set[int], allowed: set[int] | None
) -> None:
    base = {f"c{n}": unit(n) for n in range(count)}
    fresh = {f"c{n}": unit(n + 1000) for n in over}
    gone = frozenset(f"c{n}" for n in hidden | over)
    stacked = np.stack(list(base.values())) if base else np.zeros((0, SIZE), np.float32)
    changed = np.stack(list(fresh.values())) if fresh else np.zeros((0, SIZE), np.float32)
    matrix = Matrix(list(base), stacked, 1).overlaid(Overlay(tuple(fresh), changed, gone))
    may = None if allowed is None else {f"c{n}" for n in allowed}
    living = {name: vector for name, vector in base.items() if name not in gone} | fresh
    scores = {name: float(vector @ unit(5)) for name, vector in living.items() if may is None or name in may}
    best = sorted(scores, key=lambda name: (-scores[name], name))[:wanted]
    got = matrix.nearest(unit(5), wanted, may)
    assert [name for name, _ in got] == best
    assert [score for _, score in got] == pytest.approx([scores[name] for name in best], abs=1e-5)


def test_a_saved_matrix_that_does_not_fit_is_none(tmp_path: Path) -> None:
    save_matrix(tmp_path, {"a": unit(1), "b": unit(2)}, 5, SIZE)
    loaded = load_matrix(tmp_path, SIZE)
    assert loaded is not None
    assert (list(loaded.ids), loaded.seq) == (["a", "b"], 5)
    assert load_matrix(tmp_path, SIZE + 1) is None
    save_matrix(tmp_path, {"a": unit(1)}, 6, SIZE)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["matrix-6.f32", "matrix-6.ids", "matrix.json"]
    (tmp_path / "matrix-6.f32").write_bytes(b"short")
    assert load_matrix(tmp_path, SIZE) is None
    (tmp_path / "matrix.json").write_bytes(b"{")
    assert load_matrix(tmp_path, SIZE) is None
