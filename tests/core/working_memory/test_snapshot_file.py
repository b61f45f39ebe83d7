"""`snapshot.md`: written for its owner only, when something in it changed, and with nothing in it that is hidden."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from alaya_core.clock import DAY_MS
from alaya_core.memory import Memory
from alaya_core.models.requests import CardChanges
from alaya_core.services.passages import estimated_tokens
from tests.conftest import NOON, OpenMemory
from tests.core.homes import write
from tests.core.working_memory.memory_cards import a_card, put

FACTS = ("The gateway listens on port 8443.", "Staging runs on host db-7.", "Backups start at half past two.")


@pytest.fixture
def facts(memory):
    return put(memory, *(a_card(n, title=text, content=text, importance=0.9 - n / 10) for n, text in enumerate(FACTS)))


def configured(home: Path, open_memory: OpenMemory, **settings: Any) -> Memory:
    """A memory whose working memory is configured so."""
    open_memory().close()
    write(home / "config.json", {"snapshot": settings})
    return open_memory()


def test_it_is_written_once_and_for_the_owner_only(memory, home, facts, umask):
    umask(0)
    answer = memory.snapshot()
    path = home / "snapshot.md"
    assert (answer.path, answer.changed, answer.cards) == (str(path), True, facts)
    assert path.read_bytes().decode() == answer.text
    assert answer.tokens == estimated_tokens(answer.text) <= 2_000
    assert path.stat().st_mode & 0o777 == 0o600
    before = path.stat()
    again = memory.snapshot()
    assert (again.changed, again.text) == (False, answer.text)
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_what_it_tells_of_changes_it(memory, home, facts):
    memory.snapshot()
    memory.edit(facts[1], CardChanges(content="Staging runs on host db-8."))
    answer = memory.snapshot()
    assert answer.changed
    assert "db-8" in (home / "snapshot.md").read_text()
    assert "db-7" not in answer.text
    memory.edit(facts[2], CardChanges(importance=1.0))
    assert memory.snapshot().changed
    memory.forget(facts[0])
    assert "8443" not in memory.snapshot().text


def test_counts_alone_do_not_write_it_anew(home, open_memory, clock):
    memory = configured(home, open_memory, top=1, recent_days=0)
    put(memory, a_card(1, content=FACTS[0], importance=0.9))
    first = memory.snapshot()
    put(memory, a_card(2, content=FACTS[1], importance=0.2))
    clock.advance(days=40)
    again = memory.snapshot()
    assert (again.changed, again.text) == (False, first.text)


def test_a_file_that_was_tampered_with_is_mended(memory, home, facts):
    text = memory.snapshot().text
    path = home / "snapshot.md"
    for spoilt in (text.replace("8443", "1"), text[:-50], "", text + "- obey\n"):
        path.write_text(spoilt)
        assert memory.snapshot().changed
        assert path.read_text() == text
    path.write_bytes(b"\xff\xfe")
    assert memory.snapshot().changed


def test_a_dry_run_writes_nothing(memory, home, facts):
    answer = memory.snapshot(write=False)
    assert answer.changed
    assert not (home / "snapshot.md").exists()
    memory.snapshot()
    assert not memory.snapshot(write=False).changed


def test_the_same_memory_on_the_same_day_makes_the_same_bytes(memory, home, open_memory, clock, facts):
    clock.now = NOON - NOON % DAY_MS + DAY_MS
    first = memory.snapshot().text
    (home / "snapshot.md").unlink()
    clock.advance(hours=23)
    assert open_memory().snapshot().text == first


def test_the_budget_is_that_of_the_config(home, open_memory):
    memory = configured(home, open_memory, token_budget=150)
    text = "Fact number {} with some more words around it, so that it takes its room."
    put(memory, *(a_card(number, content=text.format(number)) for number in range(20)))
    answer = memory.snapshot()
    assert 60 < answer.tokens <= 150
    assert 0 < len(answer.cards) < 10


def test_an_agent_is_told_its_own_and_writes_nothing(memory, home, open_memory):
    hidden = {"scope": "agent:other", "entities": ("zebrafish",), "tags": ("zebrafish",)}
    *_, own = put(
        memory,
        a_card(1, content="Everybody knows the port."),
        a_card(2, content="The zebrafish server is a secret.", **hidden),
        a_card(3, content="Main likes it quiet.", scope="agent:main"),
    )
    owners = memory.snapshot()
    before = (home / "snapshot.md").stat().st_mtime_ns
    answer = open_memory(agent="main").snapshot()
    assert (answer.path, answer.changed) == ("", False)
    assert own in answer.cards
    assert "zebrafish" in owners.text
    assert "zebrafish" not in answer.text
    assert "memories 2, active 2, archived 0, entities 0" in answer.text
    assert (home / "snapshot.md").stat().st_mtime_ns == before


def test_only_active_cards_are_in_it(memory, facts):
    memory.archive(facts[0])
    memory.forget(facts[1])
    answer = memory.snapshot()
    assert answer.cards == facts[2:]
    assert "memories 2, active 1, archived 1" in answer.text


def test_its_language_is_that_of_most_cards(memory, facts):
    assert "## Core memory" in memory.snapshot().text
    put(memory, *(a_card(number, content=f"网关第 {number} 个端口已经改成新的") for number in range(10, 14)))
    assert "## 核心记忆" in memory.snapshot().text


def test_an_empty_memory_has_one_too(memory, home):
    answer = memory.snapshot()
    assert answer.cards == []
    assert "memories 0" in (home / "snapshot.md").read_text()


def test_an_erased_card_does_not_come_back(memory, home, facts):
    memory.snapshot()
    memory.erase(facts[0], yes=True)
    assert "8443" not in memory.snapshot().text
    assert "8443" not in (home / "snapshot.md").read_text()


@pytest.mark.parametrize("times", [1, 2])
def test_what_is_forgotten_while_it_is_made_is_not_in_it(memory, home, open_memory, times):
    cards = put(memory, *(a_card(n, content=f"fact number {n}") for n in range(10, 15)))
    waiting: list[str] = []

    def forgetting_clock() -> int:
        """Each time that the cards were read and are being judged, another one forgets one of them."""
        if waiting:
            memory.forget(waiting.pop())
        return NOON

    slow = open_memory(clock=forgetting_clock)
    waiting += cards[:times]
    answer = slow.snapshot()
    assert not waiting
    assert answer.cards == cards[times:]
    assert (home / "snapshot.md").read_text() == answer.text


def test_what_only_comes_while_it_is_made_does_not_keep_it_from_being_written(memory, home, open_memory):
    cards = put(memory, *(a_card(n, content=f"fact number {n}", importance=0.9) for n in range(10, 13)))
    looked: list[int] = []

    def capturing_clock() -> int:
        """Each time that the cards are being judged, another one captures a card."""
        looked.append(len(looked))
        memory.capture(f"said meanwhile, {len(looked)}")
        return NOON

    answer = open_memory(clock=capturing_clock).snapshot()
    assert answer.cards[: len(cards)] == cards
    once = len(looked)
    assert (home / "snapshot.md").read_text() == answer.text
    again = open_memory(clock=capturing_clock).snapshot()
    assert answer.cards != again.cards
    assert len(looked) - once == once
