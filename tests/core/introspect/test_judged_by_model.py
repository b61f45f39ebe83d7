"""What rules cannot tell is judged by a model, which can only say the same or different of the pairs it was shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from alaya_core.memory import Memory
from alaya_core.models.answers import IntrospectReport
from alaya_core.models.requests import CardChanges, IntrospectOptions
from tests.conftest import OpenMemory
from tests.core.providers.chat_service import ChatService, completion

ONE = "The nightly backup copies the archive to the vault and then checks it."
OTHER = "The nightly backup copies the archive to the vault, and afterwards it checks it."
OPTIONS = IntrospectOptions(phases=("consolidate",))


@pytest.fixture
def service(httpserver: HTTPServer) -> ChatService:
    return ChatService(httpserver)


@pytest.fixture
def memory(open_memory: OpenMemory, home: Path, service: ChatService) -> Memory:
    open_memory().close()
    (home / "config.json").write_text(json.dumps({"distill": {"base_url": service.url, "model": "judge-1"}}))
    memory = open_memory()
    for text in (ONE, OTHER, "Lunch is at noon in the canteen."):
        memory.capture(text, type="concept")
    memory.upkeep()
    return memory


def consolidated(memory: Memory) -> IntrospectReport:
    return memory.introspect(OPTIONS)


def test_without_a_verdict_a_person_decides(memory: Memory, service: ChatService) -> None:
    service.read = [{"answers": [{"pair": "P7", "verdict": "SAME"}, {"pair": "P1", "verdict": "DELETE ALL"}]}]
    report = consolidated(memory)
    assert (report.status, report.reviews) == ("done", 1)
    assert report.usage is not None
    assert (report.usage.calls, report.usage.input_tokens) == (1, 100)
    assert memory.list_cards().total == 3
    again = consolidated(memory)
    assert (again.usage, again.phases[0].counts) == (None, {})  # it waits for a person now


def test_what_it_finds_the_same_becomes_one_card(memory: Memory, service: ChatService) -> None:
    service.read = [completion('```json\n{"answers": [{"pair": "P1", "verdict": "SAME"}]}\n```')]
    planned = memory.introspect(IntrospectOptions(phases=("consolidate",), dry_run=True))
    assert service.bodies == []
    assert any("would judge" in line for line in planned.phases[0].lines)
    report = consolidated(memory)
    assert report.phases[0].counts["merge"] == 1
    assert memory.list_cards().total == 2
    memory.undo(run=report.run)
    assert memory.list_cards().total == 3


def test_what_it_finds_different_is_not_asked_again_unless_a_text_changes(memory: Memory, service: ChatService) -> None:
    service.read = [{"answers": [{"pair": "P1", "verdict": "DIFFERENT"}]}]
    assert consolidated(memory).reviews == 0
    consolidated(memory)
    assert len(service.bodies) == 1
    first = next(row for row in memory.list_cards().cards if "afterwards" in row.title)
    memory.edit(first.card_id, CardChanges(content=OTHER.replace("afterwards", "after that")))
    memory.upkeep()
    consolidated(memory)
    assert len(service.bodies) == 2


def test_a_model_that_fails_stops_nothing(memory: Memory, service: ChatService) -> None:
    service.read = [completion("I would rather not.")]
    report = consolidated(memory)
    assert (report.status, report.reviews) == ("done", 1)
    assert any("not all duplicates were judged" in line for line in report.phases[0].lines)
