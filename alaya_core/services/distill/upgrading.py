"""Cards by rules that give way to those a model made of the same turns."""

from __future__ import annotations

from collections.abc import Iterable

from alaya_core.models.card import Card
from alaya_core.services.distill.making import Making
from alaya_core.services.undoing import UPKEEP_VERBS
from alaya_core.services.workspace import Workspace

_BY_ITSELF = UPKEEP_VERBS | {"seen again"}
"""Changes that no person and no decision made."""


def replaceable(workspace: Workspace, session_id: str) -> list[Card]:
    """The active cards that rules made of this session alone, and that nobody touched since."""
    with workspace.graph.reading() as reader:
        ids = [card_id for card_id, _ in reader.cards_from([session_id]).get(session_id, ())]
        cards = reader.cards(ids)
    return [card for card in cards.values() if _is_replaceable(workspace, card, session_id)]


def give_way(making: Making, old: Iterable[Card], reason: str) -> None:
    """Supersedes those of the old cards whose turns are all told of by new ones.

    Args:
        making: Of the session, its new cards made.
        old: See `replaceable`.
    """
    new = list(making.made.cards)
    turns = {card.id: {turn for source in card.sources for turn in source.turns} for card in new}
    covered = {turn for each in turns.values() for turn in each}
    for card in old:
        own = {turn for source in card.sources for turn in source.turns}
        if own and own <= covered:
            best = max(new, key=lambda one: (len(own & turns[one.id]), -len(turns[one.id])))
            making.supersede(card, best, reason)


def _is_replaceable(workspace: Workspace, card: Card, session_id: str) -> bool:
    if card.origin != "rules" or card.pinned or card.is_session_summary:
        return False
    if [source.session_id for source in card.sources] != [session_id] or card.merged_from:
        return False
    return card.rev == 1 or _untouched(workspace, card.id)


def _untouched(workspace: Workspace, card_id: str) -> bool:
    changes = [
        event
        for commit in workspace.ledger.commits(holding=card_id)
        for event in commit.events
        if event["kind"] == "card.changed" and event["id"] == card_id
    ]
    return all(event["verb"] in _BY_ITSELF for event in changes)
