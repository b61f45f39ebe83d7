"""What recall weighs of passages: one record each, in files mapped into memory, in the order of the table's row ids.

The table answers which passages hold a word; everything else that decides their order (what stands around them, who
speaks, what they mean) would need hundreds of rows a query, and reading rows is what costs most there. Here it is a
few reads of memory that the system shares among processes. All but the vectors is made of the table's rows.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alaya_core import words
from alaya_core.models.requests import Filters
from alaya_core.safe_json import load_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]

LIVE, SAID, ASKS, TIMED, HAN = 1, 2, 4, 8, 16
"""Flags of a record: it is there; somebody said it (it is no output of a tool); it asks; it tells a time; it has
Chinese characters."""
NO_TIME = -(2**63)
_FEW = 24
SESSIONS, RECORDS, TOKENS, VECTORS, STRETCHES, MEANS = (
    "sessions.jsonl",
    "records.bin",
    "tokens.bin",
    "vectors.bin",
    "stretches.bin",
    "means.bin",
)

RECORD = [
    ("session", "<i4"),
    ("turn", "<i4"),
    ("piece", "<i4"),
    ("said", "<i4"),
    ("before", "<i4"),
    ("after", "<i4"),
    ("time", "<i8"),
    ("tokens_at", "<i8"),
    ("tokens", "<i4"),
    ("length", "<i4"),
    ("name", "<i4"),
    ("scale", "<f4"),
    ("text", "<u8"),
    ("flags", "<u4"),
    ("spare", "<u4"),
]
"""A passage: its session and name by number; `said`, how many turns of the session were said before it; `before` and
`after`, the rows of the passages said next to it (-1 = none); where its tokens stand; the length of its text; `scale`,
what its stored vector is multiplied by (0 = it has none); `text`, a hash of its text."""

STRETCH = [("first", "<i4"), ("rows", "<i4"), ("session", "<i4"), ("spare", "<i4")]
"""Some turns in a row, and in `means.bin` the mean of their vectors: what is searched first by meaning."""


def token_code(token: str) -> int:
    """A token as a number of 32 bits; two tokens share one once in four billion."""
    return zlib.crc32(token.encode("utf-8", "surrogatepass"))


class PassageColumns:
    """The records as they are on the disk now; a new object is needed when there are more.

    Args:
        folder: Where the files lie.
        dimensions: Numbers a vector; 0 = there are none.
    """

    def __init__(self, folder: Path, dimensions: int) -> None:
        import numpy as np

        self.dimensions = dimensions
        self.sessions: list[str] = []
        self.scopes: list[str] = []
        self.names: list[str] = []
        self.records = _mapped(folder / RECORDS, np.dtype(RECORD))
        self.tokens = _mapped(folder / TOKENS, np.dtype("<u4"))
        width = max(1, dimensions)
        vectors = _mapped(folder / VECTORS, np.dtype("i1"))
        self.vectors = vectors[: len(vectors) // width * width].reshape(-1, width)
        means = _mapped(folder / MEANS, np.dtype("<f4"))
        self.means = means[: len(means) // width * width].reshape(-1, width)
        stretches = _mapped(folder / STRETCHES, np.dtype(STRETCH))
        self._means_lost = len(stretches) > len(self.means)
        self.stretches = stretches[: len(self.means)]
        self.means = self.means[: len(self.stretches)]
        for line in _lines(folder / SESSIONS):
            if "session" in line:
                self.sessions.append(str(line["session"]))
                self.scopes.append(str(line.get("scope", "")))
            elif "name" in line:
                self.names.append(str(line["name"]))

    def __len__(self) -> int:
        return len(self.records)

    @property
    def alive(self) -> int:
        """How many passages there are."""
        return int((self.records["flags"] & LIVE).sum())

    @property
    def whole(self) -> bool:
        """Whether the vectors that the records name are there; their files may have been cut short. (What else they
        name, `passage_check.sound` looks after: without it they cannot be read at all.)"""
        import numpy as np

        having = np.flatnonzero(self.records["scale"] > 0)
        return not self._means_lost and (not len(having) or int(having[-1]) < len(self.vectors))

    def searched(self, seen: NDArray[np.bool_] | None) -> int:
        """How many passages there are in the sessions that may be found.

        Args:
            seen: As from `visible`.
        """
        return int(self._counts.sum() if seen is None else self._counts[: len(seen)][seen[: len(self._counts)]].sum())

    @cached_property
    def _counts(self) -> NDArray[np.int64]:
        import numpy as np

        living = self.records["session"][self.records["flags"] & LIVE > 0]
        return np.bincount(living, minlength=len(self.sessions)).astype(np.int64)

    def embeddable(self) -> Rows:
        """Rows that were said, newest last."""
        import numpy as np

        flags = self.records["flags"]
        return np.flatnonzero((flags & LIVE > 0) & (flags & SAID > 0))

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each session."""
        return {session: number for number, session in enumerate(self.sessions)}

    @cached_property
    def name_tokens(self) -> list[frozenset[str]]:
        """The tokens of each speaker's name."""
        return [frozenset(words.tokens(name)) for name in self.names]

    def visible(self, filters: Filters, scopes: Sequence[str] | None) -> NDArray[np.bool_] | None:
        """Which sessions may be found, by number; None = all."""
        import numpy as np

        if scopes is None and not filters.scope and filters.session is None:
            return None
        seen = np.ones(len(self.sessions), bool)
        for allowed in (scopes, filters.scope or None):
            if allowed is not None:
                listed = set(allowed)
                seen &= np.fromiter((scope in listed for scope in self.scopes), bool, len(self.scopes))
        if filters.session is not None:
            seen &= np.fromiter((one == filters.session for one in self.sessions), bool, len(self.sessions))
        return seen

    def passing(self, rows: Rows, filters: Filters, seen: NDArray[np.bool_] | None) -> Rows:
        """Of some rows those that are there and that the filters let through."""
        import numpy as np

        rows = rows[(rows >= 0) & (rows < len(self.records))]
        chosen = self.records[rows]
        keep = chosen["flags"] & LIVE > 0
        if seen is not None:
            keep &= seen[np.clip(chosen["session"], 0, len(seen) - 1)] if len(seen) else False
        if filters.since is not None:
            keep &= (chosen["time"] != NO_TIME) & (chosen["time"] >= filters.since)
        if filters.until is not None:
            keep &= (chosen["time"] != NO_TIME) & (chosen["time"] <= filters.until)
        return np.asarray(rows[keep], np.int64)

    def nearest_stretches(self, query: NDArray[np.float32], count: int, seen: NDArray[np.bool_] | None) -> Rows:
        """The rows of the stretches whose mean is nearest to a query.

        Args:
            query: (dimensions,), of length 1.
            count: How many stretches.
            seen: As from `visible`.
        """
        import numpy as np

        if not len(self.means) or count <= 0:
            return np.zeros(0, np.int64)
        scores = np.asarray(self.means @ query)
        if seen is not None and len(seen):
            scores[~seen[np.clip(self.stretches["session"], 0, len(seen) - 1)]] = -2.0
        top = np.argpartition(-scores, min(count, len(scores)) - 1)[:count]
        top = top[(scores[top] > -1.0) & (self.stretches["rows"][top] > 0)]
        return spans(self.stretches["first"][top].astype(np.int64), self.stretches["rows"][top].astype(np.int64))

    def cosines(self, rows: Rows, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Cosine of each row's vector with a query; NaN where a row has none."""
        import numpy as np

        scale = self.records["scale"][rows] if len(rows) else np.zeros(0, np.float32)
        found = np.full(len(rows), np.nan, np.float32)
        has = (scale > 0) & (rows < len(self.vectors))
        if has.any():
            found[has] = (self.vectors[rows[has]].astype(np.float32) @ query) * scale[has]
        return found

    def holding(self, rows: Rows, codes: Sequence[int]) -> NDArray[np.bool_]:
        """(rows, codes): whether each row has each of these tokens."""
        import numpy as np

        held = np.zeros((len(rows), len(codes)), bool)
        if not len(rows) or not len(codes):
            return held
        chosen = self.records[rows]
        counts = np.clip(chosen["tokens"].astype(np.int64), 0, None)
        flat = spans(chosen["tokens_at"], counts)
        owner = np.repeat(np.arange(len(rows)), counts)
        inside = flat < len(self.tokens)
        flat, owner = flat[inside], owner[inside]
        found = self.tokens[flat]
        if len(codes) <= _FEW:  # one comparison each is quicker than looking every token up
            for place, code in enumerate(codes):
                held[owner[found == np.uint32(code)], place] = True
            return held
        wanted = np.asarray(codes, np.uint32)
        order = np.argsort(wanted)
        at = np.clip(np.searchsorted(wanted[order], found), 0, len(wanted) - 1)
        hit = wanted[order][at] == found
        held[owner[hit], order[at[hit]]] = True
        return held

    def bag(self, row: int) -> frozenset[int]:
        """The tokens of a row."""
        record = self.records[row]
        at = int(record["tokens_at"])
        return frozenset(self.tokens[at : at + int(record["tokens"])].tolist())

    def key(self, row: int) -> tuple[str, int, int]:
        """Session, turn and piece of a row; no session where the records do not say which."""
        record = self.records[row]
        number = int(record["session"])
        session = self.sessions[number] if number < len(self.sessions) else ""
        return session, int(record["turn"]), int(record["piece"])


def spans(firsts: NDArray[np.int64], counts: NDArray[np.int64]) -> Rows:
    """All numbers of several spans, one span after another."""
    import numpy as np

    total = int(counts.sum())
    if not total:
        return np.zeros(0, np.int64)
    starts = np.repeat(firsts - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
    return np.asarray(starts + np.arange(total), np.int64)


def columns_stamp(folder: Path) -> tuple[int, ...]:
    """What changes when there is something else to read; cheap."""
    try:
        records = (folder / RECORDS).stat()
    except OSError:
        return ()
    # Records are blanked in place, and files that were made anew may be as long as the old ones.
    written = (records.st_ino, records.st_size, records.st_mtime_ns)
    return (*written, _size(folder / STRETCHES), _size(folder / SESSIONS))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1


def _mapped(path: Path, kind: Any) -> Any:
    """The whole records of a file, mapped; none where there is no file."""
    import numpy as np

    count = max(0, _size(path)) // kind.itemsize
    if not count:
        return np.zeros(0, kind)
    # An array over the same pages: taking rows of a memmap costs much more.
    return np.asarray(np.memmap(path, kind, "r", shape=(count,)))


def _lines(path: Path) -> Iterable[dict[str, Any]]:
    try:
        raw = path.read_bytes()
    except OSError:
        return
    for line in raw.split(b"\n")[:-1]:
        try:
            yield load_json(line)
        except ValueError:
            yield {"session": "", "scope": ""}
