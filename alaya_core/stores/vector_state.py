"""What a generation of the vector tables holds, in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from alaya_core.stores.ledger import LedgerMark

LAYOUT = 4
"""Changes with the columns of the tables: those of another layout are made anew."""


@dataclass(frozen=True, slots=True)
class VectorMark:
    """What a generation holds.

    Attributes:
        seq, segment, offset: How far it has read the ledger.
        model: Whose vectors they are; empty = none yet. dimensions: numbers a vector; 0 = none yet.
        pending: Cards whose vector is still to be made; passages: passages that are searched.
        layout: Of the tables.
        embedding: The settings of the embedding that made the vectors, nothing secret among them; empty where an
            earlier version did not write them down.
        unindexed: Rows that the words indexes do not hold yet.
        tidied: Per table, its version when it was compacted last.
        passage_vectors, passages_owing: How many passages had a vector, and how many should get one, when it was
            looked last.
    """

    seq: int = 0
    segment: str = ""
    offset: int = 0
    model: str = ""
    dimensions: int = 0
    pending: int = 0
    passages: int = 0
    layout: int = 1
    embedding: Mapping[str, Any] = field(default_factory=dict)
    unindexed: int = 0
    tidied: Mapping[str, int] = field(default_factory=dict)
    passage_vectors: int = 0
    passages_owing: int = 0

    @property
    def ledger(self) -> LedgerMark:
        """The part the ledger understands."""
        return LedgerMark(self.seq, self.segment, self.offset)


def at(mark: VectorMark, ledger: LedgerMark) -> VectorMark:
    """A mark moved to a place in the ledger."""
    return replace(mark, seq=ledger.seq, segment=ledger.segment, offset=ledger.offset)


@dataclass(frozen=True, slots=True)
class Inspection:
    """What is in the tables.

    Attributes:
        hashes: Per card, the hash of the text its vector stands for.
        dimensions: Numbers a vector of the table; 0 = it has none.
        bad_vectors: Cards whose vector is zero, no number, or not of length 1.
        passage_sessions: The sessions that passages are of.
        words_broken: Tables whose words index cannot be read: nothing is found in them by its words.
    """

    hashes: dict[str, str]
    duplicates: list[str]
    dimensions: int
    with_vector_ids: frozenset[str]
    bad_vectors: list[str]
    passages: int
    duplicate_passages: list[str]
    passage_sessions: frozenset[str]
    words_broken: list[str] = field(default_factory=list)

    @property
    def with_vector(self) -> int:
        """How many cards have a vector."""
        return len(self.with_vector_ids)
