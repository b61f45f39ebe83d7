"""All card vectors as one memory-mapped matrix: an exact product beats an index up to about 100,000 cards.

The file is stamped with the seq it was made at; cards changed since are a small overlay read from the table.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from alaya_core.safe_json import load_json
from alaya_core.stores.files import replacing, write_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


_PLACE_NOISE = 1e-5
"""More than the place of a row changes in its product."""
_LOOKED_AT = 64
_LENGTH_NOISE = 0.02

Stamp = tuple[int, int]
"""Of a saved matrix: the commit it was made at, and when it was written (ns)."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """Cards whose vectors changed since the matrix was made: their vectors, and ids that must not be used from it."""

    ids: tuple[str, ...]
    vectors: Vectors
    hidden: frozenset[str]


class Matrix:
    """An opened matrix with its overlay.

    Args:
        ids: Card id of each row; vectors: (n, d), each of length 1.
        seq: The commit it was made at.
        overlay: What changed since.
        saved: The stamp of the file it was read from; None = it was made from the table.
        rows: How many cards the table had then, with and without a vector; -1 = nobody wrote it down.
        pending: How many of them were still to get one.
    """

    def __init__(
        self,
        ids: Sequence[str],
        vectors: Vectors,
        seq: int,
        overlay: Overlay | None = None,
        saved: Stamp | None = None,
        rows: int = -1,
        pending: int = 0,
    ) -> None:
        self.ids = ids
        self.vectors = vectors
        self.seq = seq
        self.saved = saved
        self.rows, self.pending = rows, pending
        self._overlay = overlay
        self._places = {card_id: place for place, card_id in enumerate(ids)}

    def __len__(self) -> int:
        """How many cards have a vector, one that changed counted at most twice."""
        return len(self.ids) + (len(self._overlay.ids) if self._overlay is not None else 0)

    @property
    def places(self) -> Mapping[str, int]:
        """The row of each card, whatever the overlay says."""
        return self._places

    def overlaid(self, overlay: Overlay) -> Matrix:
        """The same matrix under another overlay."""
        copy = Matrix.__new__(Matrix)
        copy.ids, copy.vectors, copy.seq, copy._places = self.ids, self.vectors, self.seq, self._places
        copy.saved, copy.rows, copy.pending = self.saved, self.rows, self.pending
        copy._overlay = overlay
        return copy

    def nearest(self, query: Vectors, count: int, allowed: Collection[str] | None = None) -> list[tuple[str, float]]:
        """The cards whose vectors are nearest to a query.

        Args:
            query: (d,), of length 1.
            count: How many at most.
            allowed: The only ids that may be answered; None = all.

        Returns:
            (card id, cosine), nearest first; the same whatever the order of the rows.
        """
        import numpy as np

        found: list[tuple[str, float]] = []
        if len(self.ids):
            scores = np.asarray(self.vectors @ query)
            if self._overlay is not None:
                hidden = [self._places[card] for card in self._overlay.hidden if card in self._places]
                scores[hidden] = -2.0
            if allowed is not None:
                keep = np.fromiter((card in allowed for card in self.ids), bool, len(self.ids))
                scores[~keep] = -2.0
            # All that may belong to the nearest, ties too; their cosines anew, as a product depends on the row's place.
            edge = -np.partition(-scores, min(count, len(scores)) - 1)[min(count, len(scores)) - 1]
            near = np.flatnonzero(scores > max(-2.0, float(edge) - _PLACE_NOISE))
            exact = (self.vectors[near] * query).sum(axis=1)
            found.extend((self.ids[int(place)], float(score)) for place, score in zip(near, exact, strict=True))
        if self._overlay is not None and self._overlay.ids:
            scores = (self._overlay.vectors * query).sum(axis=1)
            pairs = zip(self._overlay.ids, scores, strict=True)
            found.extend((card, float(score)) for card, score in pairs if allowed is None or card in allowed)
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:count]

    def vectors_of(self, ids: Collection[str]) -> dict[str, Vectors]:
        """The vectors of some cards; those without are left out."""
        found: dict[str, Vectors] = {}
        over = dict(zip(self._overlay.ids, self._overlay.vectors, strict=True)) if self._overlay else {}
        hidden = self._overlay.hidden if self._overlay else frozenset()
        for card in ids:
            if card in over:
                found[card] = over[card]
            elif card in self._places and card not in hidden:
                found[card] = self.vectors[self._places[card]]
        return found


def save_matrix(
    folder: Path, vectors: Mapping[str, Vectors], seq: int, dimensions: int, *, rows: int = -1, pending: int = 0
) -> None:
    """Writes a matrix beside the table it is made from; the caller holds the writer lock.

    Args:
        vectors: In the order of the rows: those that should stay resident first.
        rows, pending: See `Matrix`.
    """
    import numpy as np

    name = f"matrix-{seq}"
    if (folder / f"{name}.f32").exists():  # who reads the old one must not see the ids of one and the rows of the other
        name = f"{name}-again" if _saved_name(folder) == name else name
    with replacing(folder / f"{name}.f32", durable=False) as file:
        for vector in vectors.values():
            file.write(np.ascontiguousarray(vector, dtype=np.float32).tobytes())
    write_file(folder / f"{name}.ids", "\n".join(vectors).encode(), durable=False)
    raw = {
        "name": name,
        "seq": seq,
        "count": len(vectors),
        "dimensions": dimensions,
        "rows": rows,
        "pending": pending,
    }
    write_file(folder / "matrix.json", json.dumps(raw).encode())
    for path in folder.glob("matrix-*"):
        if path.stem != name:
            with contextlib.suppress(OSError):
                path.unlink()


def _saved_name(folder: Path) -> str:
    try:
        return str(load_json((folder / "matrix.json").read_bytes())["name"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def matrix_stamp(folder: Path) -> Stamp | None:
    """What tells one saved matrix from another; None = there is none."""
    try:
        path = folder / "matrix.json"
        return int(load_json(path.read_bytes())["seq"]), path.stat().st_mtime_ns
    except (OSError, ValueError, KeyError, TypeError):
        return None


def load_matrix(folder: Path, dimensions: int) -> Matrix | None:
    """Maps a matrix into memory; None when there is none that fits."""
    import numpy as np

    saved = matrix_stamp(folder)
    try:
        raw = load_json((folder / "matrix.json").read_bytes())
        if raw["dimensions"] != dimensions:
            return None
        seq, rows, pending = int(raw["seq"]), int(raw.get("rows", -1)), int(raw.get("pending", 0))
        if raw["count"] == 0:
            return Matrix([], np.zeros((0, dimensions), np.float32), seq, None, saved, rows, pending)
        ids = (folder / f"{raw['name']}.ids").read_text(encoding="utf-8").split("\n")
        mapped = np.memmap(folder / f"{raw['name']}.f32", np.float32, "r", shape=(raw["count"], dimensions))
        vectors = np.asarray(mapped)  # the same pages; a row of a memmap costs much more to take than one of an array
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if len(ids) != raw["count"] or not _sound(vectors):
        return None
    return Matrix(ids, vectors, seq, None, saved, rows, pending)


def _sound(vectors: Vectors) -> bool:
    """Whether some rows, from the first to the last, have length 1: what a disk spoilt has not."""
    import numpy as np

    rows = vectors[np.unique(np.linspace(0, len(vectors) - 1, _LOOKED_AT).astype(int))]
    with np.errstate(all="ignore"):
        lengths = (rows * rows).sum(axis=1)
    return bool(np.all(np.abs(lengths - 1) < _LENGTH_NOISE))
