"""Fusion: what the legs of recall say of a card, made one score."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alaya_core import words
from alaya_core.models.recall_parts import Candidate
from alaya_core.services.recall.fuse import (
    FusionSettings,
    doubtful,
    exact_share,
    fuse,
    score_of,
    with_rerank,
    words_score,
)
from tests.core.recall.candidates import LEG, UNIT, by_id, ids


def test_both_legs_are_better_than_either() -> None:
    found = fuse(
        [
            Candidate("both", similarity=0.8, words=5, coverage=0.8),
            Candidate("vector", similarity=0.8),
            Candidate("words", words=5, coverage=0.8),
        ],
        "query",
    )
    assert found[0].id == "both"
    assert found[0].score > found[1].score > 0
    assert dict(found[0].why.scores).keys() == {"vector", "words", "fused"}


def test_weights_say_which_leg_decides() -> None:
    pair = [
        Candidate("v", similarity=0.9, words=1, coverage=0.1),
        Candidate("w", similarity=0.65, words=9, coverage=0.9),
    ]
    assert ids(fuse(pair, "q", FusionSettings(vector_weight=1, words_weight=0))) == ["v", "w"]
    assert ids(fuse(pair, "q", FusionSettings(vector_weight=0, words_weight=1))) == ["w", "v"]


def test_below_the_least_similarity_only_words_count() -> None:
    far = Candidate("far", similarity=0.29)
    near = Candidate("near", similarity=0.3)
    found = by_id(fuse([far, near, replace(far, id="kept", words=4, coverage=0.9)], "q"))
    (words_alone,) = fuse([Candidate("words", words=4, coverage=0.9)], "q")
    assert found["far"].score == 0
    assert found["near"].score > 0.4
    assert found["kept"].score == words_alone.score > 0.4
    assert "words" in found["kept"].why.notes[0]


@pytest.mark.parametrize(("similarity", "raw"), [(0.8, None), (None, 5.0)])
def test_one_leg_alone_says_what_is_certain_and_what_both_would_make_more_so(similarity: Any, raw: Any) -> None:
    (alone,) = fuse([Candidate("a", similarity=similarity, words=raw, coverage=0.8 if raw else None)], "q")
    (both,) = fuse([Candidate("a", similarity=0.8, words=5.0, coverage=0.8)], "q")
    assert doubtful(1_000) < alone.score < both.score


def test_what_the_legs_add_up_to_becomes_a_score() -> None:
    usual = FusionSettings()
    assert score_of(0) == 0
    assert score_of(usual.middle) == 0.5
    (card,) = fuse([Candidate("a", similarity=0.6, words=5.0, coverage=1.0)], "q")
    assert card.score == pytest.approx(score_of(0.6 + usual.words_weight))
    (legless,) = fuse([Candidate("a", similarity=0.6, words=5.0, coverage=1.0)], "q", FusionSettings(words_weight=0))
    assert legless.score == pytest.approx(score_of(0.6))


@given(st.floats(-1, 5), st.floats(-1, 5))
def test_more_evidence_is_never_a_lower_score(one: Any, other: Any) -> None:
    less, more = sorted((one, other))
    assert 0 <= score_of(less) <= score_of(more) < 1


def test_a_card_in_another_language_is_not_held_to_the_words_it_cannot_have() -> None:
    here, there = Candidate("here", similarity=0.6), Candidate("there", similarity=0.6, other_language=True)
    assert ids(fuse([here, there], "q")) == ["there", "here"]
    worded = Candidate("worded", similarity=0.6, words=5.0, coverage=1.0)
    assert fuse([worded], "q")[0].score == fuse([replace(worded, other_language=True)], "q")[0].score


def test_nothing_ran() -> None:
    assert fuse([], "q") == ()
    assert fuse([Candidate("a")], "q")[0].score == 0


@pytest.mark.parametrize("query", ["ERR_42", "why does err_42 happen", "ＥＲＲ＿42"])
def test_an_exact_match_never_sinks(query: Any) -> None:
    found = by_id(
        fuse([Candidate("e", text="It said Err_42.", words=0.1, coverage=0.1), Candidate("o", text="x")], query)
    )
    assert found["e"].score >= 0.75
    assert found["o"].score == 0
    assert found["e"].why.notes


@pytest.mark.parametrize(
    ("query", "text", "share"),
    [
        ("C++", "we use C++ here", 1),
        ("C++", "we use C here", 0),
        ("--dry-run", "pass --dry-run.", 1),
        ("--dry-run", "pass --dry-run-all", 0),
        ("ERR_42", "ERR_421", 0),
        ("1.2.3", "since v1.2.3", 1),
        ("1.2.3", "since 1.2.34", 0),
        ("a.bc", "a.bc.de", 0),
        ("猫 ERR_42", "错误ERR_42出现", 1),
        ("ERR_42 ERR_43", "only ERR_42", 0.5),
        ("plain words", "plain words", 0),
    ],
)
def test_verbatim_means_the_whole_identifier(query: Any, text: Any, share: Any) -> None:
    assert exact_share(Candidate("a", text=text), words.identifiers(query)) == share


def test_words_score_means_the_same_in_a_small_memory() -> None:
    usual = FusionSettings()
    assert words_score(0.3, 1.0, 0.3, 3, usual) == 1
    assert words_score(30, 1.0, 30, 3, usual) == 1
    assert words_score(5, 0.5, 5, 3, usual) == pytest.approx(0.5**usual.words_power)
    assert words_score(5, 0.25, 5, 3, usual) < words_score(5, 0.5, 5, 3, usual) / 2, "the first words say less"
    assert words_score(5, 0.5, 10, 3, usual) == pytest.approx(0.75 * 0.5**usual.words_power)
    assert words_score(7.5, None, 0, 3, usual) == 0.5
    assert words_score(7.5, None, 0, 6, usual) < 0.5


@given(st.lists(st.tuples(LEG, LEG, st.none() | UNIT), max_size=6), st.text(max_size=10))
def test_fused_scores_stay_on_their_scale(rows: Any, query: Any) -> None:
    candidates = [Candidate(str(i), similarity=s, words=w, coverage=c) for i, (s, w, c) in enumerate(rows)]
    found = fuse(candidates, query)
    assert sorted(ids(found)) == sorted(ids(candidates))
    assert all(0 <= candidate.score <= 1 for candidate in found)
    assert [c.score for c in found] == sorted((c.score for c in found), reverse=True)
    assert found == fuse(tuple(reversed(candidates)), query)


@given(UNIT, UNIT, UNIT)
def test_more_similar_is_never_worse(low: Any, high: Any, coverage: Any) -> None:
    low, high = sorted((low, high))
    pair = [
        Candidate("l", similarity=low, words=3, coverage=coverage),
        Candidate("h", similarity=high, words=3, coverage=coverage),
    ]
    found = by_id(fuse(pair, "q"))
    assert found["h"].score >= found["l"].score


def test_rerank_blends_and_spares_exact_matches() -> None:
    fused = fuse([Candidate("e", text="ERR_42"), Candidate("o", similarity=0.7, text="other")], "ERR_42")
    found = by_id(with_rerank(fused, {"e": 0.0, "o": 1.0, "gone": 1.0}))
    assert found["e"].score == 0.75
    assert found["o"].score == pytest.approx(0.6 + 0.4 * by_id(fused)["o"].score)
    assert by_id(with_rerank(fused, {"o": float("nan")})) == by_id(fused)
