"""One home that knows something, made once: each test that wants it gets a copy of its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from alaya_core.memory import Memory
from tests.conftest import Clock, OpenMemory, counting_ids
from tests.core.homes import session, write

DOCKER = "Start the container with --memory=2g or the host kills it."


@dataclass(frozen=True)
class Learned:
    """A memory of two sessions and four cards by hand.

    Attributes:
        gateway, tabs, docker, secret: Ids of cards by hand; `secret` belongs to agent:other.
        talk: The session that cards were distilled from; distilled: those cards.
    """

    memory: Memory
    gateway: str
    tabs: str
    docker: str
    secret: str
    distilled: tuple[str, ...]
    source: Path
    talk: str = "talk-1"


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Learned:
    root = tmp_path_factory.mktemp("learned")
    source = write(root / "talk-1.json", session("talk-1"))
    with Memory.open(root / "home", clock=Clock(), ids=counting_ids(0xA0000001), environ={}, create=True) as memory:
        ids = [
            memory.capture(content, title=title, tags=tags, entities=entities, scope=scope).card.card_id
            for title, content, tags, entities, scope in (
                (
                    "Gateway 重启前发通知",
                    "重启网关前先检查 `plugins.allow`，否则丢失通知。",
                    ("net",),
                    ("Gateway",),
                    None,
                ),
                ("Tabs in Go", "Format Go code with gofmt; it uses tabs.", ("go", "style"), (), None),
                ("Docker memory limit", DOCKER, (), ("Docker",), None),
                ("What only other knows", "The vault of agent other is painted turquoise.", (), (), "agent:other"),
            )
        ]
        memory.link(ids[0], ids[2], relation="DEPENDS_ON", weight=0.8, reason="both need it")
        memory.link(ids[0], ids[3], relation="RELATES_TO", reason="secret")
        report = memory.ingest([source], distill=True)
        assert report.distilled is not None
        made = tuple(card.card_id for outcome in report.distilled.sessions for card in outcome.cards)
        assert memory.recall("gateway").results
    return Learned(memory, ids[0], ids[1], ids[2], ids[3], made, source)


@pytest.fixture
def learned(template: Learned, home: Path, open_memory: OpenMemory) -> Learned:
    """A copy of it that a test may change."""
    shutil.copytree(template.memory.home, home)
    return Learned(
        open_memory(),
        template.gateway,
        template.tabs,
        template.docker,
        template.secret,
        template.distilled,
        template.source,
    )


AsAgent = Callable[[str], Memory]


@pytest.fixture
def as_agent(learned: Learned, open_memory: OpenMemory) -> AsAgent:
    """The same memory as an agent sees it."""
    return lambda name: open_memory(agent=name)
