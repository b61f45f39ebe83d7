"""Near repeats step back: the first of several that say the same stays where it is, the others go behind the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from alaya_core import words
from alaya_core.models.recall_parts import Candidate

T = TypeVar("T")
Similarity = Callable[[str, str], float | None]
"""Similarity of two candidates by their ids, 0..1; None where it is not known."""


@dataclass(frozen=True, slots=True)
class DiversitySettings:
    """Attributes:
    repeat: Similarity above which the later of two is a near repeat; 1 moves nothing.
    compared: How many candidates are compared at all (the work grows with the square).
    enough: Stop comparing when so many are no repeats: whoever shows no more need not know of the others.
    """

    repeat: float = 0.85
    compared: int = 60
    enough: int = 1_000_000


DEFAULTS = DiversitySettings()


def spread(
    candidates: Sequence[Candidate], similarity: Similarity | None = None, settings: DiversitySettings = DEFAULTS
) -> tuple[Candidate, ...]:
    """The same candidates, near repeats behind all others; within either part the order stays."""
    if settings.repeat >= 1 or len(candidates) < 2:
        return tuple(candidates)
    head, tail = candidates[: settings.compared], list(candidates[settings.compared :])
    bags: dict[str, frozenset[str]] = {}
    front: list[Candidate] = []
    behind: list[Candidate] = []
    for place, candidate in enumerate(head):
        if len(front) >= settings.enough:
            tail = [*head[place:], *tail]
            break
        others = () if candidate.apart else (other for other in front if not other.apart)
        said = next((other for other in others if _alike(candidate, other, similarity, bags) > settings.repeat), None)
        if said is None:
            front.append(candidate)
        else:
            behind.append(candidate.noted(f"near repeat of {said.id}"))
    return (*front, *tail, *behind)


def overlap(one: frozenset[T], other: frozenset[T]) -> float:
    """Share of their tokens that two texts have in common (Jaccard), 0..1; texts without tokens share nothing."""
    return len(one & other) / len(one | other) if one and other else 0.0


def _alike(one: Candidate, other: Candidate, similarity: Similarity | None, bags: dict[str, frozenset[str]]) -> float:
    if similarity is not None:
        known = similarity(one.id, other.id)
        if known is not None:
            return known
    return overlap(_bag(one, bags), _bag(other, bags))


def _bag(candidate: Candidate, bags: dict[str, frozenset[str]]) -> frozenset[str]:
    bag = bags.get(candidate.id)
    if bag is None:
        bag = frozenset(islice(words.tokens(f"{candidate.title}\n{candidate.text}"[:4_000]), 400))
        bags[candidate.id] = bag
    return bag
