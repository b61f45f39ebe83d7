"""Texts cut to what a model takes, and vectors put together again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alaya_core.errors import ProviderError
from alaya_core.text import storable

Vectors = NDArray[np.float32]

BLANK = "."
"""What is embedded in place of a text without a visible character: most services refuse an empty string."""

_BREAK = re.compile(r"[\s。！？；，、.!?;,]")


def sendable(text: str) -> str:
    """The text as a model gets it: storable, and never blank."""
    clean = storable(text)
    return clean if clean.strip(" \t\r\n\v\f\u200b\u3000\ufeff") else BLANK


def estimate_tokens(text: str) -> int:
    """About how many tokens a text is: a CJK character one, four Latin characters one; never less than one."""
    return int(-(-_quarters(text)[-1] // 4)) if text else 1


def cut(text: str, max_tokens: int, overlap: float = 0.125) -> list[str]:
    """Cuts a text into overlapping pieces, at a sentence or word break where one is near.

    Args:
        text: Any text.
        max_tokens: The most estimated tokens in a piece; at least 1.
        overlap: The share of a piece that the next one repeats.

    Returns:
        The pieces in order; together they cover every character. A text that fits is its own single piece.
    """
    limit = max(max_tokens, 1) * 4
    ends = _quarters(text)
    if not text or ends[-1] <= limit:
        return [text]
    pieces: list[str] = []
    start = 0
    while True:
        used = ends[start - 1] if start else 0
        stop = max(int(np.searchsorted(ends, used + limit, side="right")), start + 1)
        if stop >= len(text):
            pieces.append(text[start:])
            return pieces
        stop = _nice_stop(text, start, stop)
        pieces.append(text[start:stop])
        start = max(stop - int((stop - start) * overlap), start + 1)


def average(vectors: Vectors, weights: Sequence[float]) -> Vectors:
    """The weighted mean of unit vectors, made a unit vector again.

    Args:
        vectors: (k, d), L2-normalised.
        weights: k weights, e.g. the lengths of the pieces.

    Returns:
        (d,). Where the pieces cancel each other out, the heaviest piece stands for the whole.
    """
    mean = np.asarray(weights, dtype=np.float32) @ vectors
    norm = float(np.linalg.norm(mean))
    if norm < 1e-6 * float(sum(weights)):
        return np.asarray(vectors[int(np.argmax(weights))], dtype=np.float32)
    return np.asarray(mean / norm, dtype=np.float32)


def unit(vectors: NDArray[Any], who: str) -> Vectors:
    """Vectors L2-normalised.

    Args:
        vectors: (n, d) as a model gave them.
        who: The model or host, for the message.

    Raises:
        ProviderError: A value is NaN or infinite, or a vector is zero.
    """
    wide = vectors.astype(np.float64)
    if not (np.abs(wide) < 1e100).all():
        raise ProviderError(f"{who} returned a vector with a value that is not a number (NaN or infinity)")
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    if (norms < 1e-12).any():
        raise ProviderError(f"{who} returned a zero vector")
    return np.asarray(wide / norms, dtype=np.float32)


def join_pieces(pieces: Sequence[Sequence[str]], vectors: Vectors) -> Vectors:
    """One vector a text from the vectors of its pieces.

    Args:
        pieces: The pieces of each text.
        vectors: (number of all pieces, d), in the same order.

    Returns:
        (number of texts, d), L2-normalised.
    """
    out = np.empty((len(pieces), vectors.shape[1]), dtype=np.float32)
    at = 0
    for row, parts in enumerate(pieces):
        block = vectors[at : at + len(parts)]
        out[row] = block[0] if len(parts) == 1 else average(block, [len(part) for part in parts])
        at += len(parts)
    return out


def collect(count: int, dimensions: int | None, batches: Iterable[tuple[list[int], Vectors]]) -> Vectors:
    """Batches as `iter_passages` yields them, put into one matrix (count, d)."""
    out: Vectors | None = None
    for rows, vectors in batches:
        if out is None:
            out = np.zeros((count, vectors.shape[1]), dtype=np.float32)
        out[rows] = vectors
    return out if out is not None else np.zeros((count, dimensions or 0), dtype=np.float32)


def _quarters(text: str) -> NDArray[np.int64]:
    """The running cost of a text after each character, in quarters of a token."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    costs = np.where(codes < 0x250, 1, np.where(codes < 0x2E80, 2, 4))
    return np.cumsum(costs, dtype=np.int64)


def _nice_stop(text: str, start: int, stop: int) -> int:
    earliest = stop - (stop - start) // 4
    found = [match.end() for match in _BREAK.finditer(text, earliest, stop)]
    return found[-1] if found else stop
