"""Homes that are absent, foreign, misconfigured, busy, newer, damaged or closed: each has its exit status."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from uuid import uuid4

import pytest

from alaya_core.clock import IdSource
from alaya_core.memory import Memory
from alaya_core.stores.home import Home
from alaya_core.stores.locking import HomeLocks
from tests.contracts.cli_runner import alaya, batch


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A home with two cards whose ids begin alike."""
    home = tmp_path / "home"
    Memory.init(home)
    with Memory.open(home, ids=IdSource(new_card=lambda: f"card-deadbeef{uuid4().hex[:24]}")) as memory:
        memory.capture("Docker needs a memory limit")
        memory.capture("Gateway needs plugins.allow")
    return home


def test_init_twice_changes_nothing_and_a_foreign_folder_is_refused(tmp_path):
    home = tmp_path / "home"
    first = alaya("init", "--json", home=home)
    assert first.status == 0
    assert set(first.data) == {"home", "created"}
    assert first.data["created"]
    assert alaya("init", "--json", home=home).data["created"] == []
    photos = tmp_path / "photos"
    photos.mkdir()
    (photos / "cat.jpg").write_bytes(b"meow")
    for command in ("init", "list"):
        foreign = alaya(command, "--json", home=photos)
        assert (foreign.status, foreign.error["code"]) == (2, "usage")
    assert [path.name for path in photos.iterdir()] == ["cat.jpg"]


@pytest.mark.parametrize("words", [("--json", "list"), ("list", "--json"), ("demo", "extra", "--json")])
def test_no_home_is_status_3_and_none_is_made(words, tmp_path):
    done = alaya(*words, home=tmp_path / "absent")
    if "demo" in words:
        assert (done.status, done.error["code"]) == (2, "usage")
    else:
        assert (done.status, done.error["code"]) == (3, "not_found")
        assert "alaya init" in done.error["hint"]
    assert not (tmp_path / "absent").exists()


def test_the_home_may_come_from_the_environment(tmp_path):
    done = alaya("list", "--json", env={"ALAYA_HOME": str(tmp_path / "elsewhere")})
    assert done.status == 3
    assert "elsewhere" in done.error["message"]


def test_a_wrong_setting_is_status_2(small):
    (small / "config.json").write_text('{"recall": {"floor": "high"}}')
    done = alaya("list", "--json", home=small)
    assert (done.status, done.error["code"]) == (2, "config")
    assert "recall.floor" in done.error["message"]


def test_an_ambiguous_prefix_is_status_3_and_lists_the_candidates(small):
    ids = [card["card_id"] for card in alaya("list", "--json", home=small).data["cards"]]
    done = alaya("show", "card-deadbeef", "--json", home=small)
    assert (done.status, done.error["code"]) == (3, "ambiguous")
    assert all(name[:14] in done.error["message"] + done.error["hint"] for name in ids)


def test_a_busy_home_is_status_5_to_write_and_still_reads(small):
    (small / "config.json").write_text('{"home": {"busy_timeout_s": 0.3}}')
    with HomeLocks(Home(small).locks, 1.0).writing("the test"):
        written, read = batch([["capture", "x", "--json"], ["list", "--json"]], small)
    assert (written.status, written.error["code"], written.error["retryable"]) == (5, "busy", True)
    assert read.status == 0


def test_a_newer_home_is_status_6_to_write_and_still_reads(small):
    Home(small).format_file.write_text("999\n")
    written, read = batch([["capture", "x", "--json"], ["list", "--json"]], small)
    assert (written.status, written.error["code"]) == (6, "newer_home")
    assert read.status == 0
    assert read.data["total"] == 2


def test_a_damaged_ledger_is_status_6_to_write_and_still_reads(small):
    segment = min(Home(small).ledger.glob("*.jsonl"))
    first, *rest = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join([first.replace(b"Docker", b"Dokker"), *rest]))
    written, read = batch([["capture", "x", "--json"], ["list", "--json"]], small)
    assert (written.status, written.error["code"]) == (6, "damaged")
    assert read.status == 0


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_home_reads_and_says_why_it_does_not_write(small):
    for folder, _, files in os.walk(small):
        Path(folder).chmod(0o500)
        for name in files:
            (Path(folder) / name).chmod(0o400)
    try:
        written, read = batch([["capture", "x", "--json"], ["list", "--json"]], small)
    finally:
        for folder, _, _ in os.walk(small):
            Path(folder).chmod(0o700)
    assert (written.status, written.error["code"]) == (1, "read_only")
    assert read.status == 0


def test_a_home_that_vanishes_is_no_fault_of_alayas(small):
    shutil.rmtree(small / "kuzu")
    done = alaya("list", "--json", home=small)
    assert done.status == 0 or done.error["code"] != "internal"
