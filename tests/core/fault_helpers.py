"""Starts the workers of the fault tests, and compares what was acknowledged with what is there."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from alaya_core.memory import Memory
from alaya_core.models.requests import Filters

ROOT = Path(__file__).resolve().parents[2]
WORKERS = Path(__file__).with_name("fault_workers.py")


class Worker:
    """A process that works on a home."""

    def __init__(self, home: Path, job: str, seed: int, seconds: float) -> None:
        command = [sys.executable, str(WORKERS), str(home), job, str(seed), str(seconds)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, text=True,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(home.parent)},
        )  # fmt: skip

    def wait_until_ready(self) -> None:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line == "ready\n", line + self.process.communicate()[1]

    def start(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def kill(self, after_lines: int, and_s: float) -> list[str]:
        """Kills it a moment after it has printed so many lines, and gives every whole line it had printed."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        first = [self.process.stdout.readline() for _ in range(after_lines)]
        time.sleep(and_s)  # when it dies is the point
        self.process.kill()
        lines = first + self.process.stdout.readlines()
        errors = self.process.stderr.read()
        self.process.wait(timeout=60)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()
        assert not errors, errors
        return [line[:-1] for line in lines if line.endswith("\n")]

    def result(self, timeout: float) -> tuple[list[str], str, int]:
        out, errors = self.process.communicate(timeout=timeout)
        return out.splitlines(), errors, self.process.returncode


class Acknowledged:
    """What workers were told is kept."""

    def __init__(self) -> None:
        self.cards: list[str] = []
        self.links: set[tuple[str, str]] = set()
        self.turns: dict[str, int] = {}

    def add(self, lines: Iterable[str]) -> None:
        for line in lines:
            kind, *rest = line.split()
            if kind == "card":
                self.cards.append(rest[0])
            elif kind == "link":
                self.links.add((rest[0], rest[1]))
            elif kind == "turns":
                self.turns[rest[0]] = max(self.turns.get(rest[0], 0), int(rest[1]))

    def check(self, memory: Memory) -> None:
        """All of it is there, each card once."""
        assert len(self.cards) == len(set(self.cards)), "an id was given twice"
        listed = [row.card_id for row in memory.list_cards(Filters(archived=True), limit=1_000_000).cards]
        assert len(listed) == len(set(listed))
        assert set(self.cards) <= set(listed)
        with memory._work.graph.reading() as reader:
            links = [(link.from_id, link.to_id, link.relation) for link in reader.all_links()]
            turns = {info.id: info.turns for info in reader.sessions()}
        assert len(links) == len(set(links))
        assert self.links <= {(a, b) for a, b, _ in links}
        assert {key: count for key, count in self.turns.items() if turns.get(key, 0) < count} == {}
