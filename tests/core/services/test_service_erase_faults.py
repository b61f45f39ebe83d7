"""An erase that is cut off anywhere is finished by whoever opens the home next."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from alaya_core.errors import AlayaError, DamagedError
from alaya_core.memory import Memory
from alaya_core.progress import Progress, ProgressSink
from alaya_core.services.erase.steps import STEPS
from tests.conftest import OpenMemory
from tests.core.erase_helpers import MARKS, Seen, assert_whole, holding, planted
from tests.core.homes import TALK, flip_in_line
from tests.core.services.conftest import Learned

TARGETS = ("card", "session", "turn")
ROOT = Path(__file__).resolve().parents[3]


class Cut(Exception):
    """The process dies here."""


def cut_at(step: int) -> ProgressSink:
    def told(progress: Progress) -> None:
        if progress.stage == "erase" and progress.done == step:
            raise Cut

    return told


def target_of(learned: Learned, what: str) -> tuple[str, int | None, tuple[str, ...]]:
    """What is erased, which turn of it, and what must be found nowhere then."""
    if what == "card":
        card = planted(learned.memory, learned.docker)
        return card, None, (*MARKS, card)
    if what == "session":
        return learned.talk, None, (*TALK[::2], *learned.distilled, "talk-1")
    return learned.talk, 4, (TALK[4], "old scripts broke every Friday")


@pytest.mark.parametrize("what", TARGETS)
@pytest.mark.parametrize("step", range(len(STEPS)))
def test_it_is_finished_at_the_next_open(learned: Learned, open_memory: OpenMemory, what: str, step: int) -> None:
    memory = learned.memory
    target, turn, marks = target_of(learned, what)
    gone = memory.erase(target, turn=turn).erased.cards
    before = Seen.of(memory, but=gone, sessions_but=[learned.talk])
    with pytest.raises(Cut):
        memory.erase(target, turn=turn, yes=True, progress=cut_at(step))
    assert (memory.home / "raw/erasing.json").exists()
    memory.close()
    again = open_memory()
    assert holding(again.home, *marks) == {}
    assert_whole(again)
    assert Seen.of(again, but=gone, sessions_but=[learned.talk]) == before
    lines = [path.read_text() for path in (again.home / "raw/ledger").glob("*.jsonl")]
    assert sum(text.count('"kind":"erased","v":1,"what":"' + {"turn": "turns"}.get(what, what)) for text in lines) >= 1
    open_memory().capture("It goes on.")
    assert open_memory().verify().ok


@pytest.mark.parametrize("what", TARGETS)
def test_steps_may_be_done_again(learned: Learned, open_memory: OpenMemory, what: str) -> None:
    """The journal outlived the last step: all of it runs a second time, and changes nothing."""
    memory = learned.memory
    target, turn, marks = target_of(learned, what)
    with pytest.raises(Cut):
        memory.erase(target, turn=turn, yes=True, progress=cut_at(0))
    journal = (memory.home / "raw/erasing.json").read_bytes()
    open_memory().close()
    ledger = [path.read_bytes() for path in (memory.home / "raw/ledger").glob("*.jsonl")]
    (memory.home / "raw/erasing.json").write_bytes(journal)
    (memory.home / "raw/erasing.json").chmod(0o600)
    again = open_memory()
    assert [path.read_bytes() for path in (memory.home / "raw/ledger").glob("*.jsonl")] == ledger
    assert holding(memory.home, *marks) == {}
    assert_whole(again)


def test_an_erase_finishes_the_one_before(learned: Learned) -> None:
    """Cut off in a process that goes on: the next erase does both."""
    memory = learned.memory
    card = planted(memory, learned.docker)
    with pytest.raises(Cut):
        memory.erase(card, yes=True, progress=cut_at(1))
    memory.erase(learned.talk, turn=4, yes=True)
    assert holding(memory.home, *MARKS, card, TALK[4]) == {}
    assert_whole(memory)


def test_a_busy_home_opens_all_the_same(learned: Learned, open_memory: OpenMemory) -> None:
    memory = learned.memory
    card = planted(memory, learned.docker)
    with pytest.raises(Cut):
        memory.erase(card, yes=True, progress=cut_at(3))
    with memory._work.locks.writing("test"):
        reader = open_memory()
        assert reader.show(learned.tabs).card.content.startswith("Format Go code")
        assert (memory.home / "raw/erasing.json").exists()
    assert_whole(open_memory())
    assert holding(memory.home, *MARKS, card) == {}


def test_a_home_that_takes_no_changes_opens(
    learned: Learned, open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = learned.memory
    card = planted(memory, learned.docker)
    with pytest.raises(Cut):
        memory.erase(card, yes=True, progress=cut_at(3))
    memory.close()
    access = os.access
    with monkeypatch.context() as patched:
        patched.setattr(os, "access", lambda path, mode: mode != os.W_OK and access(path, mode))
        assert open_memory().read_only
        assert (memory.home / "raw/erasing.json").exists()
    assert_whole(open_memory())


def test_a_journal_that_cannot_be_read_is_told(learned: Learned, open_memory: OpenMemory) -> None:
    home = learned.memory.home
    learned.memory.close()
    for text in ("", "nonsense", "[]", '{"v": 99}', '{"v": 1}'):
        (home / "raw/erasing.json").write_text(text)
        with pytest.raises(DamagedError) as caught:
            open_memory()
        assert caught.value.hint


def test_a_damaged_ledger_is_not_rewritten(learned: Learned) -> None:
    memory = learned.memory
    flip_in_line(memory.home, 1)
    before = [path.read_bytes() for path in (memory.home / "raw/ledger").glob("*.jsonl")]
    with pytest.raises(AlayaError):
        memory.erase(learned.talk, yes=True)
    assert [path.read_bytes() for path in (memory.home / "raw/ledger").glob("*.jsonl")] == before
    assert not (memory.home / "raw/erasing.json").exists()


KILLED = """
import os, sys
from alaya_core.memory import Memory
from alaya_core.progress import Progress, ProgressSink

