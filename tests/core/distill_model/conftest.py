"""A memory whose sessions are read by a model on a real socket."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from alaya_core.memory import Memory
from alaya_core.models.answers import DistillReport
from alaya_core.providers.chat import HttpChat
from alaya_core.providers.chat_choice import ChatEndpoint
from alaya_core.providers.http import JsonClient
from tests.conftest import OpenMemory
from tests.core.distill_model.talks import talk
from tests.core.homes import session, write
from tests.core.providers.chat_service import ChatService
from tests.core.providers.service import Waits

MODEL = "reader-1"


@pytest.fixture
def service(httpserver: HTTPServer) -> ChatService:
    return ChatService(httpserver)


@pytest.fixture
def waits() -> Waits:
    return Waits()


Open = Callable[..., Memory]


@pytest.fixture
def reading(open_memory: OpenMemory, home: Path, service: ChatService, waits: Waits) -> Open:
    """Opens the test's home with the model, under settings of the section `distill`; nobody really waits."""

    def open_it(**settings: Any) -> Memory:
        if settings:
            open_memory().close()
            (home / "config.json").write_text(json.dumps({"distill": settings}), encoding="utf-8")
        memory = open_memory()

        def chat() -> HttpChat:
            client = JsonClient(service.url, sleep=waits, jitter=lambda: 0.0, now=lambda: 1_700_000_000.0, timeout_s=20)
            return HttpChat(ChatEndpoint(service.url, MODEL), client)

        memory._work.make_chat = chat
        return memory

    return open_it


@pytest.fixture
def memory(reading: Open) -> Memory:
    return reading()


@pytest.fixture
def take(tmp_path: Path) -> Callable[..., None]:
    """Takes sessions in: `take(memory, s1=texts, s2=texts)`."""

    def take_in(memory: Memory, **sessions: Sequence[str]) -> None:
        from alaya_core.services.ingest import ingest

        paths = [write(tmp_path / f"{name}.json", session(name, texts)) for name, texts in sessions.items()]
        ingest(memory._work, paths, format=None, stdin=None, progress=lambda _: None, cancel=None, run="")

    return take_in


@pytest.fixture
def taken(memory: Memory, take: Callable[..., None]) -> Memory:
    take(memory, s1=talk())
    return memory


def learn(memory: Memory, **options: Any) -> DistillReport:
    """Distils without the index."""
    from alaya_core.services.distill.run import distill

    chosen: dict[str, Any] = {"session": None, "redo": False, "progress": lambda _: None, "cancel": None}
    return distill(memory._work, **(chosen | options))
