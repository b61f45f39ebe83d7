"""The command line in a process of its own, and a home that knows something for it to work on."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alaya_core.memory import Memory
from alaya_core.models.answers import VerifyAnswer
from tests.core.fault_helpers import ROOT
from tests.core.homes import session, write

START = "import sys; from alaya_tui.cli import headless_main; sys.exit(headless_main(sys.argv[1:]))"
BATCH = """
import io, json, sys
from alaya_tui.cli import headless_main
done = []
for words in json.load(sys.stdin):
    sys.stdout, sys.stderr = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    status = headless_main(words)
    done.append([status, *(stream.buffer.getvalue().decode() for stream in (sys.stdout, sys.stderr))])
json.dump(done, sys.__stdout__)
"""
UNPRIVILEGED = ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all")
"""Puts root under the rules that hold for everybody else."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a command left behind: its exit status, its one JSON document, and stderr."""

    words: tuple[str, ...]
    status: int
    document: dict[str, Any]
    errors: str

    @property
    def code(self) -> str:
        return str(self.document["error"]["code"])

    @property
    def message(self) -> str:
        return f"{self.document['error']['message']} ({self.document['error']['hint']})"

    @property
    def cards(self) -> set[str]:
        """The cards that `list` named."""
        return {card["card_id"] for card in self.document["cards"]}

    @property
    def findings(self) -> list[dict[str, Any]]:
        """What `verify` found, without what it only reports."""
        return [found for found in self.document["findings"] if not found["report"]]


def alaya(
    home: Path,
    *words: str,
    limit: int | None = None,
    umask: int | None = None,
    prefix: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> Said:
    """One command with `--json`.

    Args:
        limit: Bytes that no file may grow beyond.
        umask: What the process starts with.
        prefix: A command that starts this one.
        env: Added to its environment.
    """

    def prepare() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        if umask is not None:
            os.umask(umask)

    command = [*prefix, sys.executable, "-c", START, "--home", str(home), "--json", *words]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=120, cwd=ROOT, preexec_fn=prepare,
        env={**environment(home), **(env or {})},
    )  # fmt: skip
    return _said(words, done.returncode, done.stdout, done.stderr)


def batch(home: Path, commands: Sequence[Sequence[str]], prefix: Sequence[str] = ()) -> list[Said]:
    """Several commands with `--json` in one process, which then loads its engines once."""
    work = json.dumps([["--home", str(home), "--json", *words] for words in commands])
    done = subprocess.run(
        [*prefix, sys.executable, "-c", BATCH],
        check=False, capture_output=True, text=True, timeout=240, cwd=ROOT, env=environment(home), input=work,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = zip(commands, json.loads(done.stdout), strict=True)
    return [_said(tuple(words), status, out, errors) for words, (status, out, errors) in told]


def environment(home: Path) -> dict[str, str]:
    """Nothing of the user's own, and no bytecode: it would be cut off where files may not grow."""
    path = "/usr/bin:/bin:/usr/sbin:/sbin"
    return {"PYTHONPATH": str(ROOT), "PATH": path, "HOME": str(home.parent), "PYTHONDONTWRITEBYTECODE": "1"}


def _said(words: tuple[str, ...], status: int, out: str, errors: str) -> Said:
    assert "Traceback" not in errors, errors
    assert out, f"{words}: nothing on stdout; {errors}"
    return Said(words, status, json.loads(out), errors)


@dataclass(frozen=True, slots=True)
class Known:
    """A home of two sessions' worth of knowledge: the ids of its cards, and a session it has not seen."""

    home: Path
    cards: tuple[str, ...]
    more: Path

    def copy(self, to: Path) -> Known:
        """The same in another place."""
        shutil.copytree(self.home, to, copy_function=shutil.copy2)
        return Known(to, self.cards, self.more)


def make_known(folder: Path) -> Known:
    """Cards by hand, a link, a session and what was distilled from it, all of it indexed."""
    home = folder / "home"
    source = write(folder / "talk-1.json", session("talk-1"))
    with Memory.open(home, environ={}, create=True) as memory:
        by_hand = [
            memory.capture(text, title=title).card.card_id
            for title, text in (
                ("Tabs in Go", "Format Go code with gofmt; it uses tabs."),
                ("Docker memory limit", "Start the container with --memory=2g or the host kills it."),
                ("Gateway", "重启网关前先检查 `plugins.allow`，否则丢失通知。"),
            )
        ]
        memory.link(by_hand[0], by_hand[1], relation="DEPENDS_ON", reason="both need it")
        memory.ingest([source], distill=True)
        memory.recall("gateway")
        others = [row.card_id for row in memory.list_cards(limit=100).cards if row.card_id not in by_hand]
    return Known(home, (*by_hand, *others), write(folder / "talk-2.json", session("talk-2")))


UNFINISHED = {"torn_line", "readable_missing"}
"""Of a change that was cut off before its ledger line was whole: nothing acknowledged is missing, and the next write,
repeating the command, or `verify --fix` takes care of it."""


def serious(answer: VerifyAnswer) -> list[object]:
    """What `verify` found, without what it only reports."""
    return [finding for finding in answer.findings if not finding.report]


def may_run(command: Sequence[str]) -> bool:
    """Whether a command that others are started by works on this machine."""
    return shutil.which(command[0]) is not None and subprocess.run([*command, "true"], check=False).returncode == 0
