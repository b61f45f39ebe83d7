"""L1 of a home: words, vectors and passages, a view that follows the ledger and remembers how far it has read."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alaya_core.models.card import CardState
from alaya_core.models.requests import Filters
from alaya_core.stores.files import close_to_others, make_directory, write_file
from alaya_core.stores.generations import Generations
from alaya_core.stores.held_cards import MOST, HeldCards
from alaya_core.stores.matrix import Matrix, Overlay, load_matrix, save_matrix
from alaya_core.stores.vector_filters import SEARCHED, card_condition, passage_condition
from alaya_core.stores.vector_state import LAYOUT, Inspection, VectorMark
from alaya_core.stores.vector_tables import CARDS, PASSAGES, Table, connect, one_of, quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WITHOUT_VECTOR = ("id", "title", "overview", "content", "type", "state", "standing", "scope", "origin", "successor")
CARD_ANSWER = (
    *_WITHOUT_VECTOR,
    "tags",
    "entities",
    "sessions",
    "importance",
    "confidence",
    "pinned",
    "vector_dropped",
    "merged_from",
    "created_at",
    "added_at",
    "updated_at",
    "expires_at",
    "rev",
    "words",
)
"""Columns that a recall needs of a card."""
PASSAGE_ANSWER = ("id", "session_id", "turn", "piece", "role", "kind", "text", "words", "scope", "timestamp")
"""Columns that a recall needs of a passage."""

_BACKLOG = 1_000
_OVERLAY = 2_000
_OFTEN = 3
"""Recalls that make it worth having all cards in memory."""
_REST = 1_000
"""Recalls until it is looked again whether there are few enough."""


class VectorStore:
    """The living generation of the vector tables, or one that is being built.

    Args:
        folder: `lancedb/` of a home.
        generation: A generation under construction; None = the living one.
    """

    def __init__(self, folder: Path, generation: Path | None = None) -> None:
        self._folder = folder
        self._generations = Generations(folder)
        self._building = generation
        self._opened: tuple[Path, int, Table, Table] | None = None
        self._matrix: tuple[tuple[Path, int], Matrix] | None = None
        self._searched: tuple[tuple[Path, int], set[str] | None] | None = None
        self._held: HeldCards | None = None
        self._matches = 0

    @property
    def path(self) -> Path:
        """The generation's folder."""
        return self._building or self._generations.current

    def mark(self) -> VectorMark:
        """What the generation holds; cheap, imports nothing."""
        try:
            return VectorMark(**json.loads((self.path / "mark.json").read_bytes()))
        except (OSError, ValueError, TypeError):
            return VectorMark()

    def set_mark(self, mark: VectorMark) -> None:
        """Says what the generation holds now; the caller holds the writer lock."""
        write_file(self.path / "mark.json", json.dumps(asdict(mark)).encode())

    def create(self, model: str, dimensions: int) -> None:
        """Makes empty tables where there are none; the caller holds the writer lock."""
        if not self.exists:
            shutil.rmtree(self.path, ignore_errors=True)  # what is left of tables that lack one, or of an older layout
            self._opened = None
            make_directory(self.path)
            self.set_mark(VectorMark(model=model, dimensions=dimensions, layout=LAYOUT))
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

    def remove_cards(self, ids: Sequence[str]) -> None:
        """Deletes cards; the caller holds the writer lock."""
        self.cards.remove(one_of("id", ids))

    def remove_passages(self, session_id: str, from_turn: int) -> None:
        """Deletes the passages of a session from a turn on; the caller holds the writer lock."""
        self.passages.remove(f"session_id = {quoted(session_id)} AND turn >= {int(from_turn)}")

    def card_rows(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """What a recall needs of some cards, by id."""
        if not ids:
            return {}
        if (held := self._held_cards()) is not None:
            return held.rows(ids)
        return {row["id"]: row for row in self.cards.rows(one_of("id", ids), CARD_ANSWER)}

    def match_cards(
        self, words: str, filters: Filters, scopes: Sequence[str] | None, limit: int
    ) -> list[dict[str, Any]]:
        """Cards that hold any of these words, best first, with `_score` (BM25)."""
        self._matches += 1
        condition = card_condition(filters, scopes)
        held = self._held_cards()
        if held is None:
            return self.cards.match(words, condition, CARD_ANSWER, limit)
        # Without a condition the index answers in half the time, and archived cards are few.
        usual = filters == Filters() and scopes is None
        found = self.cards.match(words, None if usual else condition, ["id"], limit)
        cards = held.rows(row["id"] for row in found)
        hidden = [row for row in found if usual and row["id"] in cards and cards[row["id"]]["state"] not in SEARCHED]
        if hidden and len(found) == limit:
            found, hidden = self.cards.match(words, condition, ["id"], limit), []
            cards = held.rows(row["id"] for row in found)
        passed = [row for row in found if row not in hidden and row["id"] in cards]
        return [{**cards[row["id"]], "_score": row["_score"]} for row in passed]

    def _held_cards(self) -> HeldCards | None:
        """All cards in memory, once this process has recalled often enough; None before, or when they are too many."""
        if self._matches < _OFTEN:
            return None
        if self._held is None or self._held.table is not self.cards:
            self._held = HeldCards(self.cards, CARD_ANSWER) if self.cards.count() <= MOST else None
            self._matches = _OFTEN if self._held else -_REST
        return self._held

    def match_passages(
        self, words: str, filters: Filters, scopes: Sequence[str] | None, limit: int
    ) -> list[dict[str, Any]]:
        """Passages that hold any of these words, best first, with `_score` (BM25)."""
        return self.passages.match(words, passage_condition(filters, scopes), PASSAGE_ANSWER, limit)

    def allowed(self, filters: Filters, scopes: Sequence[str] | None) -> set[str] | None:
        """Ids of the cards that the filters let through; None = all that a search sees anyway."""
        if filters != Filters() or scopes is not None:
            return self._ids(card_condition(filters, scopes))
        stamp = (self.path, self.mark().seq)
        if self._searched is None or self._searched[0] != stamp:
            archived = self.cards.count(one_of("state", [CardState.ARCHIVED]))
            self._searched = (stamp, self._ids(card_condition(filters, scopes)) if archived else None)
        return self._searched[1]

    def inspect(self) -> Inspection:
        """Everything `verify` wants to know of the tables."""
        import numpy as np

        columns = ["id", "content_hash", *(["vector"] if self.mark().dimensions else [])]
        table = self.cards.arrow(None, columns)
        ids = table.column("id").to_pylist()
        vectors = self.vectors() if self.mark().dimensions else {}
        norms = {card: float(np.linalg.norm(vector)) for card, vector in vectors.items()}
        passages = self.passages.arrow(None, ["id"]).column("id").to_pylist()
        return Inspection(
            hashes=dict(zip(ids, table.column("content_hash").to_pylist(), strict=True)),
            duplicates=[card for card, count in Counter(ids).items() if count > 1],
            with_vector_ids=frozenset(vectors),
            bad_vectors=[card for card, norm in norms.items() if not 0.5 < norm < 2.0],
            passages=len(passages),
            duplicate_passages=[passage for passage, count in Counter(passages).items() if count > 1],
        )

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
        """The stored vectors of cards whose text is still the same.

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
        return self.vectors(one_of("id", same)) if same else {}

    def matrix(self) -> Matrix:
        """All vectors, as of the generation's mark."""
        mark = self.mark()
        stamp = (self.path, mark.seq)
        if self._matrix is None or self._matrix[0] != stamp:
            base = self._matrix[1] if self._matrix and self._matrix[0][0] == self.path else None
            base = (
                base if base is not None and base.seq == self._saved_seq() else load_matrix(self.path, mark.dimensions)
            )
            self._matrix = (stamp, self._with_overlay(base, mark))
        return self._matrix[1]

    def save_matrix(self, first: Collection[str]) -> None:
        """Writes the matrix file anew; the caller holds the writer lock.

        Args:
            first: Ids whose rows come first (the HOT ones: what is read most lies together).
        """
        mark = self.mark()
        vectors = self.vectors()
        ordered = {card: vectors[card] for card in first if card in vectors} | vectors
        save_matrix(self.path, ordered, mark.seq, mark.dimensions)
        self._matrix = None

    def matrix_is_stale(self) -> bool:
        """Whether so much changed since the matrix file was written that it should be written anew."""
        if not self.exists or not self.mark().dimensions:
            return False
        saved = self._saved_seq()
        return saved is None or self.cards.count(f"seq > {saved}") > _OVERLAY

    def upkeep(self) -> None:
        """Folds new rows into the words indexes where many wait; the caller holds the writer lock."""
        for table in self._tables():
            backlog = table.index_backlog()
            if (backlog is None and table.count() > 0) or (backlog or 0) > _BACKLOG:
                table.index_words()

    def close_to_others(self) -> None:
        """Takes the rights of everybody but the owner: the engine makes its files by the umask."""
        close_to_others(self.path)

    def new_generation(self) -> VectorStore:
        """A store to build the next generation in."""
        return VectorStore(self._folder, self._generations.next() if self.exists else self.path)

    def discard(self) -> None:
        """Removes a generation that was being built."""
        assert self._building is not None
        shutil.rmtree(self._building, ignore_errors=True)

    def switch_to(self, built: VectorStore) -> None:
        """Makes a built generation the living one and removes the others; the caller holds the writer lock."""
        self._generations.switch(built.path)
        self._generations.remove_others()
        self._opened = self._matrix = self._searched = None

    def _ids(self, where: str) -> set[str]:
        return set(self.cards.arrow(where, ["id"]).column("id").to_pylist())

    def _saved_seq(self) -> int | None:
        try:
            return int(json.loads((self.path / "matrix.json").read_bytes())["seq"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _with_overlay(self, base: Matrix | None, mark: VectorMark) -> Matrix:
        import numpy as np

        if base is None:
            vectors = self.vectors()
            stacked = np.stack(list(vectors.values())) if vectors else np.zeros((0, mark.dimensions), np.float32)
            return Matrix(list(vectors), stacked, mark.seq)
        if base.seq >= mark.seq:
            return base
        changed = self.cards.arrow(f"seq > {base.seq}", ["id"]).column("id").to_pylist()
        vectors = self.vectors(f"seq > {base.seq}")
        stacked = np.stack(list(vectors.values())) if vectors else np.zeros((0, mark.dimensions), np.float32)
        return base.overlaid(Overlay(tuple(vectors), stacked, frozenset(changed)))

    def _tables(self) -> tuple[Table, Table]:
        mark = self.mark()
        if self._opened is None or self._opened[:2] != (self.path, mark.dimensions):
            connection = connect(self.path)
            dimensions = mark.dimensions or None
            self._opened = (
                self.path,
                mark.dimensions,
                Table(connection, CARDS, dimensions),
                Table(connection, PASSAGES, dimensions),
            )
        return self._opened[2], self._opened[3]


def _flat(part: Any) -> Any:
    return part.flatten().to_numpy(zero_copy_only=False)
