"""`consolidate stats delete-bulk upgrade cron`: what earlier memory systems called their commands, and schedules."""

from __future__ import annotations

import shutil
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from alaya_core.clock import parse_when, system_clock
from alaya_core.models.answers import BulkAnswer
from alaya_core.models.requests import PHASES, IntrospectOptions
from alaya_core.text import counted
from alaya_tui.headless.parser_old import OLD_PHASES
from alaya_tui.headless.render import Result
from alaya_tui.headless.render_layout import Page
from alaya_tui.headless.render_old import bulk_lines, bulk_preview, stats_lines
from alaya_tui.headless.request import Request

if TYPE_CHECKING:
    pass

_RUN_WITHIN_HOURS = 20


def consolidate_command(request: Request) -> Result:
    """Introspects, unless that was done a short time ago."""
    from alaya_tui.headless.commands_introspect import run_introspect

    args = request.args
    wanted = {phase for name in args.phase for phase in OLD_PHASES[name]}
    return run_introspect(
        request,
        IntrospectOptions(
            phases=tuple(phase for phase in PHASES if phase in wanted),
            dry_run=args.dry_run,
            force=args.force,
            yes=args.yes,
            unless_within_hours=_RUN_WITHIN_HOURS,
        ),
    )


def stats_command(request: Request) -> Result:
    """Tells the memory in numbers."""
    with request.memory() as memory:
        answer = memory.stats()
    return Result(answer, partial(stats_lines, answer))


def delete_bulk_command(request: Request) -> Result:
    """Shows which cards would be forgotten; with `--yes`, or when a person agrees, they are."""
    args = request.args
    before = None if args.before is None else parse_when(args.before, system_clock())
    with request.memory() as memory:
        if not args.yes:
            preview = memory.delete_bulk(scope=args.scope, before=before)
            if not _agreed(request, preview):
                return Result(preview, partial(bulk_lines, preview))
        answer = memory.delete_bulk(scope=args.scope, before=before, done=True)
    return Result(answer, partial(bulk_lines, answer))


def _agreed(request: Request, preview: BulkAnswer) -> bool:
    if not preview.cards or not request.person or request.args.json:
        return False
    for line in bulk_preview(preview, Page()):
        request.told.note(line)
    return request.agreed(f"forget {counted(len(preview.cards), 'card')}?")


def upgrade_command(request: Request) -> Result:
    """Reads again what rules distilled, by the model; or by the rules of today."""
    from alaya_core.config import environment
    from alaya_tui.headless.commands_gather import distill_status
    from alaya_tui.headless.render_raw import distill_lines

    by_rules = request.args.no_llm
    environ = {**environment(), "MEMORY_LLM_ENABLED": "false"} if by_rules else None
    with request.memory(environ) as memory, request.long_work("upgrade") as (progress, cancel):
        report = memory.distill(
            redo=by_rules, upgrade=not by_rules, progress=progress, cancel=cancel, announce=request.told.note
        )
    return Result(report, partial(distill_lines, report), distill_status(report))


def cron_command(request: Request) -> Result:
    """Prints what makes a scheduler run introspect on this home."""
    from alaya_core.config import home_path
    from alaya_core.schedule import read_schedule
    from alaya_tui.headless.cron import entry

    args = request.args
    with request.memory() as memory:
        schedule = read_schedule(memory.config.introspect.schedule)
        # a scheduler has another environment: what names the home here is not set there
        elsewhere = ["--home", str(memory.home)] if memory.home != home_path(None, {}) else []
    agent = ["--agent", args.agent] if args.agent else []
    text = entry(args.what, schedule, [*_program(), *elsewhere, *agent, "introspect"])
    return Result({"for": args.what, "text": text}, lambda _: text.split("\n"))


def _program() -> list[str]:
    """How this very program is called, by absolute path."""
    beside = shutil.which("alaya", path=str(Path(sys.executable).parent)) if sys.executable else None
    found = beside or shutil.which("alaya")
    return [str(Path(found).absolute())] if found else [sys.executable, "-m", "alaya_tui", "--headless"]
