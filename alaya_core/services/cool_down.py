"""Cool-down: cards that nobody needs lately give up their vectors, and those recalled again get theirs back."""

from __future__ import annotations

from dataclasses import replace

from alaya_core.models.card import CardState, Tier
from alaya_core.models.commit import Event, card_changed
from alaya_core.services.workspace import Workspace
from alaya_core.stores.graph_read import GraphReader


def cool_down(workspace: Workspace) -> tuple[int, int]:
    """Moves cards between the tiers; a second time in a row changes nothing.

    Returns:
        How many turned COLD, how many were reheated.
    """
    moved = {True: 0, False: 0}

    def plan(reader: GraphReader) -> list[Event]:
        now = workspace.now()
        cards = [card for card in reader.all_cards() if card.state in (CardState.ACTIVE, CardState.SUPERSEDED)]
        tiers = now.placement(cards).tiers
        events: list[Event] = []
        for card in cards:
            cold = tiers[card.id] is Tier.COLD
            if cold != card.vector_dropped:
                after = replace(card, vector_dropped=cold, rev=card.rev + 1)
                events.append(card_changed(card, after, "cool" if cold else "reheat"))
                moved[cold] += 1
        return events

    workspace.commit("cool-down", plan, actor="cool-down")
    workspace.vitals.fold(workspace.clock(), lambda: workspace.locks.writing("cool-down"))
    return moved[True], moved[False]
