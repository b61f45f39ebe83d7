"""`fate snapshot entities timeline`: how a memory stands, and what it knows of a thing or a time."""

from __future__ import annotations

from functools import partial

from alaya_core.clock import parse_when, system_clock
from alaya_tui.headless.render import Result
from alaya_tui.headless.render_fate import fate_lines
from alaya_tui.headless.render_working import entities_lines, snapshot_lines, timeline_lines
from alaya_tui.headless.request import Request


def fate_command(request: Request) -> Result:
    """Tells what will become of a card."""
    with request.memory() as memory:
        answer = memory.fate(request.args.card)
    return Result(answer, partial(fate_lines, answer))


def snapshot_command(request: Request) -> Result:
    """Brings the working memory up to date, and shows it."""
    with request.memory() as memory:
        answer = memory.snapshot(write=not request.args.dry_run)
    if not answer.path:
        request.told.note("snapshot.md is the owner's: an agent's working memory is only shown")
    elif request.args.dry_run:
        request.told.note(f"{answer.path} {'would be written' if answer.changed else 'is up to date'}")
    else:
        request.told.note(f"{answer.path} {'written' if answer.changed else 'is up to date'}: {answer.tokens:,} tokens")
    return Result(answer, partial(snapshot_lines, answer))


def entities_command(request: Request) -> Result:
    """Lists the things that cards are about, or tells all about one."""
    with request.memory() as memory:
        answer = memory.entities(request.args.name, limit=request.args.limit)
    return Result(answer, partial(entities_lines, answer))


def timeline_command(request: Request) -> Result:
    """Tells what happened when."""
    args, now = request.args, system_clock()
    since = None if args.since is None else parse_when(args.since, now)
    until = None if args.until is None else parse_when(args.until, now, end_of_day=True)
    with request.memory() as memory:
        answer = memory.timeline(since=since, until=until, limit=args.limit)
    return Result(answer, partial(timeline_lines, answer))