home, target, turn, step = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])

def told(progress):
    if progress.stage == "erase" and progress.done == step:
        os.kill(os.getpid(), 9)

with Memory.open(home, environ={}) as memory:
    memory.erase(target, turn=int(turn) if turn else None, yes=True, progress=told)
"""


@pytest.mark.slow
@pytest.mark.parametrize("what", ["session", *(pytest.param(w, marks=pytest.mark.soak) for w in ("card", "turn"))])
def test_killed_between_steps(learned: Learned, open_memory: OpenMemory, tmp_path: Path, what: str) -> None:
    target, turn, marks = target_of(learned, what)
    learned.memory.close()
    whole = tmp_path / "whole"
    shutil.copytree(learned.memory.home, whole)
    for step in range(1, len(STEPS)):
        home = tmp_path / f"home-{step}"
        shutil.copytree(whole, home)
        words = [str(home), target, "" if turn is None else str(turn), str(step)]
        ran = subprocess.run([sys.executable, "-c", KILLED, *words], cwd=ROOT, check=False, timeout=120)
        assert ran.returncode == -9
        again = open_memory(home, create=False)
        assert holding(home, *marks) == {}
        assert_whole(again)


def test_two_segments_of_which_one_is_redacted(learned: Learned, open_memory: OpenMemory) -> None:
    memory: Memory = learned.memory
    memory._work.ledger._segment_bytes = 500
    card = planted(memory, learned.docker)
    assert len(memory._work.ledger.segments()) > 3
    first = json.loads(memory._work.ledger.segments()[0].read_bytes().splitlines()[0])
    with pytest.raises(Cut):
        memory.erase(card, yes=True, progress=cut_at(2))
    again = open_memory()
    assert holding(again.home, *MARKS, card) == {}
    assert json.loads(again._work.ledger.segments()[0].read_bytes().splitlines()[0]) == first
    assert_whole(again)
