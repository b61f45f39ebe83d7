"""What the commands about working memory, things and times print for a person."""

from __future__ import annotations

from collections.abc import Iterator

from alaya_core.clock import local
from alaya_core.models.answers import (
    EntitiesAnswer,
    EntityPage,
    EntityRow,
    SnapshotAnswer,
    TimelineAnswer,
    TimelineDay,
    TimelineEntry,
)
from alaya_core.text import cells, counted, pad, safe_line
from alaya_tui.headless.render_layout import Page, argument, short

_NAME = 28  # cells of the column of names
_FEW = 20  # cards that a page of one thing lists by importance


def snapshot_lines(answer: SnapshotAnswer, page: Page) -> Iterator[str]:
    """The working memory as it stands in its file: for programs to the letter, at a terminal wrapped."""
    for line in answer.text.rstrip("\n").split("\n"):
        yield from page.block(line) if page.width else [line]


def entities_lines(answer: EntitiesAnswer, page: Page) -> Iterator[str]:
    """The things there are, those with most cards first; or the page of one."""
    if answer.page is not None:
        yield from _page(answer.page, page)
        return
    widest = min(_NAME, max((cells(safe_line(row.name)) for row in answer.entities), default=0))
    for row in answer.entities:
        yield from _row(row, page, widest)
    if answer.entities:
        yield ""
    yield f"{len(answer.entities):,} of {counted(answer.total, 'entity')}"
    if answer.entities:
        yield page.dim(f"all about one: {page.call} entities NAME")
    elif not answer.total:
        yield page.dim("no card names any; distil sessions, or capture with --entity")


def _row(row: EntityRow, page: Page, widest: int) -> Iterator[str]:
    last = local(row.last, "%Y-%m-%d") if row.last else ""
    lead = f"{row.cards:>5,}  {last:<10}  "
    name = safe_line(row.name)
    told = pad(name, widest) if cells(name) < widest else name
    also = f"  (also {', '.join(row.aliases)})" if row.aliases else ""
    yield page.dim(lead) + page.clip(told + also, cells(lead))


def _page(thing: EntityPage, page: Page) -> Iterator[str]:
    yield from (page.bold(line) for line in page.item("", thing.name))
    if thing.aliases:
        yield from page.item("also: ", ", ".join(thing.aliases))
    if thing.with_others:
        others = ", ".join(f"{name} ({count})" for name, count in thing.with_others.items())
        yield from page.item("with: ", others)
    yield ""
    shown = thing.cards[:_FEW]
    yield f"Cards ({len(shown):,} of {thing.total:,}), most important first"
    for card in shown:
        yield _entry(card, page)
    if thing.days:
        yield ""
        yield "Timeline, newest first"
        yield from _days(thing.days, page)
    if thing.cards:
        yield ""
        yield page.dim(f"open one with: {page.call} show {argument(thing.cards[0].card_id)}")


def timeline_lines(answer: TimelineAnswer, page: Page) -> Iterator[str]:
    """What was true or happened, a heading for each day."""
    shown = sum(len(day.entries) for day in answer.days)
    yield from _days(answer.days, page)
    if answer.days:
        yield ""
    yield f"{shown:,} of {counted(answer.total, 'card')}" + (", newest day first" if shown else "")
    if shown < answer.total:
        yield page.dim("earlier ones: --until WHEN, or a higher --limit")


def _days(days: list[TimelineDay], page: Page) -> Iterator[str]:
    for day in days:
        yield page.bold(safe_line(day.day))
        for entry in day.entries:
            yield _entry(entry, page)


def _entry(entry: TimelineEntry, page: Page) -> str:
    state = "" if entry.state == "active" else f"  [{safe_line(entry.state)}]"
    lead = f"  {short(entry.card_id)}  {pad(safe_line(entry.type), 10)}  "
    return page.dim(lead) + page.clip(entry.title + state, cells(lead))
