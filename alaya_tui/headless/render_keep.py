"""What `init status verify rebuild doctor config demo` print for a person."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from alaya_core.clock import local
from alaya_core.models.answers import (
    ConfigAnswer,
    ConfigRow,
    DoctorAnswer,
    InitReport,
    RebuildAnswer,
    StatusAnswer,
    VerifyAnswer,
)
from alaya_core.text import clip, counted, pad, safe_line
from alaya_tui.headless.render_layout import Page, listed, short, size

MARKS = {"ok": "✓", "warn": "!", "fail": "✗"}
BAR = 10
MOST_IDS = 5
MOST_ROWS = 8

_NOT_CHECKED = {
    "graph_behind": "the graph was not compared: it is being written",
    "unindexed": "the tables of words and vectors were not compared: {} to be indexed",
}
"""What the numbers of a verification say that count nothing that was looked at."""

_CHANNELS = 10
_NAME = 40  # cells


def init_lines(report: InitReport, page: Page) -> Iterator[str]:
    """What was made: the folders in one line, everything else in its own."""
    if not report.created:
        yield from page.item("= ", f"Nothing to create: {report.home} is complete")
        return
    folders = [name for name in report.created if name.endswith("/")]
    if folders:
        yield from page.item("✓ ", f"Created {counted(len(folders), 'folder')}: {' '.join(folders)}")
    for name in report.created:
        if name not in folders:
            yield from page.item("✓ ", f"Created {report.home if name == '.' else name}")
    yield from page.item("✓ ", f"Alaya is ready at {report.home}")
    yield page.dim(f"bring sessions in with: {page.call} ingest PATH --distill; see it with sample data: alaya demo")


def status_lines(answer: StatusAnswer, page: Page) -> Iterator[str]:
    """The three layers, the temperatures, and what needs a person's attention."""
    yield from page.item("📊 ", f"Alaya Status  {answer.home}")
    yield ""
    yield from _raw(answer, page)
    yield ""
    yield from _graph(answer)
    yield ""
    yield from _vectors(answer, page)
    yield ""
    yield "Temperature Distribution"
    yield from _histogram(answer.temperature)
    yield ""
    yield from _upkeep(answer, page)
    yield from page.item("Cards are made by: ", answer.distiller)
    if answer.sends_text_to:
        yield from page.item("Text is sent to: ", ", ".join(answer.sends_text_to))
    for sentence in answer.health:
        yield from page.item("! ", sentence)
    if not answer.health:
        yield "✓ Nothing needs attention"


def _raw(answer: StatusAnswer, page: Page) -> Iterator[str]:
    raw = answer.raw
    yield "L3 Raw Storage"
    yield f"  Sessions: {raw.sessions:,} ({size(raw.bytes)}), {counted(raw.turns, 'turn')}"
    if raw.oldest is not None and raw.newest is not None:
        yield f"  Oldest: {local(raw.oldest, '%Y-%m-%d')}"
        yield f"  Newest: {local(raw.newest, '%Y-%m-%d')}"
    if raw.undistilled:
        yield f"  Not yet distilled: {raw.undistilled:,}"
    if raw.channels:
        shown = [f"{clip(safe_line(name), _NAME)} {number:,}" for name, number in _ranked(raw.channels)]
        more = f", {len(shown) - _CHANNELS} more" if len(shown) > _CHANNELS else ""
        yield from page.item("  Channels: ", ", ".join(shown[:_CHANNELS]) + more)


def _graph(answer: StatusAnswer) -> Iterator[str]:
    graph = answer.graph
    yield f"L2 Graph DB ({safe_line(graph.engine)}, {size(graph.bytes)})"
    yield f"  Cards: {graph.cards:,}"
    yield from _rows(graph.by_type)
    put_away = {name: number for name, number in graph.by_state.items() if name != "active" and number}
    if put_away:
        yield "  " + ", ".join(f"{safe_line(name)} {number:,}" for name, number in put_away.items())
    yield f"  Links: {graph.links:,}"
    yield from _rows(graph.by_relation)


def _vectors(answer: StatusAnswer, page: Page) -> Iterator[str]:
    vectors = answer.vectors
    yield f"L1 Embedding DB ({size(vectors.bytes)})"
    yield f"  Total: {vectors.total:,}"
    yield f"  HOT: {vectors.hot:,}" + (f" (memory: {size(vectors.matrix_bytes)})" if vectors.matrix_bytes else "")
    yield f"  WARM: {vectors.warm:,}"
    yield f"  COLD: {vectors.cold:,}" + (" (found by words and links)" if vectors.cold else "")
    if vectors.pending:
        yield f"  Still to be made: {vectors.pending:,}"
    owing = f", {vectors.passages_owing:,} to follow" if vectors.passages_owing else ""
    yield f"  Passages: {vectors.passages:,} (vectors {vectors.passage_vectors:,}{owing})"
    wide = f" ({vectors.dimensions} numbers)" if vectors.dimensions else ""
    yield from page.item("  Model: ", f"{vectors.model}{wide}")


