"""The graph's file: what damage does to it on either engine, and how a graph goes from one engine to the other."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from alaya_core.errors import AlayaError, ConfigError, DamagedError, DiskFullError
from alaya_core.models.commit import card_created, link_created
from alaya_core.stores.graph import GraphStore
from alaya_core.stores.graph_engine import UnfinishedGraphError, classified, engine_of, require_engine
from tests.core.fault_helpers import ROOT
from tests.core.graph_engines import ENGINE, OTHER, pytest_on, python_on
from tests.core.stores.test_store_graph import Bench, card, link

KILLED_BEFORE_IT_CLOSED = """
import os, signal, sys
from pathlib import Path
from alaya_core.stores.graph_apply import apply_commits
from alaya_core.stores.graph_engine import open_graph
from alaya_core.stores.graph_read import read_mark
from alaya_core.stores.ledger import Ledger
ledger = Ledger(Path(sys.argv[1]))
with open_graph(Path(sys.argv[2]), write=True) as graph:
    apply_commits(graph, list(ledger.commits(read_mark(graph))))
    graph.run("COMMIT")
    os.kill(os.getpid(), signal.SIGKILL)
"""

WRITES_AND_CLOSES_FOR_EVER = """
import sys
from itertools import count
from pathlib import Path
from tests.core.stores.test_store_graph import Bench, card
from alaya_core.models.commit import card_created
bench = Bench(Path(sys.argv[1]))
print("ready", flush=True)
for number in count(int(sys.argv[2])):
    bench.write(*(card_created(card(number * 10 + n, content="x" * 3_000)) for n in range(10)))
"""


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(ENGINE != "kuzu", reason="the other engine runs what this one starts")
def test_the_graph_on_ladybug() -> None:
    files = "test_store_graph.py", "test_graph_engines.py", "test_graph_rebuild.py"
    pytest_on("ladybug", *(f"tests/core/stores/{name}" for name in files), "tests/core/test_graph_engine_use.py")


WAL: dict[str, Callable[[bytes], bytes]] = {
    "whole": lambda wal: wal,
    "without its last bytes": lambda wal: wal[:-7],
    "half": lambda wal: wal[: len(wal) // 2],
    "zeros": lambda wal: bytes(len(wal)),
    "zeros at its end": lambda wal: wal[:-200] + bytes(200),
    "garbage": lambda wal: b"garbage" * (len(wal) // 7),
    "empty": lambda wal: b"",
}


@pytest.mark.parametrize("damage", WAL)
def test_what_a_killed_writer_left_is_used_or_made_anew(bench: Bench, damage: str) -> None:
    bench.write(*(card_created(card(n)) for n in range(3)))
    bench.only_ledger(*(card_created(card(n, content="x" * 2_000)) for n in range(3, 6)), link_created(link(3, 4)))
    path = bench.graph.path
    killed = python_on(KILLED_BEFORE_IT_CLOSED, str(bench.root / "ledger"), str(path))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    [wal] = path.parent.glob(f"{path.name}.wal")
    wal.write_bytes(WAL[damage](wal.read_bytes()))
    again = Bench(bench.root)
    assert set(again.cards()) == {card(n).id for n in range(6)}
    assert set(again.links()) == {link(3, 4).id}
    again.write(card_created(card(7)))
    assert len(Bench(bench.root).cards()) == 7
    aside = sorted(found.name for found in path.parent.glob("damaged-*"))
    assert bool(aside) == bool(again.graph.notices)
    if damage == "whole":
        assert aside == []
    elif ENGINE == "ladybug" and damage != "empty":
        assert aside == [f"damaged-{path.name}", f"damaged-{path.name}.wal"], "it is kept together with its log"
        assert aside[0] in again.graph.notices[0]


@pytest.mark.slow
def test_a_writer_killed_while_it_closes_the_file_costs_nothing(bench: Bench) -> None:
    """The engines leave half a checkpoint then, which nobody can open who only reads."""
    chance = random.Random(7)
    for number in range(8):
        command = [sys.executable, "-c", WRITES_AND_CLOSES_FOR_EVER, str(bench.root), str(number * 1_000)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(chance.uniform(0.05, 0.3))  # when it dies is the point
            process.kill()
        commits = list(bench.ledger.commits())
        again = Bench(bench.root)
        assert len(again.cards()) == sum(len(commit.events) for commit in commits)
        assert again.graph.notices == []


SWITCHED = """
import sys
from pathlib import Path
from alaya_core.stores.graph import GraphStore
from alaya_core.stores.ledger import Ledger
from alaya_core.stores.locking import HomeLocks
root, engine = Path(sys.argv[1]), sys.argv[2]
graph = GraphStore(root / "kuzu", HomeLocks(root / "locks", 1.0), Ledger(root / "ledger"), engine)
graph.rebuild()
with graph.reading() as reader:
    print(graph.path.name, len(reader.all_cards()), len(reader.all_links()), graph.notices)
