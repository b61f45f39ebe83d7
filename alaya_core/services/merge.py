"""Merge: two cards become one, and no text, link, source or use of either is lost."""

from __future__ import annotations

from alaya_core import secrets
from alaya_core.errors import UsageError
from alaya_core.models.answers import CardAnswer
from alaya_core.models.commit import Event
from alaya_core.services.browse import show
from alaya_core.services.lookup import find_card
from alaya_core.services.merging import merged
from alaya_core.services.workspace import Workspace
from alaya_core.stores.graph_read import GraphReader
from alaya_core.text import safe_line, storable


def merge(workspace: Workspace, keep: str, other: str, why: str) -> CardAnswer:
    """Makes one card of two; the other's id names the kept one from then on.

    Args:
        keep: The card that stays; other: the card that goes into it.
        why: The reason, for the history.

    Raises:
        NotFoundError, AmbiguousIdError: No such card.
        UsageError: The same card twice, or cards of two scopes.
    """
    found: list[str] = []
    reason = storable(secrets.mask(safe_line(why)))

    def plan(reader: GraphReader) -> list[Event]:
        scopes = workspace.visible_scopes()
        whole, gone = find_card(reader, keep, scopes), find_card(reader, other, scopes)
        if whole.id == gone.id:
            raise UsageError("both name the same card", "name two cards")
        if whole.scope != gone.scope:
            hint = f"alaya edit {gone.id} --scope {whole.scope}"
            raise UsageError(f"they belong to two scopes, {whole.scope} and {gone.scope}", f"move one first: {hint}")
        found[:] = [whole.id]
        around = reader.neighbours([whole.id, gone.id])
        own, others = ([near.link for near in around[card.id]] for card in (whole, gone))
        return merged(whole, gone, own, others, now=workspace.clock(), why=reason).events

    workspace.commit("merge", plan)
    answer = show(workspace, found[0], neighbours=20)
    answer.changed = True
    return answer
