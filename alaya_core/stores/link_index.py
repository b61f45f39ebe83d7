"""All links of one state of the graph in memory: a process that recalls again and again need not open the graph."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alaya_core.models.card import CardState
from alaya_core.stores.graph_engine import GraphConnection
from alaya_core.stores.graph_read import Neighbour
from alaya_core.stores.graph_rows import link_from_row

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

_CARDS = """MATCH (c:Card) RETURN offset(id(c)) AS place, c.id AS id, c.title AS title, c.type AS type,
c.state AS state, c.scope AS scope"""
_TOLD = ("relation", "weight", "reason", "origin", "created_at")
_LINKS = """MATCH (a:Card)-[r:LINK]->(b:Card) RETURN offset(id(a)) AS a, offset(id(b)) AS b, r.relation AS relation,
r.weight AS weight, r.reason AS reason, r.origin AS origin, r.created_at AS created_at"""
_ORIGINS = """MATCH (c:Card)-[r:EXTRACTED_FROM]->(s:Session) RETURN offset(id(c)) AS card, s.id AS session,
r.turns AS turns"""


class LinkIndex:
    """Links, their ends, and which cards came from which session: some 200 bytes a card and as many a link.

    Args:
        graph: The open graph.
        path: Its file; seq: the last commit it holds.
    """

    def __init__(self, graph: GraphConnection, path: Path, seq: int) -> None:
        import numpy as np

        self.path = path
        self.seq = seq
        self._cards = graph.table(_CARDS)
        self._links = graph.table(_LINKS)
        self._origins = graph.table(_ORIGINS)
        self._row = {card: row for row, card in enumerate(self._cards.column("id").to_pylist())}
        places = _numbers(self._cards, "place")
        rows = np.full(int(places.max()) + 1 if len(places) else 0, -1, np.int64)
        rows[places] = np.arange(len(places))
        self._out = _Ends(rows[_numbers(self._links, "a")], len(places))
        self._into = _Ends(rows[_numbers(self._links, "b")], len(places))
        self._origin_rows = rows[_numbers(self._origins, "card")]
        self._of_session: dict[str, list[int]] = {}
        for at, session in enumerate(self._origins.column("session").to_pylist()):
            self._of_session.setdefault(session, []).append(at)

    def neighbours(self, ids: Sequence[str]) -> dict[str, list[Neighbour]]:
        """See `GraphReader.neighbours`."""
        found: dict[str, list[Neighbour]] = {card_id: [] for card_id in ids}
        for ends, far in ((self._out, self._into), (self._into, self._out)):
            near = [(card_id, at) for card_id in found for at in ends.of(self._row.get(card_id, -1))]
            links = _rows(self._links, [at for _, at in near])
            rows = [int(far.rows[at]) for _, at in near]
            for (card_id, _), raw, row, card in zip(near, links, rows, _rows(self._cards, rows), strict=True):
                pair = (card_id, card["id"]) if ends is self._out else (card["id"], card_id)
                link = link_from_row((*pair, *(raw[name] for name in _TOLD)))
                degree = len(self._out.of(row)) + len(self._into.of(row))
                found[card_id].append(
                    Neighbour(link, card["id"], card["title"], card["type"], card["state"], card["scope"], degree)
                )
        return found

    def cards_from(self, session_ids: Sequence[str]) -> dict[str, list[tuple[str, list[int]]]]:
        """See `GraphReader.cards_from`."""
        places = [at for session in dict.fromkeys(session_ids) for at in self._of_session.get(session, ())]
        origins = _rows(self._origins, places)
        cards = _rows(self._cards, [int(self._origin_rows[at]) for at in places])
        found: dict[str, list[tuple[str, list[int]]]] = {}
        for raw, card in zip(origins, cards, strict=True):
            if card["state"] == CardState.ACTIVE:
                found.setdefault(raw["session"], []).append((card["id"], raw["turns"]))
        return found


class _Ends:
    """One end of every link, and the links by the card at that end.

    Args:
        rows: Row of the card, by link.
        count: How many cards there are.
    """

    def __init__(self, rows: Numbers, count: int) -> None:
        import numpy as np

        self.rows = rows
        self._order = np.argsort(rows, kind="stable")
        self._starts = np.searchsorted(rows[self._order], np.arange(count + 1))

    def of(self, row: int) -> list[int]:
        """The links of a card; none of the row -1."""
        return [] if row < 0 else self._order[self._starts[row] : self._starts[row + 1]].tolist()


def _rows(table: Any, places: list[int]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.take(places).to_pylist() if places else []
    return rows


def _numbers(table: Any, name: str) -> Numbers:
    numbers: Numbers = table.column(name).to_numpy()
    return numbers
