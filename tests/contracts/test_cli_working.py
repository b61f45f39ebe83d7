"""`snapshot`, `entities` and `timeline` as processes: what they print, write, refuse and import."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from alaya_core.clock import DAY_MS, local, system_clock
from alaya_core.memory import Memory
from tests.contracts.cli_runner import alaya, batch
from tests.contracts.test_import_hygiene import SEARCH, imported

ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two cards."""
    path = tmp_path_factory.mktemp("working") / "home"
    Memory.init(path)
    with Memory.open(path) as memory:
        memory.capture("The gateway listens on port 8443.", entities=["Gateway", "Nginx"])
        memory.capture("Nginx stands before the gateway.", entities=["Nginx"], scope="agent:other")
    return path


def test_a_snapshot_is_printed_as_it_is_written(small):
    written, again, dry, document = batch(
        [["snapshot"], ["snapshot"], ["snapshot", "--dry-run"], ["snapshot", "--json", "--quiet"]], small
    )
    text = (small / "snapshot.md").read_text(encoding="utf-8")
    assert written.text == again.text == dry.text == document.data["text"] == text
    assert "The gateway listens on port 8443." in text
    assert "written" in written.told
    assert "up to date" in again.told
    assert document.told == ""
    assert set(document.data) == {"path", "text", "tokens", "changed", "cards"}
    assert (document.data["changed"], len(document.data["cards"])) == (False, 2)


def test_an_agent_gets_its_own_snapshot_printed(small):
    done = alaya("snapshot", "--agent", "main", home=small)
    assert "port 8443" in done.text
    assert "stands before" not in done.text
    assert "owner" in done.told


def test_things_and_their_pages(small):
    things, page, document, nobody = batch(
        [
            ["entities"],
            ["entities", "nginx"],
            ["entities", "--json", "--agent", "main"],
            ["entities", "Nginks", "--json"],
        ],
        small,
    )
    assert things.text.split()[0] == "2"
    assert "Nginx" in things.text.splitlines()[0]
    assert "2 of 2 entities" in things.text
    assert page.text.splitlines()[0] == "Nginx"
    assert "Gateway (1)" in page.text
    assert {row["name"]: row["cards"] for row in document.data["entities"]} == {"Gateway": 1, "Nginx": 1}
    assert (nobody.status, nobody.error["code"]) == (3, "not_found")
    assert "Nginx" in nobody.error["hint"]


def test_a_timeline_of_days(small):
    today = local(system_clock(), "%Y-%m-%d")
    tomorrow = local(system_clock() + DAY_MS, "%Y-%m-%d")
    text, document, later, bad = batch(
        [
            ["timeline"],
            ["timeline", "--since", today, "--until", today, "--limit", "1", "--json"],
            ["timeline", "--since", tomorrow],
            ["timeline", "--since", "soon", "--json"],
        ],
        small,
    )
    assert text.text.splitlines()[0] == today
    assert "2 of 2 cards" in text.text
    assert document.data["total"] == 2
    assert [len(day["entries"]) for day in document.data["days"]] == [1]
    assert later.text == "0 of 0 cards\n"
    assert (bad.status, bad.error["code"]) == (2, "usage")


def test_hostile_text_is_harmless(filled):
    hostile = Memory.open(filled.path)
    with hostile as memory:
        name = next(row.name for row in memory.entities(limit=1_000).entities if "ZEBRA" in row.name)
    commands = [
        ["snapshot", "--dry-run"],
        ["entities", "-n", "999"],
        ["entities", "--", name],
        ["timeline", "-n", "999"],
    ]
    for words, done in zip(commands, batch(commands, filled.path), strict=True):
        assert done.status == 0, words
        assert "ZEBRA" in done.text or words[0] == "snapshot"
        assert not ACTS.search(done.text), words


def test_things_and_times_need_no_search_engine(small):
    commands = [["--home", str(small), *words] for words in (["entities"], ["entities", "Nginx"], ["timeline"])]
    assert not imported(*commands)[-1] & SEARCH
