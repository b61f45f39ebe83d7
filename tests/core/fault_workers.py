"""What the other processes of the fault tests do: `python fault_workers.py HOME JOB ...`.

A worker prints a line for everything that was acknowledged to it, and what it took, and works until it is killed or
its time is over.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from alaya_core.memory import Memory
from alaya_core.models.requests import RecallOptions
from alaya_core.progress import silent


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Tells how long the block took, in seconds."""
    began = time.monotonic()
    yield
    say("took", what, f"{time.monotonic() - began:.4f}")


def write_steps(memory: Memory, seed: int) -> Iterator[None]:
    """Captures and links, and tells their ids."""
    chance = random.Random(seed)
    own: list[str] = []
    while True:
        with timed("write"):
            own.append(memory.capture(f"fact {seed}-{len(own)} {'x' * chance.randrange(2_000)}").card.card_id)
        say("card", own[-1])
        if len(own) > 1:
            with timed("write"):
                linked = memory.link(own[-1], own[-2], relation="DEPENDS_ON", reason=f"step {len(own)}").link
            assert linked is not None
            say("link", linked.from_id, linked.to_id)
        yield


def raw_steps(memory: Memory, seed: int) -> Iterator[None]:
    """Takes in a session that grows and distils it, without the index, and tells how many turns are acknowledged."""
    from alaya_core.services.distill.run import distill
    from alaya_core.services.ingest import ingest

    path = memory.home.parent / f"session-{seed}.json"
    turns: list[dict[str, object]] = []
    while True:
        for _ in range(3):
            text = f"Remember: server number {seed}-{len(turns)} runs on port {5000 + len(turns)}."
            turns.append({"role": "user", "content": text, "timestamp": 1_795_000_000_000 + len(turns)})
        value = {"id": f"session-{seed}", "timestamp": 1_795_000_000_000, "channel": "cli", "agent": "main"}
        path.write_text(json.dumps(value | {"turns": turns}))
        work = memory._work
        [outcome] = ingest(work, [path], format=None, stdin=None, progress=silent, cancel=None).sessions
        assert outcome.status in ("new", "grown"), outcome
        say("turns", f"session-{seed}", outcome.turns)
        report = distill(work, session=None, redo=False, progress=silent, cancel=None)
        for done in report.sessions:
            for card in done.cards:
                say("card", card.card_id)
        yield


def read_steps(memory: Memory, seed: int) -> Iterator[None]:
    """Lists, shows and recalls by words; what is listed can be shown."""
    while True:
        with timed("read"):
            rows = memory.list_cards(limit=20).cards
        for row in rows[:3]:
            with timed("read"):
                assert memory.show(row.card_id).card.card_id == row.card_id
        with timed("recall"):
            answer = memory.recall(f"fact {seed}", RecallOptions(vectors=False))
        assert answer.results, "there were cards before"
        assert len({hit.card_id for hit in answer.results}) == len(answer.results)
        say("read", len(rows))
        yield


def link_steps(memory: Memory, seed: int) -> Iterator[None]:
    """Links what others capture."""
    chance = random.Random(seed)
    while True:
        rows = memory.list_cards(limit=100).cards
        if len(rows) > 1:
            a, b = chance.sample(rows, 2)
            with timed("write"):
                linked = memory.link(a.card_id, b.card_id, relation="CAUSED_BY", reason=str(chance.random())).link
            assert linked is not None
            say("link", linked.from_id, linked.to_id)
        yield


def rebuild_steps(memory: Memory, _: int) -> Iterator[None]:
    """Builds the graph anew, again and again."""
    while True:
        with timed("rebuild l2"):
            cards = memory.rebuild("l2").cards
        say("rebuilt", cards)
        yield


def rebuild_all_steps(memory: Memory, _: int) -> Iterator[None]:
    """Builds graph and tables anew, again and again."""
    while True:
        with timed("rebuild all"):
            cards = memory.rebuild("all").cards
        say("rebuilt", cards)
        yield


JOBS: dict[str, Callable[[Memory, int], Iterator[None]]] = {
    "write": write_steps,
    "raw": raw_steps,
    "read": read_steps,
    "link": link_steps,
    "rebuild": rebuild_steps,
    "rebuild-all": rebuild_all_steps,
}


def main(home: str, job: str, seed: str, seconds: str) -> None:
    memory = Memory.open(Path(home), environ={})
    if job in ("read", "rebuild", "rebuild-all"):
        memory.recall("fact")  # the engines are loaded before the clock starts
    say("ready")
    sys.stdin.readline()
    end = time.monotonic() + float(seconds)
    for _ in JOBS[job](memory, int(seed)):
        if time.monotonic() > end:
            break
    say("done")


if __name__ == "__main__":
    main(*sys.argv[1:])
