"""The passages of a generation: the table of their words and texts, and the records beside it, held together."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alaya_core.errors import DamagedError
from alaya_core.models.requests import Filters
from alaya_core.stores.passage_check import sound
from alaya_core.stores.passage_columns import SAID, PassageColumns, columns_stamp
from alaya_core.stores.passage_writing import PassageWriter
from alaya_core.stores.vector_filters import passage_condition
from alaya_core.stores.vector_tables import Rows, Table, one_of, quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ANSWER = ("id", "session_id", "turn", "piece", "role", "kind", "name", "text", "scope", "timestamp")
"""Columns that a recall needs of a passage."""
_AT_ONCE = 2_000


class PassageTable:
    """Passages, by words in the table, by everything else in the records whose order is that of its row ids.

    Args:
        folder: Of the records.
        table: Of the passages.
        dimensions: Numbers a vector; 0 = there are none.
    """

    def __init__(self, folder: Path, table: Table, dimensions: int) -> None:
        self.table = table
        self._folder = folder
        self._dimensions = dimensions
        self._columns: tuple[object, PassageColumns] | None = None
        self._writer = PassageWriter(folder, dimensions)

    def columns(self) -> PassageColumns:
        """The records as they are now.

        Raises:
            DamagedError: They cannot be what was written.
        """
        stamp = columns_stamp(self._folder)
        if self._columns is None or self._columns[0] != stamp:
            fresh = PassageColumns(self._folder, self._dimensions)
            if not sound(fresh):
                raise DamagedError("the passages' records cannot be read", "run `alaya upkeep` or `alaya rebuild l1`")
            self._columns = (stamp, fresh)
        return self._columns[1]

    def add(self, rows: Sequence[dict[str, Any]]) -> None:
        """Appends passages that are known to be absent."""
        if rows:
            self._readable()
            self.table.add(list(rows))
            self._writer.append(rows, self._first_row_id(rows))

    def remove(self, session: str, from_turn: int) -> None:
        """Deletes the passages of a session from a turn on."""
        self._readable()
        self.table.remove(f"session_id = {quoted(session)} AND turn >= {int(from_turn)}")
        self._writer.remove(session, from_turn)

    def match(
        self, words: str, filters: Filters, scopes: Sequence[str] | None, limit: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Rows of passages that hold any of these words, and their scores (BM25), best first."""
        rows, scores = self.table.match_rows(words, passage_condition(filters, scopes), limit)
        known = rows < len(self.columns())  # what is being written this moment has no record yet
        return rows[known], scores[known]

    def rows(self, row_ids: Sequence[int]) -> dict[int, dict[str, Any]]:
        """What an answer needs of some passages, by row id; those that are gone are left out.

        Raises:
            DamagedError: The records are of other passages than the table's.
        """
        columns = self.columns()
        found = {row["_rowid"]: row for row in self.table.take(row_ids, ANSWER)}
        for row_id, row in found.items():
            if columns.key(row_id) != (row["session_id"], row["turn"], row["piece"]):
                raise DamagedError("the passages' records do not fit their table", "run `alaya rebuild l1`")
        return found

    def said_before(self, session: str) -> int:
        """How many turns of a session were said, as far as it is recorded."""
        columns = self.columns()
        number = columns.numbers.get(session)
        records = columns.records
        said = records["said"][(records["session"] == number) & (records["flags"] & SAID > 0)]
        return int(said.max()) + 1 if len(said) else 0

    def put_vectors(self, rows: Sequence[int], vectors: NDArray[np.float32]) -> None:
        """Stores the vectors of some rows of one session."""
        self._writer.put_vectors(rows, vectors)

    def carry(self, older: PassageTable) -> int:
        """Takes over the vectors of another generation of the same model, where the text is the same; says how many."""
        return self._writer.carry(older.columns())

    def whole(self) -> bool:
        """Whether there is a record for each row of the table, as far as counting tells, and all that they name."""
        try:
            columns = self.columns()
        except DamagedError:
            return False
        return columns.alive == self.table.count() and columns.whole

    def _readable(self) -> None:
        """Whoever writes makes records anew that nobody can read."""
        try:
            self.columns()
        except DamagedError:
            self.mend()

    def mend(self) -> None:
        """Makes the records anew from the table; vectors are to be made again."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._columns = None
        ids = self.table.row_ids()
        ordered = sorted(ids.values())
        for start in range(0, len(ordered), _AT_ONCE):
            some = ordered[start : start + _AT_ONCE]
            rows = sorted(self.table.take(some, (*ANSWER, "words", "said", "marks")), key=lambda row: row["_rowid"])
            for first, run in _runs(rows):
                self._writer.append(run, first)

    def _first_row_id(self, rows: Sequence[dict[str, Any]]) -> int:
        expected = len(self.columns())
        ends = {expected: rows[0]["id"], expected + len(rows) - 1: rows[-1]["id"]}
        found = {row["_rowid"]: row["id"] for row in self.table.take(list(ends), ("id",))}
        if found == ends:
            return expected
        ids = self.table.row_ids(one_of("id", [rows[0]["id"], rows[-1]["id"]]))
        first, last = ids.get(rows[0]["id"], -1), ids.get(rows[-1]["id"], -1)
        if first < 0 or last - first != len(rows) - 1:
            raise DamagedError("the passages' rows are not in the order they were written", "run `alaya rebuild l1`")
        return int(first)


def _runs(rows: Rows) -> list[tuple[int, Rows]]:
    """Rows whose ids follow one another, and the first id of each run."""
    runs: list[tuple[int, Rows]] = []
    for row in rows:
        if runs and row["_rowid"] == runs[-1][0] + len(runs[-1][1]):
            runs[-1][1].append(row)
        else:
            runs.append((row["_rowid"], [row]))
    return runs
