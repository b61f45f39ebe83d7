"""Cool-down: what nobody needs gives up its vector and nothing else, and comes back when it is needed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from alaya_core.memory import Memory
from alaya_core.models.requests import Filters, RecallOptions
from tests.conftest import Clock, OpenMemory
from tests.core.homes import found_ids, ledger_lines, write
from tests.core.services.conftest import Learned


def tier(memory: Memory, card: str) -> str:
    return memory.show(card).card.tier


@pytest.fixture
def cold(learned: Learned, clock: Clock) -> Learned:
    """Two years later: all but the pinned card are COLD."""
    learned.memory.pin(learned.tabs)
    clock.advance(days=720)
    turned, reheated = learned.memory.cool_down()
    assert (turned, reheated) == (3 + len(learned.distilled), 0)
    return learned


def test_nothing_is_cold_in_the_first_week(learned: Learned, clock: Clock) -> None:
    clock.advance(days=6)
    assert learned.memory.cool_down() == (0, 0)
    assert learned.memory.status().tiers["COLD"] == 0


def test_cold_cards_lose_their_vector_and_nothing_else(cold: Learned) -> None:
    memory = cold.memory
    assert (tier(memory, cold.docker), tier(memory, cold.tabs)) == ("COLD", "HOT")
    card = memory.show(cold.docker).card
    assert card.content == "Start the container with --memory=2g or the host kills it."
    assert memory.verify(fix=False).ok
    assert memory.verify().checked["vectors"] == 1
    status = memory.status()
    assert (status.tiers["COLD"], status.vectors.cold, status.vectors.total) == (3 + len(cold.distilled),) * 2 + (1,)
    assert {row.card_id for row in memory.list_cards(Filters(tier=("HOT",))).cards} == {cold.tabs}
    assert memory.show(cold.gateway).related_total == 2


def test_a_cold_card_is_found_by_its_words_and_by_its_links(cold: Learned) -> None:
    answer = cold.memory.recall("docker container --memory", RecallOptions(typed=True))
    hit = next(hit for hit in answer.results if hit.card_id == cold.docker)
    assert hit.tier == "COLD"
    assert found_ids(cold.memory, "container host kills", filters=Filters(tier=("COLD",)), typed=True) == [cold.docker]
    assert cold.docker in [found.card_id for found in cold.memory.show(cold.gateway).related]


def test_twice_a_day_equals_once(cold: Learned) -> None:
    before = ledger_lines(cold.memory.home)
    assert cold.memory.cool_down() == (0, 0)
    assert ledger_lines(cold.memory.home) == before


def test_recall_reheats(cold: Learned, clock: Clock) -> None:
    memory = cold.memory
    assert cold.docker in found_ids(memory, "docker container --memory")
    assert tier(memory, cold.docker) == "COLD", "recall writes to no database"
    turned, reheated = memory.cool_down()
    assert turned == 0
    assert reheated >= 1
    assert tier(memory, cold.docker) == "HOT"
    memory.distill()  # a patient sync
    answer = memory.verify()
    assert answer.ok, answer.findings
    assert answer.checked["vectors"] == 1 + reheated
    clock.advance(days=720)
    assert memory.cool_down() == (reheated, 0)


def test_uses_survive_the_fold_and_count_once(learned: Learned, clock: Clock, open_memory: OpenMemory) -> None:
    memory = learned.memory
    for _ in range(3):
        clock.advance(hours=2)
        memory.recall("docker container --memory")
    clock.advance(hours=2)
    before = memory.show(learned.docker).card
    assert before.access_count >= 3
    for _ in range(2):
        memory.cool_down()
    after = open_memory().show(learned.docker).card
    assert (after.access_count, after.last_access) == (before.access_count, before.last_access)
    folded = [json.loads(line) for line in (memory.home / "raw/vitals.jsonl").read_text().splitlines()]
    assert learned.docker in [row.get("id") for row in folded]
    memory.recall("docker container --memory")
    assert memory.show(learned.docker).card.access_count == before.access_count + 1


def test_an_hour_that_is_still_running_is_not_folded(learned: Learned, clock: Clock) -> None:
    memory = learned.memory
    clock.advance(hours=2)
    before = memory.show(learned.docker).card.access_count
    for _ in range(2):
        memory.recall("docker container --memory")
        memory.cool_down()
        clock.advance(ms=60_000)
    assert memory.show(learned.docker).card.access_count == before + 1


def test_garbage_in_the_fold_costs_nothing(learned: Learned, clock: Clock, open_memory: OpenMemory) -> None:
    memory = learned.memory
    clock.advance(hours=2)
    memory.recall("docker container --memory")
    clock.advance(hours=2)
    before = memory.show(learned.docker).card.access_count
    memory.cool_down()
    for garbage in (b"\xff\x00{", b'{"n": 1}\n[1]\n', b'{"marks": 7}\n'):
        (memory.home / "raw/vitals.jsonl").write_bytes(garbage)
        assert open_memory().show(learned.docker).card.access_count == before, garbage
        assert open_memory().cool_down() == (0, 0)
        assert open_memory().show(learned.docker).card.access_count == before, garbage


def test_the_limits_of_the_config_hold(learned: Learned, open_memory: OpenMemory, clock: Clock) -> None:
    write(Path(learned.memory.home / "config.json"), {"temperature": {"cold_threshold": 1.0, "cold_days": 10}})
    memory = open_memory()
    clock.advance(days=9)
    assert memory.cool_down() == (0, 0)
    clock.advance(days=2)
    assert memory.cool_down()[0] == 4 + len(learned.distilled)


def test_what_was_forgotten_does_not_move(learned: Learned, clock: Clock) -> None:
    learned.memory.forget(learned.docker)
    clock.advance(days=720)
    assert learned.memory.cool_down()[0] == 3 + len(learned.distilled)
    assert learned.memory.restore(learned.docker).card.content.startswith("Start the container")
