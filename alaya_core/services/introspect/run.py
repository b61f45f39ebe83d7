"""Introspect: one run, phase by phase, each of which can be cut off and gone on with."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from alaya_core.clock import HOUR_MS
from alaya_core.errors import AlayaError
from alaya_core.models.answers import IntrospectReport, PhaseReport, RunEvent
from alaya_core.models.requests import PHASES, IntrospectOptions
from alaya_core.progress import CancelledError, CancelToken, ProgressSink
from alaya_core.services.introspect.deciding import review
from alaya_core.services.introspect.desk import Desk
from alaya_core.services.introspect.journal import Journal, events_of, finished_phases
from alaya_core.services.introspect.phases import DOES
from alaya_core.services.introspect.watching import last_whole_run
from alaya_core.services.workspace import Workspace
from alaya_core.stores.runs import RunFiles

_RUNS_KEPT = 200


def introspect(
    workspace: Workspace,
    options: IntrospectOptions,
    *,
    progress: ProgressSink,
    cancel: CancelToken,
    on_event: Callable[[RunEvent], None],
    agree: Callable[[str], bool],
) -> IntrospectReport:
    """Tidies the memory; see `Memory.introspect`.

    Raises:
        BusyError: Another process is at it longer than the timeout.
        ReadOnlyHomeError, NewerHomeError: The home takes no changes (and it is no dry run).
    """
    if not options.dry_run:
        workspace.require_writable()
    if skipped := _too_early(workspace, options):
        return skipped
    files = RunFiles(workspace.home.runs)
    with _alone(workspace, options):
        run, finished = (workspace.new_run(), []) if options.dry_run else _begin(workspace, files, options, on_event)
        journal = Journal(None if options.dry_run else files, run, workspace.clock, on_event, progress)
        desk = Desk(workspace, options, journal, cancel, agree)
        return _phases(desk, finished, files)


def _alone(workspace: Workspace, options: IntrospectOptions) -> AbstractContextManager[None]:
    return nullcontext() if options.dry_run else workspace.locks.introspecting()


def _too_early(workspace: Workspace, options: IntrospectOptions) -> IntrospectReport | None:
    hours = options.unless_within_hours
    if hours is None or options.force or options.dry_run or options.phases:
        return None
    last = last_whole_run(workspace)
    if last is None or workspace.clock() - last >= hours * HOUR_MS:
        return None
    ago = max(0, workspace.clock() - last) / HOUR_MS
    return IntrospectReport(
        run="", status="skipped", note=f"a run ended {ago:.1f} h ago; the next is due {hours:g} h after it (or --force)"
    )


def _begin(
    workspace: Workspace, files: RunFiles, options: IntrospectOptions, on_event: Callable[[RunEvent], None]
) -> tuple[str, list[str]]:
    """The run to go on with and the phases it ended, or a new one. The caller holds the lock of introspect: a run
    without an end is one whose process is gone."""
    wanted = list(options.phases)
    last = next(iter(files.names()), None)
    events = events_of(files, last)[0] if last else []
    if last and events and events[-1].kind != "end":
        same = next((event.data.get("phases") == wanted for event in events if event.kind == "start"), False)
        if same and not options.force:
            return last, finished_phases(events)
        Journal(files, last, workspace.clock, on_event, lambda _: None).tell("end", "cut off", phase="")
    files.drop_older(_RUNS_KEPT - 1)
    return workspace.new_run(), []


def _phases(desk: Desk, finished: Sequence[str], files: RunFiles) -> IntrospectReport:
    started = time.perf_counter()
    wanted = [name for name in PHASES if not desk.options.phases or name in desk.options.phases]
    report = IntrospectReport(
        run="" if desk.dry else desk.journal.run, status="done", dry_run=desk.dry, resumed=bool(finished)
    )
    desk.journal.tell(
        "start",
        "goes on with a run that was cut off" if finished else "",
        phase="",
        phases=list(desk.options.phases),
        by=desk.options.by or desk.workspace.actor,
    )
    for name in wanted:
        if name in finished:
            continue
        phase = PhaseReport(phase=name, status="waiting")
        report.phases.append(phase)
        if report.status == "cancelled":
            continue
        desk.journal.tell("phase", phase=name)
        _do(desk, phase)
        if phase.status == "cancelled":
            report.status = "cancelled"
            continue
        if phase.status == "failed":
            report.status = "failed"
        desk.journal.tell("phase_end", "; ".join(phase.lines), phase=name, status=phase.status, counts=phase.counts)
    report.usage = desk.usage
    report.reviews = 0 if desk.workspace.newer else len(review(desk.workspace).items)
    report.took_ms = round((time.perf_counter() - started) * 1000)
    desk.journal.tell("end", report.status, phase="", report=report.model_dump(mode="json"))
    return report


def _do(desk: Desk, phase: PhaseReport) -> None:
    """One phase; what goes wrong in it is told, and keeps none of the others from being done."""
    started = time.perf_counter()
    phase.status = "planned" if desk.dry else "done"
    try:
        desk.cancel.check()
        DOES[phase.phase](desk, phase)
    except CancelledError:
        phase.status = "cancelled"
        phase.lines.append("stopped; what was done is kept, the next run goes on")
    except AlayaError as error:
        phase.status, phase.code = "failed", error.code
        phase.lines.append(f"{error.message}{f' ({error.hint})' if error.hint else ''}")
    phase.took_ms = round((time.perf_counter() - started) * 1000)
