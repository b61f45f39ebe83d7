"""Processes killed at any moment of any write path: what was acknowledged is there, and nothing else is broken."""

from __future__ import annotations

import json
import os
import random
from dataclasses import dataclass
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from alaya_core.memory import Memory
from tests.core.fault_cli import UNFINISHED, serious
from tests.core.fault_promises import Doomed, Promises, config_for, embeddings, leftovers


@dataclass(frozen=True, slots=True)
class WritePath:
    """A write path.

    Attributes:
        span_s: Within what time it is killed, when it is killed from outside.
        steps: Within how many changes of files, when it kills itself.
    """

    job: str
    span_s: float
    steps: int


PATHS = (
    WritePath("capture", 0.2, 24),
    WritePath("edit", 0.3, 40),
    WritePath("link", 0.3, 40),
    WritePath("ingest", 0.4, 40),
    WritePath("distill", 0.4, 60),
    WritePath("index", 1.0, 90),
    WritePath("merge", 0.2, 30),
    WritePath("undo", 0.3, 40),
    WritePath("rebuild", 1.0, 50),
    WritePath("reembed", 1.0, 50),
    WritePath("erase", 1.0, 90),
    WritePath("erase_session", 1.0, 90),
    WritePath("upkeep", 0.6, 40),
)


def plan(rounds: int, seed: int, paths: tuple[WritePath, ...]) -> list[tuple[WritePath, int]]:
    """Which path dies in which round, and at which change of a file (0 = by the clock): all paths in turn."""
    chance = random.Random(seed)
    chosen = []
    for number in range(rounds):
        path = paths[number % len(paths)]
        by_clock = (number // len(paths) + number) % 2
        chosen.append((path, 0 if by_clock else 1 + int(path.steps * chance.random() ** 2)))
    return chosen


def kill_all(home: Path, server: HTTPServer, rounds: int, seed: int, paths: tuple[WritePath, ...] = PATHS) -> Promises:
    """Kills one process a round, and looks at everything after each."""
    server.expect_request("/v1/embeddings", method="POST").respond_with_handler(embeddings)
    Memory.init(home, environ={})
    (home / "config.json").write_text(json.dumps(config_for(server.url_for("/v1"))))
    with Memory.open(home, environ={}) as memory:
        memory.capture("the first thing known", title="first")
        memory.distill()
    chance, promises, chosen = random.Random(seed), Promises(), plan(rounds, seed, paths)
    following: Doomed | None = None
    for number, (path, step) in enumerate(chosen):
        worker = following or Doomed(home, path.job, number, step)
        worker.wait_until_ready()
        following = None
        if number + 1 < rounds and "reembed" not in (path.job, chosen[number + 1][0].job):  # that one changes settings
            following = Doomed(home, chosen[number + 1][0].job, number + 1, chosen[number + 1][1])
        worker.start()
        promises.add(worker.lived(chance, path.span_s))
        where = f"round {number}: {path.job}, step {step}"
        try:
            look(home, promises)
        except BaseException as error:
            error.add_note(where)
            raise
    return promises


def look(home: Path, promises: Promises) -> None:
    """Opens the home after a death: it is right, and says so."""
    with Memory.open(home, environ={}) as memory:
        promises.check(memory)
        answer = memory.verify()
        if any(finding.kind == "other_model" for finding in answer.findings):
            memory.reembed()  # it goes on where it was
            answer = memory.verify()
        found = {finding.kind for finding in answer.findings}
        if found and found <= UNFINISHED:
            memory.ingest(sorted(home.parent.glob("session-*.json")))
            answer = memory.verify(fix=True, yes=True)
        assert serious(answer) == []
        said = [notice for notice in memory.notices if "erase" not in notice]
        assert said == [], "a killed process must not damage the graph"
        promises.check(memory)


def whole_and_tidy(home: Path, promises: Promises) -> None:
    """After all of it the home works on, and nothing lies about that nobody needs."""
    with Memory.open(home, environ={}) as memory:
        memory.rebuild()
        card = memory.capture("life goes on").card.card_id
        assert memory.show(card).card.rev == 1
        assert memory.verify().ok
        promises.check(memory)
        for path in home.rglob(".new-*"):  # of the dead; young ones may be a living writer's
            os.utime(path, (0, 0))
        assert memory.verify(fix=True, yes=True).ok
        promises.check(memory)
    assert leftovers(home) == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_kill_minus_nine_loses_nothing_that_was_acknowledged(home: Path, httpserver: HTTPServer) -> None:
    promises = kill_all(home, httpserver, 30, 20261130)
    assert promises.count("card") > 15
    assert promises.count("link")
    assert promises.count("turns")
    whole_and_tidy(home, promises)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_two_hundred_deaths(home: Path, httpserver: HTTPServer) -> None:
    promises = kill_all(home, httpserver, 200, 7)
    whole_and_tidy(home, promises)
