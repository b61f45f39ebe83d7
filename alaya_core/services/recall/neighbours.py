"""Which neighbours stand under a hit, and in what order."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable

from alaya_core.models.recall_parts import Neighbour, NeighbourLink

HOP_SHARE = 0.5
"""What a second hop keeps of a neighbour's score."""


def neighbour_score(link: NeighbourLink) -> float:
    """0..1: the link's weight, damped by `1 / log2(2 + degree)` so that a hub does not stand under everything."""
    weight = min(1.0, max(0.0, link.weight)) if math.isfinite(link.weight) else 0.0
    return weight * HOP_SHARE ** max(0, link.hops - 1) / math.log2(2 + max(0, link.degree))


def order_neighbours(
    links: Iterable[NeighbourLink], limit: int = 5, exclude: Collection[str] = ()
) -> dict[str, tuple[Neighbour, ...]]:
    """Neighbours by hit: strongest first, each card once under a hit, itself and the excluded ones never.

    Args:
        links: Seen from the hits, in any order.
        limit: Most neighbours under one hit.
        exclude: Cards not to show (the hits themselves, if they are not to be repeated).
    """
    best: dict[str, dict[str, Neighbour]] = {}
    for link in links:
        if link.other_id == link.hit_id or link.other_id in exclude:
            continue
        found = Neighbour(link, neighbour_score(link))
        under = best.setdefault(link.hit_id, {})
        known = under.get(link.other_id)
        if known is None or _rank(found) < _rank(known):
            under[link.other_id] = found
    return {hit: tuple(sorted(under.values(), key=_rank)[: max(0, limit)]) for hit, under in best.items()}


def _rank(neighbour: Neighbour) -> tuple[float, str, str, str]:
    link = neighbour.link
    return (-neighbour.score, link.other_id, link.relation, link.direction)
