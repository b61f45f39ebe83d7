"""The steps of an erase, from its journal on: each may be cut off anywhere and be done again."""

from __future__ import annotations

from collections.abc import Callable

from alaya_core.errors import AlayaError
from alaya_core.progress import Progress, ProgressSink
from alaya_core.services.erase.needles import Needles
from alaya_core.services.erase.past import sources_named, states_of
from alaya_core.services.erase.plan import ErasePlan
from alaya_core.services.erase.planning import clean_header
from alaya_core.services.erase.redaction import Redaction
from alaya_core.services.erase.tombstones import tombstone
from alaya_core.services.erase.views import views_without
from alaya_core.services.session_text import markdown
from alaya_core.services.workspace import Workspace
from alaya_core.stores.erasing import Journal, scrub_leftovers, texts_of
from alaya_core.stores.ledger_redaction import redact


def carry_out(workspace: Workspace, plan: ErasePlan, progress: ProgressSink) -> None:
    """Does what a plan says that stands in the journal; the caller holds all locks of writers."""
    for number, (name, step) in enumerate(STEPS):
        progress(Progress("erase", number, len(STEPS), name))
        step(workspace, plan)
    Journal(workspace.home).remove()
    progress(Progress("erase", len(STEPS), len(STEPS)))


def _say(workspace: Workspace, plan: ErasePlan) -> None:
    if not any(commit.id == plan.commit for commit in workspace.ledger.commits(holding=plan.commit)):
        workspace.ledger.append(plan.events, commit_id=plan.commit, at=plan.at, actor=plan.actor)


def _redact(workspace: Workspace, plan: ErasePlan) -> None:
    redact(workspace.ledger, plan.touches, Redaction(plan))


def _session(workspace: Workspace, plan: ErasePlan) -> None:
    if not plan.session:
        return
    if plan.turn is None:
        workspace.sessions.remove(plan.path)
        return
    if not workspace.sessions.holds(plan.path):
        return
    header = clean_header(workspace, plan.path, Needles(plan.texts))
    spool = workspace.sessions.spool()
    with spool.body:
        for number, turn in enumerate(workspace.sessions.turns(plan.path)):
            spool.add(tombstone(turn) if number == plan.turn else turn)
        workspace.sessions.publish(workspace.sessions.prepare(plan.path, header, spool))
    states = states_of(workspace.ledger.commits(), plan.session)
    if states:
        info = states[-1][0]
        workspace.sessions.write_markdown(plan.path, markdown(info, workspace.sessions.turns(plan.path)))


def _logs(workspace: Workspace, plan: ErasePlan) -> None:
    for digest in plan.sources:
        workspace.sources.drop(digest)


def _traces(workspace: Workspace, plan: ErasePlan) -> None:
    for card in plan.cards:
        workspace.contexts.remove_file(workspace.contexts.path(card).name)
    if plan.session:
        workspace.contexts.cut(plan.session, plan.turn)
    workspace.accesses.forget(plan.cards)


def _cache(workspace: Workspace, plan: ErasePlan) -> None:
    from alaya_core.stores.embedding_cache import EmbeddingCache
    from alaya_core.stores.noise_bank import NOISE
    from alaya_core.stores.replies import REPLIES, ReplyCache

    # Nobody can tell which answers of a model, and which vectors of small talk, came of what goes.
    ReplyCache(workspace.home.cache / REPLIES).clear()
    for path in (workspace.home.cache / NOISE).glob("*.npz"):
        path.unlink(missing_ok=True)
    cache = EmbeddingCache(workspace.home.cache / "embeddings.sqlite")
    try:
        if not cache.forget(bytes.fromhex(key) for key in plan.embedded):
            raise AlayaError(f"the cache of vectors keeps what is erased: {cache.trouble}", "repeat any command")
    finally:
        cache.close()


def _leftovers(workspace: Workspace, plan: ErasePlan) -> None:
    names = [*plan.cards, *([plan.session] if plan.session else [])]
    holds = Needles(plan.texts, names=plan.names).found_in
    scrub_leftovers(workspace.home, holds, Needles((), names=names).found_in)
    # Of a log that no event names nobody would ever miss it, nor find what it says.
    known = sources_named(workspace.ledger.commits())
    for digest in workspace.sources.known():
        if digest not in known and any(map(holds, texts_of(workspace.sources.path(digest)))):
            workspace.sources.drop(digest)


def _views(workspace: Workspace, plan: ErasePlan) -> None:
    workspace.graph.rebuild_held()
    views_without(workspace, plan)


STEPS: tuple[tuple[str, Callable[[Workspace, ErasePlan], None]], ...] = (
    ("say so", _say),
    ("ledger", _redact),
    ("session", _session),
    ("logs", _logs),
    ("traces", _traces),
    ("cache", _cache),
    ("leftovers", _leftovers),
    ("views", _views),
)
