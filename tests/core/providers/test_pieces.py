"""Cutting and putting together, for any text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alaya_core.errors import ProviderError
from alaya_core.providers.pieces import average, cut, estimate_tokens, sendable, unit


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 1), ("a", 1), ("word word word word!", 5), ("记忆", 2), ("记忆 abc", 3), ("😀", 1)]
)
def test_estimated_tokens(text, tokens):
    assert estimate_tokens(text) == tokens


@given(st.text(max_size=400), st.integers(1, 40))
def test_pieces_cover_the_text_in_order_and_fit(text, limit):
    pieces = cut(text, limit)
    at = 0
    for piece in pieces:
        assert estimate_tokens(piece) <= limit
        found = text.find(piece, max(0, at - len(piece)))
        assert 0 <= found <= at or not piece
        at = max(at, found + len(piece))
    assert at == len(text)


def test_a_text_that_fits_is_one_piece_and_a_long_one_is_cut_at_a_break():
    assert cut("short", 10) == ["short"]
    pieces = cut("一句话说完了。" * 20, 30)
    assert len(pieces) > 4
    assert all(piece.endswith("。") for piece in pieces)


def test_a_long_line_is_cut_quickly():
    assert len(cut("x" * 5_000_000, 500)) > 2000


def test_the_average_is_weighted_and_of_length_one():
    vectors = np.eye(2, dtype=np.float32)
    np.testing.assert_allclose(average(vectors, [3, 4]), [0.6, 0.8], atol=1e-6)


def test_pieces_that_cancel_out_leave_the_heaviest():
    vectors = np.array([[1, 0], [-1, 0]], dtype=np.float32)
    np.testing.assert_allclose(average(vectors, [1.0, 1.0]), [1, 0])


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_unit_refuses_what_has_no_direction(value):
    with pytest.raises(ProviderError, match="model-x"):
        unit(np.array([[1.0, value]]), "model-x")
    with pytest.raises(ProviderError, match="zero"):
        unit(np.zeros((1, 3)), "model-x")


def test_blank_texts_become_something():
    assert sendable(" \n\u3000") == "."
    assert sendable("a\x00") == "a\u2400"
    assert "\ud800" not in sendable("a\ud800")
