"""Where a home lies, and with what rights: moved, reached by a link, under any umask."""

from __future__ import annotations

import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from alaya_core.errors import BusyError
from alaya_core.models.requests import RecallOptions
from tests.conftest import OpenMemory
from tests.core.fault_cli import START, Known, alaya, make_known, serious
from tests.core.fault_helpers import ROOT
from tests.core.homes import write
from tests.core.stores.test_store_locking import Holder

WORDS = RecallOptions(vectors=False)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Known:
    return make_known(tmp_path_factory.mktemp("known"))


@pytest.fixture
def known(template: Known, home: Path) -> Known:
    return template.copy(home)


def open_to_others(home: Path) -> list[str]:
    """What is not 0700 (folders) or 0600 (files)."""
    wrong = []
    for path in (home, *home.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode != (0o700 if path.is_dir() else 0o600):
            wrong.append(f"{path.relative_to(home)} {mode:o}")
    return wrong


def test_a_home_that_moves(known: Known, open_memory: OpenMemory, tmp_path: Path) -> None:
    with_all = open_memory()
    before = {row.card_id: row.title for row in with_all.list_cards(limit=100).cards}
    moved = tmp_path / "elsewhere" / "another name"
    moved.parent.mkdir()
    shutil.move(known.home, moved)
    memory = open_memory(moved, create=False)
    assert {row.card_id: row.title for row in memory.list_cards(limit=100).cards} == before
    assert known.cards[0] in {hit.card_id for hit in memory.recall("gofmt tabs").results}
    assert any(memory.trace(card).sessions for card in known.cards)
    assert memory.status().health == []
    assert serious(memory.verify()) == []
    added = memory.capture("in the new place").card.card_id
    assert memory.ingest([known.more], distill=True).counts["turns"] == 8
    assert added in {hit.card_id for hit in memory.recall("new place", WORDS).results}
    assert memory.rebuild().rebuilt == ["l2", "l1"]
    assert serious(memory.verify()) == []
    assert not known.home.exists(), "nothing was made where it had been"


def test_a_home_reached_by_a_link_is_the_same_home(known: Known, open_memory: OpenMemory, tmp_path: Path) -> None:
    write(known.home / "config.json", {"home": {"busy_timeout_s": 0.3}})
    link = tmp_path / "by-link"
    link.symlink_to(known.home, target_is_directory=True)
    direct, linked = open_memory(), open_memory(link)
    card = linked.capture("written by the link").card.card_id
    assert direct.show(card).card.content == "written by the link"
    assert direct.capture("written by the link").card.card_id == card
    for held, waiting in ((link, direct), (known.home, linked)):
        holder = Holder(held / "locks", "writing", "elsewhere")
        try:
            with pytest.raises(BusyError, match=f"process {holder.process.pid}"):
                waiting.capture("not now")
        finally:
            holder.kill()
    assert linked.capture("now").changed
    assert linked.recall("link written", WORDS).results[0].card_id == card
    linked.rebuild()
    for memory in (direct, linked):
        assert {row.card_id for row in memory.list_cards(limit=100).cards} >= {card, *known.cards}
        assert serious(memory.verify()) == []
    assert link.is_symlink()


def test_two_processes_by_two_paths_lose_nothing(known: Known, tmp_path: Path, open_memory: OpenMemory) -> None:
    link = tmp_path / "by-link"
    link.symlink_to(known.home, target_is_directory=True)
    work = (
        "import sys; from alaya_core.memory import Memory; m = Memory.open(sys.argv[1], environ={});"
        "[print(m.capture(f'{sys.argv[2]} {n}').card.card_id) for n in range(8)]"
    )
    env = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    processes = [
        subprocess.Popen([sys.executable, "-c", work, str(path), name], stdout=subprocess.PIPE, env=env, text=True)
        for path, name in ((known.home, "direct"), (link, "linked"))
    ]
    told = {card for process in processes for card in process.communicate(timeout=120)[0].split()}
    memory = open_memory()
    assert len(told) == 16
    assert told <= {row.card_id for row in memory.list_cards(limit=100).cards}
    assert serious(memory.verify()) == []


@pytest.mark.slow
@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_only_the_owner_may_read_whatever_the_umask(tmp_path: Path, template: Known, umask: int) -> None:
    home = tmp_path / "home"
    ids = []
    for words in (
        ("init",),
        ("capture", "gofmt uses tabs"),
        ("capture", "docker needs memory"),
        ("ingest", "--distill", str(template.more)),
        ("recall", "tabs"),
        ("rebuild",),
        ("capture", "one more after the rebuild"),
        ("recall", "one more"),
        ("verify",),
    ):
        said = alaya(home, *words, umask=umask)
        assert said.status == 0, said
        ids += [said.document["card"]["card_id"]] if words[0] == "capture" else []
    assert alaya(home, "link", *ids[:2], umask=umask).status == 0
    assert open_to_others(home) == []


@pytest.mark.slow
def test_the_text_of_a_command_says_no_negative_age(home: Path, open_memory: OpenMemory) -> None:
    """Cards of a clock that ran ahead, on the command line of a clock that does not."""
    ahead = open_memory(clock=lambda: 4_000_000_000_000)
    card = ahead.capture("from the year 2096").card.card_id
    ahead.close()
    for words in (["list"], ["show", card], ["history"], ["recall", "--format", "text", "year"], ["status"]):
        command = [sys.executable, "-c", START, "--home", str(home), *words]
        env = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(home.parent), "TZ": "Europe/Berlin"}
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120, env=env)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        assert not any(word.startswith("-") and word[1:2].isdigit() for word in done.stdout.split()), done.stdout
