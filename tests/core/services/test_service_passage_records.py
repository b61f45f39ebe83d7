"""The records beside the table of passages may be gone or hold anything: that is said and mended, and stops nothing."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from alaya_core.models.requests import RecallOptions
from tests.conftest import OpenMemory
from tests.core.services.conftest import Learned


def _records(home: Path) -> Path:
    return next((home / "lancedb").glob("gen-*")) / "passages"


def _garbage(folder: Path) -> None:
    draw = random.Random(5)
    for path in folder.iterdir():
        path.write_bytes(draw.randbytes(3_000))


def _cut(folder: Path) -> None:
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[:7])


def _garbled_records(folder: Path) -> None:
    (folder / "records.bin").write_bytes(random.Random(1).randbytes(4_000))


HARMS: dict[str, Callable[[Path], None]] = {
    "gone": shutil.rmtree,
    "cut": _cut,
    "garbage": _garbage,
    "records": _garbled_records,
}


@pytest.mark.parametrize("harm", HARMS)
def test_a_recall_mends_them_in_passing(learned: Learned, open_memory: OpenMemory, harm: str) -> None:
    asked = RecallOptions(within="passages")
    before = [(hit.session_id, hit.turn) for hit in learned.memory.recall("staging database", asked).passages]
    assert before
    HARMS[harm](_records(learned.memory.home))
    with open_memory()._work.locks.indexing():
        held = open_memory().recall("staging database", asked)
        assert any("records" in note for note in held.degraded)
    after = open_memory().recall("staging database", asked)
    assert sorted((hit.session_id, hit.turn) for hit in after.passages) == sorted(before)
    assert not after.degraded


@pytest.mark.parametrize("harm", HARMS)
def test_verify_finds_it_and_a_rebuild_makes_them_anew(learned: Learned, open_memory: OpenMemory, harm: str) -> None:
    HARMS[harm](_records(learned.memory.home))
    assert "passage_records" in {finding.kind for finding in open_memory().verify().findings}
    open_memory().rebuild("l1")
    assert open_memory().verify().ok
    assert open_memory().recall("staging database").passages
