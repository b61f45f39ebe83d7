"""What new cards settle at once: an older one that says the same, or no longer holds. The rest waits for introspect."""

from __future__ import annotations

from collections.abc import Sequence

from alaya_core.errors import AlayaError
from alaya_core.models.card import Card, CardState
from alaya_core.models.plan import Decision, Pair
from alaya_core.services.carry_out import carry_out
from alaya_core.services.pair_plan import plan_alike
from alaya_core.services.similar_pairs import similar_pairs
from alaya_core.services.workspace import Workspace
from alaya_core.stores.graph_links import links_from

_NEAREST = 20
_MOST = 1_000
"""New cards above which it is quicker to compare everything at once, as introspect does."""
_OF_ENTITY = 50
"""Cards about one thing up to which all of them are looked at."""


def settle_new(workspace: Workspace, new: Sequence[str], *, run: str) -> list[Decision]:
    """Merges, supersedes and confirms what the new cards settle without a doubt; links and proposals are introspect's.

    Args:
        new: Ids of cards that were just made, their vectors stored.
        run: The run that made them.
    """
    if len(new) > _MOST:
        return []
    cards = _around(workspace, new)
    fresh = set(new) & cards.keys()
    if not fresh or len(cards) == len(fresh) == 1:
        return []
    with workspace.graph.reading() as reader:
        links = links_from(reader, cards)
    decisions = plan_alike(workspace, cards, _pairs(workspace, list(cards.values()), fresh), links)
    sure = [
        decision
        for decision in decisions
        if decision.verb != "similar" and not decision.review and any(card.id in fresh for card in decision.seen)
    ]
    return carry_out(workspace, sure, verb="settle", run=run, actor="rules").done if sure else []


def _around(workspace: Workspace, new: Sequence[str]) -> dict[str, Card]:
    """The new cards, those nearest to them, and those about the same things."""
    matrix = workspace.vectors.matrix() if workspace.vectors.exists else None
    ids = set(new)
    if matrix is not None:
        for vector in matrix.vectors_of(list(new)).values():
            ids |= {card_id for card_id, _ in matrix.nearest(vector, _NEAREST)}
    with workspace.graph.reading() as reader:
        made = reader.cards(new)
        about = reader.mentioning({entity for card in made.values() for entity in card.entities})
        for others in about.values():
            ids |= set(others) if len(others) <= _OF_ENTITY else set()
        found = reader.cards(ids)
    return {key: card for key, card in found.items() if card.state is CardState.ACTIVE}


def _pairs(workspace: Workspace, cards: Sequence[Card], fresh: set[str]) -> list[Pair]:
    try:
        return similar_pairs(workspace, cards, least=workspace.config.introspect.related_threshold, only=fresh)
    except AlayaError:  # without vectors what the words say is left
        return []
