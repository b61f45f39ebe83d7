"""Fate of cards in a real memory: what a person said, where the card stands already, and how full the memory is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from alaya_core.errors import NotFoundError
from alaya_core.memory import Memory
from alaya_core.models.answers import FateAnswer
from alaya_core.models.requests import IntrospectOptions
from tests.conftest import Clock, OpenMemory

TIDY = IntrospectOptions(phases=("cool-down", "forget"))


def settings(memory: Memory, **sections: dict[str, Any]) -> None:
    Path(memory.home / "config.json").write_text(json.dumps(sections), encoding="utf-8")


def moves(answer: FateAnswer) -> list[str]:
    return [f"{step.what} {step.to}" for step in answer.steps]


def test_what_a_person_refused_to_forget_is_foretold_to_stay(
    memory: Memory, open_memory: OpenMemory, clock: Clock
) -> None:
    settings(memory, introspect={"forget_ask_above": 0})
    memory = open_memory()
    card = memory.capture("A passing remark about the weather", importance=0.1).card.card_id
    assert moves(memory.fate(card))[-1] == "forgotten forgotten"
    clock.advance(days=400)
    memory.introspect(TIDY)
    (waiting,) = memory.review().items
    memory.decide(waiting.key, accept=False)
    told = memory.fate(card)
    assert "forgotten forgotten" not in moves(told)
    assert told.never == ["forgotten never: a person rejected it"]
    clock.advance(days=400)
    memory.introspect(TIDY)
    assert memory.show(card).card.state == "active"


def test_the_half_life_model_names_the_archive_and_the_day_after(memory: Memory, open_memory: OpenMemory) -> None:
    settings(memory, lifecycle={"model": "halflife"})
    memory = open_memory()
    told = memory.fate(memory.capture("The bakery opens at seven", importance=0.3).card.card_id)
    archived, forgotten = (next(step for step in told.steps if step.what == what) for what in ("archived", "forgotten"))
    assert archived.days < forgotten.days
    assert told.sentence.endswith(f"archived in {archived.days} days, forgotten in {forgotten.days} days")
    assert told.model == "halflife"


def test_a_merged_id_names_its_survivor_and_nobody_is_nobody(memory: Memory) -> None:
    keep, other = (memory.capture(text).card.card_id for text in ("Nginx listens on 443", "Postgres is on 5432"))
    memory.merge(keep, other)
    assert memory.fate(other).card_id == memory.fate(keep).card_id == keep
    with pytest.raises(NotFoundError):
        memory.fate("card-00000000")


def test_a_memory_over_its_limit_says_what_is_left_out(memory: Memory, open_memory: OpenMemory) -> None:
    card = memory.capture("Nginx listens on 443").card.card_id
    assert not any("WARM cards" in sentence for sentence in memory.fate(card).never)
    settings(memory, temperature={"warm_limit": 0})
    assert any("WARM cards" in sentence for sentence in open_memory().fate(card).never)
