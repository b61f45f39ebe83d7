"""A memory that stays open sees what other processes do to its home, whatever it holds in memory by then."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from alaya_core.errors import NotFoundError
from alaya_core.memory import Memory
from alaya_core.models.requests import RecallOptions
from tests.core.fault_helpers import ROOT, Worker

WARM = 6
"""Recalls after which a process holds cards and links in memory."""


def elsewhere(home: Path, code: str) -> None:
    """Runs code with the home's `memory` in another process."""
    head = (
        f"from pathlib import Path; from alaya_core.memory import Memory; memory = Memory.open(Path({str(home)!r}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", head + code], check=False, cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


def found(memory: Memory, query: str, *, vectors: bool = True) -> list[str]:
    answer = memory.recall(query, RecallOptions(vectors=vectors))
    assert (answer.degraded, answer.stale) == ([], False)
    return [hit.card_id for hit in answer.results]


@pytest.fixture
def held(home: Path) -> Memory:
    """A memory that has been asked often enough to hold everything."""
    memory = Memory.open(home, environ={}, create=True)
    first = memory.capture("The gateway needs plugins.allow before a restart").card.card_id
    second = memory.capture("Format Go code with gofmt; it uses tabs").card.card_id
    memory.link(first, second, relation="DEPENDS_ON", reason="both")
    for _ in range(WARM):
        assert found(memory, "gateway restart plugins.allow")[0] == first
    return memory


@pytest.mark.slow
def test_what_another_process_captures_and_links_is_found(held: Memory, home: Path) -> None:
    gateway = found(held, "gateway restart plugins.allow")[0]
    elsewhere(
        home,
        "new = memory.capture('Turquoise parrots sing at dawn').card.card_id\n"
        f"memory.link({gateway!r}, new, relation='CAUSED_BY', reason='news')",
    )
    [new] = [row.card_id for row in held.list_cards().cards if "parrots" in row.title]
    for vectors in (True, False):
        assert found(held, "turquoise parrots at dawn", vectors=vectors)[0] == new
    near = {near.card_id for near in held.show(gateway).related}
    assert new in near
    answer = held.recall("gateway restart plugins.allow")
    assert new in {near.card_id for near in answer.results[0].related}


@pytest.mark.slow
@pytest.mark.parametrize("what", ["l1", "l2", "all"])
def test_what_another_process_rebuilds_is_read_anew(held: Memory, home: Path, what: str) -> None:
    before = {path.name for view in ("kuzu", "lancedb") for path in (home / view).glob("gen-*")}
    elsewhere(home, f"memory.rebuild({what!r})")
    assert before != {path.name for view in ("kuzu", "lancedb") for path in (home / view).glob("gen-*")}
    for vectors in (True, False):
        assert found(held, "gateway restart plugins.allow", vectors=vectors)
    assert len(held.list_cards().cards) == 2
    card = held.capture("Written after it was rebuilt elsewhere").card.card_id
    assert found(held, "written after rebuilt elsewhere")[0] == card
    assert held.verify().ok


@pytest.mark.slow
def test_what_another_process_erases_is_gone(held: Memory, home: Path) -> None:
    gateway, go = found(held, "gateway restart plugins.allow")[0], found(held, "gofmt tabs")[0]
    elsewhere(home, f"memory.erase({gateway!r}, yes=True)")
    with pytest.raises(NotFoundError):
        held.show(gateway)
    for vectors in (True, False):
        answer = held.recall("gateway restart plugins.allow", RecallOptions(vectors=vectors))
        assert gateway not in {hit.card_id for hit in answer.results}
        assert gateway not in {near.card_id for hit in answer.results for near in hit.related}
    assert found(held, "gofmt tabs") == [go]
    assert held.show(go).related == []
    assert held.verify().ok


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_recall_never_fails_while_another_process_rebuilds(held: Memory, home: Path) -> None:
    """The tables of a generation may go at any moment while this process reads them."""
    for number in range(100):
        held.capture(f"fact {number} about the gateway")
    held.recall("fact")
    builder = Worker(home, "rebuild-all", 1, 10)
    builder.wait_until_ready()
    builder.start()
    asked = 0
    while builder.process.poll() is None:
        for vectors in (True, False):
            answer = held.recall("fact 7 about the gateway", RecallOptions(vectors=vectors))
            assert answer.results
            assert [said for said in answer.degraded if said != "graph busy"] == []
            asked += 1
    lines, errors, status = builder.result(60)
    assert (status, errors) == (0, "")
    assert sum(line.startswith("rebuilt") for line in lines) > 1
    assert asked > 10
