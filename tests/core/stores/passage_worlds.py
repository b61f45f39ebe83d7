"""Tables of passages on the disk, without a memory around them, and a plain model of what they should hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alaya_core.models.session import Turn, TurnKind
from alaya_core.services.passages import passage_rows
from alaya_core.stores.passage_columns import LIVE, SAID, PassageColumns, token_code
from alaya_core.stores.passage_table import PassageTable
from alaya_core.stores.passage_writing import text_hash
from alaya_core.stores.vector_tables import PASSAGES, Table, connect

DIMENSIONS = 16
MINUTE_MS = 60_000
TOOL = ">"
"""A text that begins with it is a tool's output."""

Floats = NDArray[np.float32]


def opened(folder: Path, dimensions: int = DIMENSIONS) -> PassageTable:
    """A table of passages in a folder, made if need be."""
    table = Table(connect(folder), PASSAGES, None)
    table.create()
    return PassageTable(folder / "passages", table, dimensions)


def rows_of(session: str, texts: Sequence[str], first: int = 0, said: int = 0, agent: str = "main") -> Any:
    """Rows of turns as the indexer makes them; the turns of a session are a minute apart."""
    rows: list[dict[str, Any]] = []
    for number, text in enumerate(texts, first):
        kind = TurnKind.TOOL if text.startswith(TOOL) else TurnKind.MESSAGE
        role, name = ("tool", "shell") if kind is TurnKind.TOOL else ("user", ("Ana", "Ben")[number % 2])
        turn = Turn(role, text, number * MINUTE_MS, kind, text, name=name)
        rows += passage_rows(session, number, turn, f"agent:{agent}", 1_000, said)
        said += kind is TurnKind.MESSAGE
    return rows


def units(count: int, seed: int = 0, dimensions: int = DIMENSIONS) -> Floats:
    """Vectors of length 1, no two alike."""
    found = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


def live(columns: PassageColumns) -> list[int]:
    """The rows that are there."""
    return [int(row) for row in np.flatnonzero(columns.records["flags"] & LIVE > 0)]


def everything(folder: Path) -> bytes:
    """All bytes of the records' files."""
    return b"".join(path.read_bytes() for path in sorted((folder / "passages").iterdir()))


@dataclass
class Model:
    """What a table should hold: rows in the order they were written, with the vectors they were given."""

    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    vectors: dict[str, Floats] = field(default_factory=dict)

    def add(self, rows: Sequence[dict[str, Any]]) -> None:
        self.rows |= {row["id"]: row for row in rows}

    def remove(self, session: str, from_turn: int) -> None:
        gone = [key for key, row in self.of(session) if row["turn"] >= from_turn]
        for key in gone:
            del self.rows[key]
            self.vectors.pop(key, None)

    def of(self, session: str) -> Iterator[tuple[str, dict[str, Any]]]:
        return ((key, row) for key, row in list(self.rows.items()) if row["session_id"] == session)

    def turns(self, session: str) -> int:
        return max((row["turn"] + 1 for _, row in self.of(session)), default=0)

    def said(self, session: str) -> int:
        return max((row["said"] + 1 for _, row in self.of(session) if row["kind"] != "tool"), default=0)

    def check(self, table: PassageTable) -> None:
        """The table and its records hold this, and nothing else."""
        columns, ids = table.columns(), table.table.row_ids()
        assert set(ids) == set(self.rows)
        assert live(columns) == sorted(ids.values())
        assert table.whole()
        for key, row in self.rows.items():
            self._check_record(columns, ids, key, row)
        for session in {row["session_id"] for row in self.rows.values()}:
            self._check_chain(columns, ids, session)
            assert table.said_before(session) == self.said(session)
        gone = np.setdiff1d(np.arange(len(columns)), live(columns))
        assert not any(columns.records[gone].tobytes())
        assert table.said_before("never seen") == 0

    def _check_record(self, columns: PassageColumns, ids: dict[str, int], key: str, row: dict[str, Any]) -> None:
        at = ids[key]
        record = columns.records[at]
        assert columns.key(at) == (row["session_id"], row["turn"], row["piece"])
        assert columns.scopes[record["session"]] == row["scope"]
        assert (record["text"], record["length"]) == (text_hash(row["text"]), len(row["text"]))
        assert (record["said"], record["time"]) == (row["said"], row["timestamp"])
        assert bool(record["flags"] & SAID) == (row["kind"] != "tool")
        assert (columns.names[record["name"]] if record["name"] >= 0 else "") == row["name"]
        tokens = set(row["words"].split())
        assert columns.holding(np.array([at]), [token_code(token) for token in sorted(tokens)]).all()
        assert record["tokens"] == len(tokens)
        cosine = columns.cosines(np.array([at]), np.eye(DIMENSIONS, dtype=np.float32)[0])[0]
        assert np.isnan(cosine) if key not in self.vectors else abs(cosine - self.vectors[key][0]) < 0.01

    def _check_chain(self, columns: PassageColumns, ids: dict[str, int], session: str) -> None:
        """What was said is one chain; a tool's output hangs on what was said before it."""
        last = -1
        for key, row in sorted(self.of(session), key=lambda item: (item[1]["turn"], item[1]["piece"])):
            record = columns.records[ids[key]]
            assert record["before"] == last
            if row["kind"] == "tool":
                assert record["after"] == -1
                continue
            if last >= 0:
                assert columns.records[last]["after"] == ids[key]
            last = ids[key]
        if last >= 0:
            assert columns.records[last]["after"] == -1
