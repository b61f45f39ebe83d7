"""Damage: what can be read is read, what cannot be trusted stops writes, and who is in the way is named."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from alaya_core.errors import BusyError, DamagedError, NewerHomeError
from alaya_core.memory import Memory
from alaya_core.models.requests import RecallOptions
from alaya_core.stores.ledger_lines import encode_line
from tests.conftest import OpenMemory
from tests.core.fault_helpers import ROOT
from tests.core.homes import flip_in_line, kinds, ledger_lines, segments, session, write
from tests.core.services.test_service_ingest import take
from tests.core.stores.test_store_locking import Holder


@pytest.fixture
def cards(memory: Memory) -> list[str]:
    made = [memory.capture(f"fact number {n}", title=f"fact {n}").card.card_id for n in range(5)]
    memory.link(made[0], made[1])
    return made


def everything_reads(memory: Memory, cards: list[str]) -> None:
    """Every way of reading answers."""
    assert {row.card_id for row in memory.list_cards().cards} == set(cards)
    assert memory.show(cards[0]).related[0].card_id == cards[1]
    assert memory.status().graph.cards == len(cards)
    assert memory.trace(cards[0]).sessions == []


WRITES: dict[str, Callable[[Memory, list[str], Path], object]] = {
    "capture": lambda memory, cards, _: memory.capture("one more"),
    "link": lambda memory, cards, _: memory.link(cards[2], cards[3]),
    "forget": lambda memory, cards, _: memory.forget(cards[2]),
    "cool down": lambda memory, cards, _: memory.cool_down(),
    "ingest": lambda memory, cards, path: take(memory, path),
}


def test_a_torn_last_line_costs_nothing_else(open_memory: OpenMemory, cards: list[str], home: Path) -> None:
    [segment] = segments(home)
    whole = segment.read_bytes()
    last = whole.splitlines(keepends=True)[-1]
    segment.write_bytes(whole + last[:40])  # a change that was never acknowledged
    memory = open_memory()
    assert {row.card_id for row in memory.list_cards().cards} == set(cards)
    assert kinds(memory.verify()) >= {"torn_line"}
    added = memory.capture("after the tear").card.card_id
    assert [path.read_bytes() for path in (home / "raw/ledger/torn").iterdir()] == [last[:40]]
    assert memory.show(added).card.content == "after the tear"
    assert [line["seq"] for line in ledger_lines(home)] == [1, 2, 3, 4, 5, 6, 7]
    memory.rebuild()
    assert memory.verify().ok


@pytest.mark.parametrize("line", [0, 2, -1])
def test_a_flipped_bit_stops_writes_and_not_reads(
    open_memory: OpenMemory, cards: list[str], home: Path, tmp_path: Path, line: int
) -> None:
    source = write(tmp_path / "s.json", session("s1"))
    flip_in_line(home, line)
    damaged = segments(home)[0].read_bytes()
    memory = open_memory()
    everything_reads(memory, cards)
    for name, do in WRITES.items():
        if name == "cool down":
            continue  # it has nothing to write
        with pytest.raises(DamagedError) as refused:
            do(memory, cards, source)
        assert refused.value.exit_status == 6, name
        assert "verify" in refused.value.hint, name
    everything_reads(memory, cards)
    assert segments(home)[0].read_bytes() == damaged
    assert list((home / "raw/sessions").rglob("*.json")) == [], "nothing was published that the ledger does not know"
    answer = memory.verify()
    assert kinds(answer) >= {"ledger_checksum"}
    assert not memory.verify(fix=True).ok
    assert segments(home)[0].read_bytes() == damaged
    assert memory.verify(fix=True, yes=True).ok
    memory.capture("life goes on")


@pytest.mark.parametrize("line", [0, -1])
def test_a_flipped_bit_and_words_are_still_found(
    open_memory: OpenMemory, cards: list[str], home: Path, line: int
) -> None:
    memory = open_memory()
    memory.recall("fact")
    memory.close()
    flip_in_line(home, line)
    answer = open_memory().recall("fact number", RecallOptions(vectors=False))
    assert {hit.card_id for hit in answer.results} == set(cards)


def test_a_damaged_line_that_the_index_has_not_seen(open_memory: OpenMemory, cards: list[str], home: Path) -> None:
    memory = open_memory()
    memory.recall("fact")
    memory.capture("another one that is not indexed yet")
    memory.close()
    flip_in_line(home, -1)
    answer = open_memory().recall("fact number", RecallOptions(vectors=False))
    assert {hit.card_id for hit in answer.results} == set(cards)
    assert answer.stale or answer.degraded


def test_changes_of_a_newer_version_are_not_read_and_nothing_is_written(
    open_memory: OpenMemory, cards: list[str], home: Path
) -> None:
    event = {"kind": "card.dreamt", "v": 1}
    body = {"v": 1, "seq": 7, "id": "n", "at": 1, "actor": "human", "run": "", "device": "", "events": [event]}
    with segments(home)[0].open("ab") as file:
        file.write(encode_line(body))
    memory = open_memory()
    everything_reads(memory, cards)
    with pytest.raises(NewerHomeError):
        memory.capture("from an older version")
    assert ledger_lines(home)[-1]["events"] == [event]


@pytest.mark.parametrize("damage", ["gone", "garbage"])
def test_a_graph_that_will_not_open_is_made_anew_with_a_notice(
    open_memory: OpenMemory, cards: list[str], home: Path, damage: str
) -> None:
    [graph] = (home / "kuzu").glob("gen-*.kuzu")
    graph.unlink() if damage == "gone" else graph.write_bytes(os.urandom(20_000))
    memory = open_memory()
    everything_reads(memory, cards)
    assert bool([said for said in memory.status().health if "damaged-" in said]) == (damage == "garbage")
    memory.capture("life goes on")
    assert memory.verify(fix=True, yes=True).ok
    assert open_memory().status().health == []


def test_without_current_the_graph_is_found_or_made(open_memory: OpenMemory, cards: list[str], home: Path) -> None:
    memory = open_memory()
    memory.rebuild("l2")
    (home / "kuzu/CURRENT").unlink()
    again = open_memory()
    everything_reads(again, cards)
    again.capture("life goes on")
    assert again.verify(fix=True, yes=True).ok


def test_whoever_waits_too_long_is_told_for_whom(open_memory: OpenMemory, cards: list[str], home: Path) -> None:
    write(home / "config.json", {"home": {"busy_timeout_s": 0.3}})
    memory = open_memory()
    holder = Holder(home / "locks", "writing", "introspect")
    try:
        with pytest.raises(BusyError, match=rf"process {holder.process.pid} \(introspect, since "):
            memory.capture("not now")
        everything_reads(memory, cards)
    finally:
        holder.kill()
    assert memory.capture("now").changed


def test_a_graph_held_by_readers_makes_a_writer_give_up_cleanly(
    open_memory: OpenMemory, cards: list[str], home: Path
) -> None:
    """The ledger has the change by then; the graph follows later."""
    write(home / "config.json", {"home": {"busy_timeout_s": 0.3}})
    memory = open_memory()
    holder = Holder(home / "locks", "graph_reading")
    try:
        with pytest.raises(BusyError):
            memory.capture("written, not yet seen")
        everything_reads(memory, cards)
    finally:
        holder.kill()
    written = [line["events"][0] for line in ledger_lines(home)]
    kept = [event["card"]["id"] for event in written if event["kind"] == "card.created"]
    assert {row.card_id for row in memory.list_cards().cards} == set(kept)
    assert memory.verify(fix=True, yes=True).ok


READ_ONLY = """
import sys
from pathlib import Path
from alaya_core.errors import ReadOnlyHomeError
from alaya_core.memory import Memory
from alaya_core.models.requests import RecallOptions
memory = Memory.open(Path(sys.argv[1]), environ={})
assert memory.read_only
[row] = memory.list_cards().cards
assert memory.show(row.card_id).card.content == "The gateway needs plugins.allow"
answer = memory.recall("gateway plugins.allow", RecallOptions(vectors=False))
assert [hit.card_id for hit in answer.results] == [row.card_id], answer
assert memory.trace(row.card_id).sessions == []
assert any("read-only" in said for said in memory.status().health)
memory.opened(row.card_id, query="gateway")
writes = lambda: memory.capture("x"), lambda: memory.pin(row.card_id), lambda: memory.ingest(["."]), memory.rebuild
for do in writes:
    try:
        do()
    except ReadOnlyHomeError:
        continue
    raise AssertionError("it wrote")
