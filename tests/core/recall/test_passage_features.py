"""What is known of a passage, and the score that is made of it: for any conversation and query, more is never less."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alaya_core import words
from alaya_core.models.recall_parts import Candidate
from alaya_core.services.recall.diversity import DiversitySettings, spread
from alaya_core.services.recall.fuse import FusionSettings, doubtful, fuse
from alaya_core.services.recall.passage_features import Asked, Features, asked, neighbours_of, passage_features
from alaya_core.services.recall.passage_score import OF_STAGE, SCALE, WEIGHTS, passage_scores, without
from alaya_core.services.recall.stages import StageSettings, apply_floor, run_stages
from alaya_core.services.recall.weighing import token_weights
from alaya_core.stores.passage_columns import PassageColumns
from alaya_core.stores.passage_writing import PassageWriter
from tests.core.stores.passage_worlds import DIMENSIONS, TOOL, rows_of, units

settings.register_profile("unhurried", deadline=None)  # the first call loads tables and the stemmer
settings.load_profile("unhurried")

VOCABULARY = ("gateway", "port", "cat", "Tuesday", "db-9", "plugins.allow", "网关", "the", "Ana", "when")
TEXT = st.lists(st.sampled_from([*VOCABULARY, "?", "x" * 30]), min_size=1, max_size=6).map(" ".join)
TURN = st.one_of(TEXT, TEXT.map(lambda text: f"{TOOL} {text}"), TEXT.map(lambda text: f"{text}. " * 60))
TALKS = st.lists(st.lists(TURN, min_size=1, max_size=9), min_size=1, max_size=3)
QUERY = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=5).map(" ".join)
SHARES = tuple(field.name for field in fields(Features) if field.name not in ("rows", "length", "tool"))
WORDS = OF_STAGE["words"]
COUNTED = {**OF_STAGE, "words": (*WORDS, "answers"), "surroundings": (*OF_STAGE["surroundings"], "answers")}
UNIT = st.floats(0, 1, width=32)


@contextmanager
def columns_of(talks: Sequence[Sequence[str]], seed: int = 0) -> Iterator[PassageColumns]:
    """Records of some sessions, every second one with vectors."""
    with tempfile.TemporaryDirectory() as root:
        writer, count = PassageWriter(Path(root), DIMENSIONS), 0
        for number, texts in enumerate(talks):
            rows = rows_of(f"s{number}", texts)
            writer.append(rows, count)
            if number % 2 == 0 and rows:
                writer.put_vectors(list(range(count, count + len(rows))), units(len(rows), seed + number))
            count += len(rows)
        yield PassageColumns(Path(root), DIMENSIONS)


def judged(columns: PassageColumns, question: Asked, found: Any = None) -> Features:
    every = np.arange(len(columns), dtype=np.int64)
    rescale = lambda cosines, _: np.clip(cosines, 0, 1).astype(np.float32)  # noqa: E731
    return passage_features(columns, question, every, every if found is None else found, rescale)


# features


@given(TALKS, QUERY, st.booleans())
def test_every_share_is_one_and_what_is_around_adds(talks: list[list[str]], query: str, meaning: bool) -> None:
    with columns_of(talks) as columns:
        features = judged(columns, asked(query, units(1, 7)[0] if meaning else None))
    for name in SHARES:
        share = getattr(features, name)
        assert share.shape == (len(features.rows),)
        assert ((share >= 0) & (share <= 1 + 1e-6)).all(), name
    assert (features.words <= features.words_near + 1e-6).all()
    assert (features.words_near <= features.words_around + 1e-6).all()
    assert (features.words <= features.words_session + 1e-6).all()
    assert (features.answers <= features.words_near + 1e-6).all()
    assert (features.length >= 0).all()
    assert meaning or not features.meaning.any()
    assert not features.timed.any() or "when" in query


@given(TALKS, QUERY)
def test_scores_of_any_conversation_are_scores(talks: list[list[str]], query: str) -> None:
    with columns_of(talks) as columns:
        features = judged(columns, asked(query, units(1, 7)[0]))
    for off in ((), ("doubt",), ("words",), ("vectors",), ("surroundings", "turn"), ("words", "vectors")):
        scores = passage_scores(features, len(features.rows), off=off)
        assert ((scores >= 0) & (scores <= 1)).all()


@given(TALKS, QUERY, st.integers(0, 5))
def test_neighbours_stay_in_the_session_and_bring_the_row_itself(
    talks: list[list[str]], query: str, steps: int
) -> None:
    with columns_of(talks) as columns:
        for row in range(len(columns)):
            reached = neighbours_of(columns, np.array([row]), steps)
            assert row in reached
            assert len(set(reached.tolist())) == len(reached) <= 2 * steps + 1
            assert {columns.key(int(one))[0] for one in reached} == {columns.key(row)[0]}


def test_what_stands_around_a_turn_counts_up_to_three_turns_away() -> None:
    talk = ["The gateway.", *(f"Well {number}." for number in range(6))]
    with columns_of([talk]) as columns:
        features = judged(columns, asked("gateway", None))
    assert features.words.tolist() == [1, 0, 0, 0, 0, 0, 0]
    assert features.words_near.tolist() == [1, 1, 0, 0, 0, 0, 0]
    assert features.words_around.tolist() == [1, 1, 1, 1, 0, 0, 0]
    assert features.words_session.tolist() == [1] * 7


def test_a_tool_and_a_long_turn_in_between_do_not_count_as_turns() -> None:
    talk = ["The gateway.", f"{TOOL} printed", "A long answer, says nobody. " * 90, "Last."]
    with columns_of([talk]) as columns:
        features = judged(columns, asked("gateway", None))
        turns = columns.records["turn"][features.rows]
    assert features.words_around[turns == 3].tolist() == [1.0]
    assert features.words_near[turns == 3].tolist() == [0.0]
    assert features.tool[turns == 1].tolist() == [True]


def test_a_query_that_names_who_speaks_and_one_that_asks_when() -> None:
    with columns_of([["The cat came on Tuesday.", "Which cat?", f"{TOOL} Ana Tuesday"]]) as columns:
        features = judged(columns, asked("When did Ana speak of the cat?", None))
        others = judged(columns, asked("Which cat is it?", None))
    assert features.speaker.tolist() == [1, 0, 0]
    assert features.timed.tolist() == [1, 0, 1]
    assert features.asks.tolist() == [0, 1, 0]
    assert not others.timed.any()
    assert not others.speaker.any()


def test_an_identifier_counts_as_it_stands() -> None:
    with columns_of([["Ask db-9 for it.", "Ask db and 9.", "Set plugins.allow on db-9."]]) as columns:
        features = judged(columns, asked("plugins.allow of db-9", None))
    assert features.exact.tolist() == [0.5, 0, 1]


def test_what_follows_a_question_answers_it() -> None:
    talk = ["The gateway port.", "Sure.", "Which gateway port?", f"{TOOL} printed", "It is 8443.", "Good."]
    with columns_of([talk]) as columns:
        features = judged(columns, asked("gateway port", None))
        scores = passage_scores(features, 6, off=("vectors",))
    assert features.answers.tolist() == [0, 0, 0, 0, 1, 0]
    assert scores[4] > 0.5
    assert not scores[[1, 3, 5]].any()
    assert not passage_scores(features, 6, off=("vectors", "surroundings"))[4]


def test_without_vectors_meaning_is_nothing() -> None:
    with columns_of([["One."], ["Two."]]) as columns:
        features = judged(columns, asked("one", columns.vectors[0] / np.linalg.norm(columns.vectors[0])))
    assert features.meaning[0] > 0.99
    assert features.meaning_around[0] > 0.99
    assert features.meaning[1] == features.meaning_around[1] == 0


def test_no_rows_no_query_no_words() -> None:
    nobody = np.zeros(0, np.int64)
    with columns_of([["One."]]) as columns:
        for query in ("", "???", "the"):
            features = judged(columns, asked(query, None))
            assert not any(getattr(features, name).any() for name in WORDS)
            assert not passage_scores(features, 1).any()
        empty = passage_features(columns, asked("one", units(1)[0]), nobody, nobody, None)
        assert passage_scores(empty, 1).shape == (0,)
    assert token_weights((), (), 0) == []


@given(st.lists(st.integers(0, 50), min_size=1, max_size=6))
def test_a_word_that_fewer_have_tells_more(having: list[int]) -> None:
    tokens = tuple(words.query_words(" ".join(f"word{number}" for number in range(len(having)))))[: len(having)]
    weights = token_weights(tokens, having[: len(tokens)], 50)
    assert all(math.isfinite(weight) and weight > 0 for weight in weights)
    alike = token_weights(("gateway", "gateway"), (3, 30), 40)
    assert alike[0] > alike[1] > 0


# scores

ONE = dict.fromkeys(SHARES, UNIT) | {"length": st.floats(0, 4, width=32), "asks": st.sampled_from([0.0, 1.0])}
PASSAGE = st.fixed_dictionaries(ONE | {"tool": st.booleans()})
PASSAGES = st.lists(PASSAGE, min_size=1, max_size=6)
SEARCHED = st.integers(0, 1_000_000)


def features_of(passages: Sequence[dict[str, Any]]) -> Features:
    columns = {name: np.array([one[name] for one in passages], np.float32) for name in (*SHARES, "length")}
    tool = np.array([one["tool"] for one in passages])
    return Features(rows=np.arange(len(passages)), tool=tool, **columns)


def score(passage: dict[str, Any], searched: int, off: Sequence[str] = ()) -> float:
    return float(passage_scores(features_of([passage]), searched, off=off)[0])


OFF = st.sets(st.sampled_from(["doubt", "exact", "surroundings", "turn", "words", "vectors"]), max_size=2)


@settings(max_examples=300)
@given(
    PASSAGE,
    st.sampled_from([*WORDS, "answers", "meaning", "meaning_around", "exact", "speaker", "timed"]),
    UNIT,
    SEARCHED,
    OFF,
)
def test_more_of_what_was_asked_never_scores_lower(
    passage: dict[str, Any], name: str, more: float, searched: int, off: set[str]
) -> None:
    better = passage | {name: max(more, passage[name])}
    assert score(better, searched, tuple(off)) >= score(passage, searched, tuple(off)) - 1e-6


@settings(max_examples=300)
@given(PASSAGES, st.integers(0, 5), st.sampled_from([*WORDS, "meaning", "meaning_around"]), UNIT, SEARCHED)
def test_more_of_what_was_asked_never_falls_behind_another(
    passages: list[dict[str, Any]], at: int, name: str, more: float, searched: int
) -> None:
    at %= len(passages)
    better = [*passages]
    better[at] = passages[at] | {name: max(more, passages[at][name])}
    before, after = (passage_scores(features_of(some), searched, off=("doubt",)) for some in (passages, better))
    assert after[at] >= before[at] - 1e-6
    others = np.arange(len(passages)) != at
    np.testing.assert_allclose(after[others], before[others], atol=1e-6)


@given(PASSAGES, SEARCHED, SEARCHED)
def test_the_more_are_searched_the_more_is_doubted(passages: list[dict[str, Any]], one: int, other: int) -> None:
    few, many = (passage_scores(features_of(passages), searched) for searched in sorted((one, other)))
    assert (many <= few + 1e-6).all()
    certain = passage_scores(features_of(passages), 1, off=("doubt",))
    assert (few <= certain + 1e-6).all()


def test_what_comes_near_by_chance_is_doubted_and_an_identifier_is_not() -> None:
    common = dict.fromkeys(SHARES, 0.0) | {"length": 3.6, "tool": False}
    near = common | {"words": 0.3, "words_near": 0.3, "words_around": 0.4, "words_session": 0.5, "meaning": 0.2}
    assert score(near, 1_000_000) < SCALE.weak <= score(near, 1_000_000, ("doubt",))
    assert score(near | {"exact": 1.0}, 1_000_000) == pytest.approx(SCALE.exact_floor)
    assert score(near | {"exact": 1.0}, 1_000_000, ("exact",)) < SCALE.weak
    sure = dict.fromkeys((*WORDS, "meaning", "meaning_around"), 0.9)
    assert score(common | sure, 1_000_000) > 0.7


@given(PASSAGE, SEARCHED)
def test_a_tool_is_never_above_the_same_said(passage: dict[str, Any], searched: int) -> None:
    for off in (("exact",), ("exact", "doubt")):
        said, printed = (score(passage | {"tool": tool}, searched, off) for tool in (False, True))
        assert printed <= said
        assert "doubt" not in off or printed < said or said == 0


@settings(max_examples=200)
@given(PASSAGES, PASSAGES, st.sampled_from(sorted(OF_STAGE)), SEARCHED)
def test_what_is_switched_off_does_not_count(
    passages: list[dict[str, Any]], others: list[dict[str, Any]], stage: str, searched: int
) -> None:
    count = min(len(passages), len(others))
    changed = [
        one | {name: other[name] for name in COUNTED[stage]} for one, other in zip(passages, others, strict=False)
    ]
    one, other = (passage_scores(features_of(some), searched, off=(stage,)) for some in (passages[:count], changed))
    np.testing.assert_array_equal(one, other)


def test_a_leg_that_is_off_saves_nothing_from_being_no_answer() -> None:
    """By the words alone it would be one, and by the meaning alone it is none."""
    only = dict.fromkeys(SHARES, 0.0) | {"length": 3.6, "tool": False, "words": 1.0, "meaning_around": 1.0}
    assert score(only, 1, ("doubt",)) > 0
    assert score(only, 1, ("doubt", "words")) == 0
    assert score(only | {"words": 0.0, "meaning": 1.0}, 1, ("doubt", "vectors")) == 0


@pytest.mark.parametrize("name", ["speaker", "timed", "words_near", "words_session", "meaning_around"])
def test_what_is_known_of_it_counts(name: str) -> None:
    usual = dict.fromkeys(SHARES, 0.5) | {"length": 3.6, "tool": False, "exact": 0.0}
    assert score(usual | {name: 1.0}, 1) > score(usual, 1) + 0.02


def test_weights_of_what_is_switched_off_are_nothing() -> None:
    for stage, names in OF_STAGE.items():
        left = without(WEIGHTS, [stage])
        assert all(getattr(left, name) == 0 for name in names)
        assert all(getattr(left, field.name) != 0 for field in fields(left) if field.name not in names)
    assert without(WEIGHTS, ["doubt", "exact", "unknown"]) == WEIGHTS


# cards

CARD = st.builds(
    Candidate,
    id=st.uuids().map(str),
    text=TEXT,
    similarity=st.none() | UNIT,
    words=st.none() | st.floats(0, 40),
    coverage=st.none() | UNIT,
    other_language=st.booleans(),
)
CARDS = st.lists(CARD, min_size=1, max_size=8, unique_by=lambda card: card.id)


def fused(cards: Sequence[Candidate], card_id: str) -> float:
    return {card.id: card.score for card in fuse(cards, "gateway port")}[card_id]


@given(CARDS, UNIT, UNIT)
def test_a_card_with_more_never_fuses_lower(cards: list[Candidate], similar: float, covered: float) -> None:
    card, *others = cards
    usual = fused(cards, card.id)
    nearer = replace(card, similarity=max(similar, card.similarity or 0))
    assert fused([nearer, *others], card.id) >= usual - 1e-9
    if card.coverage is not None:
        assert fused([replace(card, coverage=max(covered, card.coverage)), *others], card.id) >= usual - 1e-9
    if card.words is not None and all((other.words or 0) >= card.words for other in others):
        top = max((other.words or 0 for other in others), default=card.words)
        assert fused([replace(card, words=top), *others], card.id) >= usual - 1e-9


@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_among_more_cards_more_is_doubted(one: int, other: int) -> None:
    few, many = sorted((one, other))
    assert 0 < doubtful(few) <= doubtful(many) < 1


@given(CARDS, st.floats(0, 1))
def test_doubt_answers_nothing_or_changes_nothing(cards: list[Candidate], doubt: float) -> None:
    found = fuse(cards, "gateway port", FusionSettings())
    usual = run_stages(found, StageSettings())
    doubting = run_stages(found, StageSettings(doubt=doubt))
    if max(card.score for card in found) < doubt:
        assert doubting.kept == ()
        assert doubting.below_floor == len(cards)
    else:
        assert doubting == usual
    assert run_stages(found, StageSettings(doubt=doubt, off=frozenset({"doubt"}))) == usual


@given(CARDS, st.floats(0, 1))
def test_the_floor_counts_all_it_drops(cards: list[Candidate], floor: float) -> None:
    found = fuse(cards, "gateway port")
    kept, count, best = apply_floor(found, StageSettings(floor=floor))
    below = [card for card in found if card.score < floor]
    assert [*kept] == [card for card in found if card.score >= floor]
    assert count == len(below) == len(cards) - len(kept)
    assert best == max((card.score for card in below), default=None)


@given(CARDS, st.floats(0, 1), st.integers(1, 9), st.integers(1, 9))
def test_diversity_drops_nothing_and_keeps_the_first(
    cards: list[Candidate], repeat: float, compared: int, enough: int
) -> None:
    chosen = DiversitySettings(repeat=repeat, compared=compared, enough=enough)
    ordered = spread(cards, None, chosen)
    assert sorted(card.id for card in ordered) == sorted(card.id for card in cards)
    assert ordered[0].id == cards[0].id
    moved = {card.id for card in ordered if any("near repeat" in note for note in card.why.notes)}
    places = {card.id: place for place, card in enumerate(cards)}
    for some in ([c for c in ordered if c.id in moved], [c for c in ordered if c.id not in moved]):
        assert [places[card.id] for card in some] == sorted(places[card.id] for card in some)
    assert [card.id in moved for card in ordered] == sorted(card.id in moved for card in ordered)
