"""The OpenAI-compatible provider against a real server."""

from __future__ import annotations

import itertools
import json
import threading

import numpy as np
import pytest
from werkzeug import Response

from alaya_core.errors import ProviderError, ProviderRefusedError
from alaya_core.progress import CancelledError, CancelToken
from alaya_core.providers.parallel import run_batches
from tests.core.providers.service import DIM, KEY, said, unit_of

TEXTS = [f"text number {i}" for i in range(10)]


def test_vectors_in_order_of_length_one(service, provider_for):
    provider = provider_for(batch_size=4)
    assert provider.dimensions is None
    vectors = provider.embed_passages(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (10, DIM)
    np.testing.assert_allclose(vectors, [unit_of(text) for text in TEXTS], atol=1e-6)
    assert service.sizes == [4, 4, 2]
    assert provider.dimensions == DIM
    assert service.bodies[0]["model"] == "m"
    assert service.bodies[0]["encoding_format"] == "float"
    assert "dimensions" not in service.bodies[0]
    assert service.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_nothing_to_embed_asks_nobody(service, provider_for):
    assert provider_for().embed_passages([]).shape == (0, 0)
    assert service.bodies == []


def test_the_index_decides_the_order(service, provider_for):
    service.change = lambda data: data[::-1]
    np.testing.assert_allclose(provider_for().embed_passages(TEXTS), [unit_of(t) for t in TEXTS], atol=1e-6)


def test_without_an_index_the_order_counts(service, provider_for):
    service.change = lambda data: [{"embedding": item["embedding"]} for item in data]
    np.testing.assert_allclose(provider_for().embed_passages(TEXTS), [unit_of(t) for t in TEXTS], atol=1e-6)


def test_requests_run_at_the_same_time_up_to_the_limit(service, provider_for):
    together = threading.Barrier(3, timeout=20)
    inside, most, lock = [0], [0], threading.Lock()

    def meet(body):
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        together.wait()
        with lock:
            inside[0] -= 1

    service.answer = meet
    vectors = provider_for(batch_size=1, max_concurrency=3).embed_passages(TEXTS[:9])
    np.testing.assert_allclose(vectors, [unit_of(t) for t in TEXTS[:9]], atol=1e-6)
    assert most[0] == 3


def test_dimensions_are_passed_through(service, provider_for):
    provider_for(dimensions=DIM).embed_query("q")
    assert service.bodies[0]["dimensions"] == DIM
    provider_for(provider="voyage", dimensions=DIM).embed_query("q")
    assert service.bodies[1]["output_dimension"] == DIM
    assert "encoding_format" not in service.bodies[1]


def test_a_service_that_ignores_dimensions_is_found_out(service, provider_for):
    with pytest.raises(ProviderError, match=f"vectors of {DIM} numbers, not 4"):
        provider_for(dimensions=4).embed_query("q")


def test_a_model_of_fixed_length_is_asked_again_without_the_field(service, provider_for):
    service.answer = lambda body: said(400, "this model does not support dimensions") if "dimensions" in body else None
    provider = provider_for(dimensions=DIM)
    assert provider.embed_passages(["a"]).shape == (1, DIM)
    provider.embed_passages(["b"])
    assert ["dimensions" in body for body in service.bodies] == [True, False, False]


def test_prefixes_and_task_fields(service, provider_for):
    e5 = provider_for(model="intfloat/multilingual-e5-large")
    e5.embed_query("a")
    e5.embed_passages(["b"])
    assert [body["input"] for body in service.bodies] == [["query: a"], ["passage: b"]]
    service.bodies.clear()
    jina = provider_for(provider="jina", model="jina-embeddings-v3")
    jina.embed_query("a")
    jina.embed_passages(["b"])
    assert [(b["task"], b["input"]) for b in service.bodies] == [
        ("retrieval.query", ["a"]),
        ("retrieval.passage", ["b"]),
    ]


def test_a_refused_batch_is_halved_and_the_limit_learnt(service, provider_for):
    service.max_batch = 3
    provider = provider_for(batch_size=10)
    np.testing.assert_allclose(provider.embed_passages(TEXTS), [unit_of(t) for t in TEXTS], atol=1e-6)
    assert service.sizes == [10, 5, 3, 2, 5, 3, 2]
    service.bodies.clear()
    provider.embed_passages(TEXTS)
    assert service.sizes == [3, 3, 3, 1]


def test_one_long_text_does_not_make_all_batches_small(service, provider_for):
    service.max_chars = 100
    provider = provider_for(batch_size=8, max_tokens=8000)
    vectors = provider.embed_passages([*TEXTS[:7], "word " * 30])
    np.testing.assert_allclose(vectors[:7], [unit_of(t) for t in TEXTS[:7]], atol=1e-6)
    service.bodies.clear()
    provider.embed_passages(TEXTS)
    assert service.sizes == [8, 2]


def test_a_text_over_the_limit_is_cut_beforehand_and_averaged(service, provider_for):
    text = "".join(f"sentence number {i} stands here. " for i in range(100))
    vector = provider_for(max_tokens=108, batch_size=64).embed_passages([text])[0]
    pieces = service.bodies[0]["input"]
    assert len(service.bodies) == 1
    assert len(pieces) > 7
    assert all(len(piece) <= 400 for piece in pieces)
    assert all(b[:12] in a for a, b in itertools.pairwise(pieces)), "each piece repeats the end of the last"
    expected = sum(len(piece) * unit_of(piece) for piece in pieces)
    np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), atol=1e-5)


