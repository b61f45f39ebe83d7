"""Fusion of the two legs of recall, by score: what the vectors say, what the words say, and what was found verbatim."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from alaya_core import words
from alaya_core.models.recall_parts import Candidate, Why, best_first


@dataclass(frozen=True, slots=True)
class FusionSettings:
    """How the legs are weighed; every figure is on the scale 0..1 unless said otherwise.

    The weights were chosen on LoCoMo's conversations 1 to 5 (observations as cards) and every other question of CMRC.

    Attributes:
        vector_weight, words_weight: What the legs add up to at most.
        min_similarity: Below it a candidate keeps its words only.
        words_power: Of what a card has of a query, the first words say less than the last.
        rank_share: How far a word score depends on its rank among the raw scores, the rest on coverage alone.
        words_half: Raw word score per asked word that counts as one half, where no coverage is known.
        other_language: What the similarity of a card in another language than the query's counts more: it cannot have
            the query's words.
        doubt, doubt_growth: When the best sum is below `doubt + doubt_growth * ln(cards searched)`, nothing is
            relevant: the more there are, the nearer comes one by chance. (Among 60, 256 and 2,500 cards 8 of 10 queries
            about nothing in them found no more.)
        middle, slope: The sum becomes a score by `1 / (1 + exp(-(sum - middle) * slope))`.
        exact_floor: The score that a candidate with all of the query's identifiers, verbatim, never falls below.
    """

    vector_weight: float = 1.0
    words_weight: float = 1.75
    min_similarity: float = 0.3
    words_power: float = 1.5
    rank_share: float = 0.5
    words_half: float = 2.5
    other_language: float = 0.1
    doubt: float = 0.33
    doubt_growth: float = 0.04
    middle: float = 0.3
    slope: float = 1.65
    exact_floor: float = 0.75


DEFAULTS = FusionSettings()


def fuse(candidates: Sequence[Candidate], query: str, settings: FusionSettings = DEFAULTS) -> tuple[Candidate, ...]:
    """Gives every candidate one score out of its legs, best first.

    Args:
        candidates: Each id once, with what either leg knew of it.
        query: As it was asked.
    """
    top = max((_finite(candidate.words) for candidate in candidates), default=0.0)
    asked = max(1, len(words.query_words(query)))
    exact = words.identifiers(query) if settings.exact_floor > 0 else ()
    return best_first(tuple(_fused(candidate, top, asked, exact, settings) for candidate in candidates))


def score_of(total: float, settings: FusionSettings = DEFAULTS) -> float:
    """What the legs add up to, as a score on 0..1."""
    return 0.0 if total <= 0 else 1.0 / (1.0 + math.exp(-(total - settings.middle) * settings.slope))


def doubtful(searched: int, settings: FusionSettings = DEFAULTS) -> float:
    """The score below which even the best of so many cards is one that came near by chance."""
    return score_of(settings.doubt + settings.doubt_growth * math.log(max(1, searched)), settings)


def words_score(raw: float | None, coverage: float | None, top: float, asked: int, settings: FusionSettings) -> float:
    """A raw word score on 0..1.

    With coverage: the share of the query that the text has (which means the same in a memory of three cards as of a
    million), part of it damped by how far it is from the best raw score. Without: `s / (s + half)`, the half growing
    with the query.
    """
    score = max(0.0, _finite(raw))
    if score <= 0 and not coverage:
        return 0.0
    if coverage is None:
        return score / (score + settings.words_half * max(1, asked))
    share = min(1.0, max(0.0, settings.rank_share))
    return float(_unit(coverage) ** settings.words_power) * (1 - share + share * (score / top if top > 0 else 0.0))


def exact_share(candidate: Candidate, exact: Sequence[str]) -> float:
    """Share of the query's identifiers that stand verbatim in a candidate, 0..1."""
    if not exact:
        return 0.0
    text = words.folded(f"{candidate.title}\n{candidate.text}")
    found = sum(1 for term in exact if term in text and _stands_alone(term, text))
    return found / len(exact)


def with_rerank(
    candidates: Sequence[Candidate], scores: Mapping[str, float], weight: float = 0.6
) -> tuple[Candidate, ...]:
    """Blends in a reranker's scores (0..1 by id); whom it did not score keeps its own, an exact match never loses."""
    blended = []
    for candidate in candidates:
        rerank = scores.get(candidate.id)
        if rerank is None or not math.isfinite(rerank):
            blended.append(candidate)
            continue
        score = weight * _unit(rerank) + (1 - weight) * candidate.score
        if "exact" in dict(candidate.why.scores):
            score = max(score, candidate.score)
        blended.append(candidate.scored("rerank", score, _unit(rerank)))
    return best_first(tuple(blended))


def _fused(candidate: Candidate, top: float, asked: int, exact: Sequence[str], settings: FusionSettings) -> Candidate:
    similarity = _unit(candidate.similarity)
    vector = similarity if similarity >= settings.min_similarity else 0.0
    by_words = words_score(candidate.words, candidate.coverage, top, asked, settings)
    total = settings.vector_weight * vector + settings.words_weight * by_words
    if candidate.other_language:
        total = max(total, settings.vector_weight * vector * (1 + settings.other_language))
    score = score_of(total, settings)
    told: dict[str, float] = {}
    notes: list[str] = []
    if candidate.similarity is not None:
        told["vector"] = similarity
        if settings.vector_weight > 0 and not vector and by_words:
            notes.append("too far by meaning; kept for its words")
    if candidate.words is not None or by_words:
        told["words"] = by_words
    if share := exact_share(candidate, exact):
        told["exact"] = share
        notes.append("has the very identifier asked for")
        score = max(score, settings.exact_floor * share)
    known = candidate.why
    why = Why(tuple({**dict(known.scores), **told, "fused": score}.items()), (*known.notes, *notes))
    return replace(candidate, score=score, why=why)  # once: there are hundreds of them


def _stands_alone(term: str, text: str) -> bool:
    before = r"(?<![a-z0-9_])" if term[0].isalnum() or term[0] == "_" else r"(?<![a-z0-9_.\-])"
    version = "v?" if term[0].isdigit() else ""
    return re.search(rf"{before}{version}{re.escape(term)}(?![a-z0-9_+#]|[.\-/:][a-z0-9_])", text) is not None


def _finite(value: float | None) -> float:
    return value if value is not None and math.isfinite(value) else 0.0


def _unit(value: float | None) -> float:
    return min(1.0, max(0.0, _finite(value)))
