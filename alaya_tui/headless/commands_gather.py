"""`init ingest distill`: how knowledge comes in."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from alaya_core.errors import ProviderError
from alaya_core.models.answers import DistillReport, IngestReport
from alaya_tui.headless.render import Result
from alaya_tui.headless.render_keep import init_lines
from alaya_tui.headless.render_raw import distill_lines, ingest_lines
from alaya_tui.headless.request import STDIN, Request, stdin_bytes, stdin_terminal


def init_command(request: Request) -> Result:
    """Makes the memory's folder."""
    from alaya_core.memory import Memory

    report = Memory.init(request.args.home)
    return Result(report, partial(init_lines, report))


def ingest_command(request: Request) -> Result:
    """Keeps session logs."""
    paths: list[str] = request.args.paths
    stdin = stdin_bytes(request.interrupts) if STDIN in paths else None
    if stdin and stdin_terminal():
        request.told.note("reading a session from the terminal; end with Ctrl+D")
    with request.memory() as memory, request.long_work("ingest") as (progress, cancel):
        report = memory.ingest(
            paths,
            format=request.args.format,
            distill=request.args.distill,
            stdin=stdin,
            progress=progress,
            cancel=cancel,
            announce=request.told.note,
        )
    return Result(report, partial(ingest_lines, report), ingest_status(report, paths))


def ingest_status(report: IngestReport, paths: list[str]) -> int:
    """1 when a session failed, or a path that was named was not read; 4 when a session is to be distilled again."""
    named = {_plain(path) for path in paths}
    if any(each.status == "failed" for each in report.sessions):
        return 1
    if any(_plain(each.path) in named for each in report.passed_over):
        return 1
    return distill_status(report.distilled) if report.distilled else 0


def _plain(path: str) -> str:
    return str(Path(path).expanduser().absolute()) if path != STDIN else path


def distill_command(request: Request) -> Result:
    """Makes cards out of kept sessions."""
    with request.memory() as memory, request.long_work("distill") as (progress, cancel):
        report = memory.distill(
            session=request.args.session,
            redo=request.args.redo,
            upgrade=request.args.upgrade,
            progress=progress,
            cancel=cancel,
            announce=request.told.note,
        )
    return Result(report, partial(distill_lines, report), distill_status(report))


def distill_status(report: DistillReport) -> int:
    """The status of a provider's failure when a session must be tried again."""
    return ProviderError.exit_status if any(each.status == "retry" for each in report.sessions) else 0
