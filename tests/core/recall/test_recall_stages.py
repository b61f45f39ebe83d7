"""The stages after fusion: each on its own, then strung together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alaya_core.models.card import CardState, Standing
from alaya_core.models.recall_parts import Candidate, NeighbourLink, Why
from alaya_core.services.recall.diversity import DiversitySettings, overlap, spread
from alaya_core.services.recall.fuse import FusionSettings, doubtful, fuse, with_rerank
from alaya_core.services.recall.neighbours import neighbour_score, order_neighbours
from alaya_core.services.recall.noise import drop_noise
from alaya_core.services.recall.stages import (
    StageSettings,
    apply_floor,
    apply_length,
    apply_lifecycle,
    length_factor,
    lifecycle_factor,
    run_stages,
    under_successors,
)
from tests.core.recall.candidates import UNIT, ids

# stages


@pytest.mark.parametrize(("length", "factor"), [(0, 1), (500, 1), (1000, 1 / 1.5), (2000, 0.5), (501, 0.9986)])
def test_length_is_damped_above_500_characters(length: Any, factor: Any) -> None:
    assert length_factor(length) == pytest.approx(factor, abs=1e-4)


@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_longer_is_never_better(one: Any, other: Any) -> None:
    short, long = sorted((one, other))
    assert 0 < length_factor(long) <= length_factor(short) <= 1


def test_length_reorders() -> None:
    assert ids(apply_length([Candidate("long", length=4000, score=0.9), Candidate("short", length=10, score=0.8)])) == [
        "short",
        "long",
    ]


def fresh(name: str, score: float = 0.0, similarity: float | None = None) -> Candidate:
    return Candidate(name, text=f"The port of {name}", score=score, similarity=similarity, temperature=1.0)


def test_a_best_one_that_chance_would_bring_is_doubted_and_all_with_it() -> None:
    pair, usual = [fresh("a", 0.55), fresh("b", 0.4)], StageSettings(doubt=0.5)
    strict = replace(usual, doubt=0.56)
    assert ids(run_stages(pair, usual).kept) == ["a", "b"]
    staged = run_stages(pair, strict)
    assert (staged.kept, staged.below_floor) == ((), 2)
    assert staged.best_below is not None
    assert 0 < staged.best_below < strict.floor, "what is said of the best agrees with the floor"
    assert ids(run_stages(pair, replace(strict, off=frozenset({"doubt"}))).kept) == ["a", "b"]
    assert ids(run_stages(pair, replace(strict, floor=0.0)).kept) == ["a", "b"], "without a floor nothing is dropped"
    assert ids(run_stages([*pair, fresh("c", 0.6)], strict).kept) == ["c", "a", "b"], "the best one judges"


def test_a_reranker_settles_a_doubt_and_never_raises_one() -> None:
    fused = fuse([fresh("near", similarity=0.5), fresh("far", similarity=0.4)], "q")
    settings = StageSettings(doubt=0.6)
    assert fused[0].score < settings.doubt
    assert run_stages(fused, settings).kept == ()
    assert ids(run_stages(with_rerank(fused, {"near": 0.1, "far": 0.9}), settings).kept)[0] == "far"
    sure = fuse([fresh("sure", similarity=0.9)], "q")
    cooled = with_rerank(sure, {"sure": 0.45})
    assert cooled[0].score < settings.doubt < sure[0].score
    assert ids(run_stages(cooled, settings).kept) == ["sure"]


def test_the_more_cards_the_nearer_comes_one_by_chance() -> None:
    assert doubtful(0) == doubtful(1) < doubtful(100) < doubtful(100_000) < FusionSettings().exact_floor


@given(st.floats(0, 1), st.integers(0, 10**7), st.integers(0, 10**7))
def test_more_cards_searched_never_make_a_doubtful_one_certain(score: Any, one: Any, other: Any) -> None:
    few, many = sorted((one, other))
    card = [fresh("a", score)]
    kept_of_many = run_stages(card, StageSettings(doubt=doubtful(many))).kept
    kept_of_few = run_stages(card, StageSettings(doubt=doubtful(few))).kept
    assert len(kept_of_many) <= len(kept_of_few)


def test_the_floor_counts_what_it_drops() -> None:
    kept, count, best = apply_floor([Candidate(str(score), score=score) for score in (0.9, 0.35, 0.31, 0.1)])
    assert ids(kept) == ["0.9", "0.35"]
    assert (count, best) == (2, 0.31)
    assert apply_floor([Candidate("a", score=0.0)], StageSettings(floor=0))[1:] == (0, None)


@pytest.mark.parametrize(
    ("standing", "temperature", "factor"),
    [
        (Standing.CORE, 0.1, 0.9),
        (Standing.CORE, 0.95, 0.95),
        (Standing.WORKING, 0.1, 0.7),
        (Standing.PERIPHERAL, 0.1, 0.5),
        (Standing.PERIPHERAL, 0.6, 0.6),
        (Standing.PERIPHERAL, 7.0, 1.0),
    ],
)
def test_lifecycle_never_falls_below_what_the_standing_grants(standing: Any, temperature: Any, factor: Any) -> None:
    assert lifecycle_factor(Candidate("a", standing=standing, temperature=temperature)) == factor


def test_superseded_cards_are_halved_marked_and_stand_under_their_successor() -> None:
    old = Candidate("old", score=0.9, state=CardState.SUPERSEDED, successor="new")
    new = Candidate("new", score=0.4)
    other = Candidate("other", score=0.42)
    (halved,) = apply_lifecycle([old])
    assert halved.score == 0.45
    assert halved.why.notes == ("superseded",)
    assert ids(under_successors(apply_lifecycle([old, new, other]))) == ["other", "new", "old"]


def test_chains_and_circles_of_successors() -> None:
    def superseded(name: Any, by: Any) -> Any:
        return Candidate(name, state=CardState.SUPERSEDED, successor=by)

    chain = [superseded("a", "b"), superseded("b", "c"), Candidate("c"), Candidate("d")]
    assert ids(under_successors(chain)) == ["c", "b", "a", "d"]
    circle = [superseded("a", "b"), superseded("b", "a"), Candidate("c"), superseded("e", "gone")]
    assert sorted(ids(under_successors(circle))) == ["a", "b", "c", "e"]


def test_a_strong_superseded_card_stands_under_its_weak_successor() -> None:
    old = Candidate("old", text="port 80", score=1.0, state=CardState.SUPERSEDED, successor="new", temperature=1.0)
    new = Candidate("new", text="now another number", score=0.4, temperature=1.0)
    assert ids(run_stages([old, new]).kept) == ["new", "old"]


def test_stages_strung_together() -> None:
    staged = run_stages(
        [
            Candidate("good", text="The port is 8080", score=0.9),
            Candidate("again", text="the PORT is 8080!", score=0.89),
            Candidate("other", text="Redis is a cache", score=0.76, standing=Standing.PERIPHERAL, temperature=0.2),
            Candidate("hello", text="Hello there!", score=0.8),
            Candidate("weak", text="Something", score=0.2),
            Candidate("faded", text="An old thing", score=0.6, standing=Standing.PERIPHERAL, temperature=0.2),
        ]
    )
    assert ids(staged.kept) == ["good", "other", "again"]
    assert (staged.below_floor, staged.best_below, staged.noise) == (2, 0.3, 1)
    assert staged.kept[1].score == 0.38
    assert staged.kept[1].why.as_dict() == {"lifecycle": 0.5}


@given(st.lists(st.tuples(UNIT, st.integers(0, 5000), UNIT, st.sampled_from(Standing)), max_size=8))
def test_stages_lose_nothing_uncounted(rows: Any) -> None:
    candidates = [
        Candidate(str(i), text=f"text number{i}", score=s, length=n, temperature=t, standing=standing)
        for i, (s, n, t, standing) in enumerate(rows)
    ]
    staged = run_stages(candidates)
    assert len(staged.kept) + staged.below_floor + staged.noise == len(candidates)
    assert all(0 <= candidate.score <= 1 for candidate in staged.kept)


def test_why_keeps_the_order_of_the_stages() -> None:
    why = Why().with_score("b", 0.123456).with_score("a", 1).with_note("n").with_note("n")
    assert list(why.as_dict()) == ["b", "a", "notes"]
    assert why.as_dict()["b"] == 0.1235
    assert why.as_dict()["notes"] == ["n"]
    assert list(why.with_score("b", 2).as_dict()) == ["b", "a", "notes"]


# diversity


def test_near_repeats_go_behind_and_none_is_dropped() -> None:
    rows = [Candidate(name, text=f"text {name}") for name in "abcd"]
    alike = {frozenset("ab"): 0.9, frozenset("cd"): 0.85}
    found = spread(rows, lambda one, other: alike.get(frozenset((one, other)), 0.1))
    assert ids(found) == ["a", "c", "d", "b"]
    assert found[-1].why.notes == ("near repeat of a",)
    assert ids(spread(rows, lambda *_: 1.0, DiversitySettings(repeat=1))) == list("abcd")


def test_without_vectors_their_words_decide() -> None:
    rows = [
        Candidate("a", text="我养了一只猫"),
        Candidate("b", text="我養了一隻貓。"),
        Candidate("c", text="端口是8080"),
    ]
    assert ids(spread(rows)) == ["a", "c", "b"]
    assert ids(spread(rows, lambda *_: None)) == ["a", "c", "b"]
    assert ids(spread(rows, lambda *_: 0.0)) == ["a", "b", "c"]
    assert overlap(frozenset(), frozenset()) == 0


def test_beyond_what_is_compared_the_order_stays() -> None:
    rows = [Candidate(str(i), text="same") for i in range(6)]
    assert ids(spread(rows, None, DiversitySettings(compared=3))) == ["0", "3", "4", "5", "1", "2"]


@given(st.lists(st.sampled_from(["cat dog", "cat dog bird", "fish", ""]), max_size=8))
def test_spreading_is_a_permutation_and_keeps_the_first(texts: Any) -> None:
    rows = [Candidate(str(i), text=text) for i, text in enumerate(texts)]
    found = spread(rows)
    assert sorted(ids(found)) == sorted(ids(rows))
    assert ids(found)[:1] == ids(rows)[:1]


# noise as a stage


def test_noise_is_dropped_but_not_what_is_pinned_or_titled() -> None:
    rows = [
        Candidate("hi", text="Hi!"),
        Candidate("pinned", text="Hi!", pinned=True),
        Candidate("titled", title="Greeting used by the bot", text="Hi!"),
        Candidate("fact", text="The port is 8080"),
    ]
    kept, count = drop_noise(rows)
    assert (ids(kept), count) == (["pinned", "titled", "fact"], 1)


# neighbours


def link(hit: Any, other: Any, weight: Any = 0.5, degree: Any = 2, **more: Any) -> Any:
    return NeighbourLink(hit, other, more.pop("relation", "RELATES_TO"), "out", weight, degree, **more)


def test_neighbours_by_weight_once_each_and_limited() -> None:
    found = order_neighbours(
        [
            link("h", "weak", 0.2),
            link("h", "strong", 0.9),
            link("h", "strong", 0.95, relation="DEPENDS_ON"),
            link("h", "h", 1.0),
            link("h", "hidden", 1.0),
            link("h", "mid", 0.5),
            link("other", "strong", 0.1),
        ],
        limit=2,
        exclude={"hidden"},
    )
    assert [n.link.other_id for n in found["h"]] == ["strong", "mid"]
    assert found["h"][0].link.relation == "DEPENDS_ON"
    assert [n.link.other_id for n in found["other"]] == ["strong"]


def test_hubs_and_second_hops_are_damped() -> None:
    found = order_neighbours([link("h", "hub", 0.9, degree=1000), link("h", "leaf", 0.5, degree=1)])
    assert [n.link.other_id for n in found["h"]] == ["leaf", "hub"]
    assert neighbour_score(link("h", "a", hops=2)) == neighbour_score(link("h", "a")) / 2
    assert neighbour_score(link("h", "a", 1.0, degree=0)) == 1
    assert neighbour_score(link("h", "a", float("nan"))) == 0


@given(st.permutations([link("h", str(i), i / 10, degree=i) for i in range(6)]))
def test_the_order_of_links_does_not_matter(links: Any) -> None:
    assert order_neighbours(links) == order_neighbours(sorted(links, key=lambda one: one.other_id))
