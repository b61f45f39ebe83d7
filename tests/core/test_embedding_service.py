"""The embedder: each text once, queries remembered, similarities on one scale."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from alaya_core.errors import ProviderError
from alaya_core.progress import CancelledError, CancelToken, Progress
from alaya_core.providers.bundled import BundledProvider
from alaya_core.providers.choose import make_provider
from alaya_core.providers.embedding import Background, EmbeddingProvider, EmbeddingSettings
from alaya_core.services.embedding import Embedder, dominant_script, estimate_background, rescaled
from alaya_core.stores.embedding_cache import EmbeddingCache


@dataclass
class Letters:
    """A provider of two texts a batch that remembers what it was asked."""

    dim: int = 6
    dimensions: int | None = None
    background: Background | None = None
    model: str = "letters"
    host: str | None = None
    cache_key: str = "letters"
    asked: list[str] = field(default_factory=list)
    fails_at: str = ""

    def vector(self, text: str) -> np.ndarray:
        vector = np.random.default_rng(sum(map(ord, text)) + len(text)).normal(size=self.dim) + 0.4
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)

    def iter_passages(
        self, texts: Sequence[str], cancel: CancelToken | None = None
    ) -> Iterator[tuple[list[int], np.ndarray]]:
        for at in range(0, len(texts), 2):
            if cancel is not None:
                cancel.check()
            some = list(texts[at : at + 2])
            if self.fails_at in some:
                raise ProviderError("down")
            self.asked += some
            self.dimensions = self.dim
            yield list(range(at, at + len(some))), np.stack([self.vector(text) for text in some])

    def embed_passages(self, texts: Sequence[str], cancel: CancelToken | None = None) -> np.ndarray:
        return np.concatenate([vectors for _, vectors in self.iter_passages(texts, cancel)])

    def embed_query(self, text: str) -> np.ndarray:
        if text == self.fails_at:
            raise ProviderError("down")
        self.asked.append(text)
        return self.vector(text)

    def warm_up(self) -> None: ...

    def close(self) -> None: ...


@pytest.fixture
def provider():
    return Letters(fails_at="none")


@pytest.fixture
def cache(tmp_path):
    made = EmbeddingCache(tmp_path / "e.sqlite")
    yield made
    made.close()


def embedder(provider: EmbeddingProvider, cache: EmbeddingCache | None = None, **options: Any) -> Embedder:
    return Embedder(provider, cache, EmbeddingSettings(**options))


def test_equal_texts_are_embedded_once_and_every_row_is_filled(provider, cache):
    texts = ["a", "b", "a", "", "c", "b"]
    vectors = embedder(provider, cache).passages(texts)
    assert provider.asked == ["a", "b", "", "c"]
    np.testing.assert_allclose(vectors, [provider.vector(text) for text in texts])
    assert vectors.dtype == np.float32


def test_known_texts_are_not_embedded_again_nor_by_the_next_process(provider, cache):
    first = embedder(provider, cache).passages(["a", "b"])
    other = Letters()
    again = embedder(other, cache).passages(["b", "x", "a"])
    assert other.asked == ["x"]
    np.testing.assert_array_equal(again[[2, 0]], first)


def test_another_model_shares_nothing(provider, cache):
    embedder(provider, cache).passages(["a"])
    other = Letters(cache_key="other")
    embedder(other, cache).passages(["a"])
    assert other.asked == ["a"]


def test_without_a_cache_it_works_too(provider):
    assert embedder(provider).passages(["a", "a"]).shape == (2, 6)
    assert embedder(provider).passages([]).shape == (0, 6)


def test_a_fault_loses_no_finished_batch(provider, cache):
    provider.fails_at = "e"
    with pytest.raises(ProviderError):
        embedder(provider, cache).passages(list("abcdef"))
    assert cache.size() == 4
    provider.fails_at = "none"
    provider.asked.clear()
    embedder(provider, cache).passages(list("abcdef"))
    assert provider.asked == ["e", "f"]


def test_a_cancel_loses_no_finished_batch(provider, cache):
    token = CancelToken()

    def stop(step: Progress) -> None:
        if step.done >= 4:
            token.cancel()

    with pytest.raises(CancelledError):
        embedder(provider, cache).passages(list("abcdefgh"), stop, token)
    assert cache.size() == 4


def test_progress_counts_the_texts(provider, cache):
    embedder(provider, cache).passages(["a", "b"])
    steps: list[Progress] = []
    embedder(provider, cache).passages(["a", "a", "x", "y", "x", "z"], steps.append)
    assert [(step.stage, step.done, step.total) for step in steps] == [
        ("embed", 2, 6),
        ("embed", 5, 6),
        ("embed", 6, 6),
    ]


def test_a_model_that_changed_its_length_under_the_same_name(provider, cache):
    embedder(provider, cache).passages(["a", "b"])
    other = Letters(dim=9)
    assert embedder(other, cache).passages(["a", "new"]).shape == (2, 9)
    assert other.asked == ["new", "a"]
    other.asked.clear()
    assert embedder(other, cache).passages(["a", "new", "b"]).shape == (3, 9)
    assert other.asked == ["b"]


def test_queries_are_remembered_for_a_while(provider):
    now = [0.0]
    made = Embedder(provider, None, EmbeddingSettings(query_cache_size=2, query_cache_ttl_s=60), lambda: now[0])
    first = made.query("a")
    now[0] = 59
    np.testing.assert_array_equal(made.query("a"), first)
    assert provider.asked == ["a"]
    now[0] = 60
    made.query("a")
    assert provider.asked == ["a", "a"], "too old"


def test_a_query_asked_twice_at_once_is_embedded_once():
    inside, may_answer = threading.Event(), threading.Event()

    @dataclass
    class Slow(Letters):
        def embed_query(self, text: str) -> np.ndarray:
            inside.set()
            assert may_answer.wait(10)
            return super().embed_query(text)

    slow = Slow()
    embedder = Embedder(slow, None, EmbeddingSettings())
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(embedder.query, "twice")
        assert inside.wait(10)
        second = pool.submit(embedder.query, "twice")
        may_answer.set()
        assert np.array_equal(first.result(10), second.result(10))
    assert slow.asked == ["twice"]


def test_the_query_used_longest_ago_goes_first(provider):
    made = embedder(provider, query_cache_size=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        made.query(text)
    assert provider.asked == ["a", "b", "c", "b"]
    made.forget_queries()
    made.query("a")
    assert provider.asked[-1] == "a"


def test_a_size_of_zero_remembers_nothing_and_a_failure_neither(provider):
    made = embedder(provider, query_cache_size=0)
    made.query("a")
    made.query("a")
    assert provider.asked == ["a", "a"]
    provider.fails_at = "q"
    keeping = embedder(provider)
    with pytest.raises(ProviderError):
        keeping.query("q")
    provider.fails_at = "none"
    keeping.query("q")
    assert provider.asked[-1] == "q"


def test_a_remembered_vector_cannot_be_changed(provider):
    vector = embedder(provider).query("a")
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("what", "en"),
        ("", "en"),
        ("ü Ж", "en"),
        ("the 记忆 card", "zh"),
        ("カタ", "zh"),
        ("한", "zh"),
        ("𠀀", "zh"),
        ("“q”…", "en"),
    ],
)
def test_dominant_script(text, script):
    assert dominant_script(text) == script


def test_rescaled_similarity():
    np.testing.assert_allclose(rescaled(np.array([1.0, 0.2, -1.0, 0.76]), 0.2), [1, 0, 0, 0.7], atol=1e-6)


def test_related_text_is_at_the_same_place_for_every_model():
    wide, narrow = rescaled(0.36, 0.0, related=0.36), rescaled(0.8 + 0.2 * 0.5, 0.8, related=0.5)
    assert wide == pytest.approx(0.7, abs=1e-6)
    assert narrow == pytest.approx(0.7, abs=1e-5)


def test_every_pair_of_scripts_has_its_background():
    made = embedder(Letters(background=Background(zh=0.5, en=0.2, cross=0.0)))
    assert made.rescale(0.6, "zh", "zh") == pytest.approx(0.2)
    assert made.rescale(0.6, "en", "en") == pytest.approx(0.5)
    assert made.rescale(0.6, "en", "zh") == made.rescale(0.6, "zh", "en") == pytest.approx(0.6)
    cosines = np.array([0.6, 0.6], dtype=np.float32)
    np.testing.assert_allclose(made.rescale(cosines, "zh", ["zh", "en"]), [0.2, 0.6], atol=1e-6)
    np.testing.assert_allclose(made.rescale(cosines, "en", np.array([True, False])), [0.6, 0.5], atol=1e-6)


def test_an_unknown_background_is_estimated_once_and_cached(provider, cache):
    made = embedder(provider, cache)
    found = made.background()
    assert len(provider.asked) == 24 + 2 * 12
    assert 0.05 < found.en < 0.5
    assert made.background() is found
    other = Letters()
    assert embedder(other, cache).background() == found
    assert other.asked == []


def test_the_estimate_leaves_out_each_text_with_itself():
    apart, same = np.eye(4, dtype=np.float32), np.tile(np.eye(1, 4, dtype=np.float32), (3, 1))
    found = estimate_background(apart, same, apart, apart)
    assert (found.zh, found.en, found.cross, found.related) == (0.0, 0.95, 0.25, 0.7)


def test_bundled_unrelated_text_is_near_zero_and_equal_text_one():
    made = embedder(BundledProvider())
    asked, same, far = "连接池的上限是多少？", "连接池的上限是多少？", "外婆做的红烧肉总是先炒糖色"
    vectors = made.passages([same, far])
    scaled = made.rescale(vectors @ made.query(asked), dominant_script(asked), "zh")
    assert scaled[0] == pytest.approx(1, abs=1e-4)
    assert scaled[1] < 0.15


def test_over_http_with_a_cache(httpserver: HTTPServer, cache):
    asked: list[str] = []

    def answer(request: Request) -> Response:
        texts = json.loads(request.get_data())["input"]
        asked.extend(texts)
        return Response(json.dumps({"data": [{"embedding": [len(text), 1.0]} for text in texts]}))

    httpserver.expect_request("/v1/embeddings").respond_with_handler(answer)
    settings = EmbeddingSettings(provider="ollama", base_url=httpserver.url_for("/v1"), batch_size=2)
    provider = make_provider(settings, {})
    made = Embedder(provider, cache, settings)
    assert made.passages(["a", "bb", "ccc"]).shape == (3, 2)
    made.passages(["ccc", "a"])
    assert sorted(asked) == ["a", "bb", "ccc"]
    provider.close()
