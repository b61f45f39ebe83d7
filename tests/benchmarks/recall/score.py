"""The measures: pure, of what came (best first) and of what should have come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set

Measure = Callable[[Sequence[str], Set[str]], float]


def recall_at(found: Sequence[str], gold: Set[str], k: int) -> float:
    """The share of the gold that is among the first k."""
    return len(gold & set(found[:k])) / len(gold)


def hit_at(found: Sequence[str], gold: Set[str], k: int) -> float:
    """1 if any of the gold is among the first k."""
    return float(not gold.isdisjoint(found[:k]))


def all_at(found: Sequence[str], gold: Set[str], k: int) -> float:
    """1 if all of the gold is among the first k."""
    return float(gold <= set(found[:k]))


def reciprocal_rank(found: Sequence[str], gold: Set[str], k: int) -> float:
    """1 / the place of the first of the gold among the first k; 0 if none is there."""
    place = first_place(found[:k], gold)
    return 1 / place if place else 0.0


def first_place(found: Sequence[str], gold: Set[str]) -> int | None:
    """Where the first of the gold stands, counted from 1."""
    return next((place for place, identifier in enumerate(found, start=1) if identifier in gold), None)


def at(measure: Callable[[Sequence[str], Set[str], int], float], k: int) -> Measure:
    """A measure at one depth."""
    return lambda found, gold: measure(found, gold, k)


def distinct(ids: Iterable[str]) -> list[str]:
    """Each once, where it first stood."""
    return list(dict.fromkeys(ids))


def mean(values: Iterable[float]) -> float | None:
    """The mean; None of nothing, which is not the same as 0."""
    known = list(values)
    return sum(known) / len(known) if known else None
