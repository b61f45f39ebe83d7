"""`merge undo redo`: two cards made one, and changes taken back."""

from __future__ import annotations

from functools import partial

from alaya_tui.headless.render import Result
from alaya_tui.headless.render_cards import changed_lines
from alaya_tui.headless.render_history import undo_lines
from alaya_tui.headless.request import Request


def merge_command(request: Request) -> Result:
    """Makes one card of two."""
    args = request.args
    with request.memory() as memory:
        answer = memory.merge(args.card, args.other, why=args.reason)
    return Result(answer, partial(changed_lines, "merge", answer))


def undo_command(request: Request) -> Result:
    """Takes changes back."""
    with request.memory() as memory:
        answer = memory.undo(run=request.args.run, cascade=request.args.cascade)
    return Result(answer, partial(undo_lines, answer))


def redo_command(request: Request) -> Result:
    """Does again what was undone."""
    with request.memory() as memory:
        answer = memory.redo(run=request.args.run, cascade=request.args.cascade)
    return Result(answer, partial(undo_lines, answer))
