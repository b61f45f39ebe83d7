"""What `introspect` and `review` print for a person."""

from __future__ import annotations

from collections.abc import Iterator

from alaya_core.clock import iso
from alaya_core.models.answers import (
    IntrospectReport,
    ModelUsage,
    PhaseReport,
    PlannedChange,
    ReviewAnswer,
    ReviewItem,
    RunEvent,
    RunsAnswer,
)
from alaya_core.text import counted
from alaya_tui.headless.render_layout import Page, short

_MOST = 20
_MARKS = {"done": "✓", "planned": "·", "review": "?", "skipped": "="}
_STATUS_MARKS = {"done": "✓", "planned": "✓", "failed": "✗", "cancelled": "!", "waiting": " ", "skipped": "="}


def introspect_lines(report: IntrospectReport, page: Page) -> Iterator[str]:
    """Each phase with what it did, and what to do next."""
    if report.status == "skipped":
        yield from page.item("= ", f"Nothing done: {report.note}")
        return
    head = "What introspect would do (nothing was changed)" if report.dry_run else "Introspection"
    yield f"🧘 {head}{', gone on with after it was cut off' if report.resumed else ''}"
    for at, phase in enumerate(report.phases, 1):
        yield ""
        yield from _phase(phase, f"[{at}/{len(report.phases)}] ", page)
    yield ""
    if report.usage is not None:
        yield from page.item("  ", _usage(report.usage))
    if report.reviews:
        yield from page.item("? ", f"{counted(report.reviews, 'proposal')} for you to decide: {page.call} review")
    if report.note:
        yield from page.item("! ", report.note)
    yield from page.item(*_ending(report, page))


def _phase(phase: PhaseReport, lead: str, page: Page) -> Iterator[str]:
    yield page.bold(f"{lead}{phase.phase.capitalize()}")
    if phase.status == "waiting":
        yield page.dim("  not reached")
    for line in phase.lines:
        yield from page.item(f"  {_STATUS_MARKS[phase.status]} ", line)
    for change in phase.changes[:_MOST]:
        yield from page.item(f"    {_MARKS[change.outcome]} ", _change(change))
    more = len(phase.changes) + phase.left_off - _MOST
    if more > 0:
        yield page.dim(f"    and {more:,} more")


def _change(change: PlannedChange) -> str:
    titles = [f'"{title}"' for title in change.titles if title]
    named = " + ".join(titles[:2]) + (f" and {len(titles) - 2} more" if len(titles) > 2 else "")
    score = f" {change.score:.2f}" if change.score is not None else ""
    return f"{change.verb}{score} {named}{f' ({change.why})' if change.why else ''}"


def _usage(usage: ModelUsage) -> str:
    about = "about " if usage.estimated else ""
    tokens = f"{about}{usage.input_tokens:,} tokens sent, {usage.output_tokens:,} answered"
    cost = f", {about}{usage.cost:.4f} in the configured prices" if usage.cost is not None else ""
    known = f", {usage.cached} known already" if usage.cached else ""
    return f"{usage.model}: {counted(usage.calls, 'call')}{known}, {tokens}{cost}"


def _ending(report: IntrospectReport, page: Page) -> tuple[str, str]:
    took = f"took {report.took_ms / 1000:.1f} s"
    if report.dry_run:
        return "✓ ", f"Nothing was changed ({took}); do it with: {page.call} introspect"
    if report.status == "cancelled":
        return "! ", f"Stopped ({took}); what was done is kept, the next introspect goes on"
    if report.status == "failed":
        return "✗ ", f"Not all of it could be done ({took})"
    if not any(phase.changes for phase in report.phases) and not _learnt(report):
        return "✓ ", f"Introspection complete ({took}); there was nothing to change"
    return "✓ ", f"Introspection complete ({took}); take it back with: {page.call} undo --run {report.run}"


def _learnt(report: IntrospectReport) -> bool:
    return any(phase.phase == "distill" and phase.counts for phase in report.phases)


def event_lines(event: RunEvent) -> list[str]:
    """One event of a run that is watched; nothing for those that say no more than the next."""
    at = iso(event.at)[11:19]
    match event.kind:
        case "start":
            return [f"{at}  run {event.run} by {event.data.get('by', '')} {event.text}".rstrip()]
        case "phase":
            return [f"{at}  {event.phase}"]
        case "progress" if event.total:
            return [f"{at}    {event.done:,} of {event.total:,} {event.text}".rstrip()]
        case "change":
            titles = [str(title) for title in event.data.get("titles", ())]
            return [f"{at}    {event.data.get('verb', '')} {' + '.join(titles[:2])}"]
        case "phase_end":
            return [f"{at}    {event.data.get('status', '')}: {event.text}"]
        case _:
            return []


def runs_lines(answer: RunsAnswer, page: Page) -> Iterator[str]:
    """The runs, newest first."""
    if not answer.runs:
        yield f"No run yet; start one: {page.call} introspect"
    for run in answer.runs:
        at = iso(run.started).replace("T", " ").removesuffix("Z")[:16]
        told = f"{run.status} in {run.phase}" if run.phase else run.status
        yield from page.item("", f"{at} UTC  {run.run}  {told}, {counted(run.changes, 'change')}, by {run.by}")


def review_lines(answer: ReviewAnswer, page: Page) -> Iterator[str]:
    """What was decided, and what waits."""
    for item in answer.decided:
        yield from page.item("✓ ", f"{answer.verdict}: {_item(item)}")
    if answer.note:
        yield from page.item("! ", answer.note)
    if not answer.items:
        yield "Nothing waits for you"
        return
    yield f"{counted(len(answer.items), 'proposal')} for you to decide:"
    for item in answer.items:
        yield from page.item(f"  {item.key[:8]}  ", _item(item))
    yield page.dim(f"{page.call} review accept KEY, review reject KEY; or all")


def _item(item: ReviewItem) -> str:
    ends = " + ".join(f'"{title}" ({short(key)})' for title, key in zip(item.titles, item.cards, strict=True))
    score = f" {item.score:.2f}" if item.score is not None else ""
    return f"{item.verb}?{score} {ends}{f': {item.why}' if item.why else ''}"
