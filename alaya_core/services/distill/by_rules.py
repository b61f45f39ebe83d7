"""Distilling sessions by rules: offline, at once, and the same every time."""

from __future__ import annotations

from collections.abc import Sequence

from alaya_core.errors import AlayaError
from alaya_core.models.answers import DistillOutcome
from alaya_core.progress import CancelToken, Progress, ProgressSink
from alaya_core.services.distill.committing import MEANWHILE, commit_session, outcome_of, proposed
from alaya_core.services.distill.making import Distiller, Made
from alaya_core.services.distill.reading import Unread, learnable
from alaya_core.services.distill.rules import RULES_VERSION, Proposal, distill_by_rules
from alaya_core.services.workspace import Workspace

BY = Distiller("rules", RULES_VERSION)


def distill_sessions(
    workspace: Workspace,
    found: Sequence[Unread],
    *,
    run: str,
    dry_run: bool,
    progress: ProgressSink,
    cancel: CancelToken,
) -> list[DistillOutcome]:
    """Distills each of these sessions, a commit for each.

    Raises:
        CancelledError: `cancel` was set; what was committed stays.
    """
    outcomes = []
    for done, one in enumerate(found):
        cancel.check()
        progress(Progress("distill", done, len(found), one.info.id))
        outcomes.append(_distill(workspace, one, run, dry_run=dry_run))
    progress(Progress("distill", len(found), len(found)))
    return outcomes


def _distill(workspace: Workspace, one: Unread, run: str, *, dry_run: bool) -> DistillOutcome:
    settings = workspace.config.distill
    try:
        read = learnable(workspace, one)
    except AlayaError as error:
        return DistillOutcome(session_id=one.info.id, status="retry", reason=error.message)
    proposal = distill_by_rules(
        read.turns,
        session_id=one.info.id,
        session_time=one.info.timestamp,
        max_cards=settings.max_cards_per_session,
        max_per_turn=settings.max_cards_per_turn,
        capture_assistant=settings.capture_assistant,
    )
    status = "done" if proposal.cards else "skipped"
    if dry_run:
        return proposed(one, status, _reason(proposal, Made(), len(read.turns)), proposal.cards)
    made = commit_session(workspace, one, proposal.cards, proposal.links, BY, run=run, actor="rules", status=status)
    if made is None:
        return DistillOutcome(session_id=one.info.id, status="retry", reason=MEANWHILE)
    return outcome_of(one, status, _reason(proposal, made, len(read.turns)), made)


def _reason(proposal: Proposal, made: Made, read: int) -> str:
    parts = [f"{count} {why}" for why, count in proposal.skipped.items() if count]
    if made.repeated:
        parts.append(f"{made.repeated} known already")
    if not read:
        return "nothing in it that somebody said"
    return f"not kept: {', '.join(parts)}" if parts else ""
