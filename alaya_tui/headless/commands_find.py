"""`recall list show trace history`: how knowledge is found and read."""

from __future__ import annotations

import shlex
from argparse import Namespace
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from alaya_core.clock import parse_when, system_clock
from alaya_core.errors import UsageError
from alaya_core.models.answers import RecallAnswer
from alaya_core.models.requests import Filters, RecallOptions
from alaya_tui.headless.render import Result
from alaya_tui.headless.render_cards import card_lines, list_lines
from alaya_tui.headless.render_history import history_lines
from alaya_tui.headless.render_raw import trace_lines
from alaya_tui.headless.render_recall import filter_lines, recall_lines
from alaya_tui.headless.request import Request

if TYPE_CHECKING:
    from alaya_core.memory import Memory


def recall_command(request: Request) -> Result:
    """Finds cards and passages."""
    args = request.args
    if args.budget and args.format != "context":
        raise UsageError("--budget is for the block of --format context", "leave it out, or add --format context")
    options = RecallOptions(
        limit=args.limit, within=_within(args), filters=filters_of(args), context=args.context, auto=args.auto
    )
    query = request.text_of(args.query)
    with request.memory() as memory:
        options = replace(options, filters=_of_session(memory, options.filters))
        with request.told.progress("recall"):
            answer = memory.recall(query, options, include_memex=not args.no_memex)
        block = memory.context_block(answer, args.budget) if args.format == "context" else ""
        floor = memory.config.recall.floor
    if args.format == "context":
        for note in answer.degraded:  # no part of what an agent is told, but nobody should wonder what is missing
            request.told.note(f"not everything answered: {note}")
        return Result(answer, lambda _: block.rstrip("\n").split("\n") if block else [])
    return Result(
        recall_data(answer),
        lambda page: recall_lines(answer, page, explain=args.explain, floor=floor, asked=_asked(args)),
    )


def recall_data(answer: RecallAnswer) -> dict[str, object]:
    """The answer as data; a hit has `context` only where it was asked for."""
    data = answer.model_dump(mode="json")
    for hit in data["results"]:
        if hit["context"] is None:
            del hit["context"]
    return data


def _within(args: Namespace) -> Literal["cards", "passages", "both"]:
    if args.no_sessions and args.within not in (None, "cards"):
        raise UsageError(f"--no-sessions contradicts --in {args.within}", "leave one of them out")
    within: Literal["cards", "passages", "both"] = args.within or "both"
    return "cards" if args.no_sessions else within


def filters_of(args: Namespace) -> Filters:
    """The filters that the options describe."""
    now = system_clock()
    return Filters(
        scope=tuple(args.scope),
        type=tuple(args.type),
        tag=tuple(args.tag),
        tier=tuple(args.tier),
        standing=tuple(args.standing),
        origin=tuple(args.origin),
        entity=tuple(args.entity),
        session=args.session,
        importance=args.importance,
        since=None if args.since is None else parse_when(args.since, now),
        until=None if args.until is None else parse_when(args.until, now, end_of_day=True),
        archived=args.archived,
    )


def _of_session(memory: Memory, filters: Filters) -> Filters:
    """The filters with the whole id of the session that was named, maybe by its beginning."""
    return replace(filters, session=memory.session_id(filters.session)) if filters.session else filters


def _asked(args: Namespace) -> dict[str, str]:
    """The filters as they were typed, by the names that answers call them."""
    told: dict[str, str] = {}
    for name in ("scope", "type", "tag", "tier", "standing", "origin", "entity", "session", "importance", "since",
                 "until"):  # fmt: skip
        value = getattr(args, name)
        values = value if isinstance(value, list) else [] if value is None else [value]
        if values:
            told[name] = " ".join(f"--{name} {shlex.quote(str(each))}" for each in values)
    if getattr(args, "no_memex", False):
        told["without_origin"] = "--no-memex"
    return told


def list_command(request: Request) -> Result:
    """Lists cards."""
    args = request.args
    filters = filters_of(args)
    with request.memory() as memory:
        filters = _of_session(memory, filters)
        answer = memory.list_cards(filters, sort=args.sort, limit=args.limit, offset=args.offset)
    # what the filters did is told where they did something
    data: dict[str, Any] = answer.model_dump(mode="json", exclude_defaults=True, include={"without", "notes"})
    data = answer.model_dump(mode="json", exclude={"without", "notes"}) | data
    return Result(
        data,
        lambda page: list_lines(
            answer,
            page,
            offset=args.offset,
            filtered=filters != Filters(),
            filters=filter_lines(answer.without, answer.notes, page, _asked(args)),
        ),
    )


def show_command(request: Request) -> Result:
    """Shows a card."""
    with request.memory() as memory:
        answer = memory.show(request.args.card, neighbours=request.args.neighbours)
    return Result(answer, partial(card_lines, answer))


def trace_command(request: Request) -> Result:
    """Goes from a card back to the turns it came from."""
    reveal: bool = request.args.reveal
    if reveal and not request.person:
        raise UsageError(
            "--reveal shows secrets, so it needs a person at a terminal", "leave it out: secrets are masked"
        )
    with request.memory() as memory:
        answer = memory.trace(request.args.card, full=request.args.full, reveal=reveal)
    return Result(answer, partial(trace_lines, answer))


def history_command(request: Request) -> Result:
    """Tells what changed."""
    with request.memory() as memory:
        answer = memory.history(request.args.card, limit=request.args.limit)
    return Result(answer, partial(history_lines, answer))
