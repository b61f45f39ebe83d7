"""A process that recalls again and again holds links and cards in memory: it must answer as one that just began."""

from __future__ import annotations

from typing import Any

import pytest

from alaya_core.memory import Memory
from alaya_core.models.requests import CardChanges, Filters, RecallOptions
from tests.conftest import OpenMemory
from tests.core.services.conftest import Learned

QUERIES = ("gateway 通知", "tabs in go", "docker memory limit", "turquoise vault", "plugins.allow", "格式")


def answers(memory: Memory, **options: object) -> list[dict[str, Any]]:
    """What a recall finds, without the time it took; nothing is logged."""
    found = []
    for query in QUERIES:
        answer = memory.recall(query, RecallOptions(typed=True, **options))  # type: ignore[arg-type]
        found.append(answer.model_dump(mode="json", exclude={"took_ms"}))
    return found


@pytest.fixture
def warm(learned: Learned) -> Memory:
    """A memory that has been asked often enough to hold what it can."""
    for _ in range(4):
        answers(learned.memory)
    assert learned.memory._work.vectors.generation._finder.held is not None
    assert learned.memory._work.graph._links is not None
    return learned.memory


def test_a_warm_memory_answers_like_a_fresh_one(warm: Memory, open_memory: OpenMemory):
    assert answers(warm) == answers(open_memory())
    assert answers(warm, filters=Filters(type=("fact",))) == answers(open_memory(), filters=Filters(type=("fact",)))


def test_it_sees_what_another_process_changed(warm: Memory, learned: Learned, open_memory: OpenMemory):
    other = open_memory()
    other.edit(learned.docker, CardChanges(content="Give the container 3 GB of memory, the kernel kills it below."))
    other.unlink(learned.gateway, learned.docker)
    other.link(learned.tabs, learned.docker, relation="CAUSED_BY", reason="new")
    added = other.capture("Docker memory limit for the gateway container is four gigabytes.").card.card_id
    other.forget(learned.tabs)
    seen = answers(warm)
    assert seen == answers(open_memory())
    hits = {hit["card_id"]: hit for answer in seen for hit in answer["results"]}
    assert added in hits
    assert learned.tabs not in hits
    assert "3 GB" in hits[learned.docker]["content"]


def test_it_keeps_the_scopes_apart(learned: Learned, open_memory: OpenMemory):
    agent = open_memory(agent="main")
    for _ in range(4):
        found = answers(agent)
    cards = [hit for answer in found for hit in answer["results"]]
    assert learned.secret not in {hit["card_id"] for hit in cards}
    assert learned.secret not in {near["card_id"] for hit in cards for near in hit["related"]}
