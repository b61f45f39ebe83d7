"""What becomes of a reranker's answers, of every kind of failure, and of the time it takes."""

from __future__ import annotations

import math
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_httpserver import HTTPServer
from werkzeug import Response

from alaya_core.errors import ConfigError, ProviderError, ProviderRefusedError
from alaya_core.progress import CancelToken
from alaya_core.providers.pieces import estimate_tokens
from alaya_core.providers.rerank import PRESETS, HttpReranker, RerankEndpoint, resolve_rerank, scores_in
from tests.conftest import Clock
from tests.core.providers.rerank_service import Judge, answered, mute
from tests.core.providers.service import KEY, said

MakeReranker = Callable[..., HttpReranker]
KEYS = {preset.key_env: KEY for preset in PRESETS.values()}
TEXTS = ["one", "two", "three"]


@pytest.fixture
def judge(httpserver: HTTPServer) -> Judge:
    return Judge(httpserver, score=lambda _, text: {"one": 0.2, "two": 0.9, "three": 0.4}.get(text, 0.5))


@pytest.fixture
def reranker_for(judge: Judge, clock: Clock) -> Iterator[MakeReranker]:
    made: list[HttpReranker] = []

    def make(**fields: Any) -> HttpReranker:
        chosen: dict[str, Any] = {"base_url": judge.url, "model": "m", "api_key": KEY, "key_name": "MY_KEY"}
        made.append(HttpReranker(RerankEndpoint(**(chosen | fields)), clock))
        return made[-1]

    yield make
    for reranker in made:
        reranker.close()


# what is asked and answered


@pytest.mark.parametrize("style", ["results", "data", "bare", "texts"])
def test_scores_come_in_the_order_of_the_texts_however_they_are_told(judge, reranker_for, style):
    judge.style = style
    assert reranker_for().scores("q", TEXTS) == [0.2, 0.9, 0.4]


def test_what_is_asked(judge, reranker_for):
    reranker_for().scores("问题", TEXTS)
    [body] = judge.bodies
    assert body == {"model": "m", "query": "问题", "documents": TEXTS, "top_n": 3, "return_documents": False}
    assert judge.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_without_a_model_or_a_key_none_is_sent(judge, reranker_for):
    reranker_for(model="", api_key="").scores("q", TEXTS)
    assert "model" not in judge.bodies[0]
    assert "Authorization" not in judge.headers[0]


@pytest.mark.parametrize(
    ("provider", "count", "echo"),
    [("siliconflow", "top_n", True), ("jina", "top_n", True), ("cohere", "top_n", False), ("voyage", "top_k", True)],
)
def test_each_service_is_asked_in_its_own_words(judge, clock, provider, count, echo):
    end = resolve_rerank(KEYS, provider=provider, model="m", base_url=judge.url)
    HttpReranker(end, clock).scores("q", TEXTS)
    expected = {"model", "query", "documents", count} | ({"return_documents"} if echo else set())
    assert set(judge.bodies[0]) == expected


def test_a_service_that_wants_texts_is_asked_for_them_at_once_the_next_time(judge, reranker_for):
    judge.style = "texts"
    reranker = reranker_for()
    assert reranker.scores("q", TEXTS) == reranker.scores("q", TEXTS)
    assert [sorted(set(body) & {"documents", "texts"}) for body in judge.bodies] == [
        ["documents"],
        ["texts"],
        ["texts"],
    ]
    assert judge.bodies[1] == {"query": "q", "texts": TEXTS, "truncate": True}


def test_no_texts_ask_nobody(judge, reranker_for):
    assert reranker_for().scores("q", []) == []
    assert judge.bodies == []


