"""Cards that are alike, by exact products of their vectors, a block of rows at a time; never all with all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from alaya_core.models.plan import Pair

Vectors = NDArray[np.float32]
Rescale = Callable[[NDArray[np.float32], bool, NDArray[np.bool_]], NDArray[np.float32]]
"""Puts cosines of one text (Chinese or not) with others on the scale of thresholds."""

_BLOCK = 512
_SAME = np.float32(1.0)


def near_pairs(
    ids: Sequence[str],
    vectors: Vectors,
    chinese: NDArray[np.bool_],
    rescale: Rescale,
    *,
    least: float,
    most: int,
    rows: Sequence[int] | None = None,
    told: Callable[[int, int], None] = lambda _done, _total: None,
) -> list[Pair]:
    """The pairs of cards that are more alike than a threshold; of each card its nearest.

    Args:
        ids: n card ids; vectors: (n, d), each of length 1; chinese: (n,), by which background a text is measured.
        rescale: Puts cosines on the scale of `least`.
        least: 0..1, rescaled.
        most: How many neighbours of one card are looked at, the nearest ones.
        rows: Only pairs with one of these cards; None = all.
        told: Called with the rows that are done and their number; may raise to stop.

    Returns:
        Each pair once, the most alike first; ties by id.
    """
    wanted = np.arange(len(ids)) if rows is None else np.asarray(rows, dtype=np.int64)
    found: dict[tuple[int, int], float] = {}
    done = 0
    for block, is_chinese in _blocks(wanted, chinese):
        cosines = vectors[block] @ vectors.T
        floor = _cosine_of(least, is_chinese, chinese, rescale)
        near = cosines >= floor
        near[np.arange(len(block)), block] = False
        for place in np.flatnonzero(near.any(axis=1)):
            others = np.flatnonzero(near[place])
            similar = rescale(np.minimum(cosines[place, others], _SAME), is_chinese, chinese[others])
            if len(others) > most:
                nearest = np.argpartition(-similar, most - 1)[:most]
                others, similar = others[nearest], similar[nearest]
            row = int(block[place])
            for other, value in zip(others.tolist(), similar.tolist(), strict=True):
                found[(min(row, other), max(row, other))] = value
        done += len(block)
        told(done, len(wanted))
    pairs = [
        Pair(min(ids[a], ids[b]), max(ids[a], ids[b]), round(value, 6))
        for (a, b), value in found.items()
        if value >= least
    ]
    return sorted(pairs, key=lambda pair: (-pair.similarity, pair.one, pair.other))


def _blocks(rows: NDArray[np.int64], chinese: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.int64], bool]]:
    """Rows in blocks of one script, which are measured against one background."""
    for script in (False, True):
        own = rows[chinese[rows] == script]
        for start in range(0, len(own), _BLOCK):
            yield own[start : start + _BLOCK], script


def _cosine_of(least: float, is_chinese: bool, chinese: NDArray[np.bool_], rescale: Rescale) -> NDArray[np.float32]:
    """The cosine, for each card, from which on it is similar enough to a text of a script; a little below, to be sure.

    The scale only rises, so it is found by halving, once for each script.
    """
    floors = np.zeros(2, dtype=np.float32)
    for at, script in enumerate((False, True)):
        low, high = -1.0, 1.0
        for _ in range(20):
            middle = (low + high) / 2
            value = rescale(np.array([middle], np.float32), is_chinese, np.array([script]))[0]
            low, high = (low, middle) if value >= least else (middle, high)
        floors[at] = low
    return floors[chinese.astype(np.int64)]
