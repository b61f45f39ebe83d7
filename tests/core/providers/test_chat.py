"""The chat client on a real server: what it sends, what it understands, when it waits and when it stops."""

from __future__ import annotations

import threading
import time
from email.utils import formatdate
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from alaya_core.errors import ConfigError, ProviderError, ProviderRefusedError
from alaya_core.progress import CancelledError, CancelToken
from alaya_core.providers.chat import HttpChat
from alaya_core.providers.chat_choice import ChatEndpoint, resolve_chat
from alaya_core.providers.http_errors import RequestRejectedError, TooLargeError
from tests.core.providers.chat_service import HANG_UP, ChatService, completion
from tests.core.providers.service import KEY, said


@pytest.fixture
def service(httpserver: HTTPServer) -> ChatService:
    return ChatService(httpserver)


@pytest.fixture
def chat(service: ChatService, client_for: Any) -> HttpChat:
    return HttpChat(ChatEndpoint(service.url, "m-1", KEY, output_tokens=321), client_for())


def test_asks_as_the_service_expects(service: ChatService, chat: HttpChat) -> None:
    service.read = ["你好"]
    reply = chat.complete("be brief", "hello")
    assert (reply.text, reply.input_tokens, reply.output_tokens) == ("你好", 100, 20)
    assert not reply.estimated
    assert not reply.cut
    [body] = service.bodies
    assert body["model"] == "m-1"
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert (body["temperature"], body["max_tokens"]) == (0, 321)
    assert body["response_format"] == {"type": "json_object"}
    assert service.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_tokens_are_estimated_where_nobody_counts(service: ChatService, chat: HttpChat) -> None:
    service.usage = None
    service.read = ["an answer"]
    reply = chat.complete("be brief", "hello")
    assert reply.estimated
    assert reply.input_tokens > 0
    assert reply.output_tokens > 0


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        ([{"type": "text", "text": "one "}, {"type": "text", "text": "two"}, {"type": "image"}], "one two"),
        (None, ""),
        (7, ""),
    ],
)
def test_contents_of_every_shape(service: ChatService, chat: HttpChat, content: Any, text: str) -> None:
    service.read = [completion(content)]
    assert chat.complete("", "").text == text


def test_an_answer_that_was_cut_off_is_told(service: ChatService, chat: HttpChat) -> None:
    service.read = [completion("half an ans", finish="length")]
    assert chat.complete("", "").cut


@pytest.mark.parametrize(
    "body", ['{"choices": []}', "[]", '{"error": {"message": "overloaded"}}', '{"choices": [{}]}', "7"]
)
def test_what_holds_no_answer_is_an_error(service: ChatService, chat: HttpChat, body: str) -> None:
    service.read = [Response(body, content_type="application/json")]
    with pytest.raises(ProviderError, match="without a message"):
        chat.complete("", "")


@pytest.mark.parametrize(
    ("refusal", "gone", "stays"),
    [
        ("Unsupported parameter: 'response_format'", "response_format", "temperature"),
        ("Unsupported value: 'temperature' does not support 0", "temperature", "response_format"),
        ("'max_tokens' is not supported, use 'max_completion_tokens' instead", "max_tokens", "max_completion_tokens"),
    ],
)
def test_fields_that_a_service_does_not_know_are_left_out_from_then_on(
    service: ChatService, chat: HttpChat, refusal: str, gone: str, stays: str
) -> None:
    service.read = [said(400, refusal), "fine"]
    assert chat.complete("", "").text == "fine"
    chat.complete("", "")
    assert [gone in body for body in service.bodies] == [True, False, False]
    assert stays in service.bodies[1]


def test_a_refusal_for_another_reason_changes_nothing(service: ChatService, chat: HttpChat) -> None:
    service.read = [said(400, "the prompt is indecent"), said(400, "the prompt is indecent"), "fine"]
    with pytest.raises(RequestRejectedError, match="indecent"):
        chat.complete("", "")
    chat.complete("", "")
    assert "response_format" in service.bodies[-1]


@pytest.mark.parametrize(
    ("response", "wait"),
    [
        (said(429, "slow down", {"Retry-After": "20"}), 20),
        (said(503, "later", {"Retry-After": formatdate(1_700_000_012, usegmt=True)}), 12),
        (said(500, "oops"), 0),
    ],
)
def test_waits_are_told(service: ChatService, client_for: Any, waits: Any, response: Response, wait: int) -> None:
    service.read = [response, "fine"]
    told: list[str] = []
    chat = HttpChat(ChatEndpoint(service.url, "m-1"), client_for(now=lambda: 1_700_000_000.0))
    assert chat.complete("", "", told=told.append).text == "fine"
    assert [round(seconds) for seconds in waits.seconds] == [wait]
    [note] = told
    assert note.startswith(f"waiting {wait} s: ")
    assert f"HTTP {response.status_code}" in note


