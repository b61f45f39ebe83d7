"""One score out of what is known of a passage: a sum of features, on a scale of 0 to 1."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, fields, replace

import numpy as np

from alaya_core.services.recall.passage_features import Features, Floats


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each feature counts, see `Features`.

    The figures are those of a listwise logistic regression over LoCoMo's conversations 1 to 5: which turn, of all that
    were found, is the evidence.
    """

    words: float = 1.09
    words_near: float = 1.98
    words_around: float = 3.28
    words_session: float = 2.27
    meaning: float = 4.52
    meaning_around: float = 4.17
    speaker: float = 2.26
    length: float = 1.09
    asks: float = -1.13
    timed: float = 1.91


WORDS_POWER = 1.5
"""Of what a passage has of a query, the first words say less than the last: with a plain share, one common word stood
above a passage that means the same in other words."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Makes a sum a score.

    Attributes:
        middle, slope: `1 / (1 + exp(-(sum - middle) * slope))`.
        enough: Of words and meaning alone; what has less stays below `weak`, in proportion.
        doubt, doubt_growth: When the best one has less of words and meaning than `doubt + doubt_growth * ln(passages
            searched)`, nothing is relevant: the more there are, the nearer comes one by chance. (In homes of 75 to
            8,000 passages 8 of 10 queries about nothing in them found no more.)
        weak: The score of what is only just worth showing.
        own_meaning: What has no word of the query and means less is no answer, whatever stands around it, unless
        answers: it was said right after a question that has this share of the query's words ("It is 8443.").
        exact_floor: A passage with all of the query's identifiers never falls below it.
        tool_share: What a tool's output keeps of its score: it holds every word and says little.
    """

    middle: float = 3.1
    slope: float = 0.24
    enough: float = 2.0
    doubt: float = 1.75
    doubt_growth: float = 0.25
    weak: float = 0.35
    own_meaning: float = 0.15
    answers: float = 0.5
    exact_floor: float = 0.75
    tool_share: float = 0.7


USUAL_LENGTH = 3.6
"""`Features.length` of a turn of two or three sentences: shorter ones lose, longer ones gain."""

WEIGHTS = Weights()
SCALE = Scale()
NAMES = tuple(field.name for field in fields(Weights))

OF_STAGE = {
    "words": ("words", "words_near", "words_around", "words_session"),
    "vectors": ("meaning", "meaning_around"),
    "surroundings": ("words_near", "words_around", "words_session", "meaning_around"),
    "turn": ("speaker", "length", "asks", "timed"),
}
"""The features that a stage of recall brings."""
_EVIDENCE = [NAMES.index(name) for stage in ("words", "vectors") for name in OF_STAGE[stage]]


def without(weights: Weights, off: Collection[str]) -> Weights:
    """The weights with some stages of recall switched off.

    What the surroundings count goes to the passage itself when they are off, so that a score means the same.
    """
    if "surroundings" in off:
        by_words = sum(getattr(weights, name) for name in OF_STAGE["words"])
        weights = replace(weights, words=by_words, meaning=weights.meaning + weights.meaning_around)
    gone = {name for stage in off for name in OF_STAGE.get(stage, ())}
    return replace(weights, **dict.fromkeys(gone, 0.0))


def matrix(features: Features) -> Floats:
    """(n, features) in the order of `Weights`, as they are summed up."""
    power = dict.fromkeys(OF_STAGE["words"], WORDS_POWER)
    columns = [getattr(features, name) ** power.get(name, 1.0) for name in NAMES]
    columns[NAMES.index("length")] = features.length - USUAL_LENGTH
    return np.stack(columns, axis=1)


def passage_scores(
    features: Features,
    searched: int,
    weights: Weights = WEIGHTS,
    scale: Scale = SCALE,
    off: Collection[str] = (),
) -> Floats:
    """(n,): the score of each passage, 0..1.

    Args:
        searched: Among how many passages they were found.
        off: Stages that are switched off: `exact`, `doubt`, and those of `OF_STAGE`.
    """
    given = without(weights, off)
    # Where a leg is missing there is less evidence to be had, for what is meant as for what is not.
    share = _most_evidence(given) / _most_evidence(weights)
    enough = scale.enough * share
    doubt = share * (scale.doubt + scale.doubt_growth * math.log(max(1, searched)))
    summed = matrix(features) * np.array([getattr(given, name) for name in NAMES], np.float32)
    evidence = summed[:, _EVIDENCE].sum(axis=1)
    scores = 1.0 / (1.0 + np.exp(-np.clip((summed.sum(axis=1) - scale.middle) * scale.slope, -60, 60)))
    if share <= 0:
        return np.zeros(len(scores), np.float32)
    scores = np.where(evidence < enough, np.minimum(scores, scale.weak * evidence / enough), scores)
    answering = (features.answers >= scale.answers) & ("surroundings" not in off)
    wordless = (features.words <= 0) & ~answering | ("words" in off)
    scores = np.where(wordless & ((features.meaning < scale.own_meaning) | ("vectors" in off)), 0.0, scores)
    scores = np.where(features.tool, scores * scale.tool_share, scores)
    if "doubt" not in off and len(scores) and evidence[np.argmax(scores)] < doubt:
        scores = np.minimum(scores, scale.weak * evidence / doubt)
    if "exact" not in off:
        scores = np.maximum(scores, scale.exact_floor * features.exact)
    return np.asarray(scores, np.float32)


def _most_evidence(weights: Weights) -> float:
    return float(sum(getattr(weights, NAMES[at]) for at in _EVIDENCE))
