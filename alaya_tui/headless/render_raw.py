"""What `ingest`, `distill` and `trace` print for a person."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from alaya_core.clock import iso
from alaya_core.models.answers import (
    DistillOutcome,
    DistillReport,
    IngestReport,
    ModelUsage,
    SessionOutcome,
    TraceAnswer,
    TraceSession,
    TraceTurn,
)
from alaya_core.text import counted, safe_line
from alaya_tui.headless.render_layout import Page, argument, is_id, listed, reasons, short

IN_FULL = 10
MOST_SKIPPED = 5
MOST_PASSED_OVER = 10
MARKS = {"new": "✓", "grown": "✓", "unchanged": "=", "conflict": "!", "failed": "✗"}


def ingest_lines(report: IngestReport, page: Page) -> Iterator[str]:
    """Every session in full when they are few, one line each when they are many; what was left out and why; totals."""
    in_full = len(report.sessions) <= IN_FULL
    for outcome in report.sessions:
        yield from _session(outcome, page) if in_full else _one_line(outcome, page)
    yield from _passed_over(report, page)
    if report.sessions or report.passed_over:
        yield ""
    yield _totals(report)
    if report.distilled is not None:
        yield ""
        yield from distill_lines(report.distilled, page)
    elif any(each.status in ("new", "grown") for each in report.sessions):
        yield page.dim(f"make cards of them with: {page.call} distill")


def _session(outcome: SessionOutcome, page: Page) -> Iterator[str]:
    if outcome.status == "failed":
        yield from page.item("✗ ", f"{outcome.source or outcome.session_id}: {outcome.reason or 'failed'}")
        yield from _skipped(outcome, page)
        return
    yield from page.item("📥 ", f"Ingesting session: {outcome.session_id}")
    facts = [
        *([f"Duration: {outcome.duration_ms / 1000:.1f}s"] if outcome.duration_ms is not None else []),
        *([f"Tokens: {outcome.tokens}"] if outcome.tokens is not None else []),
        *([f"Channel: {outcome.channel}"] if outcome.channel else []),
        *([f"Format: {outcome.format}"] if outcome.format else []),
        f"Turns: {outcome.turns:,}",
    ]
    yield from page.item("   ", " | ".join(facts))
    yield from page.item(f"{MARKS[outcome.status]} ", _became(outcome))
    yield from _skipped(outcome, page)


def _became(outcome: SessionOutcome) -> str:
    where = outcome.path or "the raw layer"
    told = {
        "new": f"Saved to {where}",
        "grown": f"{counted(outcome.new_turns, 'new turn')} added to {where}",
        "unchanged": f"Unchanged since it was read before: {where}",
        "conflict": f"Kept beside another session of the same id: {where}",
    }.get(outcome.status, outcome.status)
    return f"{told} ({outcome.reason})" if outcome.reason else told


def _one_line(outcome: SessionOutcome, page: Page) -> Iterator[str]:
    new = f", {outcome.new_turns:,} new" if outcome.status == "grown" else ""
    reason = f": {outcome.reason}" if outcome.reason else ""
    yield from page.item(
        f"{MARKS[outcome.status]} ",
        f"{outcome.session_id}  {counted(outcome.turns, 'turn')}{new}  {outcome.status}{reason}",
    )
    yield from _skipped(outcome, page)


def _skipped(outcome: SessionOutcome, page: Page) -> Iterator[str]:
    for skipped in outcome.skipped[:MOST_SKIPPED]:
        line = f"line {skipped.line}" if skipped.line is not None else "a part"
        yield from page.item("  ! ", f"{line} skipped: {skipped.reason}")
    more = max(outcome.skipped_count, len(outcome.skipped)) - MOST_SKIPPED
    if more > 0:
        yield f"  ! and {counted(more, 'more line')} skipped (all of them with --json)"


def _passed_over(report: IngestReport, page: Page) -> Iterator[str]:
    for passed in report.passed_over[:MOST_PASSED_OVER]:
        yield from page.item("! ", f"not read: {passed.path}: {passed.reason}")
    rest = report.passed_over[MOST_PASSED_OVER:]
    for reason, number in reasons((passed.reason, 1) for passed in rest):
        yield from page.item("! ", f"not read: {number:,} more: {reason}")


def _totals(report: IngestReport) -> str:
    if not report.sessions:
        return "Nothing was ingested: no session was found there"
    totals = reasons((each.status, 1) for each in report.sessions)
    told = listed([f"{number:,} {status}" for status, number in totals])
    turns = counted(sum(each.turns for each in report.sessions), "turn")
    skipped = counted(sum(max(each.skipped_count, len(each.skipped)) for each in report.sessions), "line")
    return f"{counted(len(report.sessions), 'session')} ({told}), {turns}, {skipped} skipped"


def distill_lines(report: DistillReport, page: Page) -> Iterator[str]:
    """The cards and links that each session gave, and the totals."""
    worked = [each for each in report.sessions if each.status != "skipped"]
    in_full = len(worked) <= IN_FULL
    for outcome in worked:
        if in_full:
            yield from _distilled(outcome, page, explained=report.usage is not None)
        else:
            yield from _distilled_line(outcome, page)
    skipped = [each for each in report.sessions if each.status == "skipped"]
    for reason, number in reasons((each.reason or "nothing new", 1) for each in skipped):
        yield from page.item("= ", f"{counted(number, 'session')} skipped: {reason}")
    if not report.sessions:
        yield "✓ Nothing to distill: every session is done"
        return
    yield ""
    again = sum(each.status == "retry" for each in report.sessions)
    cards = counted(sum(len(each.cards) for each in report.sessions), "card")
    links = counted(sum(len(each.links) for each in report.sessions), "link")
    done = counted(len(worked) - again, "session")
    yield from page.item("! " if again else "✓ ", f"{cards} and {links} from {done}, by {report.distiller}")
    if again:
        yield from page.item("  ", f"{counted(again, 'session')} will be tried again by the next distill")
    for sentence in report.settled:
        yield from page.item("  ✓ ", sentence)
    if report.usage is not None:
        yield from page.item("  ", _used(report.usage))
    if report.vectors_pending:
        yield f"  {counted(report.vectors_pending, 'vector')} still to be made"


def _used(usage: ModelUsage) -> str:
    """What a model was asked, and what it cost."""
    known = f" ({usage.cached:,} more known from before)" if usage.cached else ""
    about = "about " if usage.estimated else ""
    tokens = f"{about}{usage.input_tokens:,} tokens sent, {usage.output_tokens:,} answered"
    cost = f", cost {usage.cost:.4f}" if usage.cost is not None else ""
    return f"{counted(usage.calls, 'request')}{known}, {tokens}{cost}"


def _distilled_line(outcome: DistillOutcome, page: Page) -> Iterator[str]:
    made = f"{counted(len(outcome.cards), 'card')}, {counted(len(outcome.links), 'link')}"
    told = f"not done: {outcome.reason}" if outcome.status == "retry" else made
    yield from page.item("! " if outcome.status == "retry" else "🧠 ", f"{outcome.session_id}  {told}")


def _distilled(outcome: DistillOutcome, page: Page, *, explained: bool) -> Iterator[str]:
    """A session and what it gave; explained: what was left out too."""
    yield from page.item("🧠 ", f"Distilling {outcome.session_id}")
    if outcome.status == "retry":
        yield from page.item("   ! ", f"Not done: {outcome.reason or 'the model gave no usable answer'}")
        return
    if not outcome.cards:
        yield from page.item("   ", f"No cards{': ' + outcome.reason if outcome.reason else ''}")
        return
    yield f"   Found {counted(len(outcome.cards), 'card')}:"
    for card in outcome.cards:
        yield from page.item("     ✓ Card: ", f"{card.title} [{card.type}]  {short(card.card_id)}")
    if outcome.links:
        yield f"   Created {counted(len(outcome.links), 'link')}:"
    for link in outcome.links:
        yield from page.item("     ✓ ", f"{_end(link.from_title)} {link.relation} {_end(link.to_title)}")
    if explained and outcome.reason:
        yield from page.item("   ", outcome.reason)


def _end(title: str) -> str:
    """An end of a link: its title, or the id of a card that was there before."""
    return short(title) if is_id(title) else f'"{title}"'


def trace_lines(answer: TraceAnswer, page: Page) -> Iterator[str]:
    """The sessions a card came from, and what was said there."""
    yield from page.item("🔬 ", f'Tracing {short(answer.card_id)}: "{answer.title}"')
    yield ""
    if not answer.sessions:
        yield "This card comes from no session: somebody wrote it."
        yield page.dim(f"its changes: {page.call} history {argument(answer.card_id)}")
        return
    yield "=== Source Sessions ==="
    for session in answer.sessions:
        yield from page.item("- ", _told(session))
    for session in answer.sessions:
        yield ""
        yield from page.item("=== ", f"{session.session_id} ===")
        yield from _turns(session, page)
        yield from page.item("", f"[View at {session.path}]") if session.path else ()
    if answer.masked:
        yield ""
        yield page.dim("secrets are masked; at a terminal, --reveal shows them")


def _told(session: TraceSession) -> str:
    when = iso(session.timestamp).replace("T", " ").removesuffix("Z")[:16]
    where = ", ".join(part for part in (session.channel, session.agent) if part)
    total = f", {counted(session.total, 'turn')}" if session.total else ""
    gone = "; its file is gone, these are the turns kept with the card" if session.missing else ""
    return f"{session.session_id} ({when} UTC{', ' + where if where else ''}{total}{gone})"


def _turns(session: TraceSession, page: Page) -> Iterator[str]:
    last: int | None = None
    whole = any(not turn.relevant for turn in session.turns)
    for turn in session.turns:
        if last is not None and turn.turn > last + 1:
            yield page.dim(f"  ... {counted(turn.turn - last - 1, 'turn')} between")
        last = turn.turn
        mark = ("* " if turn.relevant else "  ") if whole else ""
        yield from _turn(mark, turn, page)


def _turn(mark: str, turn: TraceTurn, page: Page) -> Iterator[str]:
    name = f" ({safe_line(turn.name)})" if turn.name else ""
    moved = f" (was turn {turn.moved_from})" if turn.moved_from is not None else ""
    kind = "" if turn.kind in ("message", "erased", turn.role) else f" [{safe_line(turn.kind)}]"
    lead = f"{mark}[Turn {turn.turn}] {safe_line(turn.role).capitalize()}{name}{kind}{moved}: "
    first, *rest = page.block("(erased)" if turn.kind == "erased" else turn.content, 4) or [""]
    if page.width and len(lead) + len(first) > page.width:
        yield page.bold(lead.rstrip())
        yield from (first, *rest)
    else:
        yield page.bold(lead) + first.strip()
        yield from rest
    for call in turn.tool_calls:
        yield from page.item("    > ", _call(call))


def _call(call: Mapping[str, object]) -> str:
    arguments = call.get("arguments")
    told = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, default=str)
    return f"{call.get('name', 'tool')} {'' if arguments is None else told}"[:500]