print("fine")
"""


def test_a_home_that_cannot_be_written_can_be_read(home: Path) -> None:
    """In a process without root's right to write everywhere."""
    with Memory.open(home, environ={}, create=True) as memory:
        memory.capture("The gateway needs plugins.allow")
        memory.recall("gateway")
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*")}
    for path in [*home.rglob("*"), home]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    environment = {"PYTHONPATH": str(ROOT), "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", READ_ONLY, str(home)]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("nothing is forbidden to root here")
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all", *command]
    result = subprocess.run(command, check=False, capture_output=True, text=True, env=environment, timeout=120)
    assert (result.stdout, result.returncode) == ("fine\n", 0), result.stderr
    assert before == {path: path.stat().st_mtime_ns for path in home.rglob("*")}
    for path in [home, *sorted(home.rglob("*"))]:
        path.chmod(0o700 if path.is_dir() else 0o600)


def test_a_config_that_cannot_be_read_names_the_key(memory: Memory, open_memory: OpenMemory, home: Path) -> None:
    from alaya_core.errors import ConfigError

    for text, said in (("{", "config.json"), ('{"recall": {"floor": 7}}', "recall.floor"), ("[]", "config.json")):
        (home / "config.json").write_text(text)
        with pytest.raises(ConfigError, match=said):
            open_memory()
    (home / "config.json").write_text(json.dumps({"recall": {"floor": 0.5}}))
    assert open_memory().config.recall.floor == 0.5
