"""One session's cards become one commit, and what became of it an outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from alaya_core.models.answers import DistilledCard, DistilledLink, DistillOutcome
from alaya_core.models.card import Card, CardDraft, CardState, LinkDraft
from alaya_core.models.commit import Event, session_distilled
from alaya_core.services.distill.making import Distiller, Fate, Made, Making
from alaya_core.services.distill.reading import Unread, learnable
from alaya_core.services.distill.session_summary import summary_draft
from alaya_core.services.workspace import Workspace
from alaya_core.stores.graph_read import GraphReader

MEANWHILE = "it changed while it was read; repeat"
_READ_BACK = 20
"""Turns that are looked at for each message of a summary: between messages tools may have been at work."""

Also = Callable[[GraphReader, Making], None]
"""What else belongs to the commit."""


def commit_session(
    workspace: Workspace,
    one: Unread,
    drafts: Sequence[CardDraft],
    links: Sequence[LinkDraft],
    by: Distiller,
    *,
    run: str,
    actor: str,
    status: str,
    fates: Mapping[str, Fate] | None = None,
    also: Also = lambda _reader, _making: None,
    alone: bool = False,
) -> Made | None:
    """Commits what was made of a session, and that it was read.

    Args:
        drafts, links: See `Making.events`.
        status: `done` or `skipped`, for the ledger.
        alone: Whether somebody who read it meanwhile is in the way.

    Returns:
        What it became; None when the session changed while it was read.

    Raises:
        BusyError, ReadOnlyHomeError, DamagedError: The home takes no changes.
    """
    info = one.info
    summary = _summary(workspace, one)
    made = Made()

    def plan(reader: GraphReader) -> list[Event]:
        nonlocal made
        now = reader.session(info.id)
        if now is None or now.chain != info.chain:
            return []
        if alone and (now.distilled_turns, now.distilled_by) != (info.distilled_turns, info.distilled_by):
            return []
        making = Making(workspace, reader, info, by)
        making.decide(fates or {})
        events = making.events(drafts, links)
        also(reader, making)
        if summary is not None:
            making.put_summary(summary, _earlier_summary(reader, info.id))
        made = making.made
        return [*events, *making.take(), session_distilled(info.id, turns=info.turns, by=by.name, status=status)]

    return made if workspace.commit("distill", plan, run=run, actor=actor) is not None else None


def outcome_of(one: Unread, status: str, reason: str, made: Made) -> DistillOutcome:
    """What became of a session, for the report."""
    return DistillOutcome(
        session_id=one.info.id,
        status="done" if status == "done" else "skipped",
        reason=reason,
        cards=[DistilledCard(card_id=card.id, title=card.title, type=str(card.type)) for card in made.cards],
        links=[
            DistilledLink(
                from_title=made.titles.get(link.from_id, link.from_id),
                relation=str(link.relation),
                to_title=made.titles.get(link.to_id, link.to_id),
                reason=link.reason,
            )
            for link in made.links
        ],
    )


def proposed(one: Unread, status: str, reason: str, drafts: Sequence[CardDraft]) -> DistillOutcome:
    """What would become of a session."""
    outcome = outcome_of(one, status, reason, Made())
    outcome.cards = [DistilledCard(card_id="", title=draft.title, type=str(draft.type)) for draft in drafts]
    return outcome


def _summary(workspace: Workspace, one: Unread) -> CardDraft | None:
    messages = workspace.config.distill.session_summaries
    if not messages:
        return None
    last = learnable(workspace, replace(one, start=max(0, one.info.turns - _READ_BACK * messages)))
    return summary_draft(last.turns, one.info.id, messages, one.info.timestamp)


def _earlier_summary(reader: GraphReader, session_id: str) -> Card | None:
    ids = [card_id for card_id, _ in reader.cards_from([session_id]).get(session_id, ())]
    found = (card for card in reader.cards(ids).values() if card.is_session_summary)
    return next((card for card in found if card.state is CardState.ACTIVE), None)
