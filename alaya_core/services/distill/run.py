"""Distill: sessions that have turns not read yet become cards, each with the very turns it came from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from alaya_core.errors import UsageError
from alaya_core.models.answers import DistillReport
from alaya_core.progress import CancelToken, ProgressSink
from alaya_core.services.distill import by_rules
from alaya_core.services.distill.reading import unread
from alaya_core.services.distill.rules import RULES_VERSION
from alaya_core.services.workspace import Workspace


def distill(
    workspace: Workspace,
    *,
    session: str | None,
    redo: bool,
    progress: ProgressSink,
    cancel: CancelToken | None,
    run: str = "",
    upgrade: bool = False,
    dry_run: bool = False,
    announce: Callable[[str], None] = lambda _: None,
) -> DistillReport:
    """Distills one session, or all that have turns not distilled yet: by the model that is named, else by rules.

    Each session is one commit: cut off, what was done stays, and the next call goes on behind it.

    Args:
        session: A session's id; None = all.
        redo: Read turns again that were distilled before; what they gave already is not made twice.
        run: The run it belongs to; empty = one of its own.
        upgrade: Read again what rules distilled, by the model; cards by rules that nobody touched are superseded where
            it has better ones.
        dry_run: Whether only to say what would be done; a model is asked nothing then.
        announce: Told which host is sent text, before the first of it.

    Raises:
        NotFoundError: There is no such session.
        UsageError: `upgrade`, and no model is named.
        ConfigError: A model is named that cannot be used.
        CancelledError: `cancel` was set; what was committed stays.
    """
    if not dry_run:
        workspace.require_writable()
    chat = workspace.chat
    if upgrade and chat is None:
        raise UsageError(
            "no model is named that could do better than the rules",
            "set distill.model or distill.base_url, or MEMORY_LLM_MODEL",
        )
    token = cancel or CancelToken()
    found = unread(workspace, session, redo=redo, upgrade=upgrade)
    run = run or workspace.new_run()
    if chat is None:
        outcomes = by_rules.distill_sessions(
            workspace, found, run=run, dry_run=dry_run, progress=progress, cancel=token
        )
        usage = None
    else:
        from alaya_core.services.distill.by_model import ModelDistiller

        reader = ModelDistiller(
            workspace,
            chat,
            run=run,
            upgrade=upgrade,
            dry_run=dry_run,
            progress=progress,
            cancel=token,
            announce=announce,
        )
        outcomes = reader.distill_sessions(found)
        usage = reader.usage.view(chat, workspace.config.distill)
    counts: Counter[str] = Counter(outcome.status for outcome in outcomes)
    counts["cards"] = sum(len(outcome.cards) for outcome in outcomes)
    counts["links"] = sum(len(outcome.links) for outcome in outcomes)
    return DistillReport(
        sessions=outcomes,
        counts=dict(counts),
        distiller=chat.model if chat is not None else RULES_VERSION,
        usage=usage,
    )
