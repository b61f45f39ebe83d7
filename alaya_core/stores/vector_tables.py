"""The only importer of LanceDB: its tables, their rows, and how it is asked."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from alaya_core.errors import AlayaError, DamagedError, DiskFullError
from alaya_core.stores.files import says_disk_full
from alaya_core.stores.vector_files import any_cut_short, data_files
from alaya_core.stores.vector_schema import CARD_FIELDS, PASSAGE_FIELDS, schema
from alaya_core.words import INDEX_SETTINGS

CARDS = "cards"
PASSAGES = "passages"

Rows = list[dict[str, Any]]

_WHERE_IN_THE_ENGINE = re.compile(r"[\s,(]*(?:at )?/[^\s,]*\.rs(?::\d+)*\)?")
_SAMPLE = 4
"""Rows whose words are looked for to see whether a words index answers."""
_WORDS_AT_ONCE = 200


class VectorEngineError(AlayaError):
    """The vector engine failed at something that the files themselves do not explain."""


class WordsIndexError(DamagedError):
    """The rows of a table can be read, its words index cannot."""

    def __init__(self) -> None:
        super().__init__("the words index cannot be read", "run `alaya rebuild l1`")


def connect(folder: Path) -> Any:
    """A connection that sees other processes' writes at once."""
    os.environ.setdefault("LANCEDB_LOG", "error")  # its own logger writes on the terminal the screen is drawn on
    import lancedb

    return lancedb.connect(str(folder), read_consistency_interval=timedelta(0))