def _upkeep(answer: StatusAnswer, page: Page) -> Iterator[str]:
    """Sizes, and what waits for `upkeep`."""
    waiting = answer.upkeep
    if not waiting:
        return
    said = [
        f"{size(waiting.get('access_bytes_unfolded', 0))} of the access log to fold",
        counted(waiting.get("table_versions", 0), "table version"),
        f"{counted(waiting.get('rows_unindexed', 0), 'row')} to index",
    ]
    if left := waiting.get("leftover_bytes", 0):
        said.append(f"{size(left)} left by builds that were cut off")
    ledger = f"{counted(waiting.get('ledger_segments', 0), 'segment')}, {size(answer.ledger.get('bytes', 0))}"
    yield "Upkeep"
    yield f"  Ledger: {ledger}"
    yield f"  Embedding cache: {size(waiting.get('cache_bytes', 0))}"
    yield from page.item("  Waiting: ", ", ".join(said))
    yield ""


def _rows(numbers: Mapping[str, int]) -> Iterator[str]:
    ranked = [pair for pair in _ranked(numbers) if pair[1]]
    for name, number in ranked[:MOST_ROWS]:
        yield f"    - {safe_line(name)}: {number:,}"
    if rest := sum(number for _, number in ranked[MOST_ROWS:]):
        yield f"    - others: {rest:,}"


def _ranked(numbers: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(numbers.items(), key=lambda pair: (-pair[1], pair[0]))


def _histogram(bands: Mapping[str, int]) -> Iterator[str]:
    total = sum(bands.values())
    for band, number in bands.items():
        part = number / total if total else 0
        # a band that holds anything shows at least one mark
        filled = max(1, round(part * BAR)) if number else 0
        yield f"  {safe_line(band)}: {'█' * filled}{'░' * (BAR - filled)} {part:4.0%}"


def verify_lines(answer: VerifyAnswer, page: Page, *, fix: bool = False) -> Iterator[str]:
    """What was checked, found and mended, and what would be."""
    checked = listed([_checked(name, number) for name, number in answer.checked.items() if name not in _NOT_CHECKED])
    for done in answer.fixed:
        yield from page.item("✓ ", f"Mended: {done}")
    for finding in answer.findings:
        ids = ", ".join(short(each) for each in finding.ids[:MOST_IDS])
        more = f" and {len(finding.ids) - MOST_IDS:,} more" if len(finding.ids) > MOST_IDS else ""
        detail = f": {finding.detail}" if finding.detail else ""
        yield from page.item(
            "· " if finding.report else "✗ ", f"{finding.kind}{detail}{'  ' + ids + more if ids else ''}"
        )
        if not finding.report:
            yield from page.item("    mend with: ", finding.fix)
    waits = fix and answer.plan and not answer.fixed
    for step in answer.plan if waits else ():
        yield from page.item("→ ", f"Would mend: {step}")
    wrong = sum(not finding.report for finding in answer.findings)
    notes = f", {counted(len(answer.findings) - wrong, 'note')}" if len(answer.findings) > wrong else ""
    yield f"{'✓ Nothing wrong' if answer.ok else counted(wrong, 'finding')}{notes}; checked {checked or 'nothing'}"
    for name, sentence in _NOT_CHECKED.items():
        if number := answer.checked.get(name):
            yield from page.item("· ", sentence.format(counted(number, "change")))
    if waits:
        yield page.dim(f"nothing is changed yet; do it with: {page.call} verify --fix --yes")
    elif not answer.ok and not fix:
        yield page.dim(f"what would mend it: {page.call} verify --fix")


def _checked(name: str, number: int) -> str:
    return f"{number:,} {safe_line(name.removesuffix('s') if number == 1 else name)}"


def rebuild_lines(answer: RebuildAnswer, page: Page) -> Iterator[str]:
    """What was built, from what, how long it took."""
    yield from page.item("✓ ", f"Rebuilt {listed(answer.rebuilt) or 'nothing'} in {answer.took_ms / 1000:.1f}s")
    parts = [
        counted(answer.cards, "card"),
        counted(answer.links, "link"),
        counted(answer.sessions, "session"),
        counted(answer.passages, "passage"),
    ]
    yield f"  {listed(parts)}"
    if answer.vectors_pending:
        yield f"  {counted(answer.vectors_pending, 'vector')} still to be made"
    for warning in answer.warnings:
        yield f"! {safe_line(warning)}"


def doctor_lines(answer: DoctorAnswer, page: Page) -> Iterator[str]:
    """Every check, and what to do where one failed."""
    widest = max((len(check.name) for check in answer.checks), default=0)
    for check in answer.checks:
        yield from page.item(f"{MARKS[check.status]} {pad(safe_line(check.name), widest)}  ", check.detail)
        if check.hint:
            yield from page.item("    hint: ", check.hint)
    failed = sum(check.status == "fail" for check in answer.checks)
    warned = sum(check.status == "warn" for check in answer.checks)
    yield ""
    if answer.ok and not warned:
        yield f"✓ All {counted(len(answer.checks), 'check')} passed"
    else:
        yield f"{counted(failed, 'check')} failed, {counted(warned, 'warning')}"


def config_lines(answer: ConfigAnswer, page: Page) -> Iterator[str]:
    """Every setting: its value, where it comes from, what it means."""
    yield from page.item("", answer.path)
    yield ""
    for row in answer.settings:
        yield f"{page.bold(safe_line(row.key))} = {page.clip(_value(row.value), len(row.key) + 3)}{_origin(row)}"
        if row.meaning:
            yield from map(page.dim, page.item("    ", row.meaning))
    for warning in answer.warnings:
        yield from page.item("! ", warning)


def _origin(row: ConfigRow) -> str:
    return "" if row.origin == "default" else f"  [{row.origin}; default {safe_line(_value(row.default))}]"


def _value(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
