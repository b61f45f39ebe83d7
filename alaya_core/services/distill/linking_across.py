"""Links from new cards to those that were there before."""

from __future__ import annotations

from collections.abc import Sequence

from alaya_core.models.card import Card, Link, Relation, ordered_ends
from alaya_core.stores.graph_read import GraphReader

_SHARED_ENTITY_WEIGHT = 0.4
_COMMON_ENTITY = 12
"""Cards from which on an entity says too little to link two of them."""
_LINKS_ACROSS = 3


def links_across(reader: GraphReader, cards: Sequence[Card], now: int) -> list[Link]:
    """Links from new cards to older ones that mention the same rare thing."""
    mentions = reader.mentioning({entity for card in cards for entity in card.entities})
    links: dict[str, Link] = {}
    for card in cards:
        shared: dict[str, list[str]] = {}
        for entity in card.entities:
            others = mentions.get(entity, [])
            if len(others) <= _COMMON_ENTITY:
                for other in others:
                    shared.setdefault(other, []).append(entity)
        best = sorted(shared.items(), key=lambda item: (-len(item[1]), item[0]))[:_LINKS_ACROSS]
        for other, entities in best:
            ends = ordered_ends(card.id, other, Relation.RELATES_TO)
            weight = min(0.8, _SHARED_ENTITY_WEIGHT + 0.1 * (len(entities) - 1))
            reason = f"both mention {', '.join(entities[:3])}"
            link = Link(*ends, Relation.RELATES_TO, weight, reason, "rule", now)
            links.setdefault(link.id, link)
    return list(links.values())
