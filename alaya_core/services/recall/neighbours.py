"""Which neighbours stand under a hit, and in what order. No I/O."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from alaya_core.models.recall_parts import Neighbour, NeighbourLink

HOP_SHARE = 0.5
"""What a second hop keeps of a neighbour's score."""

HUB_DEGREE = 50
"""A card of more links is a hub: it says little of any one of them."""

Under = dict[str, tuple[Neighbour, ...]]
"""Neighbours by hit, strongest first."""


def neighbour_score(link: NeighbourLink) -> float:
    """0..1: the link's weight, damped by `1 / log2(2 + degree)` so that a hub does not stand under everything."""
    weight = min(1.0, max(0.0, link.weight)) if math.isfinite(link.weight) else 0.0
    return weight * HOP_SHARE ** max(0, link.hops - 1) / math.log2(2 + max(0, link.degree))


def order_neighbours(links: Iterable[NeighbourLink], limit: int = 5, exclude: Collection[str] = ()) -> Under:
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


def under_hits(hits: Sequence[str], links: Iterable[NeighbourLink], limit: int = 5) -> Under:
    """The neighbours of the hits of one answer, so that no hub fills it.

    A hub stands under one hit only, the one it is linked to most strongly (of equals the best hit), and under none if
    it is a hit itself. All other cards stand wherever they belong.

    Args:
        hits: Best first.
        links: Seen from the hits, in any order.
        limit: Most neighbours under one hit.
    """
    rank = {hit: place for place, hit in enumerate(hits)}
    whole = order_neighbours((link for link in links if link.hit_id in rank), limit=_ALL)
    home: dict[str, tuple[float, int]] = {}
    for hit, under in whole.items():
        for near in under:
            place = (-near.score, rank[hit])
            if is_hub(near) and place < home.get(near.link.other_id, _NOWHERE):
                home[near.link.other_id] = place

    def belongs(hit: str, near: Neighbour) -> bool:
        if not is_hub(near):
            return True
        return near.link.other_id not in rank and home[near.link.other_id][1] == rank[hit]

    return {hit: tuple(near for near in under if belongs(hit, near))[: max(0, limit)] for hit, under in whole.items()}


def leading_on(first: Under) -> list[str]:
    """The neighbours whose own neighbours may stand under the hits too: those that are shown, but no hub, which would
    connect everything with everything."""
    return list(dict.fromkeys(near.link.other_id for under in first.values() for near in under if not is_hub(near)))


def with_second_hops(
    hits: Collection[str],
    first: Under,
    near: Mapping[str, Collection[str]],
    onward: Iterable[NeighbourLink],
    limit: int = 5,
) -> Under:
    """Neighbours with their neighbours among them; these never stand before the card that leads to them.

    Args:
        hits: Cards that are shown already.
        first: What stands under each hit by one link.
        near: All cards one link away from each hit, shown or not: what is so near comes by no detour.
        onward: Links seen from the neighbours (as `hit_id`).
        limit: Most neighbours under one hit.
    """
    shown = {found.link.other_id for under in first.values() for found in under}.union(hits)
    by_middle: dict[str, list[NeighbourLink]] = {}
    for link in onward:
        by_middle.setdefault(link.hit_id, []).append(link)
    whole: Under = {}
    for hit, under in first.items():
        second = [
            _detour(middle, link)
            for middle in under
            if not is_hub(middle)
            for link in by_middle.get(middle.link.other_id, ())
            if link.degree <= HUB_DEGREE and link.other_id not in shown and link.other_id not in near.get(hit, ())
        ]
        found = order_neighbours(second, limit=_ALL).get(hit, ())
        whole[hit] = tuple(sorted((*under, *found), key=_rank)[: max(0, limit)])
    return whole


def is_hub(neighbour: Neighbour) -> bool:
    """Whether a card has so many links that one of them tells nothing."""
    return neighbour.link.degree > HUB_DEGREE


def _detour(middle: Neighbour, link: NeighbourLink) -> NeighbourLink:
    """A neighbour's link as seen from the hit: as strong as the way there, which the middle card's degree damps."""
    return NeighbourLink(
        hit_id=middle.link.hit_id,
        other_id=link.other_id,
        relation=f"{middle.link.relation} > {link.relation}",
        direction="both",
        weight=middle.score * min(1.0, max(0.0, link.weight)) if math.isfinite(link.weight) else 0.0,
        degree=link.degree,
        reason=link.reason,
        hops=middle.link.hops + 1,
    )


_ALL = 1 << 30
_NOWHERE = (math.inf, 0)


def _rank(neighbour: Neighbour) -> tuple[float, int, str, str, str]:
    link = neighbour.link
    return (-neighbour.score, link.hops, link.other_id, link.relation, link.direction)
