"""What all tests share: a memory in a temporary folder, under a clock that only tests move."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from alaya_core.clock import DAY_MS, IdSource
from alaya_core.memory import Memory

NOON = 1_796_040_000_000  # 2026-11-30 12:00 UTC
HOUR_MS = 3_600_000

OpenMemory = Callable[..., Memory]


class Clock:
    """A clock that stands still until a test moves it."""

    def __init__(self, now: int = NOON) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def advance(self, *, days: float = 0, hours: float = 0, ms: int = 0) -> None:
        self.now += int(days * DAY_MS + hours * HOUR_MS) + ms


def counting_ids(first: int = 1) -> IdSource:
    """Ids in order, told apart by the first 8 digits behind `card-`."""
    cards, commits = count(first), count(first)
    return IdSource(
        new_card=lambda: f"card-{next(cards):08x}{'0' * 24}",
        new_commit=lambda _: f"{next(commits):026d}",
    )


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ids() -> IdSource:
    return counting_ids()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where a test's memory lies; not made yet."""
    return tmp_path / "home"


@pytest.fixture
def open_memory(home: Path, clock: Clock, ids: IdSource) -> Iterator[OpenMemory]:
    """Opens the test's home (or another), as often as wanted; nothing of the user's environment gets in."""
    opened: list[Memory] = []

    def open_it(where: Path | None = None, **options: Any) -> Memory:
        chosen: dict[str, Any] = {"clock": clock, "ids": ids, "environ": {}, "create": True}
        opened.append(Memory.open(where or home, **(chosen | options)))
        return opened[-1]

    yield open_it
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    """A memory with nothing in it."""
    return open_memory()


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    """Sets the umask for one test."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)
