"""A home on either graph engine: everything that goes through the graph works, and the engine can be changed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from alaya_core.models.requests import CardChanges, RecallOptions
from tests.conftest import OpenMemory
from tests.core.graph_engines import ENGINE, OTHER
from tests.core.homes import session, write


def configure(home: Path, engine: str) -> None:
    home.mkdir(exist_ok=True)
    write(home / "config.json", {"graph": {"engine": engine}})


def test_a_home_on_the_engine_does_everything(open_memory: OpenMemory, home: Path, tmp_path: Path) -> None:
    open_memory()
    for path in (home / "kuzu").glob("*"):
        path.unlink()
    configure(home, ENGINE)
    memory = open_memory()
    cards = [
        memory.capture(f"Rule {n}: the gateway listens on port {n}.", entities=("Gateway",)).card.card_id
        for n in range(3)
    ]
    memory.link(cards[0], cards[1], relation="DEPENDS_ON", reason="one after the other")
    memory.edit(cards[2], CardChanges(title="The third"))
    report = memory.ingest([write(tmp_path / "s.json", session("talk-1"))], distill=True)
    assert report.distilled is not None
    made = [card.card_id for outcome in report.distilled.sessions for card in outcome.cards]
    assert made
    for _ in range(4):  # from the third on the links are read from memory
        answer = memory.recall("gateway port 0", RecallOptions())
        assert answer.degraded == []
        first = next(hit for hit in answer.results if hit.card_id == cards[0])
        assert [near.card_id for near in first.related] == [cards[1]]
    assert memory.trace(made[0]).sessions[0].session_id == "talk-1"
    before = {row.card_id: row.title for row in memory.list_cards(limit=100).cards}
    memory.forget(cards[1])
    memory.restore(cards[1])
    memory.unlink(cards[0], cards[1])
    memory.link(cards[0], cards[2])
    assert memory.verify().ok
    rebuilt = memory.rebuild()
    assert (rebuilt.cards, rebuilt.links >= 1, rebuilt.sessions) == (len(before), True, 1)
    assert memory.verify().ok
    assert {row.card_id: row.title for row in memory.list_cards(limit=100).cards} == before
    assert memory.status().graph.engine.startswith(ENGINE)
    assert [check.status for check in memory.doctor().checks if check.name == ENGINE] == ["ok"]
    assert memory.notices == []


def alaya(home: Path, *arguments: str) -> tuple[int, Any, str]:
    """The command line: exit status, the JSON answer, what was said on stderr."""
    command = [sys.executable, "-m", "alaya_tui", "--headless", *arguments, "--home", str(home), "--json"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    return done.returncode, json.loads(done.stdout), done.stderr


@pytest.mark.slow
@pytest.mark.skipif(ENGINE != "kuzu", reason="it goes both ways")
def test_a_person_changes_the_engine_there_and_back(open_memory: OpenMemory, home: Path) -> None:
    with open_memory() as memory:
        card = memory.capture("The gateway needs plugins.allow").card.card_id
    for cards, (old, new) in enumerate(((ENGINE, OTHER), (OTHER, ENGINE)), 1):
        configure(home, new)
        said = f"graph.engine is {new}, but the graph is {old}'s: run `alaya rebuild l2`"
        status, answer, told = alaya(home, "show", card)
        assert (status, answer["card"]["card_id"]) == (0, card)
        assert said in told
        status, answer, _ = alaya(home, "status")
        assert said in answer["health"]
        assert answer["graph"]["engine"].startswith(old)
        _, answer, _ = alaya(home, "doctor")
        checks = {check["name"]: check for check in answer["checks"]}
        assert {old, new} <= set(checks)
        assert checks["graph"]["status"] == "warn"
        status, answer, told = alaya(home, "rebuild", "l2")
        assert (status, answer["cards"], told) == (0, cards, "")
        status, answer, told = alaya(home, "capture", f"Written with {new}")
        assert (status, told) == (0, "")
        assert alaya(home, "status")[1]["graph"]["engine"].startswith(new)
    assert [path.name for path in (home / "kuzu").glob("gen-*")] == [f"gen-3.{ENGINE}"]
    assert alaya(home, "verify")[1]["ok"]


NOT_INSTALLED = """
import sys
sys.modules["ladybug"] = None
from alaya_tui.cli import headless_main
sys.argv = ["alaya", *sys.argv[1:]]
sys.exit(headless_main())
"""


@pytest.mark.slow
@pytest.mark.skipif(ENGINE != "kuzu", reason="it is about the other one")
def test_ladybug_wanted_and_not_there(open_memory: OpenMemory, home: Path) -> None:
    with open_memory() as memory:
        memory.capture("The gateway needs plugins.allow")

    def without(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", NOT_INSTALLED, *arguments, "--home", str(home)]
        return subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)

    configure(home, "ladybug")
    done = without("rebuild", "l2")
    assert done.returncode == 2
    assert "alaya-tui[ladybug]" in done.stderr
    assert "Traceback" not in done.stderr
    assert without("list").returncode == 0
    assert alaya(home, "rebuild", "l2")[0] == 0
    done = without("list")
    assert done.returncode == 2
    assert "alaya-tui[ladybug]" in done.stderr
    configure(home, "kuzu")
    assert without("rebuild", "l2").returncode == 0
    assert without("list").returncode == 0