def test_a_connection_that_drops_is_tried_again(service: ChatService, chat: HttpChat, waits: Any) -> None:
    service.read = [HANG_UP, "fine"]
    assert chat.complete("", "").text == "fine"
    assert len(waits.seconds) == 1


@pytest.mark.parametrize(
    ("status", "message", "more", "hint"),
    [(401, "bad key", {}, "key"), (429, "no more", {"code": "insufficient_quota"}, "quota")],
)
def test_a_key_or_a_quota_that_is_refused_is_not_tried_again(
    service: ChatService, chat: HttpChat, status: int, message: str, more: dict[str, Any], hint: str
) -> None:
    service.read = [said(status, message, **more)]
    with pytest.raises(ProviderRefusedError) as refused:
        chat.complete("", "")
    assert hint in refused.value.hint
    assert len(service.bodies) == 1


@pytest.mark.parametrize(
    ("message", "kind", "hint"),
    [
        ("This model's maximum context length is 8192 tokens", TooLargeError, "distill.input_tokens"),
        ("max_tokens must be at most 2048", RequestRejectedError, "distill.output_tokens"),
    ],
)
def test_what_is_too_large_names_the_setting(
    service: ChatService, chat: HttpChat, message: str, kind: type[ProviderError], hint: str
) -> None:
    service.read = [said(400, message)]
    with pytest.raises(kind) as error:
        chat.complete("", "")
    assert hint in error.value.hint


def test_a_slow_model_is_left_at_once(service: ChatService, chat: HttpChat) -> None:
    go_on, token = threading.Event(), CancelToken()

    def slowly(_: str) -> str:
        token.cancel()
        go_on.wait(20)
        return "late"

    service.read = slowly
    began = time.monotonic()
    try:
        with pytest.raises(CancelledError):
            chat.complete("", "", cancel=token)
        assert time.monotonic() - began < 10
    finally:
        go_on.set()


def test_a_key_alone_sends_nothing() -> None:
    assert resolve_chat({"OPENAI_API_KEY": KEY}) is None
    assert resolve_chat({}) is None


@pytest.mark.parametrize("named", [{"MEMORY_LLM_MODEL": "m"}, {"OPENAI_BASE_URL": "https://api.openai.com/v1"}])
def test_the_environment_names_a_model(named: dict[str, str]) -> None:
    found = resolve_chat({"OPENAI_API_KEY": KEY, **named})
    assert found is not None
    assert found.base_url == "https://api.openai.com/v1"
    assert found.model == named.get("MEMORY_LLM_MODEL", "gpt-4o-mini")
    assert found.api_key == KEY
    assert KEY not in repr(found)


@pytest.mark.parametrize("value", ["false", "0", "no", "OFF"])
def test_the_environment_switches_it_off(value: str) -> None:
    assert resolve_chat({"MEMORY_LLM_ENABLED": value, "OPENAI_API_KEY": KEY}, model="m") is None
    assert resolve_chat({"OPENAI_API_KEY": KEY}, model="m", llm_enabled=False) is None
    assert resolve_chat({"MEMORY_LLM_ENABLED": "true", "OPENAI_API_KEY": KEY}, model="m") is not None


def test_what_the_config_says_counts_first() -> None:
    environ = {
        "MEMORY_LLM_MODEL": "theirs",
        "OPENAI_BASE_URL": "http://a.example/v1",
        "MINE": "k",
        "OPENAI_API_KEY": KEY,
    }
    found = resolve_chat(environ, model="ours", base_url="http://b.example/v1/chat/completions", api_key_env="MINE")
    assert found is not None
    assert (found.model, found.base_url, found.api_key) == ("ours", "http://b.example/v1", "k")


def test_one_services_key_is_not_sent_to_another() -> None:
    with pytest.raises(ConfigError, match="SILICONFLOW_API_KEY"):
        resolve_chat({"OPENAI_API_KEY": KEY}, llm_provider="siliconflow")
    found = resolve_chat({"OPENAI_API_KEY": KEY, "DEEPSEEK_API_KEY": "d"}, llm_provider="deepseek")
    assert found is not None
    assert (found.api_key, found.base_url) == ("d", "https://api.deepseek.com/v1")


def test_a_key_that_is_missing_is_named_where_one_is_needed() -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        resolve_chat({}, model="m")
    with pytest.raises(ConfigError, match="MINE"):
        resolve_chat({}, model="m", base_url="http://b.example/v1", api_key_env="MINE")
    for address in ("http://b.example/v1", "http://127.0.0.1:8080/v1"):
        found = resolve_chat({}, model="m", base_url=address)
        assert found is not None
        assert found.api_key == ""


def test_a_local_model_must_be_named() -> None:
    with pytest.raises(ConfigError, match=r"distill\.model"):
        resolve_chat({}, llm_provider="ollama")
    found = resolve_chat({}, llm_provider="ollama", model="qwen")
    assert found is not None
    assert HttpChat(found).host is None


def test_an_unknown_provider_is_refused() -> None:
    with pytest.raises(ConfigError, match="unknown"):
        resolve_chat({}, llm_provider="nobody")