def test_texts_are_cut_to_what_any_model_reads_and_are_never_blank(judge, reranker_for):
    reranker_for().scores("查询 " * 5000, ["长" * 20_000, "long words " * 5_000, " \n", "a\ud800b"])
    [body] = judge.bodies
    asked = estimate_tokens(body["query"])
    assert 100 < asked <= 160
    assert all(asked + estimate_tokens(text) <= 480 for text in body["documents"])
    assert estimate_tokens(body["documents"][0]) > 200
    assert body["documents"][2].strip()
    assert body["documents"][3] == "a\ufffdb"


# scores


def test_scores_within_0_and_1_are_taken_as_they_are():
    answer = [{"index": 0, "score": 0}, {"index": 1, "score": 1}, {"index": 2, "score": 1e-9}]
    assert scores_in(answer, 3, "h") == [0, 1, 1e-9]


def test_logits_become_shares_all_of_them():
    answer = [{"index": at, "score": value} for at, value in enumerate([-1e300, -2.0, 0.0, 0.5, 3.0, 1e300])]
    found = scores_in(answer, 6, "h")
    assert found == sorted(found)
    assert [found[0], found[2], found[5]] == pytest.approx([0, 0.5, 1])
    assert found[3] == pytest.approx(1 / (1 + math.exp(-0.5)))


WRONG = {
    "no object": "hello",
    "null": None,
    "no list": {"results": {"index": 0}},
    "no results": {"model": "m"},
    "an error that came with 200": {"error": {"message": "no such model"}, "results": []},
    "too few": {"results": [{"index": 0, "relevance_score": 1}]},
    "too many": [{"index": at, "score": 1} for at in range(3)],
    "twice": [{"index": 0, "score": 1}, {"index": 0, "score": 1}],
    "beyond the end": [{"index": 0, "score": 1}, {"index": 2, "score": 1}],
    "negative": [{"index": 0, "score": 1}, {"index": -1, "score": 1}],
    "no index": [{"score": 1}, {"score": 1}],
    "index as text": [{"index": "0", "score": 1}, {"index": "1", "score": 1}],
    "index as a truth": [{"index": False, "score": 1}, {"index": True, "score": 1}],
    "no score": [{"index": 0}, {"index": 1, "score": 1}],
    "score as text": [{"index": 0, "score": "0.5"}, {"index": 1, "score": 1}],
    "score as a truth": [{"index": 0, "score": True}, {"index": 1, "score": 1}],
    "not a number": [{"index": 0, "score": math.nan}, {"index": 1, "score": 1}],
    "infinity": [{"index": 0, "score": math.inf}, {"index": 1, "score": 1}],
    "beyond any float": [{"index": 0, "score": 10**400}, {"index": 1, "score": 1}],
    "items that are none": [0.5, 0.7],
}


@pytest.mark.parametrize("name", WRONG)
def test_an_answer_that_cannot_be_is_an_error_that_says_what_to_look_at(judge, reranker_for, name):
    judge.instead = lambda _: answered(WRONG[name])
    with pytest.raises(ProviderError, match=judge.host) as info:
        reranker_for().scores("q", ["a", "b"])
    assert "rerank." in info.value.hint


def test_what_a_service_says_is_wrong_is_passed_on(judge, reranker_for):
    judge.instead = lambda _: answered({"error": {"message": "no such model"}, "results": []})
    with pytest.raises(ProviderError, match="no such model"):
        reranker_for().scores("q", TEXTS)


def test_an_answer_too_deep_to_be_shown_is_an_error_like_any_other():
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ProviderError, match="without scores"):
        scores_in({"results": "x", "more": deep}, 1, "h")


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["index", "score", "relevance_score", "results", "data", "error"]), inner)
    ),
    max_leaves=12,
)


@given(JSON, st.integers(1, 3))
def test_whatever_comes_it_is_scores_or_a_provider_error(answer, count):
    try:
        found = scores_in(answer, count, "h")
    except ProviderError:
        return
    assert len(found) == count
    assert all(0 <= score <= 1 for score in found)


# failures


