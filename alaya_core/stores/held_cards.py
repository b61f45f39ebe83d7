"""Cards found in the vector table, and held in memory for a process that recalls again and again: reading sixty rows
of the table takes longer than everything else a recall does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from alaya_core.models.card import LIVING
from alaya_core.models.requests import Filters
from alaya_core.stores.vector_filters import card_condition
from alaya_core.stores.vector_tables import Table, one_of

CARD_ANSWER = (
    "id",
    "title",
    "overview",
    "content",
    "type",
    "state",
    "standing",
    "scope",
    "origin",
    "successor",
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
_MOST = 100_000
"""Cards beyond which none are held (about 1.4 KB each)."""
_OFTEN = 3
"""Recalls that make it worth having all cards in memory."""
_REST = 1_000
"""Recalls until it is looked again whether there are few enough."""

_CHANGED = 2_000


class CardFinder:
    """Finds cards of one generation, from memory once this process has recalled often enough."""

    def __init__(self) -> None:
        self.held: HeldCards | None = None
        self._matches = 0

    def rows(self, table: Table, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """What a recall needs of some cards, by id."""
        if (held := self._in_memory(table)) is not None:
            return held.rows(ids)
        return {row["id"]: row for row in table.rows(one_of("id", ids), CARD_ANSWER)}

    def match(
        self, table: Table, words: str, filters: Filters, scopes: Sequence[str] | None, limit: int
    ) -> list[dict[str, Any]]:
        """Cards that hold any of these words, best first, with `_score` (BM25)."""
        self._matches += 1
        condition = card_condition(filters, scopes)
        held = self._in_memory(table)
        if held is None:
            return table.match(words, condition, CARD_ANSWER, limit)
        # Without a condition the index answers in half the time, and archived cards are few.
        usual = filters == Filters() and scopes is None
        found = table.match(words, None if usual else condition, ["id"], limit)
        cards = held.rows(row["id"] for row in found)
        hidden = [row for row in found if usual and row["id"] in cards and cards[row["id"]]["state"] not in LIVING]
        if hidden and len(found) == limit:
            found, hidden = table.match(words, condition, ["id"], limit), []
            cards = held.rows(row["id"] for row in found)
        passed = [row for row in found if row not in hidden and row["id"] in cards]
        return [{**cards[row["id"]], "_score": row["_score"]} for row in passed]

    def _in_memory(self, table: Table) -> HeldCards | None:
        """All cards in memory; None before it is worth it, or when they are too many."""
        if self._matches < _OFTEN:
            return None
        if self.held is None or self.held.table is not table:
            self.held = HeldCards(table, CARD_ANSWER) if table.count() <= _MOST else None
            self._matches = _OFTEN if self.held else -_REST
        return self.held


class HeldCards:
    """Columns of all cards, checked against the table's version at each use.

    Args:
        table: The table.
        columns: What is held of each card, `id` among it.
    """

    def __init__(self, table: Table, columns: Sequence[str]) -> None:
        self.table = table
        self._columns = columns
        self._load()

    def rows(self, ids: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The cards of these ids; those that do not exist are left out."""
        if self.table.version() != self._version:
            self._compare()
        wanted = list(dict.fromkeys(ids))
        held = [self._places[card] for card in wanted if card in self._places]
        rows = self._rows.take(held).to_pylist() if held else []
        changed = [card for card in wanted if card in self._changed]
        rows += self.table.rows(one_of("id", changed), self._columns) if changed else []
        return {row["id"]: row for row in rows}

    def _load(self) -> None:
        self._version = self.table.version()
        whole = self.table.arrow(None, [*self._columns, "seq", "content_hash"]).combine_chunks()
        self._states = _states(whole)
        self._rows = whole.select(list(self._columns))
        self._places = {card: place for place, card in enumerate(self._states)}
        self._changed: set[str] = set()

    def _compare(self) -> None:
        """Lets go of what changed since; too much, and all is read again."""
        version = self.table.version()
        now = _states(self.table.arrow(None, ["id", "seq", "content_hash"]))
        changed = {card for card, state in now.items() if self._states.get(card) != state}
        if len(changed) > _CHANGED:
            self._load()
            return
        self._version, self._changed = version, changed
        places = enumerate(self._states)
        self._places = {card: place for place, card in places if card in now and card not in changed}


def _states(table: Any) -> dict[str, tuple[int, str]]:
    """What tells one state of a card from another."""
    ids, seqs, hashes = (table.column(name).to_pylist() for name in ("id", "seq", "content_hash"))
    return dict(zip(ids, zip(seqs, hashes, strict=True), strict=True))
