"""Cards of the vector table in memory, for a process that recalls again and again: reading sixty rows of the table
takes longer than everything else a recall does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from alaya_core.stores.vector_tables import Table, one_of

MOST = 100_000
"""Cards beyond which none are held (about 1.4 KB each)."""

_CHANGED = 2_000


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