@pytest.mark.parametrize(
    ("response", "kind", "message", "hint"),
    [
        (said(401, "no such key"), ProviderRefusedError, "no such key", "MY_KEY"),
        (said(404, "no such model"), ProviderError, "HTTP 404", "model"),
        (said(413, "too many documents"), ProviderError, "HTTP 413", "rerank.candidates"),
        (said(422, "documents: at most 5"), ProviderError, "HTTP 422", "rerank.candidates"),
        (said(503, "the model is loading"), ProviderError, "the model is loading.*tried 2 times", "later"),
        (Response("<html>Welcome</html>"), ProviderError, "did not answer with JSON", "base_url"),
    ],
)
def test_refusals(judge, reranker_for, response, kind, message, hint):
    judge.instead = lambda _: response
    with pytest.raises(kind, match=message) as info:
        reranker_for().scores("q", TEXTS)
    assert hint in info.value.hint
    assert len(judge.bodies) <= 2


def test_what_passes_is_tried_once_more(judge, reranker_for):
    judge.instead = lambda _: said(503, "busy") if len(judge.bodies) == 1 else None
    assert reranker_for().scores("q", TEXTS) == [0.2, 0.9, 0.4]


def test_the_key_is_in_no_message_and_no_repr(judge, reranker_for):
    reranker = reranker_for()
    for answer in (said(401, f"{KEY} is wrong"), answered({"detail": KEY}), answered({"error": KEY})):
        judge.instead = lambda _, answer=answer: answer
        with pytest.raises(ProviderError) as info:
            reranker_for().scores("q", TEXTS)
        assert KEY not in info.value.message + info.value.hint
    assert KEY not in repr(reranker) + repr(reranker._endpoint)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (b"", b""),
        (b"HTTP/1.1 200 OK\r\nX-Slow: ", b"y"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", b" "),
    ],
    ids=["says nothing", "head a byte at a time", "body a byte at a time"],
)
def test_the_time_limit_holds_however_a_service_dawdles(reranker_for, first, then):
    with mute(first, then) as (url, asked):
        reranker = reranker_for(base_url=url, timeout_s=0.3)
        started = time.monotonic()
        with pytest.raises(ProviderError, match=r"127\.0\.0\.1:\d+ did not answer within 0\.3 s") as info:
            reranker.scores("q", TEXTS)
        assert time.monotonic() - started < 1.5
    assert "rerank.timeout_s" in info.value.hint
    assert len(asked) == 1


def test_a_retry_is_within_the_limit_too(judge, reranker_for):
    judge.instead = lambda _: said(503, "busy", {"Retry-After": "0.9"})
    started = time.monotonic()
    with pytest.raises(ProviderError, match=r"did not answer within 0\.2 s"):
        reranker_for(timeout_s=0.2).scores("q", TEXTS)
    assert time.monotonic() - started < 0.8
    assert len(judge.bodies) == 1


def test_when_the_time_is_up_it_is_not_asked_once_more(judge, client_for, clock):
    judge.instead = lambda _: said(503, "busy")
    is_up, ended = threading.Event(), threading.Event()

    def sleep(_: float, cancel: CancelToken | None) -> None:
        is_up.wait(10)
        try:
            assert cancel is not None
            cancel.check()
        finally:
            ended.set()

    client = client_for(base_url=judge.url, sleep=sleep)
    reranker = HttpReranker(RerankEndpoint(judge.url, timeout_s=0.2), clock, client)
    with pytest.raises(ProviderError, match="did not answer within"):
        reranker.scores("q", TEXTS)
    judge.instead = lambda _: None
    is_up.set()
    assert ended.wait(10)
    for thread in threading.enumerate():
        if thread.name == "rerank":
            thread.join(10)
    assert len(judge.bodies) == 1


# left alone after a failure


