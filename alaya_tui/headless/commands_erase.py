"""`erase`: what a person wants out of the memory for good."""

from __future__ import annotations

from functools import partial

from alaya_core.models.answers import EraseAnswer
from alaya_tui.headless.render import Result
from alaya_tui.headless.render_erase import erase_lines, preview_lines, question
from alaya_tui.headless.render_layout import Page
from alaya_tui.headless.request import Request


def erase_command(request: Request) -> Result:
    """Shows what would go; with `--yes`, or when a person agrees, it goes."""
    args = request.args
    with request.memory() as memory:
        if not args.yes:
            preview = memory.erase(args.target, turn=args.turn)
            if not _agreed(request, preview):
                return Result(preview, partial(erase_lines, preview))
        with request.long_work("erase") as (progress, cancel):
            answer = memory.erase(args.target, turn=args.turn, yes=True, progress=progress, cancel=cancel)
    return Result(answer, partial(erase_lines, answer))


def _agreed(request: Request, preview: EraseAnswer) -> bool:
    if not request.person or request.args.json:
        return False
    for line in preview_lines(preview, Page()):
        request.told.note(line)
    return request.agreed(question(preview))
