"""Processes killed at any moment: what was acknowledged is there, and nothing else is broken."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from alaya_core.memory import Memory
from tests.core.fault_helpers import Acknowledged, Worker

ROUNDS = 30


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_kill_minus_nine_loses_nothing_that_was_acknowledged(home: Path) -> None:
    """30 writers, each killed a moment after a few acknowledgements; some hold the pen, some are amid a file."""
    chance = random.Random(20261130)
    acknowledged = Acknowledged()
    Memory.init(home, environ={})
    jobs = ["raw" if number % 3 == 2 else "write" for number in range(ROUNDS)]
    following = Worker(home, jobs[0], 0, 60)
    for number in range(ROUNDS):
        worker, seed = following, number
        worker.wait_until_ready()
        if number + 1 < ROUNDS:
            following = Worker(home, jobs[number + 1], seed + 1, 60)  # starts up while this one works
        worker.start()
        acknowledged.add(worker.kill(chance.randrange(5), chance.uniform(0, 0.25)))
        if number % 6 == 5:
            with Memory.open(home, environ={}) as memory:
                acknowledged.check(memory)
    assert len(acknowledged.cards) > ROUNDS / 2
    assert acknowledged.links
    assert acknowledged.turns
    with Memory.open(home, environ={}) as memory:
        acknowledged.check(memory)
        memory.ingest(sorted(home.parent.glob("session-*.json")), distill=True)
        answer = memory.verify(fix=True)
        assert answer.ok, answer.findings
        assert memory.verify().checked["vectors"] == memory.status().graph.cards
        acknowledged.check(memory)
        card = memory.capture("life goes on").card.card_id
        assert memory.show(card).card.rev == 1
    assert list(home.rglob("damaged-*")) == [], "a killed process must not damage the graph"
