"""No room for a file: the command says so plainly, nothing acknowledged is lost, and with room again all is right."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from alaya_core.memory import Memory
from tests.conftest import OpenMemory
from tests.core.fault_cli import UNFINISHED, Known, Said, alaya, environment, make_known, may_run, serious
from tests.core.fault_helpers import ROOT

LONG = "A long story of a disk without room. " * 2_000
"""More than one block of a file system."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Known:
    return make_known(tmp_path_factory.mktemp("known"))


@pytest.fixture
def known(template: Known, home: Path) -> Known:
    return template.copy(home)


def plain(said: Said) -> None:
    """It was done, or it failed and says so."""
    assert said.status in (0, 1), said
    if "error" in said.document:
        assert said.code not in ("internal", "damaged"), said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "limit"), [(("capture", LONG), 300), (("rebuild", "l2"), 100_000), (("rebuild", "l1"), 3_000)]
)
def test_it_says_that_the_disk_is_full(known: Known, words: tuple[str, ...], limit: int) -> None:
    said = alaya(known.home, *words, limit=limit)
    assert said.status == 1
    assert "the disk is full" in said.message


@pytest.mark.slow
@pytest.mark.parametrize("limit", [300, 6_000, 60_000, 600_000, 2_600_000])
def test_a_file_that_may_not_grow(known: Known, open_memory: OpenMemory, limit: int) -> None:
    """The ledger, the graph and the vectors meet the limit at different sizes."""
    there = set(known.cards)
    for words in (("capture", LONG), ("link", *known.cards[1:3]), ("ingest", "--distill", str(known.more))):
        said = alaya(known.home, *words, limit=limit)
        plain(said)
        if said.status == 0 and words[0] == "capture":
            there.add(said.document["card"]["card_id"])
    memory = open_memory()
    assert {finding.kind for finding in memory.verify().findings if not finding.report} <= UNFINISHED
    assert there <= {row.card_id for row in memory.list_cards(limit=1_000).cards}
    assert memory.ingest([known.more], distill=True).counts["turns"] == 8
    memory.verify(fix=True, yes=True)
    assert serious(memory.verify()) == []


@pytest.mark.slow
@pytest.mark.parametrize(("what", "limit"), [("l2", 100_000), ("l1", 3_000), ("all", 100_000)])
def test_a_rebuild_without_room_leaves_the_living_databases(
    known: Known, open_memory: OpenMemory, what: str, limit: int
) -> None:
    said = alaya(known.home, "rebuild", what, limit=limit)
    assert said.status == 1, said
    plain(said)
    memory = open_memory()
    assert serious(memory.verify()) == []
    memory.rebuild()
    assert serious(memory.verify()) == []


@pytest.mark.slow
def test_a_small_disk_that_is_full(known: Known, tmp_path: Path) -> None:
    text, disk = tmp_path / "text", tmp_path / "disk"
    text.write_text(LONG)
    disk.mkdir()
    unshare = ["unshare", "-rm"]
    if not may_run(unshare):
        pytest.skip("nothing can be mounted here")
    script = Path(__file__).with_name("fault_disk.py")
    command = [*unshare, sys.executable, str(script), str(disk), str(known.home), str(text), str(known.more)]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=280, cwd=ROOT, env=environment(disk)
    )
    assert done.returncode == 0, done.stderr
    for told in json.loads(done.stdout):
        there = set(known.cards)
        for said in (Said(**raw) for raw in told["full"]):
            if said.words[0] in ("recall", "list"):
                assert said.status == 0, f"reading needs no room: {said}"
            plain(said)
            if said.words[0] == "capture" and said.status == 0:
                there.add(said.document["card"]["card_id"])
        listed, verified = (Said(**raw) for raw in told["after"])
        assert there <= listed.cards, told["room"]
        assert {found["kind"] for found in verified.findings} <= UNFINISHED, told["room"]


def test_a_disk_full_in_the_middle_of_a_line_tears_nothing(memory: Memory, home: Path, open_memory: OpenMemory) -> None:
    kept = memory.capture("before").card.card_id
    segment = next((home / "raw/ledger").glob("*.jsonl"))
    said = alaya(home, "capture", LONG, limit=segment.stat().st_size + 1_000)
    assert said.status == 1, said
    plain(said)
    again = open_memory()
    assert serious(again.verify()) == []
    added = again.capture("after").card.card_id
    assert {row.card_id for row in again.list_cards().cards} == {kept, added}
    assert serious(again.verify()) == []
