"""Cool-down: cards that nobody needs lately give up their vectors, and those recalled again get theirs back."""

from __future__ import annotations

from alaya_core.services.carry_out import carry_out
from alaya_core.services.every_card import every_card
from alaya_core.services.lifecycle.cooling import plan_cool_down
from alaya_core.services.workspace import Workspace


def cool_down(workspace: Workspace) -> tuple[int, int]:
    """Moves cards between the standings and tiers; a second time in a row changes nothing.

    Returns:
        How many turned COLD, how many were reheated.
    """
    decisions = plan_cool_down(every_card(workspace), workspace.now())
    done = carry_out(workspace, decisions, verb="cool-down", run="", actor="cool-down").done
    workspace.vitals.fold(workspace.clock(), lambda: workspace.locks.writing("cool-down"))
    verbs = [decision.verb for decision in done]
    return verbs.count("cool"), verbs.count("reheat")