"""


def as_configured(bench: Bench, engine: str) -> GraphStore:
    return GraphStore(bench.root / "kuzu", bench.locks, bench.ledger, engine)


def test_the_living_graph_keeps_its_engine_until_it_is_rebuilt(bench: Bench) -> None:
    bench.write(card_created(card(1)), card_created(card(2)), link_created(link(1, 2)))
    assert (bench.graph.engine, bench.graph.other_engine, bench.graph.notices) == (ENGINE, "", [])
    other = as_configured(bench, OTHER)
    said = f"graph.engine is {OTHER}, but the graph is {ENGINE}'s: run `alaya rebuild l2`"
    assert (other.engine, other.other_engine, other.notices) == (ENGINE, said, [said])
    with other.reading() as reader:
        assert len(reader.all_cards()) == 2
    with bench.locks.writing("test"):
        other.apply([bench.only_ledger(card_created(card(3)))])
    for engine, generation in ((OTHER, 2), (ENGINE, 3)):
        done = python_on(SWITCHED, str(bench.root), engine)
        assert (done.returncode, done.stdout) == (0, f"gen-{generation}.{engine} 3 1 []\n"), done.stderr
    assert [path.name for path in (bench.root / "kuzu").glob("gen-*")] == [f"gen-3.{ENGINE}"]
    assert len(bench.cards()) == 3
    assert bench.graph.engine_version.split() == [ENGINE, {"kuzu": "0.11.3", "ladybug": "0.22.0"}[ENGINE]]


def test_a_process_works_with_one_engine(bench: Bench) -> None:
    """Loading the second crashes the first: it is refused with words, and what can be done is done with the first."""
    bench.write(card_created(card(1)))
    other = as_configured(bench, OTHER)
    with pytest.raises(ConfigError, match=f"{OTHER} is wanted, but this process works with {ENGINE}") as refused:
        other.require_configured_engine()
    assert "alaya rebuild l2" in refused.value.hint
    other.rebuild()
    assert other.path.name == f"gen-2.{ENGINE}"
    with bench.locks.writing("test"):
        other.rebuild_held()
    assert other.path.name == f"gen-3.{ENGINE}"
    other.path.write_bytes(b"garbage" * 5_000)
    with as_configured(bench, OTHER).reading() as reader:
        assert [found.id for found in reader.all_cards()] == [card(1).id]


def test_a_graph_that_another_process_gave_to_the_other_engine(bench: Bench) -> None:
    bench.write(card_created(card(1)))
    assert len(bench.cards()) == 1
    assert python_on(SWITCHED, str(bench.root), OTHER).returncode == 0
    with pytest.raises(ConfigError, match="works with"), bench.graph.reading():
        pass
    assert python_on(SWITCHED, str(bench.root), ENGINE).returncode == 0
    assert len(bench.cards()) == 1


def test_an_engine_that_is_not_installed_is_asked_for_by_name(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write(card_created(card(1)))
    monkeypatch.setitem(sys.modules, OTHER, None)
    with pytest.raises(ConfigError, match=f"{OTHER} is not installed") as refused:
        as_configured(bench, OTHER).require_configured_engine()
    assert ("alaya-tui[ladybug]" in refused.value.hint) == (OTHER == "ladybug")
    monkeypatch.undo()
    bench.graph.path.rename(bench.root / f"kuzu/gen-2.{OTHER}")
    (bench.root / "kuzu/CURRENT").write_text(f"gen-2.{OTHER}\n")
    monkeypatch.setitem(sys.modules, OTHER, None)
    with pytest.raises(ConfigError, match=f"{OTHER} is not installed"), bench.graph.reading():
        pass
    bench.graph.rebuild()
    assert bench.graph.path.name == f"gen-3.{ENGINE}"
    assert len(bench.cards()) == 1


def test_a_file_of_the_other_engine_under_a_wrong_name_is_damage(bench: Bench) -> None:
    bench.write(card_created(card(1)))
    own = bench.graph.path.name
    assert python_on(SWITCHED, str(bench.root), OTHER).returncode == 0
    bench.graph.path.rename(bench.root / "kuzu" / own)
    (bench.root / "kuzu/CURRENT").unlink()
    again = Bench(bench.root)
    assert engine_of(again.graph.path) == ENGINE
    assert len(again.cards()) == 1
    assert f"damaged-{own}" in again.graph.notices[0]


SAID: dict[str, type[AlayaError]] = {
    "Couldn't replay shadow pages under read-only mode. Please re-open the database": UnfinishedGraphError,
    "Cannot open database in read-only mode while checkpoint recovery is pending. If": UnfinishedGraphError,
    "Unable to open database. The file is not a valid Lbug database file!": DamagedError,
    "Trying to read a database file with a different version.": DamagedError,
    "was serialized with enableChecksums=False but you are": DamagedError,
    "something that no version has said before": DamagedError,
    "Cannot open file /h/gen-1.kuzu: Permission denied": AlayaError,
    "Cannot write to file. path: /h/x fileDescriptor: 5 Error: No space left on device": DiskFullError,
    "Buffer manager exception: Mmap for size 68719476736 failed.": AlayaError,
}


@pytest.mark.parametrize("said", SAID)
def test_what_an_engine_says_of_a_file_it_opens(said: str) -> None:
    assert type(classified(RuntimeError(said), opening=True)) is SAID[said]


def test_the_engines_are_known_without_loading_them() -> None:
    require_engine(ENGINE)
    code = "import sys; from alaya_core.stores.graph_engine import *; require_engine(sys.argv[1]); " + (
        "assert not {'kuzu', 'ladybug'} & set(sys.modules); print(version_of(sys.argv[1]))"
    )
    done = python_on(code, OTHER)
    assert (done.returncode, done.stdout.split()[:1]) == (0, [OTHER]), done.stderr
