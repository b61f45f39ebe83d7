"""The stages between fusion and the answer: doubt, lifecycle, floor, length, noise, diversity. Each is pure and drops
nothing without counting it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from alaya_core.models.card import CardState, Standing
from alaya_core.models.recall_parts import Candidate, Staged, best_first
from alaya_core.services.recall.diversity import DiversitySettings, Similarity, spread
from alaya_core.services.recall.noise import drop_noise

WEAK = 0.35
"""What is doubted stays below this score, in proportion."""
LEAST_BY_STANDING = {Standing.CORE: 0.9, Standing.WORKING: 0.7, Standing.PERIPHERAL: 0.5}


@dataclass(frozen=True, slots=True)
class StageSettings:
    """What the stages go by.

    Attributes:
        long: Characters above which a text is penalised for its length.
        length_strength: How much, for each doubling.
        floor: Score (0..1) below which a hit is dropped; 0 keeps all.
        superseded: Factor of superseded cards.
        doubt: When no score, fused or reranked, comes up to it, nothing is relevant; 0 doubts nothing.
        off: Stages that are switched off: `length`, `lifecycle`, `noise`, `diversity`, `doubt`.
    """

    long: int = 500
    length_strength: float = 0.5
    floor: float = 0.35
    superseded: float = 0.5
    doubt: float = 0.0
    off: frozenset[str] = frozenset()
    diversity: DiversitySettings = field(default_factory=DiversitySettings)


DEFAULTS = StageSettings()


def run_stages(
    candidates: Sequence[Candidate], settings: StageSettings = DEFAULTS, similarity: Similarity | None = None
) -> Staged:
    """All stages after fusion (and reranking), in order; the floor is on the scale of the score that is shown.

    Args:
        candidates: Fused.
        settings: What the stages go by.
        similarity: Similarity of two candidates' vectors by their ids, None where either has none.
    """
    off = settings.off
    believed = candidates if "doubt" in off else apply_doubt(candidates, settings)
    alive = believed if "lifecycle" in off else apply_lifecycle(believed, settings)
    above, count, best_below = apply_floor(alive, settings)
    short = above if "length" in off else apply_length(above, settings)
    loud, noise = (tuple(short), 0) if "noise" in off else drop_noise(short)
    placed = under_successors(loud)
    ordered = placed if "diversity" in off else spread(placed, similarity, settings.diversity)
    return Staged(ordered, count, best_below, noise)


def apply_doubt(candidates: Sequence[Candidate], settings: StageSettings = DEFAULTS) -> Sequence[Candidate]:
    """Where even the best one is no nearer than chance brings one, all scores fall below what is worth showing.

    A reranker may make certain what was doubtful, and its own scale never makes doubtful what was certain.
    """
    best = max((max(one.score, dict(one.why.scores).get("fused", 0.0)) for one in candidates), default=0.0)
    if best >= settings.doubt:
        return candidates
    factor = min(1.0, WEAK / settings.doubt)
    return best_first(tuple(one.scored("doubt", one.score * factor, factor) for one in candidates))


def length_factor(length: int, settings: StageSettings = DEFAULTS) -> float:
    """`1 / (1 + strength * log2(length / long))` above `long` characters, else 1."""
    if length <= settings.long or settings.long <= 0:
        return 1.0
    return 1.0 / (1.0 + settings.length_strength * math.log2(length / settings.long))


def apply_length(candidates: Sequence[Candidate], settings: StageSettings = DEFAULTS) -> tuple[Candidate, ...]:
    """Long texts match everything a little: their scores are damped, but not below the floor: what was found stays."""
    damped = []
    for candidate in candidates:
        factor = length_factor(candidate.length, settings)
        score = max(candidate.score * factor, min(candidate.score, settings.floor))
        damped.append(candidate.scored("length", score, factor) if factor < 1 else candidate)
    return best_first(tuple(damped))


def apply_floor(
    candidates: Sequence[Candidate], settings: StageSettings = DEFAULTS
) -> tuple[tuple[Candidate, ...], int, float | None]:
    """Those at or above the floor; how many were below; the best score among these."""
    kept = tuple(candidate for candidate in candidates if candidate.score >= settings.floor)
    below = [candidate.score for candidate in candidates if candidate.score < settings.floor]
    return kept, len(below), max(below, default=None)


def lifecycle_factor(candidate: Candidate, settings: StageSettings = DEFAULTS) -> float:
    """How alive it is: its temperature, but never below what its standing grants; less once superseded."""
    factor = max(LEAST_BY_STANDING[candidate.standing], min(1.0, candidate.temperature))
    return factor * settings.superseded if candidate.state is CardState.SUPERSEDED else factor


def apply_lifecycle(candidates: Sequence[Candidate], settings: StageSettings = DEFAULTS) -> tuple[Candidate, ...]:
    """Scores times how alive each is, best first."""
    lived = []
    for candidate in candidates:
        factor = lifecycle_factor(candidate, settings)
        after = candidate.scored("lifecycle", candidate.score * factor, factor)
        lived.append(after.noted("superseded") if candidate.state is CardState.SUPERSEDED else after)
    return best_first(tuple(lived))


def under_successors(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Superseded cards whose successor was found too never stand above it: they move right beneath it."""
    position = {candidate.id: index for index, candidate in enumerate(candidates)}

    def place(index: int) -> tuple[int, int, int]:
        anchor, depth, at = index, 0, index
        while candidates[at].state is CardState.SUPERSEDED and depth < len(candidates):
            successor = position.get(candidates[at].successor)
            if successor is None:
                break
            at, depth, anchor = successor, depth + 1, max(anchor, successor)
        return anchor, depth, index

    return tuple(candidates[index] for index in sorted(range(len(candidates)), key=place))