class Table:
    """One table of a generation.

    Args:
        connection: As `connect` made it.
        name: CARDS or PASSAGES.
        dimensions: Numbers a vector; None while no model is known (then the table has no vectors yet).
    """

    def __init__(self, connection: Any, name: str, dimensions: int | None) -> None:
        self._connection = connection
        self._name = name
        # Passages have their vectors beside the table: they come later, and rows that change are written anew.
        self._schema = schema(CARD_FIELDS, dimensions) if name == CARDS else schema(PASSAGE_FIELDS, None)
        self._table: Any = None

    def create(self) -> None:
        """Makes the table, empty; the caller holds the writer lock."""
        # Of passages row ids that stay what they are, and rise by one a row that is added.
        options = {"new_table_enable_stable_row_ids": "true"} if self._name == PASSAGES else None
        self._table = self._connection.create_table(
            self._name, schema=self._schema, exist_ok=True, storage_options=options
        )

    def put(self, rows: Rows) -> None:
        """Writes rows, replacing those of the same id, in one version; the caller holds the writer lock."""
        if not rows:
            return
        unique = list({row["id"]: row for row in rows}.values())
        self._write(
            lambda data: (
                self._open()
                .merge_insert("id")
                .when_matched_update_all()
                .when_not_matched_insert_all()
                .execute(data, on_bad_vectors="null")
            ),
            unique,
        )

    def add(self, rows: Rows) -> None:
        """Appends rows whose ids are known to be absent; the caller holds the writer lock."""
        if rows:
            self._write(lambda data: self._open().add(data, on_bad_vectors="null"), rows)

    def remove(self, where: str) -> None:
        """Deletes the rows that a filter made by `quoted` and its kin names."""
        try:
            self._open().delete(where)
        except (RuntimeError, ValueError, OSError) as error:
            raise classified(error) from error

    def rows(self, where: str | None = None, columns: Sequence[str] | None = None, limit: int | None = None) -> Rows:
        """Rows as dictionaries."""
        return list(self.arrow(where, columns, limit).to_pylist())

    def arrow(self, where: str | None = None, columns: Sequence[str] | None = None, limit: int | None = None) -> Any:
        """Rows as an Arrow table."""
        try:
            query = self._open().search()
            query = query.where(where) if where else query
            query = query.select(list(columns)) if columns else query
            return query.limit(limit).to_arrow()
        except (RuntimeError, ValueError, OSError) as error:
            raise classified(error) from error

    def match(self, words: str, where: str | None, columns: Sequence[str], limit: int) -> Rows:
        """Rows that hold any of these words, best first, with `_score` (BM25).

        Args:
            words: Analysed text; never anything a person or a file wrote as it stands.

        Raises:
            WordsIndexError: The index is broken, and nothing else.
        """
        if not words:
            return []
        import lancedb.query

        make_query: Any = lancedb.query.MatchQuery
        try:
            query = self._open().search(make_query(words, "words"), query_type="fts")
            query = query.where(where, prefilter=True) if where else query
            return list(query.select([*columns, "_score"]).limit(limit).to_arrow().to_pylist())
        except Exception as error:  # a broken index makes the engine panic too, which is none of the usual errors
            self.arrow(where, columns, 1)  # says what is wrong where it is the table itself
            raise WordsIndexError from error

    def match_rows(self, words: str, where: str | None, limit: int) -> tuple[Any, Any]:
        """Row ids of the rows that hold any of these words, and their scores (BM25), best first, as numpy arrays; much
        cheaper than the rows themselves.

        Args:
            words: As for `match`.

        Raises:
            WordsIndexError: The index is broken, and nothing else.
        """
        import lancedb.query
        import numpy as np

        if not words:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        make_query: Any = lancedb.query.MatchQuery
        try:
            query = self._open().search(make_query(words, "words"), query_type="fts")
            query = query.where(where, prefilter=True) if where else query
            found = query.select(["_score"]).with_row_id(True).limit(limit).to_arrow()
        except Exception as error:  # as in `match`
            self.arrow(where, None, 1)
            raise WordsIndexError from error
        return found.column("_rowid").to_numpy().astype(np.int64), found.column("_score").to_numpy()

    def take(self, row_ids: Sequence[int], columns: Sequence[str]) -> Rows:
        """Rows by their row ids, in no certain order, each with its `_rowid`; those that are gone are left out."""
        if not row_ids:
            return []
        try:
            query = self._open().take_row_ids(list(row_ids)).select(list(columns)).with_row_id()
            return list(query.to_arrow().to_pylist())
        except (RuntimeError, ValueError, OSError) as error:
            raise classified(error) from error

    def row_ids(self, where: str | None = None) -> dict[str, int]:
        """The row id of each row (that matches a filter), by its id; reads the whole column."""
        try:
            query = self._open().search()
            query = query.where(where) if where else query
            found = query.select(["id"]).with_row_id(True).limit(None).to_arrow()
        except (RuntimeError, ValueError, OSError) as error:
            raise classified(error) from error
        return dict(zip(found.column("id").to_pylist(), found.column("_rowid").to_pylist(), strict=True))

    def count(self, where: str | None = None) -> int:
        """How many rows (match a filter)."""
        try:
            return int(self._open().count_rows(where))
        except (RuntimeError, ValueError, OSError) as error:
            raise classified(error) from error

    def version(self) -> int:
        """Changes with every write, of whatever process."""
        try:
            return int(self._open().version)
        except (RuntimeError, ValueError, OSError) as error:
            raise classified(error) from error

    def index_backlog(self) -> int | None:
        """Rows that the words index does not hold yet; None without an index."""
        try:
            stats = self._open().index_stats("words_idx")
        except (RuntimeError, ValueError, OSError) as error:
            raise classified(error) from error
        return None if stats is None else int(stats.num_unindexed_rows)

    def words_broken(self, rows: int = _SAMPLE) -> bool:
        """Whether the words index cannot be read, as far as looking for the words of some rows tells."""
        texts = self.rows(None, ["words"], rows)
        found = dict.fromkeys(word for row in texts for word in row["words"].split())
        try:
            for start in range(0, len(words := list(found)), _WORDS_AT_ONCE):
                self.match(" ".join(words[start : start + _WORDS_AT_ONCE]), None, ["id"], 1)
        except WordsIndexError:
            return True
        return False

    def index_words(self) -> None:
        """Makes the words index, in the place of the one that is there; nobody else may write the table meanwhile."""
        from lancedb.index import FTS

        settings: dict[str, Any] = dict(INDEX_SETTINGS)
        try:
            self._open().create_index("words", config=FTS(**settings))
        except (RuntimeError, ValueError, OSError) as error:
            raise classified(error) from error

    def compact(self, keep_s: float) -> None:
        """Joins small files, folds new rows into the words index and removes old versions; nobody else may write the
        table meanwhile, readers may go on.

        Args:
            keep_s: Versions replaced less than so many seconds ago stay, for those who are reading them.
        """
        table = self._open()
        try:
            table.checkout_latest()  # after a lost race a handle goes on losing until it has looked again
            with self._files_whole():
                # What no version names was left by a killed writer: there is no living one while we are here.
                table.optimize(cleanup_older_than=timedelta(seconds=max(keep_s, 0.001)), delete_unverified=True)
        except (RuntimeError, ValueError, OSError) as error:
            raise classified(error) from error

    def _open(self) -> Any:
        if self._table is None:
            try:
                self._table = self._connection.open_table(self._name)
            except (RuntimeError, ValueError, OSError) as error:
                raise classified(error) from error
        return self._table

    @contextlib.contextmanager
    def _files_whole(self) -> Iterator[None]:
        """Takes a version back whose rows are not all on the disk: the engine takes a file that found no room for
        written, and nobody could read the table any more.

        Raises:
            DiskFullError: So it was.
        """
        folder = Path(self._connection.uri)
        before, there = self.version(), data_files(folder, self._name)
        yield
        if any_cut_short(folder, self._name, data_files(folder, self._name) - there):
            self._open().restore(before)
            raise DiskFullError("words and vectors were not written")

    def _write(self, write: Any, rows: Rows) -> None:
        import pyarrow as pa

        names = self._schema.names
        data = pa.table(
            {name: pa.array([row.get(name) for row in rows], self._schema.field(name).type) for name in names},
            schema=self._schema,
        )
        try:
            with self._files_whole():
                write(data)
        except (RuntimeError, ValueError, OSError) as error:
            raise classified(error) from error


def quoted(value: str) -> str:
    """A value as an SQL string: the only way a value gets into a filter."""
    return "'" + value.replace("\x00", "").encode("utf-8", "replace").decode().replace("'", "''") + "'"


def one_of(column: str, values: Iterable[str]) -> str:
    """A filter: the column holds one of these values (none: never)."""
    listed = ", ".join(quoted(value) for value in values)
    return f"{column} IN ({listed})" if listed else "false"


def holds_any(column: str, values: Iterable[str]) -> str:
    """A filter: a list column holds any of these values."""
    return f"array_has_any({column}, [{', '.join(quoted(value) for value in values)}])"


def classified(error: Exception) -> AlayaError:
    """What LanceDB said, as one of our errors."""
    text = _WHERE_IN_THE_ENGINE.sub("", str(error).split("\n")[0])[:300]
    if says_disk_full(str(error)):
        return DiskFullError("words and vectors were not written")
    lowered = text.lower()
    if any(word in lowered for word in ("not found", "corrupt", "no such file", "does not exist", "invalid magic")):
        return DamagedError(f"the vector tables cannot be read: {text}", "run `alaya rebuild l1`")
    return VectorEngineError(
        f"the vector engine failed: {text}", "run `alaya verify`; `alaya rebuild l1` makes it anew"
    )
