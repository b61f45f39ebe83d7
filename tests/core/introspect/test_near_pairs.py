"""Pairs of like cards: the same as comparing each with each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alaya_core.models.plan import Pair
from alaya_core.services.consolidate.pairs import near_pairs

BACKGROUND = {(False, False): 0.1, (False, True): 0.3, (True, False): 0.3, (True, True): 0.2}


def scale(cosines: np.ndarray, chinese: bool, others: np.ndarray) -> np.ndarray:
    floor = np.array([BACKGROUND[(chinese, bool(other))] for other in others], np.float32)
    return np.asarray(np.clip((cosines - floor) / (1 - floor), 0, 1), np.float32)


def drawn(count: int, seed: int, topics: int) -> tuple[list[str], np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((topics, 16))
    vectors = centres[rng.integers(topics, size=count)] + 0.4 * rng.standard_normal((count, 16))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return [f"card-{number:04d}" for number in rng.permutation(count)], vectors, rng.random(count) < 0.4


def each_with_each(
    ids: list[str], vectors: np.ndarray, chinese: np.ndarray, least: float
) -> dict[tuple[str, str], float]:
    found = {}
    for a in range(len(ids)):
        similar = scale(vectors @ vectors[a], bool(chinese[a]), chinese)
        for b in range(len(ids)):
            if a != b and similar[b] >= least:
                found[(min(ids[a], ids[b]), max(ids[a], ids[b]))] = float(similar[b])
    return found


@given(st.integers(0, 10_000), st.integers(2, 60), st.integers(1, 8), st.sampled_from([0.3, 0.7, 0.95]))
@settings(max_examples=40, deadline=None)
def test_the_same_pairs_as_comparing_each_with_each(seed: int, count: int, topics: int, least: float) -> None:
    ids, vectors, chinese = drawn(count, seed, topics)
    pairs = near_pairs(ids, vectors, chinese, scale, least=least, most=count)
    wanted = each_with_each(ids, vectors, chinese, least)
    got = {(pair.one, pair.other): pair.similarity for pair in pairs}
    edge = {key for key, value in wanted.items() if value < least + 1e-4}
    assert got.keys() | edge == wanted.keys() | edge
    assert all(abs(got[key] - wanted[key]) < 1e-3 for key in got.keys() & wanted.keys())
    assert pairs == sorted(pairs, key=lambda pair: (-pair.similarity, pair.one, pair.other))


def test_of_a_crowd_only_the_nearest_are_looked_at() -> None:
    ids, vectors, chinese = drawn(300, 1, 1)
    pairs = near_pairs(ids, vectors, chinese, scale, least=0.1, most=5)
    best = each_with_each(ids, vectors, chinese, 0.1)
    near_first = sorted((value, pair) for pair, value in best.items() if ids[0] in pair)[-5:]
    assert {pair for _, pair in near_first} <= {(pair.one, pair.other) for pair in pairs}
    assert len(pairs) <= 300 * 5


def test_only_pairs_with_some_cards_are_looked_for() -> None:
    ids, vectors, chinese = drawn(40, 2, 2)
    some = near_pairs(ids, vectors, chinese, scale, least=0.2, most=40, rows=[3, 7])
    whole = near_pairs(ids, vectors, chinese, scale, least=0.2, most=40)
    assert {(pair.one, pair.other) for pair in some} == {
        (pair.one, pair.other) for pair in whole if {ids[3], ids[7]} & {pair.one, pair.other}
    }
    assert isinstance(whole[0], Pair)


def test_whoever_is_told_may_stop_it() -> None:
    ids, vectors, chinese = drawn(40, 2, 2)

    def stop(*_: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        near_pairs(ids, vectors, chinese, scale, least=0.2, most=40, told=stop)
