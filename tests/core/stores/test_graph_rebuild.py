"""Rebuilding the graph while everybody works: beside the living one, and anew when it was built on sand."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from alaya_core.errors import BusyError, DamagedError
from alaya_core.models.commit import card_created, link_created
from alaya_core.stores.files import write_file
from alaya_core.stores.ledger_lines import encode_line
from alaya_core.stores.locking import HomeLocks
from tests.core.fault_helpers import ROOT
from tests.core.graph_engines import ENGINE, VARIABLE
from tests.core.homes import ledger_lines
from tests.core.stores.test_store_graph import Bench, card, link


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench(tmp_path)
    made.write(*(card_created(card(n)) for n in range(5)), link_created(link(0, 1)))
    return made


def once(do: Callable[[], object]) -> Callable[[int], None]:
    """Does it the first time it is told of progress."""
    left = [do]

    def told(_: int) -> None:
        if left:
            left.pop()()

    return told


def files(bench: Bench) -> list[str]:
    return sorted(path.name for path in (bench.root / "kuzu").iterdir() if path.name != "seen.json")


def test_others_read_and_write_while_it_is_built(bench: Bench) -> None:
    seen: list[int] = []

    def told(_: int) -> None:
        """First amid the building, then while what was written meanwhile is added."""
        if len(seen) == 2:
            return
        assert files(bench) == ["CURRENT", f"gen-1.{ENGINE}", f"gen-2.{ENGINE}"]
        other = Bench(bench.root)
        number = 10 + len(seen)
        other.write(card_created(card(number)), link_created(link(number, 1)))
        seen.append(len(other.cards()))

    bench.graph.rebuild(told)
    assert seen == [6, 7]
    assert files(bench) == ["CURRENT", f"gen-2.{ENGINE}"]
    with bench.locks.writing("nobody catches up"), bench.graph.reading() as reader:
        assert not reader.stale
        assert len(reader.all_cards()) == 7
        assert len(reader.all_links()) == 3


def test_a_reader_in_the_old_generation_is_waited_for(bench: Bench) -> None:
    """It is not removed under their hands: who reads holds the gate that the switch needs."""
    with bench.graph.reading() as reader:
        with pytest.raises(BusyError):
            Bench(bench.root).graph.rebuild()
        assert len(reader.all_cards()) == 5
        assert len(reader.neighbours([card(0).id])[card(0).id]) == 1
    assert files(bench) == ["CURRENT", f"gen-1.{ENGINE}"], "what could not live is not left lying about"
    bench.graph.rebuild()
    assert len(bench.cards()) == 5


def test_two_do_not_build_at_once_and_the_second_is_told(bench: Bench) -> None:
    def another() -> None:
        with pytest.raises(BusyError, match=r"rebuild l2, since"):
            Bench(bench.root).graph.rebuild()

    bench.graph.rebuild(once(another))
    assert files(bench) == ["CURRENT", f"gen-2.{ENGINE}"]


def redact(bench: Bench) -> None:
    """What an erasure does: a segment is written anew, with other words in a line."""
    [segment] = bench.ledger.segments()
    lines = ledger_lines(bench.root / "home")
    for line in lines:
        line.pop("crc")
        for event in line["events"]:
            if event["kind"] == "card.created" and event["card"]["id"] == card(3).id:
                event["card"]["content"] = "redacted"
    write_file(segment, b"".join(map(encode_line, lines)))


@pytest.fixture
def as_home(bench: Bench) -> Bench:
    """Where the helpers that read ledgers look for it."""
    (bench.root / "home/raw").mkdir(parents=True)
    (bench.root / "home/raw/ledger").symlink_to(bench.root / "ledger")
    return bench


def test_a_ledger_that_is_rewritten_meanwhile_is_read_again(as_home: Bench) -> None:
    bench = as_home
    heard: list[int] = []
    redacting = once(lambda: redact(bench))

    def told(done: int) -> None:
        heard.append(done)
        redacting(done)

    bench.graph.rebuild(told)
    assert bench.cards()[card(3).id].content == "redacted"
    assert heard == [1, 1], "it began anew"
    assert not any(b"content 3" in path.read_bytes() for path in (bench.root / "kuzu").iterdir())


def test_a_ledger_that_is_rewritten_again_and_again_is_read_with_the_pen_at_last(as_home: Bench) -> None:
    bench = as_home
    tries: list[bool] = []

    def told(_: int) -> None:
        try:
            with HomeLocks(bench.root / "locks", 0).writing("erase"):
                redact(bench)
        except BusyError:
            tries.append(False)
        else:
            tries.append(True)

    bench.graph.rebuild(told)
    assert tries == [True, True, True, False]
    assert bench.cards()[card(3).id].content == "redacted"


def test_a_graph_that_somebody_with_the_pen_replaces_meanwhile(bench: Bench) -> None:
    def replace() -> None:
        other = Bench(bench.root)
        with other.locks.writing("erase"):
            other.graph.rebuild_held()
        assert files(bench) == ["CURRENT", f"gen-3.{ENGINE}"], "not even half a generation is left of before"

    bench.graph.rebuild(once(replace))
    assert files(bench) == ["CURRENT", f"gen-4.{ENGINE}"]
    assert len(bench.cards()) == 5


def test_a_damaged_ledger_leaves_the_living_graph_alone(bench: Bench) -> None:
    [segment] = bench.ledger.segments()
    segment.write_bytes(segment.read_bytes().replace(b"content 3", b"content 4"))
    with pytest.raises(DamagedError, match="checksum"):
        bench.graph.rebuild()
    with bench.locks.writing("test"), pytest.raises(DamagedError, match="checksum"):
        bench.graph.rebuild_held()
    assert files(bench) == ["CURRENT", f"gen-1.{ENGINE}"]
    assert len(bench.cards()) == 5


KILLED_WHILE_IT_BUILDS = """
import os, signal, sys
from pathlib import Path
from tests.core.stores.test_store_graph import Bench
Bench(Path(sys.argv[1])).graph.rebuild(lambda _: os.kill(os.getpid(), signal.SIGKILL))
"""


def test_a_rebuild_that_was_killed_confuses_nobody(bench: Bench) -> None:
    for _ in range(2):
        environment = {"PYTHONPATH": str(ROOT), VARIABLE: ENGINE}
        killed = subprocess.run([sys.executable, "-c", KILLED_WHILE_IT_BUILDS, str(bench.root)], env=environment)
        assert killed.returncode == -9
    assert {f"gen-1.{ENGINE}", f"gen-2.{ENGINE}", f"gen-3.{ENGINE}"} <= set(files(bench))
    again = Bench(bench.root)
    assert len(again.cards()) == 5
    assert again.graph.notices == []
    again.write(card_created(card(6)))
    again.graph.rebuild()
    assert files(again) == ["CURRENT", f"gen-4.{ENGINE}"]
    assert len(bench.cards()) == 6


@pytest.mark.parametrize("rebuild", ["catch_up", "rebuild"])
def test_a_first_build_that_was_killed_leaves_no_damage(bench: Bench, rebuild: str) -> None:
    (bench.root / "kuzu/CURRENT").unlink()
    bench.graph.path.unlink()
    environment = {"PYTHONPATH": str(ROOT), VARIABLE: ENGINE}
    killed = subprocess.run([sys.executable, "-c", KILLED_WHILE_IT_BUILDS, str(bench.root)], env=environment)
    assert killed.returncode == -9
    assert f"building-gen-1.{ENGINE}" in files(bench)
    again = Bench(bench.root)
    if rebuild == "rebuild":
        again.graph.rebuild()
    assert len(again.cards()) == 5
    assert again.graph.notices == []
    assert files(bench) == ["CURRENT", f"gen-1.{ENGINE}"]


def test_links_in_memory_are_those_of_the_living_generation(bench: Bench) -> None:
    """A process that has looked often keeps the links; it looks again when another one rebuilt or wrote."""

    def linked() -> int:
        with bench.graph.reading() as reader:
            return len(reader.neighbours([card(0).id])[card(0).id])

    assert [linked() for _ in range(5)] == [1] * 5
    Bench(bench.root).graph.rebuild()
    assert [linked() for _ in range(5)] == [1] * 5
    Bench(bench.root).write(link_created(link(0, 2)))
    assert [linked() for _ in range(5)] == [2] * 5