def test_after_a_failure_it_is_not_asked_for_half_a_minute(judge, reranker_for, clock):
    judge.instead = lambda _: said(401, "no such key")
    reranker = reranker_for()
    with pytest.raises(ProviderError):
        reranker.scores("q", TEXTS)
    judge.instead = lambda _: None
    clock.advance(ms=5_000)
    with pytest.raises(ProviderError, match="no such key") as info:
        reranker.scores("q", TEXTS)
    assert info.value.hint == "asked again in 25 s"
    clock.advance(ms=24_999)
    with pytest.raises(ProviderError):
        reranker.scores("q", TEXTS)
    assert len(judge.bodies) == 1
    clock.advance(ms=1)
    assert reranker.scores("q", TEXTS) == [0.2, 0.9, 0.4]
    assert reranker.scores("q", TEXTS) == [0.2, 0.9, 0.4]
    assert len(judge.bodies) == 3
    clock.advance(ms=-10_000)
    assert reranker.scores("q", TEXTS) == [0.2, 0.9, 0.4], "what is over is forgotten"


def test_a_clock_that_was_set_back_keeps_it_quiet_no_longer(judge, reranker_for, clock):
    judge.instead = lambda _: said(401, "no such key") if len(judge.bodies) == 1 else None
    reranker = reranker_for()
    with pytest.raises(ProviderError):
        reranker.scores("q", TEXTS)
    clock.advance(days=-1)
    assert reranker.scores("q", TEXTS) == [0.2, 0.9, 0.4]


def test_a_wrong_answer_counts_as_a_failure(judge, reranker_for):
    judge.instead = lambda _: answered([])
    reranker = reranker_for()
    for _ in range(2):
        with pytest.raises(ProviderError, match="0 scores for 3 texts"):
            reranker.scores("q", TEXTS)
    assert len(judge.bodies) == 1


# settings


@pytest.mark.parametrize("provider", PRESETS)
def test_every_service_works_by_its_name_and_a_model(provider, clock):
    end = resolve_rerank(KEYS, provider=provider, model="m")
    assert (end.api_key, end.key_name) == (KEY, PRESETS[provider].key_env)
    reranker = HttpReranker(end, clock)
    assert reranker.host == reranker.name
    assert reranker.host in PRESETS[provider].base_url


def test_an_address_alone_is_enough_and_takes_no_key_that_lies_around(clock):
    for url in ("http://localhost:8080", "http://localhost:8080/", "http://localhost:8080/rerank"):
        end = resolve_rerank(KEYS, base_url=url)
        assert (end.base_url, end.api_key, end.model) == ("http://localhost:8080", "", "")
    assert HttpReranker(end, clock).host is None


def test_a_key_is_taken_from_the_named_variable():
    end = resolve_rerank(KEYS | {"MINE": " k1\n"}, provider="jina", model="m", api_key_env="MINE")
    assert (end.api_key, end.key_name) == ("k1", "MINE")


@pytest.mark.parametrize(
    ("fields", "environ", "message"),
    [
        ({"provider": "nowhere", "model": "m"}, KEYS, "nowhere"),
        ({"provider": "jina"}, KEYS, "rerank.model"),
        ({}, KEYS, "rerank.base_url"),
        ({"provider": "jina", "model": "m"}, {}, "JINA_API_KEY"),
        ({"base_url": "http://x", "api_key_env": "MINE"}, KEYS, "MINE"),
        ({"base_url": "http://x", "api_key_env": "MINE"}, {"MINE": "sk-密"}, "MINE"),
        ({"base_url": "x"}, {}, "base_url"),
    ],
)
def test_settings_that_cannot_be(fields, environ, message, clock):
    with pytest.raises(ConfigError, match=message) as info:
        HttpReranker(resolve_rerank(environ, **fields), clock)
    assert info.value.hint
    assert "密" not in str(info.value)


def test_importing_the_module_imports_nothing_heavy():
    code = (
        "import sys, alaya_core.providers.rerank;print([m for m in ('httpx', 'numpy', 'lancedb') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
