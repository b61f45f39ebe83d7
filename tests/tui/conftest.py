"""A real memory in a temporary folder, and eyes for what is on the screen."""

from __future__ import annotations

import html
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from textual.message import Message
from textual.pilot import Pilot
from textual.widgets import Input

from alaya_core.clock import IdSource
from alaya_core.models.requests import RecallOptions
from alaya_tui.app import AlayaApp
from alaya_tui.core_worker import CoreAnswered

if TYPE_CHECKING:
    from alaya_core.memory import Memory

NOW = 1_796_040_000_000  # 2026-11-30 12:00 UTC
DAY = 86_400_000
PATIENCE = 30.0

HOSTILE = {
    "markup": "[/red] closes nothing [@click=app.quit]x[/] [$name]",
    "escape": "clip \x1b]52;c;aGk=\x07 and \x1b[31mred\x1b[0m \x9b31m",
    "bidi": "price \u202egnp.exe\u202c \u2066end",
    "emoji": "family \U0001f468\u200d\U0001f469\u200d\U0001f467 and \u2764\ufe0f",
    "long": "L" * 10_000,
}

Cards = dict[str, str]


def fixed_clock() -> int:
    """It is always noon."""
    return NOW


def open_memory(home: Path) -> Memory:
    """The memory, with a clock that stands still and ids in order."""
    from alaya_core.memory import Memory

    numbers = count(1)
    ids = IdSource(new_card=lambda: f"card-{next(numbers):032x}")
    return Memory.open(home, clock=fixed_clock, ids=ids, create=True, environ={})


def fill(memory: Memory) -> Cards:
    """Cards with links, in Chinese and English; some of them mean harm."""
    told = {
        "telegram": (
            "Telegram 消息通知机制",
            "Gateway 的消息通知依赖 `plugins.allow`。\n\n- 先连上\n- 再发送",
            "concept",
        ),
        "gateway": ("Gateway 重启前发通知的模式", "重启前先发一条通知，让人知道。", "pattern"),
        "plugins": ("避免漏掉 plugins.allow 配置", "漏掉 plugins.allow 时没有任何报错。", "gotcha"),
        "second": ("Notify on a second channel", "When Telegram is down, notify by mail.", "decision"),
        "docker": ("Docker needs a memory limit", "Set `--memory`, or the host dies.", "gotcha"),
    }
    cards: Cards = {}
    for name, (title, content, kind) in told.items():
        cards[name] = memory.capture(content, title=title, type=kind).card.card_id
    for name, text in HOSTILE.items():
        cards[name] = memory.capture(f"hostile {name}: {text}\n\n[link](https://evil.example)", title=text).card.card_id
    memory.link(cards["telegram"], cards["gateway"], relation="DEPENDS_ON", weight=0.85, reason="需要先连上")
    memory.link(cards["plugins"], cards["telegram"], relation="DEPENDS_ON", weight=0.7)
    memory.link(cards["telegram"], cards["second"], relation="CONTRADICTS", weight=0.6, reason="[/red]")
    memory.link(cards["telegram"], cards["markup"], relation="CAUSED_BY", weight=0.5)
    return cards


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Cards]:
    """Made once, copied for each test."""
    home = tmp_path_factory.mktemp("made") / "home"
    with open_memory(home) as memory:
        cards = fill(memory)
        memory.recall("docker", RecallOptions(typed=True))  # the first recall builds what all others read
    return home, cards


@pytest.fixture
def cards(made_once: tuple[Path, Cards]) -> Cards:
    """The ids of the cards by short names."""
    return made_once[1]


@pytest.fixture
def home(made_once: tuple[Path, Cards], tmp_path: Path) -> Path:
    """A home of its own."""
    return Path(shutil.copytree(made_once[0], tmp_path / "home"))


@pytest.fixture
def app(home: Path) -> Iterator[AlayaApp]:
    """The app over that home."""
    app = AlayaApp(lambda: open_memory(home), clock=fixed_clock)
    app.animation_level = "none"
    yield app
    if app.memory is not None:
        app.memory.close()


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing blinks."""
    monkeypatch.setattr(Input, "_toggle_cursor", lambda _: None)


class Log:
    """What the app was told, for `run_test(message_hook=...)`."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def __call__(self, message: Message) -> None:
        self.messages.append(message)

    def answered(self, purpose: str) -> int:
        """How many answers of this purpose came."""
        return len({m.request for m in self.messages if isinstance(m, CoreAnswered) and m.purpose == purpose})


async def until(pilot: Pilot[None], condition: Callable[[], object]) -> None:
    """Lets the app go on until the condition holds."""
    import time

    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain; the screen says:\n{visible(pilot.app)}"
        await pilot.pause(0.01)
    await pilot.pause()


async def engine(pilot: Pilot[None]) -> None:
    """Waits until searching works with words and vectors, and the whole list is on the screen."""
    await until(pilot, lambda: pilot.app.engine_ready and pilot.app.header.cards is not None)  # type: ignore[attr-defined]
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def visible(app: object) -> str:
    """The text on the screen, line by line."""
    picture = app.export_screenshot()  # type: ignore[attr-defined]
    lines: dict[float, list[tuple[float, str]]] = defaultdict(list)
    for attributes, text in re.findall(r"<text ([^>]*)>([^<]*)</text>", picture):
        x, y = (float(re.search(rf'\b{axis}="([\d.]+)"', attributes)[1]) for axis in "xy")  # type: ignore[index]
        lines[y].append((x, html.unescape(text).replace("\xa0", " ")))
    return "\n".join("".join(text for _, text in sorted(parts)) for _, parts in sorted(lines.items()))