def test_more_pieces_than_a_batch_holds(service, provider_for):
    service.max_batch = 4
    provider_for(max_tokens=24, batch_size=4).embed_passages(["word " * 200])
    assert max(service.sizes) == 4


def test_a_single_text_that_is_refused_is_cut_until_it_passes(service, provider_for):
    service.max_chars = 90
    provider = provider_for(max_tokens=8000)
    vector = provider.embed_passages(["word " * 60])[0]
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    assert service.sizes[0] == 1
    assert max(len(text) for text in service.bodies[-1]["input"]) <= 90


def test_a_service_that_finds_everything_too_large_is_given_up_on(service, provider_for):
    service.max_chars = 0
    with pytest.raises(ProviderError, match="maximum context length"):
        provider_for().embed_passages([*TEXTS, "word " * 300])
    assert len(service.bodies) < 40


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:-1], "9 vectors for 10 texts"),
        (lambda data: [*data, data[0]], "11 vectors for 10 texts"),
        (lambda data: [{**data[0], "index": 1}, *data[1:]], "indexes"),
        (lambda data: [{**data[0], "embedding": [float("nan")] * DIM}, *data[1:]], "not a number"),
        (lambda data: [{**data[0], "embedding": [float("inf")] * DIM}, *data[1:]], "not a number"),
        (lambda data: [{**data[0], "embedding": [0.0] * DIM}, *data[1:]], "zero vector"),
        (lambda data: [{**data[0], "embedding": ["0.5"] * DIM}, *data[1:]], "not lists of numbers"),
        (lambda data: [{**data[0], "embedding": None}, *data[1:]], "vectors"),
        (lambda data: [{**data[0], "embedding": "AAAA"}, *data[1:]], "vectors"),
        (lambda data: [{**data[0], "embedding": [1.0] * 3}, *data[1:]], "different lengths"),
        (lambda data: [{**item, "embedding": []} for item in data], "not lists of numbers"),
        (lambda data: {"no": "list"}, "without vectors"),
        (lambda data: ["x"] * 10, "vectors"),
    ],
)
def test_a_wrong_answer_is_an_error(service, provider_for, change, message):
    service.change = change
    with pytest.raises(ProviderError, match=message):
        provider_for().embed_passages(TEXTS)
    assert len(service.bodies) == 1


def test_an_error_that_comes_with_status_200(service, provider_for):
    service.answer = lambda body: Response(json.dumps({"error": {"message": f"no {KEY} model"}}))
    with pytest.raises(ProviderError, match=r"no \*\*\* model"):
        provider_for().embed_query("q")


def test_vectors_that_change_length_between_batches(service, provider_for):
    service.change = lambda data: [{"embedding": [1.0] * (2 + len(service.bodies))} for _ in data]
    with pytest.raises(ProviderError, match="vectors of 4 numbers, not 3"):
        provider_for(batch_size=5).embed_passages(TEXTS)


def test_a_refused_key_stops_all_batches(service, provider_for):
    service.answer = lambda body: said(401, "no such key")
    with pytest.raises(ProviderRefusedError):
        provider_for(batch_size=1, max_concurrency=2).embed_passages(TEXTS)
    assert len(service.bodies) <= 2


def test_finished_batches_come_before_the_error(service, provider_for):
    service.answer = lambda body: said(400, "no") if TEXTS[6] in body["input"] else None
    got: list[int] = []
    batches = provider_for(batch_size=2).iter_passages(TEXTS)
    with pytest.raises(ProviderError, match="no"):
        got.extend(row for rows, _ in batches for row in rows)
    assert got == [0, 1, 2, 3, 4, 5]


def test_cancel_is_not_held_up_by_a_request_under_way(service, provider_for):
    token, release, answered = CancelToken(), threading.Event(), []

    def hold(body):
        token.cancel()
        release.wait(20)
        answered.append(body)

    service.answer = hold
    try:
        with pytest.raises(CancelledError):
            provider_for(batch_size=1).embed_passages(TEXTS, token)
        assert len(service.bodies) == 1
        assert answered == []
    finally:
        release.set()


def test_after_a_failure_no_batch_is_begun():
    begun = []

    def work(rows, stop):
        begun.append(rows)
        if rows == [0]:
            raise ProviderRefusedError("no")
        assert stop._event.wait(5), "the other worker is told to stop"
        return np.ones((1, 2), dtype=np.float32)

    got: list[list[int]] = []
    with pytest.raises(ProviderRefusedError):
        got.extend(rows for rows, _ in run_batches([[i] for i in range(9)], work, 2, None))
    assert len(begun) <= 2
    assert got == [rows for rows in begun if rows != [0]], "what was under way is not lost"


def test_a_query_gives_up_soon(service, provider_for, waits):
    service.answer = lambda body: said(503, "loading")
    with pytest.raises(ProviderError, match="tried 2 times"):
        provider_for().embed_query("q")
    assert sum(waits.seconds) < 1


@pytest.mark.parametrize("text", ["", "  \n", "\u3000", "\x00", "a\ud800b"])
def test_blank_and_broken_texts_are_sent_as_something(service, provider_for, text):
    assert provider_for().embed_passages([text]).shape == (1, DIM)
    assert service.bodies[0]["input"][0].strip()


def test_the_key_is_in_no_repr(provider_for):
    provider = provider_for()
    assert KEY not in repr(provider) + repr(provider._endpoint) + repr(vars(provider))
    assert provider.host is None
    assert KEY not in provider.cache_key
