"""`introspect review`: a memory tidies itself, and a person decides what it only proposes."""

from __future__ import annotations

from functools import partial
from typing import Any

from alaya_core.errors import UsageError
from alaya_core.models.answers import IntrospectReport
from alaya_core.models.requests import PHASES, IntrospectOptions
from alaya_tui.headless.diagnostics import CANCELLED
from alaya_tui.headless.render import Result
from alaya_tui.headless.render_introspect import event_lines, introspect_lines, review_lines, runs_lines
from alaya_tui.headless.request import Request

_STATUSES = {"provider": 4, "provider_refused": 4, "busy": 5, "damaged": 6, "newer_home": 6, "config": 2}
"""Exit status by the code of what went wrong in a phase; any other is 1."""


def introspect_command(request: Request) -> Result:
    """Tidies the memory, or watches somebody else do it."""
    args = request.args
    if args.run is not None and not args.watch:
        raise UsageError("--run only goes with --watch", "alaya introspect --watch --run ID")
    if args.list:
        with request.memory() as memory:
            runs = memory.runs()
        return Result(runs, partial(runs_lines, runs))
    if args.watch:
        return _watch(request)
    phases = tuple(name for name in PHASES if name in args.phase)
    return run_introspect(
        request, IntrospectOptions(phases=phases, dry_run=args.dry_run, force=args.force, yes=args.yes)
    )


def run_introspect(request: Request, options: IntrospectOptions) -> Result:
    """One run, its phases told on stderr as they end; exits 1 (or as the error says) when a phase failed."""
    with request.memory() as memory, request.long_work("introspect") as (progress, cancel):
        report = memory.introspect(options, progress=progress, cancel=cancel, agree=request.agreed)
    return Result(report, partial(introspect_lines, report), introspect_status(report))


def introspect_status(report: IntrospectReport) -> int:
    """The exit status that a report stands for."""
    if report.status == "cancelled":
        return CANCELLED
    if report.status != "failed":
        return 0
    return next((_STATUSES.get(phase.code, 1) for phase in report.phases if phase.status == "failed"), 1)


def _watch(request: Request) -> Result:
    """Follows a run to its end; its report is the answer."""
    last: dict[str, Any] = {}
    with request.memory() as memory, request.long_work("watch") as (_, cancel):
        for event in memory.watch(request.args.run, cancel=cancel):
            if event.kind == "end":
                last = event.data.get("report") or {}
                break
            request.emit(event, event_lines(event))
    if not last:
        return Result({"status": "cut off"}, lambda _: ["its process is gone; the next introspect goes on with it"], 1)
    report = IntrospectReport.model_validate(last)
    return Result(report, partial(introspect_lines, report), introspect_status(report))


def review_command(request: Request) -> Result:
    """Shows what waits, or decides it."""
    verdict, key = request.args.verdict, request.args.key
    if (verdict is None) != (key is None):
        raise UsageError("name the proposal too", "alaya review accept KEY, or: alaya review reject all")
    with request.memory() as memory:
        answer = memory.review() if verdict is None else memory.decide(key, accept=verdict == "accept")
    return Result(answer, partial(review_lines, answer))
