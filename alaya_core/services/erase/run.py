"""Erase: a card, a session or a turn is gone for good, and nothing else is."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from alaya_core.errors import ConflictError, DamagedError
from alaya_core.models.answers import EraseAnswer, Erasure
from alaya_core.progress import CancelToken, ProgressSink, silent
from alaya_core.services.erase.going import alias_note, going
from alaya_core.services.erase.left import still_held
from alaya_core.services.erase.plan import ErasePlan, plan_from_json
from alaya_core.services.erase.planning import plan_of
from alaya_core.services.erase.steps import carry_out
from alaya_core.services.erase.target import Target, find_target
from alaya_core.services.workspace import Workspace
from alaya_core.stores.erasing import Journal
from alaya_core.stores.graph_read import GraphReader


def erase(
    workspace: Workspace,
    target: str,
    *,
    turn: int | None,
    yes: bool,
    progress: ProgressSink,
    cancel: CancelToken | None,
) -> EraseAnswer:
    """Takes a card, a session or one of its turns out of the home.

    Args:
        target: A card (its id, or a prefix of it), or the id of a session.
        turn: Only this turn of the session.
        yes: Whether to do it; otherwise nothing changes.
        cancel: Stops before the first step; what has begun is finished.

    Raises:
        ConflictError: An agent asks: only a person erases, and only a person looks at what would go.
        NotFoundError, AmbiguousIdError, UsageError: No such thing, a turn of a card, or one that is erased already.
        BusyError, ReadOnlyHomeError, NewerHomeError, DamagedError: The home takes no changes.
    """
    started = time.perf_counter()
    if workspace.agent is not None:
        raise ConflictError("an agent cannot erase", "the owner can: without --agent, and without ALAYA_AGENT")
    token = cancel or CancelToken()
    if yes:
        workspace.require_writable()
        with _alone(workspace):
            _finish(workspace, progress)
            workspace.ledger.require_sound()
            with workspace.graph.reading_to_write() as reader:
                workspace.remove_strays(reader)
                plan, answer = _planned(workspace, reader, target, turn, scrub=True)
            token.check()
            plan.at = workspace.clock()
            plan.commit, plan.actor = workspace.ids.new_commit(plan.at), workspace.actor
            Journal(workspace.home).write(plan.to_json())
            carry_out(workspace, plan, progress)
            answer.done = True
    else:
        with workspace.graph.reading() as reader:
            _, answer = _planned(workspace, reader, target, turn, scrub=False)
    answer.took_ms = round((time.perf_counter() - started) * 1000)
    return answer


def finish_erase(workspace: Workspace) -> bool:
    """Finishes an erase that was cut off; waits for nobody.

    Returns:
        Whether there was one.

    Raises:
        BusyError: Another process is at it, or at work.
        DamagedError: Its journal cannot be read.
    """
    with _alone(workspace, timeout_s=0):
        return _finish(workspace, silent)


def _finish(workspace: Workspace, progress: ProgressSink) -> bool:
    raw = Journal(workspace.home).read()
    if raw is None:
        return False
    try:
        plan = plan_from_json(raw)
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedError(f"an erase was cut off, and its journal is of another version: {error}", "update") from error
    carry_out(workspace, plan, progress)
    return True


@contextlib.contextmanager
def _alone(workspace: Workspace, timeout_s: float | None = None) -> Iterator[None]:
    """Holds every lock of those who write the stores."""
    locks = workspace.locks
    with (
        locks.building(timeout_s=timeout_s),
        locks.indexing(timeout_s=timeout_s),
        locks.rebuilding(timeout_s=timeout_s),
        locks.writing("erase", timeout_s=timeout_s),
    ):
        yield


def _planned(
    workspace: Workspace, reader: GraphReader, named: str, turn: int | None, *, scrub: bool
) -> tuple[ErasePlan, EraseAnswer]:
    target = find_target(workspace, reader, named, turn)
    foreseen = plan_of(workspace, reader, target, scrub=scrub)
    plan = foreseen.plan
    erasure = Erasure(
        what=plan.what,
        name=plan.name if plan.turn is None else f"{plan.name}#{plan.turn}",
        title=plan.title,
        note=alias_note(target.alias),
        cards=list(plan.cards),
        going=going(foreseen.cards.goes),
        links=len({near.link.id for around in reader.neighbours(plan.cards).values() for near in around}),
        turns=_turns(target),
        sources=len(plan.sources),
        commits=foreseen.lines,
    )
    return plan, EraseAnswer(done=False, erased=erasure, left=still_held(workspace, reader, plan, foreseen.cards))


def _turns(target: Target) -> int:
    if target.session is None:
        return 0
    return target.session.turns if target.turn is None else 1
