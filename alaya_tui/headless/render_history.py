"""What `history undo redo` print for a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from alaya_core.clock import local
from alaya_core.models.answers import CommitView, FieldChange, HistoryAnswer, UndoAnswer
from alaya_core.text import counted, safe_line
from alaya_tui.headless.render_layout import Page, short

MOST_TOLD = 12  # of one change; --json has all
MOST_LINES = 24  # of the difference of one field


def history_lines(answer: HistoryAnswer, page: Page) -> Iterator[str]:
    """One commit after the other, newest first."""
    for commit in answer.commits:
        yield from _commit(commit, page)
    if answer.commits:
        yield ""
    yield f"{len(answer.commits):,} of {counted(answer.total, 'change')}" + (", newest first" if answer.commits else "")


def undo_lines(answer: UndoAnswer, page: Page) -> Iterator[str]:
    """What was taken back or done again."""
    for mark, said, commits in (("↶ ", "Undone", answer.undone), ("↷ ", "Redone", answer.redone)):
        for commit in commits:
            yield from page.item(mark, f"{said} #{commit.seq}: {_sentence(commit.what)}")
    if answer.note:
        yield from page.item("  ", answer.note)
    if answer.run and not answer.redone:
        yield page.dim(f"  do it again with: {page.call} redo")
    elif answer.run:
        yield page.dim(f"  take it back with: {page.call} undo")


def _sentence(what: Sequence[str]) -> str:
    more = f" and {len(what) - 1:,} more" if len(what) > 1 else ""
    return (what[0] if what else "nothing that can be shown") + more


def _commit(commit: CommitView, page: Page) -> Iterator[str]:
    run = f"  run {safe_line(commit.run)}" if commit.run else ""
    undone = "  (undone)" if commit.undone else ""
    yield page.dim(f"#{commit.seq:<6} {local(commit.at)}  {safe_line(commit.actor)}{run}{undone}")
    for told in commit.what[:MOST_TOLD]:
        yield from page.item("    ", told)
    if len(commit.what) > MOST_TOLD:
        yield page.dim(f"    and {len(commit.what) - MOST_TOLD:,} more")
    if commit.why:
        yield from page.item("    why: ", commit.why)
    several = len({change.card_id for change in commit.changes}) > 1
    for change in commit.changes:
        yield from _change(change, f"{short(change.card_id)} " if several else "", page)


def _change(change: FieldChange, of: str, page: Page) -> Iterator[str]:
    if not change.diff:
        yield from page.item(
            f"      {of}{safe_line(change.field)}: ", f"{change.before or '-'} → {change.after or '-'}"
        )
        return
    yield f"      {of}{safe_line(change.field)}:"
    for line in change.diff[:MOST_LINES]:
        yield from page.item(f"        {line[:2]}", line[2:])
    if len(change.diff) > MOST_LINES:
        yield page.dim(f"        and {len(change.diff) - MOST_LINES:,} more lines")
