"""L1 of a home: words, vectors and passages, a view that follows the ledger and remembers how far it has read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from alaya_core.errors import DamagedError
from alaya_core.models.requests import Filters
from alaya_core.stores.generations import Generations
from alaya_core.stores.matrix import Matrix
from alaya_core.stores.vector_generation import VectorGeneration
from alaya_core.stores.vector_state import Inspection, VectorMark
from alaya_core.stores.vector_tables import Table, VectorEngineError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_T = TypeVar("_T")


class VectorStore:
    """The living generation, whichever it is.

    Whoever reads may find that another process has put a new generation in its place, or has removed the version it
    was reading: every read that fails is made once more, on fresh handles.

    Args:
        folder: `lancedb/` of a home.

    Attributes:
        keep_s: Versions of tables replaced less than so many seconds ago outlive a compaction.
    """

    def __init__(self, folder: Path) -> None:
        self._generations = Generations(folder)
        self._generation: VectorGeneration | None = None
        self.keep_s = 300.0

    @property
    def generation(self) -> VectorGeneration:
        """The living one, for whoever needs several things of the same; a write belongs under the index lock, which
        keeps another from taking its place."""
        known, path = self._generation, self._generations.current
        if known is None or known.path != path:
            known = self._generation = VectorGeneration(path)
        return known

    def read(self, look: Callable[[VectorGeneration], _T]) -> _T:
        """What a look at the living generation finds; where it was replaced meanwhile, at the next one.

        Args:
            look: Reads, and does nothing that must not be done twice.

        Raises:
            DamagedError, VectorEngineError: It fails the second time too.
        """
        try:
            return look(self.generation)
        except (DamagedError, VectorEngineError):
            self._generation = None
        return look(self.generation)

    @property
    def path(self) -> Path:
        """The living generation's folder."""
        return self.generation.path

    @property
    def exists(self) -> bool:
        """Whether there are tables, see `VectorGeneration.exists`; one that another process has just replaced is not
        taken for none."""
        looked_at = self.generation
        if looked_at.exists:
            return True
        now = self.generation
        return now.path != looked_at.path and now.exists

    @property
    def broken(self) -> bool:
        """Whether a table is gone that was there, see `VectorGeneration.broken`."""
        return self.generation.broken

    @property
    def cards(self) -> Table:
        """The living table of cards."""
        return self.generation.cards

    @property
    def passages(self) -> Table:
        """The living table of passages."""
        return self.generation.passages

    def mark(self) -> VectorMark:
        """What the living generation holds; cheap, imports nothing."""
        return self.generation.mark()

    def set_mark(self, mark: VectorMark) -> None:
        """Says what the living generation holds now."""
        self.generation.set_mark(mark)

    def create(self, model: str, dimensions: int, embedding: Mapping[str, Any] | None = None) -> None:
        """Makes empty tables where there are none, see `VectorGeneration.create`."""
        self.generation.create(model, dimensions, embedding)

    def remove_cards(self, ids: Sequence[str]) -> None:
        """Deletes cards."""
        self.generation.remove_cards(ids)

    def remove_passages(self, session_id: str, from_turn: int) -> None:
        """Deletes the passages of a session from a turn on."""
        self.generation.remove_passages(session_id, from_turn)

    def save_matrix(self, first: Collection[str]) -> None:
        """Writes the matrix file anew, see `VectorGeneration.save_matrix`."""
        self.generation.save_matrix(first)

    def upkeep(self, *, now: bool = False) -> list[str]:
        """Makes the words index and compacts the tables, see `VectorGeneration.upkeep`."""
        return self.generation.upkeep(self.keep_s, now=now)

    def tables(self) -> int:
        """How many tables are on the disk; imports nothing."""
        return self.generation.tables()

    def versions(self) -> int:
        """How many versions of the tables are on the disk; imports nothing."""
        return self.generation.versions()

    def card_rows(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """What a recall needs of some cards, by id."""
        return self.read(lambda living: living.card_rows(ids))

    def match_cards(
        self, words: str, filters: Filters, scopes: Sequence[str] | None, limit: int
    ) -> list[dict[str, Any]]:
        """Cards that hold any of these words, best first, with `_score` (BM25)."""
        return self.read(lambda living: living.match_cards(words, filters, scopes, limit))

    def allowed(self, filters: Filters, scopes: Sequence[str] | None) -> set[str] | None:
        """Ids of the cards that the filters let through; None = all that a search sees anyway."""
        return self.read(lambda living: living.allowed(filters, scopes))

    def inspect(self) -> Inspection:
        """Everything `verify` wants to know of the tables."""
        return self.read(lambda living: living.inspect())

    def vectors(self, where: str | None = None) -> dict[str, NDArray[np.float32]]:
        """Vectors by card id; cards without one are left out."""
        return self.read(lambda living: living.vectors(where))

    def vectors_of_text(self, hashes: Mapping[str, str]) -> dict[str, NDArray[np.float32]]:
        """The stored vectors of cards whose text is still the same, see `VectorGeneration.vectors_of_text`."""
        return self.read(lambda living: living.vectors_of_text(hashes))

    def matrix(self) -> Matrix:
        """All vectors, as of the living generation's mark."""
        return self.read(lambda living: living.matrix())

    def new_generation(self) -> VectorGeneration:
        """A place to build the next generation in; only one process may build at a time."""
        return VectorGeneration(self._generations.next())

    def switch_to(self, built: VectorGeneration) -> None:
        """Makes a built generation the living one and removes the others; the caller holds the index lock."""
        self._generations.switch(built.path)
        self._generations.remove_others()
        self._generation = None

    def leftovers(self) -> int:
        """Bytes of generations that are not the living one: what a killed build, or a reader's open file, left."""
        return self._generations.other_bytes()

    def remove_leftovers(self) -> None:
        """Removes every generation but the living one; the caller is the only one who may build."""
        self._generations.remove_others()
