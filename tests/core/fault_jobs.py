"""What the processes do that are going to be killed: `python fault_jobs.py HOME JOB SEED STEP`.

A job works on things of its own until it is killed. Before a change it says what may become of them (`will KIND KEY
VALUE`), and when the call has returned, what is so from then on (`is KIND KEY VALUE`). When it comes to what is to be
cut off it says `armed`. With a STEP above 0 the process kills itself just before it then changes a file of the home for
the STEPth time: the moments between two files are short, and a clock seldom meets them.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from alaya_core.memory import Memory
from alaya_core.models.requests import CardChanges, RecallOptions
from alaya_core.progress import silent

CHANGES = ("open", "os.rename", "os.remove", "os.truncate", "os.mkdir", "os.rmdir", "shutil.rmtree", "shutil.move")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def die_at(home: Path, step: int) -> None:
    """Kills this process just before it changes a file of the home for the given time."""
    left = step
    root = os.fsencode(home)

    def watch(event: str, args: tuple[Any, ...]) -> None:
        nonlocal left
        if event not in CHANGES or not isinstance(args[0], str | bytes | os.PathLike):
            return
        if event == "open" and not (isinstance(args[2], int) and args[2] & WRITING):
            return
        if os.fsencode(args[0]).startswith(root):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


class Job:
    """One process's work on a home.

    Args:
        memory: The home.
        seed: Makes its choices and its names its own.
        step: When it kills itself; 0 = it is killed.
    """

    def __init__(self, memory: Memory, seed: int, step: int) -> None:
        self.memory = memory
        self.chance = random.Random(seed)
        self.seed = seed
        self.step = step
        self.armed = False
        self.count = 0
        self.turns: list[dict[str, object]] = []

    def arm(self) -> None:
        """From here on it may die."""
        if not self.armed:
            self.armed = True
            say("armed")
            if self.step:
                die_at(self.memory.home, self.step)

    def name(self) -> str:
        """A word that stands nowhere else."""
        self.count += 1
        return f"w{self.seed}n{self.count}q{self.chance.randrange(1 << 48):012x}"

    def new_card(self) -> tuple[str, str]:
        """(id, title) of a card that is acknowledged."""
        name = self.name()
        card = self.memory.capture(f"says {name} {'x' * self.chance.randrange(3_000)}", title=name).card.card_id
        say("is", "card", card, name)
        return card, name

    def retitle(self, card: str) -> str:
        """Edits a card."""
        name = self.name()
        say("will", "card", card, name)
        self.memory.edit(card, CardChanges(title=name, content=f"says {name}"))
        say("is", "card", card, name)
        return name

    def capture(self) -> None:
        self.arm()
        self.new_card()

    def edit(self) -> None:
        card, _ = self.new_card()
        self.arm()
        for _ in range(4):
            self.retitle(card)

    def link(self) -> None:
        a, b = self.new_card()[0], self.new_card()[0]
        say("is", "link", f"{a}:{b}", "no")
        self.arm()
        for _ in range(2):
            for there in ("yes", "no", "yes"):
                say("will", "link", f"{a}:{b}", there)
                if there == "yes":
                    self.memory.link(a, b, relation="DEPENDS_ON", reason=self.name())
                else:
                    self.memory.unlink(a, b)
                say("is", "link", f"{a}:{b}", there)

    def write_session(self, more: int) -> Path:
        """A session's file with some more turns."""
        path = self.memory.home.parent / f"session-{self.seed}.json"
        for _ in range(more):
            text = f"Remember: server number {self.seed}-{len(self.turns)} runs on port {5000 + len(self.turns)}."
            self.turns.append({"role": "user", "content": text, "timestamp": 1_795_000_000_000 + len(self.turns)})
        value = {"id": f"session-{self.seed}", "timestamp": 1_795_000_000_000, "channel": "cli", "agent": "main"}
        path.write_text(json.dumps(value | {"turns": self.turns}))
        return path

    def ingest(self) -> None:
        """A session that grows, and one that is new, without the index."""
        from alaya_core.services.ingest import ingest

        self.arm()
        path = self.write_session(self.chance.randrange(1, 40))
        [outcome] = ingest(self.memory._work, [path], format=None, stdin=None, progress=silent, cancel=None).sessions
        assert outcome.status in ("new", "grown"), outcome
        say("is", "turns", f"session-{self.seed}", outcome.turns)

    def distill(self) -> None:
        """The same, made into cards."""
        from alaya_core.services.distill.run import distill

        self.ingest()
        report = distill(self.memory._work, session=None, redo=False, progress=silent, cancel=None)
        for card in (card for done in report.sessions for card in done.cards):
            say("is", "card", card.card_id, "*")

    def index(self) -> None:
        """The same, made searchable."""
        self.arm()
        report = self.memory.ingest([self.write_session(3)], distill=True)
        for outcome in report.sessions:
            say("is", "turns", outcome.session_id, outcome.turns)
        for card in (card for done in report.distilled.sessions for card in done.cards) if report.distilled else ():
            say("is", "card", card.card_id, "*")

    def merge(self) -> None:
        keep, _ = self.new_card()
        for _ in range(2):
            other, gone = self.new_card()
            self.arm()
            say("will", "card", other, f"merged:{keep}")
            self.memory.merge(keep, other, why="the same")
            say("is", "card", other, f"merged:{keep}")
            say("is", "text", keep, gone)

    def undo(self) -> None:
        card, first = self.new_card()
        second = self.retitle(card)
        self.arm()
        for verb, title in (("undo", first), ("redo", second), ("undo", first), ("undo", "gone"), ("redo", first)):
            say("will", "card", card, title)
            self.memory.undo() if verb == "undo" else self.memory.redo()
            say("is", "card", card, title)

    def rebuild(self) -> None:
        choices: tuple[Literal["l1", "l2", "all"], ...] = ("l1", "l2", "all")
        what = self.chance.choice(choices)
        self.arm()
        self.memory.rebuild(what)
        say("is", "done", "rebuild", what)

    def reembed(self) -> None:
        """By the other of two models, again and again."""
        path = self.memory.home / "config.json"
        config = json.loads(path.read_bytes())
        config["embedding"]["model"] = "two" if config["embedding"]["model"] == "one" else "one"
        fresh = path.with_name("config.json.new")
        fresh.write_text(json.dumps(config))
        fresh.replace(path)
        self.memory = Memory.open(self.memory.home, environ={})
        self.arm()
        self.memory.reembed()
        say("is", "done", "reembed", config["embedding"]["model"])

    def erase(self) -> None:
        card, name = self.new_card()
        if self.chance.random() < 0.5:
            name = self.retitle(card)  # what stood there before is to go too
        self.memory.link(self.new_card()[0], card, reason=f"says {name}")
        self.arm()
        say("will", "erased", card, name)
        self.memory.erase(card, yes=True)
        say("is", "erased", card, name)

    def erase_session(self) -> None:
        secret = self.name()
        self.turns = [{"role": "user", "content": f"Remember: the key of {secret} is blue.", "timestamp": 1}]
        path = self.memory.home.parent / f"session-{secret}.json"
        value = {"id": secret, "timestamp": 1_795_000_000_000, "channel": "cli", "agent": "main"}
        path.write_text(json.dumps(value | {"turns": self.turns}))
        self.memory.ingest([path], distill=True)
        say("is", "turns", secret, 1)
        path.unlink()
        self.arm()
        say("will", "erased", secret, secret)
        self.memory.erase(secret, yes=True)
        say("is", "erased", secret, secret)

    def upkeep(self) -> None:
        card, name = self.new_card()
        self.memory.recall(name, RecallOptions(vectors=False))
        self.arm()
        self.memory.upkeep()
        self.memory.cool_down()
        say("is", "done", "upkeep", card)


ENGINES = ("index", "rebuild", "reembed", "erase", "erase_session", "upkeep")
"""Jobs that need the vector tables: they are loaded before the clock starts."""


def main(home: str, job: str, seed: str, step: str) -> None:
    os.umask(0o077)  # as the programs do
    memory = Memory.open(Path(home), environ={})
    if job in ENGINES:
        import lancedb  # noqa: F401
    work: Callable[[], None] = getattr(Job(memory, int(seed), int(step)), job)
    say("ready")
    sys.stdin.readline()
    while True:
        work()


if __name__ == "__main__":
    main(*sys.argv[1:])
