"""What `stats` and `delete-bulk` print for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from alaya_core.clock import local
from alaya_core.models.answers import BulkAnswer, StatsAnswer
from alaya_core.text import cells, counted, safe_line
from alaya_tui.headless.render_layout import Page, ago, short

MOST_CARDS = 20
_TITLE = "Memory System Stats"
_BANDS = {
    "critical": "Critical (0.9-1.0)",
    "high": "High (0.7-0.9)",
    "medium": "Medium (0.4-0.7)",
    "low": "Low (0-0.4)",
}


def stats_lines(answer: StatsAnswer, page: Page) -> Iterator[str]:
    """The memory in numbers."""
    yield f"📊 {_TITLE}"
    yield "═" * (3 + cells(_TITLE))
    yield f"Total: {answer.total:,} {'memory' if answer.total == 1 else 'memories'}"
    yield f"Active: {answer.active:,} | Archive: {answer.archived:,}"
    yield ""
    yield "By Type:"
    for name, number in answer.by_type.items():
        yield f"  {_several(safe_line(name).capitalize())}: {number:,} ({number / max(1, answer.total):.0%})"
    yield ""
    yield "By Importance:"
    for name, number in answer.by_importance.items():
        yield f"  {_BANDS.get(name, safe_line(name))}: {number:,}"
    yield ""
    yield from page.item("By Standing: ", _counts(answer.by_standing))
    yield from page.item("By Scope: ", _counts(answer.by_scope))
    yield ""
    last = answer.last_run
    yield f"Last Consolidation: {'never' if last is None else f'{local(last)} ({ago(last, page.now)})'}"
    if answer.next_run is not None:
        yield f"Next Scheduled: {local(answer.next_run)}{page.dim(f' (if set up: {page.call} cron)')}"


def _counts(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{safe_line(name)} {number:,}" for name, number in numbers.items()) or "none"


def _several(noun: str) -> str:
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def bulk_lines(answer: BulkAnswer, page: Page) -> Iterator[str]:
    """What was forgotten, or would be."""
    if not answer.cards:
        yield "= No card to forget"
    elif answer.done:
        yield f"✓ Forgot {counted(len(answer.cards), 'card')}"
        yield from _cards(answer, page)
    else:
        yield from bulk_preview(answer, page)
    if answer.note:
        yield from page.item("! ", answer.note)
    if answer.done and answer.run:
        yield page.dim(f"take it back with: {page.call} undo --run {safe_line(answer.run)}")
    elif answer.cards and not answer.done:
        yield page.dim("nothing was changed; --yes does it, and one undo takes it back")


def bulk_preview(answer: BulkAnswer, page: Page) -> Iterator[str]:
    """What would be forgotten."""
    yield f"This would forget {counted(len(answer.cards), 'card')}"
    yield from _cards(answer, page)


def _cards(answer: BulkAnswer, page: Page) -> Iterator[str]:
    for card_id, title in list(zip(answer.cards, answer.titles, strict=True))[:MOST_CARDS]:
        name = f" ({short(card_id)})"
        yield f"  - {page.clip(title, 4 + cells(name))}{name}"
    if len(answer.cards) > MOST_CARDS:
        yield f"  - and {len(answer.cards) - MOST_CARDS:,} more"
