"""One generation of L1: its tables, its mark, its matrix."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alaya_core.models.card import CardState
from alaya_core.models.requests import Filters
from alaya_core.safe_json import load_json
from alaya_core.stores.files import close_to_others, make_directory, write_file
from alaya_core.stores.held_cards import CardFinder
from alaya_core.stores.matrix import Matrix, Overlay, load_matrix, matrix_stamp, save_matrix
from alaya_core.stores.passage_table import PassageTable
from alaya_core.stores.vector_files import versions_in, versions_older
from alaya_core.stores.vector_filters import card_condition
from alaya_core.stores.vector_inspection import inspection, vector_length
from alaya_core.stores.vector_state import LAYOUT, Inspection, VectorMark
from alaya_core.stores.vector_tables import CARDS, PASSAGES, Table, connect, one_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_VERSIONS = 50
"""Versions that a table may gather until it is compacted."""
_BACKLOG = 1_000
_COMPACTING_S = 10.0
"""Younger versions may be those that the last compaction made itself."""
_OVERLAY = 2_000
_WARM = "vector_dropped = false"
_PENDING = f"vector IS NULL AND {_WARM}"


class VectorGeneration:
    """The tables in one folder. What writes is called by one process at a time: whoever holds the index lock, or
    whoever builds a generation that nobody else can see yet.

    Args:
        path: `lancedb/gen-N`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._opened: tuple[int, Table, Table] | None = None
        self._matrix: tuple[object, Matrix] | None = None
        self._searched: tuple[int, set[str] | None] | None = None
        self._finder = CardFinder()
        self._spoken: PassageTable | None = None

    def mark(self) -> VectorMark:
        """What the generation holds; cheap, imports nothing."""
        try:
            return VectorMark(**load_json((self.path / "mark.json").read_bytes()))
        except (OSError, ValueError, TypeError):
            return VectorMark()

    def set_mark(self, mark: VectorMark) -> None:
        """Says what the generation holds now."""
        write_file(self.path / "mark.json", json.dumps(asdict(mark)).encode())

    def create(self, model: str, dimensions: int, embedding: Mapping[str, Any] | None = None) -> None:
        """Makes empty tables where there are none.

        Args:
            model: Whose vectors they will hold.
            dimensions: Numbers a vector; 0 = nobody knows yet.
            embedding: The settings of what makes them, nothing secret among them.
        """
        if not self.exists:
            shutil.rmtree(self.path, ignore_errors=True)  # what is left of tables that lack one, or of an older layout
            self._opened = None
            make_directory(self.path)
            self.set_mark(
                VectorMark(model=model, dimensions=dimensions, layout=LAYOUT, embedding=dict(embedding or {}))
            )
        for table in self._tables():
            table.create()

    @property
    def exists(self) -> bool:
        """Whether there are tables; where one of them is gone, or they are of another layout, there are none: they are
        made anew together."""
        tables = (self.path / f"{name}.lance" for name in (CARDS, PASSAGES))
        return self.mark().layout == LAYOUT and all(table.is_dir() for table in tables)

    @property
    def broken(self) -> bool:
        """Whether a table is gone that was there, or all of them are of another layout."""
        return (self.path / "mark.json").exists() and not self.exists

    @property
    def cards(self) -> Table:
        """The table of cards."""
        return self._tables()[0]

    @property
    def passages(self) -> Table:
        """The table of passages."""
        return self._tables()[1]

    @property
    def spoken(self) -> PassageTable:
        """The passages: their table, and the records beside it."""
        table = self.passages
        if self._spoken is None or self._spoken.table is not table:
            self._spoken = PassageTable(self.path / "passages", table, self.mark().dimensions)
        return self._spoken

    def remove_cards(self, ids: Sequence[str]) -> None:
        """Deletes cards."""
        self.cards.remove(one_of("id", ids))

    def remove_passages(self, session_id: str, from_turn: int) -> None:
        """Deletes the passages of a session from a turn on."""
        self.spoken.remove(session_id, from_turn)

    def card_rows(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """What a recall needs of some cards, by id."""
        return self._finder.rows(self.cards, ids) if ids else {}

    def match_cards(
        self, words: str, filters: Filters, scopes: Sequence[str] | None, limit: int
    ) -> list[dict[str, Any]]:
        """Cards that hold any of these words, best first, with `_score` (BM25)."""
        return self._finder.match(self.cards, words, filters, scopes, limit)

    def allowed(self, filters: Filters, scopes: Sequence[str] | None) -> set[str] | None:
        """Ids of the cards that the filters let through; None = all that a search sees anyway."""
        if filters != Filters() or scopes is not None:
            return self._ids(card_condition(filters, scopes))
        seq = self.mark().seq
        if self._searched is None or self._searched[0] != seq:
            archived = self.cards.count(one_of("state", [CardState.ARCHIVED]))
            self._searched = (seq, self._ids(card_condition(filters, scopes)) if archived else None)
        return self._searched[1]

    def pending(self) -> list[str]:
        """Cards that have no vector and should have one."""
        return list(self._ids(_PENDING if self.mark().dimensions else _WARM))

    def inspect(self) -> Inspection:
        """Everything `verify` wants to know of the tables."""
        dimensions = vector_length(self.cards)
        vectors = self.vectors() if dimensions and dimensions == self.mark().dimensions else {}
        return inspection(self.cards, self.passages, dimensions, vectors)

    def vectors(self, where: str | None = None) -> dict[str, NDArray[np.float32]]:
        """Vectors by card id; cards without one are left out."""
        import numpy as np

        condition = f"({where}) AND vector IS NOT NULL" if where else "vector IS NOT NULL"
        table = self.cards.arrow(condition, ["id", "vector"])
        dimensions = self.mark().dimensions
        flat = np.concatenate([np.zeros(0, np.float32), *(_flat(part) for part in table.column("vector").chunks)])
        matrix = flat.reshape(-1, dimensions)
        return dict(zip(table.column("id").to_pylist(), matrix, strict=True))

    def vectors_of_text(self, hashes: Mapping[str, str]) -> dict[str, NDArray[np.float32]]:
        """The stored vectors of cards whose text is still the same; one that is no unit vector is passed over.

        Args:
            hashes: Per card, the hash of its text now.
        """
        if not hashes or not self.mark().dimensions:
            return {}
        same = {
            row["id"]
            for row in self.cards.rows(one_of("id", hashes), ["id", "content_hash"])
            if row["content_hash"] == hashes[row["id"]]
        }
        found = self.vectors(one_of("id", same)) if same else {}
        return {card: vector for card, vector in found.items() if 0.98 < float(vector @ vector) < 1.02}

    def matrix(self) -> Matrix:
        """All vectors, as of the generation's mark."""
        mark, saved = self.mark(), matrix_stamp(self.path)
        stamp = (mark.seq, mark.pending, saved)
        if self._matrix is None or self._matrix[0] != stamp:
            base = self._matrix[1] if self._matrix and self._matrix[1].saved == saved else None
            base = base if base is not None and saved is not None else load_matrix(self.path, mark.dimensions)
            self._matrix = (stamp, self._with_overlay(base, mark))
        return self._matrix[1]

    def save_matrix(self, first: Collection[str]) -> None:
        """Writes the matrix file anew.

        Args:
            first: Ids whose rows come first (the HOT ones: what is read most lies together).
        """
        mark = self.mark()
        vectors = self.vectors()
        ordered = {card: vectors[card] for card in first if card in vectors} | vectors
        save_matrix(self.path, ordered, mark.seq, mark.dimensions, rows=self.cards.count(), pending=mark.pending)
        self._matrix = None

    def matrix_is_stale(self) -> bool:
        """Whether so much changed since the matrix file was written that it should be written anew."""
        if not self.exists or not self.mark().dimensions:
            return False
        saved = matrix_stamp(self.path)
        return saved is None or self.cards.count(f"seq > {saved[0]}") > _OVERLAY

    def mend_words(self, name: str, *, most: int) -> bool:
        """Makes the words index of a table anew if it cannot be read.

        Args:
            name: CARDS or PASSAGES.
            most: Rows of a table that is too large for it.

        Returns:
            Whether the index answers now.
        """
        table = self.cards if name == CARDS else self.passages
        if table.words_broken():
            if table.count() > most:
                return False
            table.index_words()
            self.close_to_others()
        return not table.words_broken()

    def upkeep(self, keep_s: float = 300.0, *, now: bool = False) -> list[str]:
        """Makes the words index where there is none that answers, and compacts a table where many rows or versions have
        gathered.

        Args:
            keep_s: Versions replaced less than so many seconds ago stay, for those who are reading them.
            now: Whether to compact however little there is to gain.

        Returns:
            The tables that were compacted.
        """
        done = []
        mark = self.mark()
        tidied, unindexed = dict(mark.tidied), 0
        for name, table in zip((CARDS, PASSAGES), self._tables(), strict=True):
            backlog = table.index_backlog()
            if table.count() > 0 and (backlog is None or table.words_broken()):
                table.index_words()
                backlog = 0
            gathered = table.version() - tidied.get(name, 1)
            some = now and (gathered > 0 or versions_older(self.path, name, max(keep_s, _COMPACTING_S)) > 0)
            if some or gathered > MOST_VERSIONS or (backlog or 0) > _BACKLOG:
                table.compact(keep_s)
                tidied[name], backlog = table.version(), 0
                done.append(name)
            unindexed += backlog or 0
        if not self.spoken.whole():
            self.spoken.mend()
        if (tidied, unindexed) != (dict(mark.tidied), mark.unindexed):
            self.set_mark(replace(self.mark(), tidied=tidied, unindexed=unindexed))
        return done

    def tables(self) -> int:
        """How many tables are on the disk; imports nothing."""
        return sum(bool(versions_in(self.path, name)) for name in (CARDS, PASSAGES))

    def versions(self) -> int:
        """How many versions of the tables are on the disk; imports nothing."""
        return sum(len(versions_in(self.path, name)) for name in (CARDS, PASSAGES))

    def close_to_others(self) -> None:
        """Takes the rights of everybody but the owner: the engine makes its files by the umask."""
        close_to_others(self.path)

    def discard(self) -> None:
        """Removes the whole generation; it is not the living one."""
        shutil.rmtree(self.path, ignore_errors=True)

    def _ids(self, where: str | None) -> set[str]:
        return set(self.cards.arrow(where, ["id"]).column("id").to_pylist())

    def _with_overlay(self, base: Matrix | None, mark: VectorMark) -> Matrix:
        import numpy as np

        if base is None:
            vectors = self.vectors()
            stacked = np.stack(list(vectors.values())) if vectors else np.zeros((0, mark.dimensions), np.float32)
            return Matrix(list(vectors), stacked, mark.seq)
        if (base.seq, base.pending) == (mark.seq, mark.pending):
            return base
        changed = set(self.cards.arrow(f"seq > {base.seq}", ["id"]).column("id").to_pylist())
        vectors = self.vectors(f"seq > {base.seq}")
        older, fresh = self.cards.count(f"seq <= {base.seq}"), len(changed - base.places.keys())
        gone: Collection[str] = ()
        if base.pending or older + len(changed) != base.rows + fresh:  # else none is gone: all ids are many to read
            ids = self._ids(None)
            gone = base.places.keys() - ids
            late = ids - base.places.keys() - changed
            vectors |= self.vectors(one_of("id", late)) if base.pending and late else {}
        stacked = np.stack(list(vectors.values())) if vectors else np.zeros((0, mark.dimensions), np.float32)
        return base.overlaid(Overlay(tuple(vectors), stacked, frozenset(changed.union(gone))))

    def _tables(self) -> tuple[Table, Table]:
        opened, dimensions = self._opened, self.mark().dimensions
        if opened is None or opened[0] != dimensions:
            connection = connect(self.path)
            cards, passages = (Table(connection, name, dimensions or None) for name in (CARDS, PASSAGES))
            opened = self._opened = (dimensions, cards, passages)
        return opened[1:]


def _flat(part: Any) -> Any:
    return part.flatten().to_numpy(zero_copy_only=False)
