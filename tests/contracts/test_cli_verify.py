"""`alaya verify --fix`: says what it would do, and does it only when told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from alaya_core.memory import Memory
from tests.contracts.cli_runner import batch
from tests.contracts.test_cli_terminal import at_terminal

DO_IT = "verify --fix --yes"


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A home with a changed byte in its ledger, and a folder that others may read."""
    home = tmp_path / "home"
    with Memory.open(home, environ={}, create=True) as memory:
        memory.capture("The gateway needs plugins.allow.")
        memory.capture("Docker needs --memory.")
    [segment] = (home / "raw/ledger").glob("*.jsonl")
    segment.write_bytes(segment.read_bytes().replace(b"gateway", b"gatewaz", 1))
    (home / "raw/contexts").chmod(0o755)
    return home


def segment_of(home: Path) -> bytes:
    [segment] = (home / "raw/ledger").glob("*.jsonl")
    return segment.read_bytes()


def test_without_being_told_nothing_is_mended(damaged: Path) -> None:
    before = segment_of(damaged)
    found, planned, as_json, plain = batch(
        [["verify"], ["verify", "--fix"], ["verify", "--fix", "--json"], ["verify", "--yes"]], damaged
    )
    assert [done.status for done in (found, planned, as_json, plain)] == [1, 1, 1, 2]
    assert "Would mend" not in found.text
    assert found.text.rstrip().endswith("verify --fix")
    assert "Would mend: line 1 of 000000000001.jsonl is made whole" in planned.text
    assert "Would mend: the home is closed to others" in planned.text
    assert planned.text.rstrip().endswith(DO_IT)
    assert len(as_json.data["plan"]) == 2
    assert as_json.data["fixed"] == []
    assert not as_json.data["ok"]
    assert {finding["kind"] for finding in as_json.data["findings"]} == {"ledger_checksum", "permissions"}
    assert segment_of(damaged) == before


def test_told_it_mends_and_looks_again(damaged: Path) -> None:
    mended, again, nothing = batch(
        [["verify", "--fix", "--yes", "--json"], ["verify"], ["verify", "--fix", "--yes"]], damaged
    )
    assert mended.status == again.status == nothing.status == 0
    assert mended.data["ok"]
    assert mended.data["findings"] == []
    assert len(mended.data["fixed"]) == 2
    assert "Nothing wrong" in again.text
    assert "Mended" not in nothing.text


def test_what_is_only_told_is_no_failure(tmp_path: Path) -> None:
    log = tmp_path / "session-20200101-101010.json"
    log.write_text('{"id":"session-20200101-101010","timestamp":"2024-03-01T10:00:00Z","turns":[]}', encoding="utf-8")
    home = tmp_path / "home"
    with Memory.open(home, environ={}, create=True) as memory:
        memory.ingest([log])
    [done] = batch([["verify"]], home)
    assert done.status == 0, done.text
    assert "· session_time" in done.text
    assert "Nothing wrong, 1 note" in done.text


@pytest.mark.skipif(os.name != "posix", reason="needs pseudo terminals")
@pytest.mark.parametrize(("answer", "status"), [(b"n\n", 1), (b"y\n", 0)])
def test_at_a_terminal_it_asks(damaged: Path, answer: bytes, status: int) -> None:
    before = segment_of(damaged)
    done, seen = at_terminal(["verify", "--fix"], damaged, typed=answer, after=b"[y/N]")
    assert "would mend: line 1 of 000000000001.jsonl" in " ".join(seen.split())
    assert done == status, seen
    assert (segment_of(damaged) != before) == (status == 0)


@pytest.mark.parametrize(("file", "check"), [("raw/FORMAT", "home"), ("config.json", "config")])
def test_doctor_answers_for_a_home_that_does_not_open(damaged: Path, file: str, check: str) -> None:
    (damaged / file).write_text("{hm", encoding="utf-8")
    [done] = batch([["doctor", "--json"]], damaged)
    assert done.status == 1
    assert [(one["name"], one["status"]) for one in done.data["checks"]] == [(check, "fail")]
    assert file in done.data["checks"][0]["detail"]


def test_a_lost_end_is_said_by_who_would_write_and_by_status(damaged: Path) -> None:
    (damaged / "raw/ledger/000000000001.jsonl").unlink()
    (damaged / "raw/ledger").rmdir()
    seen, told, refused, mended = batch([["list"], ["status"], ["capture", "x"], DO_IT.split()], damaged)
    assert "2 of 2 cards" in seen.text
    assert "the ledger lost its end" in told.text
    assert (refused.status, mended.status) == (6, 0)
    assert "lines 1-2 of the ledger are written back from the graph: 2 cards" in mended.text
