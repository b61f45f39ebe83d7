"""`demo`: a memory of its own, filled with sample sessions, to try things on."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from alaya_core.errors import UsageError
from alaya_core.models.answers import IngestReport, RecallAnswer
from alaya_core.models.requests import RecallOptions
from alaya_core.text import counted, safe_line
from alaya_tui.headless.commands_find import recall_data
from alaya_tui.headless.render import Result
from alaya_tui.headless.render_layout import Page, call_on
from alaya_tui.headless.render_recall import recall_lines
from alaya_tui.headless.request import Request

QUERY = "小雨对什么过敏"
SHOWN = 3


def demo_command(request: Request) -> Result:
    """Fills a new home with samples; at a terminal opens the screen on it, else shows what one recall finds."""
    from alaya_core.memory import Memory
    from alaya_core.samples import sample_root

    home = demo_home(request.args.home)
    Memory.init(home)
    with Memory.open(home, agent=request.args.agent) as memory:
        with request.long_work("demo") as (progress, cancel):
            report = memory.ingest([sample_root()], distill=True, progress=progress, cancel=cancel)
        if request.person and not request.args.json:
            answer = None
        else:
            with request.told.progress("recall"):
                answer = memory.recall(QUERY, RecallOptions(limit=SHOWN))
        floor = memory.config.recall.floor
    if answer is None:
        from alaya_tui.cli import open_screen

        return Result({}, partial(_after_screen, home), open_screen(home=str(home), agent=request.args.agent))
    data = {
        "home": str(home),
        "ingest": report.model_dump(mode="json"),
        "recall": recall_data(answer),
        "next": screen_command(home),
    }
    return Result(data, partial(demo_lines, home, report, answer, floor))


def demo_home(named: str | None) -> Path:
    """The folder to use: a temporary one, or a new one that was named; samples never go into a memory in use.

    Raises:
        UsageError: The folder that was named holds something.
    """
    if named is None:
        return Path(tempfile.mkdtemp(prefix="alaya-demo-"))
    home = Path(named).expanduser().absolute()
    if home.exists() and (not home.is_dir() or any(home.iterdir())):
        raise UsageError(
            f"{home} is in use already, and samples do not belong in it", f"see it with: {screen_command(home)}"
        )
    return home


def screen_command(home: Path) -> str:
    """How to open the screen on a home."""
    import shlex

    return f"alaya-tui --home {shlex.quote(str(home))}"


def demo_lines(home: Path, report: IngestReport, answer: RecallAnswer, floor: float, page: Page) -> Iterator[str]:
    """What was read, one recall, and how to go on."""
    distilled = report.distilled
    cards = sum(len(each.cards) for each in distilled.sessions) if distilled else 0
    yield f"📥 {counted(len(report.sessions), 'sample session')} read, {counted(cards, 'card')} made"
    yield ""
    yield from recall_lines(answer, replace(page, call=call_on(str(home))), floor=floor)
    yield ""
    yield from page.item("open the screen with: ", screen_command(home))


def _after_screen(home: Path, page: Page) -> Iterator[str]:
    yield f"The demo is kept in {safe_line(str(home))}"
    yield page.dim(f"open it again with: {screen_command(home)}")
