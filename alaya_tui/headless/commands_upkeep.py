"""`reembed upkeep`: long work on the stores that changes nothing a person wrote."""

from __future__ import annotations

from functools import partial

from alaya_tui.headless.render import Result
from alaya_tui.headless.render_upkeep import estimate, reembed_lines, upkeep_lines
from alaya_tui.headless.request import Request


def reembed_command(request: Request) -> Result:
    """Makes all vectors anew by the configured model; what it will take is said before it begins."""
    with request.memory() as memory, request.long_work("reembed") as (progress, cancel):
        answer = memory.reembed(
            dry_run=request.args.dry_run,
            progress=progress,
            cancel=cancel,
            beforehand=lambda takes: request.told.note(estimate(takes)),
        )
    return Result(answer, partial(reembed_lines, answer))


def upkeep_command(request: Request) -> Result:
    """Folds logs and indexes, removes old versions of the tables."""
    with request.memory() as memory, request.told.progress("upkeep") as progress:
        answer = memory.upkeep(progress=progress)
    return Result(answer, partial(upkeep_lines, answer))
