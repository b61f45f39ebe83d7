"""What is in the tables of a generation, looked at for `verify`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from alaya_core.stores.vector_state import Inspection
from alaya_core.stores.vector_tables import CARDS, PASSAGES, Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ROWS_OF_WORDS = 200


def vector_length(cards: Table) -> int:
    """Numbers a vector of the table of cards; 0 = it has none."""
    schema = cards.arrow(None, None, 1).schema
    return int(schema.field("vector").type.list_size) if "vector" in schema.names else 0


def inspection(
    cards: Table, passages: Table, dimensions: int, vectors: Mapping[str, NDArray[np.float32]]
) -> Inspection:
    """Counts and compares.

    Args:
        dimensions: As `vector_length` says.
        vectors: Of all cards that have one.
    """
    import numpy as np

    table = cards.arrow(None, ["id", "content_hash"])
    ids = table.column("id").to_pylist()
    norms = {card: float(np.linalg.norm(vector)) for card, vector in vectors.items()}
    spoken = passages.arrow(None, ["id", "session_id"])
    passage_ids = spoken.column("id").to_pylist()
    indexes = {CARDS: cards, PASSAGES: passages}
    return Inspection(
        hashes=dict(zip(ids, table.column("content_hash").to_pylist(), strict=True)),
        duplicates=[card for card, count in Counter(ids).items() if count > 1],
        dimensions=dimensions,
        with_vector_ids=frozenset(vectors),
        bad_vectors=[card for card, norm in norms.items() if not 0.99 < norm < 1.01],
        passages=len(passage_ids),
        duplicate_passages=[passage for passage, count in Counter(passage_ids).items() if count > 1],
        passage_sessions=frozenset(spoken.column("session_id").to_pylist()),
        words_broken=[name for name, one in indexes.items() if one.words_broken(_ROWS_OF_WORDS)],
    )
