"""Many cards forgotten at once, in one run that one undo takes back."""

from __future__ import annotations

from dataclasses import replace

from alaya_core.errors import UsageError
from alaya_core.models.answers import BulkAnswer
from alaya_core.models.card import Card, CardState
from alaya_core.models.plan import Decision
from alaya_core.models.requests import Filters
from alaya_core.services.card_making import scope_name
from alaya_core.services.carry_out import carry_out
from alaya_core.services.workspace import Workspace
from alaya_core.text import safe_line


def delete_bulk(workspace: Workspace, *, scope: str | None, before: int | None, done: bool) -> BulkAnswer:
    """Forgets all cards of a scope, or that were true before a time, archived ones too; pinned ones stay.

    Args:
        scope, before: At least one of them, so that nobody forgets everything by mistake; before in ms, exclusive.
        done: Whether to do it; else it only says which.

    Raises:
        UsageError: Neither is given, or a scope that whoever asks does not see.
        BusyError, ReadOnlyHomeError, DamagedError: The home takes no changes.
    """
    if scope is None and before is None:
        raise UsageError("name a scope or a time, or every card would go", "--scope SCOPE, --before WHEN, or both")
    if done:
        workspace.require_writable()
    fitting = _fitting(workspace, scope, before)
    cards = [card for card in fitting if not card.pinned]
    notes = [_many(len(fitting) - len(cards), "pinned card stays", "pinned cards stay")]
    run = None
    if done and cards:
        run = workspace.new_run()
        out = carry_out(workspace, _decisions(workspace, cards), verb="delete-bulk", run=run, actor=workspace.actor)
        cards = [decision.seen[0] for decision in out.done]
        notes.append(
            _many(len(out.skipped), "card was changed meanwhile and stays", "cards were changed meanwhile and stay")
        )
    return BulkAnswer(
        done=done,
        cards=[card.id for card in cards],
        titles=[card.title for card in cards],
        run=run if cards else None,
        note="; ".join(note for note in notes if note),
    )


def _fitting(workspace: Workspace, scope: str | None, before: int | None) -> list[Card]:
    seen = workspace.visible_scopes()
    name = None if scope is None else scope_name(scope)
    if name is not None and seen is not None and name not in seen:
        raise UsageError(f"agent {workspace.agent} cannot see '{safe_line(name)[:60]}'", f"one of: {', '.join(seen)}")
    filters = Filters(
        scope=() if name is None else (name,), until=None if before is None else before - 1, archived=True
    )
    with workspace.graph.reading() as reader:
        cards = reader.matching(filters, seen)
    return sorted(cards, key=lambda card: (card.created_at, card.id))


def _decisions(workspace: Workspace, cards: list[Card]) -> list[Decision]:
    now = workspace.clock()
    return [
        Decision("forget", (card,), changed=(replace(card, state=CardState.FORGOTTEN, updated_at=now),))
        for card in cards
    ]


def _many(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}" if count else ""
