"""What the provider tests share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from alaya_core.providers.embedding import EmbeddingSettings, resolve
from alaya_core.providers.http import JsonClient, RetryPolicy
from alaya_core.providers.openai_compatible import OpenAICompatibleProvider
from tests.core.providers.service import KEY, Service, Waits


@pytest.fixture(scope="session")
def threaded_server() -> Iterator[HTTPServer]:
    """A server that answers several requests at the same time."""
    with HTTPServer(threaded=True) as server:
        yield server


@pytest.fixture
def httpserver(threaded_server: HTTPServer) -> Iterator[HTTPServer]:
    threaded_server.clear()
    yield threaded_server
    threaded_server.clear()


@pytest.fixture
def service(httpserver: HTTPServer) -> Service:
    made = Service(httpserver)
    httpserver.expect_request("/v1/embeddings", method="POST").respond_with_handler(made)
    return made


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def client_for(httpserver: HTTPServer, waits: Waits) -> Iterator[Callable[..., JsonClient]]:
    made: list[JsonClient] = []

    def make(**options: Any) -> JsonClient:
        chosen: dict[str, Any] = {
            "base_url": httpserver.url_for("/v1"),
            "api_key": KEY,
            "key_name": "MY_KEY",
            "sleep": waits,
            "jitter": lambda: 0.0,
            "timeout_s": 5.0,
        }
        made.append(JsonClient(**(chosen | options)))
        return made[-1]

    yield make
    for client in made:
        client.close()


@pytest.fixture
def provider_for(service: Service, client_for: Callable[..., JsonClient]) -> Callable[..., OpenAICompatibleProvider]:
    def make(**options: Any) -> OpenAICompatibleProvider:
        chosen: dict[str, Any] = {
            "provider": "openai-compatible",
            "model": "m",
            "base_url": service.server.url_for("/v1"),
            "api_key": KEY,
            "max_concurrency": 1,
            "max_tokens": 500,
        }
        endpoint = resolve(EmbeddingSettings(**(chosen | options)), {})
        return OpenAICompatibleProvider(endpoint, client_for(policy=RetryPolicy()))

    return make
