"""What killed processes were told, and whether it is so: the other half of `fault_jobs.py`."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from werkzeug import Request, Response

from alaya_core.errors import NotFoundError
from alaya_core.memory import Memory
from tests.core.fault_helpers import ROOT, Worker

JOBS = Path(__file__).with_name("fault_jobs.py")
SIZES = {"one": 8, "two": 12}
"""The models of the test's embedding service, and how long their vectors are."""


def embeddings(request: Request) -> Response:
    """An embedding service: a vector depends on the model and the text alone."""
    body = json.loads(request.get_data())
    size = SIZES[body["model"]]
    data = [
        {"index": number, "embedding": np.random.default_rng(list(text.encode())).normal(size=size).tolist()}
        for number, text in enumerate(body["input"])
    ]
    return Response(json.dumps({"data": data}), content_type="application/json")


def config_for(base_url: str) -> dict[str, Any]:
    """The settings of a home that asks this service."""
    return {"embedding": {"provider": "openai-compatible", "base_url": base_url, "model": "one"}}


class Doomed(Worker):
    """A process that does a job until it is killed.

    Args:
        step: Kill it (by itself) before it changes a file of the home for the step'th time; 0 = from outside.
    """

    def __init__(self, home: Path, job: str, seed: int, step: int) -> None:
        self.job, self.step = job, step
        command = [sys.executable, str(JOBS), str(home), job, str(seed), str(step)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, text=True,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(home.parent)},
        )  # fmt: skip

    def lived(self, chance: random.Random, span_s: float) -> list[str]:
        """Lets it work, and gives every whole line that it printed before it died."""
        assert self.process.stdout is not None
        lines: list[str] = []
        while not lines or lines[-1] not in ("armed\n", ""):
            lines.append(self.process.stdout.readline())
        if not self.step:
            time.sleep(chance.uniform(0, span_s))  # when it dies is the point
            self.process.kill()
        lines += self.process.stdout.readlines()
        assert self.process.stderr is not None
        errors = self.process.stderr.read()
        self.process.wait(timeout=120)
        assert self.process.stdin is not None
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()
        assert (errors, self.process.returncode) == ("", -signal.SIGKILL), f"{self.job}: {errors[-3000:]}"
        return [line[:-1] for line in lines if line.endswith("\n") and line != "armed\n"]


class Promises:
    """Per thing, the values it may have: one that was acknowledged, and those of changes cut off since."""

    def __init__(self) -> None:
        self._allowed: dict[tuple[str, str], list[str]] = defaultdict(list)

    def add(self, lines: Iterable[str]) -> None:
        """Takes in what a process printed."""
        for line in lines:
            mood, kind, key, value = line.split(" ", 3)
            values = self._allowed[kind, key]
            if mood == "is":
                values.clear()
            values.append(value)

    def count(self, kind: str) -> int:
        return sum(1 for known, _ in self._allowed if known == kind)

    def check(self, memory: Memory) -> None:
        """All of it is so; what became of a change that was cut off is so from now on.

        Raises:
            AssertionError: Something acknowledged is lost, or half done.
        """
        with memory._work.graph.reading() as reader:
            listed = reader.all_cards()
            links = [(link.from_id, link.to_id, link.relation) for link in reader.all_links()]
            turns = {info.id: info.turns for info in reader.sessions()}
        assert len({card.id for card in listed}) == len(listed)
        assert len(set(links)) == len(links)
        cards = {card.id: card for card in listed}
        pairs = {f"{a}:{b}" for a, b, _ in links}
        erased = [(key, values) for (kind, key), values in self._allowed.items() if kind == "erased"]
        gone = self._check_erased(memory, erased, set(cards) | set(turns))
        for (kind, key), values in self._allowed.items():
            match kind:
                case "card" if key not in gone:
                    now = cards[key].title if key in cards else "gone"
                    if any(value.startswith("merged:") for value in values):
                        now = self._survivor(memory, key, now)
                    assert now in values or "*" in values, f"card {key} is {now}, not one of {values}"
                    values[:] = [now]
                case "link" if not gone & set(key.split(":")):
                    now = "yes" if key in pairs else "no"
                    assert now in values, f"link {key}: {now}, not {values}"
                    values[:] = [now]
                case "turns" if key not in gone:
                    assert turns.get(key, 0) >= int(values[0]), f"session {key} has {turns.get(key)} turns of {values}"
                case "text":
                    assert values[0] in cards[key].content, f"card {key} lacks {values[0]}"

    def _survivor(self, memory: Memory, card_id: str, title: str) -> str:
        """The card that an id names now that it was merged; its title while it was not."""
        try:
            named = memory.show(card_id).card.card_id
        except NotFoundError:
            return title
        return title if named == card_id else f"merged:{named}"

    def _check_erased(self, memory: Memory, erased: list[tuple[str, list[str]]], there: set[str]) -> set[str]:
        """What is erased; of it not a byte is in the home."""
        gone = {key for key, _ in erased if key not in there}
        words = {key: values[-1] for key, values in erased if key in gone}
        for path, data in contents(memory.home) if words else ():
            found = [key for key, word in words.items() if word.encode() in data or key.encode() in data]
            assert not found, f"{path} still holds {found}"
        return gone


def contents(home: Path) -> Iterator[tuple[str, bytes]]:
    """(path, bytes) of every file of a home, compressed ones as they were."""
    for path in home.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            if path.suffix == ".zst":
                data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
            yield path.relative_to(home).as_posix(), data


def leftovers(home: Path) -> list[str]:
    """What only a process cut off leaves behind."""
    names = [path for path in home.rglob("*") if path.name.startswith(("damaged-", ".new-"))]
    living = [line for view in ("kuzu", "lancedb") for line in _generations(home / view)]
    return sorted(path.relative_to(home).as_posix() for path in names) + living


def _generations(folder: Path) -> list[str]:
    found = sorted(path.name for path in folder.glob("gen-*") if "." not in path.stem and path.suffix in ("", ".kuzu"))
    return found if len(found) > 1 else []
