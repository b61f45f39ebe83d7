"""Questions to an open graph. Every value is a parameter; nothing stored is ever part of a statement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from alaya_core.models.card import LIVING, Card, CardState, Link, SourceRef
from alaya_core.models.commit import erased_key
from alaya_core.models.requests import Filters
from alaya_core.models.session import SessionInfo
from alaya_core.stores.folding import Erased
from alaya_core.stores.graph_apply import by_id, erased_from, read_cards, read_sessions
from alaya_core.stores.graph_engine import GraphConnection, OlderGraphError
from alaya_core.stores.graph_rows import (
    CARD_COLUMNS,
    LAYOUT,
    SESSION_COLUMNS,
    card_from_row,
    returning,
    session_from_row,
)
from alaya_core.stores.graph_rows import link_from_row as _link
from alaya_core.stores.ledger import LedgerMark

if TYPE_CHECKING:
    from alaya_core.stores.link_index import LinkIndex

_LINK = "r.relation, r.weight, r.reason, r.origin, r.created_at"
_FEW = 4
_SEVERAL = 100
_ORDERS = {
    "recent": "c.updated_at DESC",
    "importance": "c.importance DESC",
    "title": "lower(c.title)",
}


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The other end of a link, as seen from one card."""

    link: Link
    card_id: str
    title: str
    type: str
    state: str
    scope: str
    degree: int


@dataclass(frozen=True, slots=True)
class GraphReader:
    """An open graph, to read.

    Attributes:
        stale: Whether the ledger holds commits that this graph does not have yet.
        links: Its links in memory, where somebody has read them.
        on_links: Called when links are looked for without.
    """

    graph: GraphConnection
    stale: bool = False
    links: LinkIndex | None = None
    on_links: Callable[[GraphReader], None] = lambda _: None

    def mark(self) -> LedgerMark:
        """How far it has read the ledger."""
        return read_mark(self.graph)

    def cards(self, ids: Iterable[str]) -> dict[str, Card]:
        """Cards by id; those that do not exist are left out."""
        return read_cards(self.graph, ids)

    def all_cards(self) -> list[Card]:
        """Every card, whatever its state."""
        rows = self.graph.run(f"MATCH (c:Card) RETURN {returning('c', CARD_COLUMNS)}")
        return [card_from_row(row) for row in rows]

    def card_seqs(self, ids: Iterable[str] | None = None) -> dict[str, int]:
        """The commit that last changed each of these cards; of all cards when no ids are given."""
        if ids is None:
            rows = self.graph.run("MATCH (c:Card) RETURN c.id, c.seq")
        else:
            rows = by_id(self.graph, "(c:Card {id: $id})", "c.id, c.seq", ids)
        return {row[0]: row[1] for row in rows}

    def erased(self, identifier: str) -> Erased | None:
        """What of this session (or card) a person erased; None = nothing."""
        rows = self.graph.run("MATCH (n:Erased {id: $id}) RETURN n.value", {"id": erased_key(identifier)})
        return erased_from(rows[0][0]) if rows else None

    def all_erased(self) -> dict[str, Erased]:
        """All that a person erased, by the hash of its id."""
        return {row[0]: erased_from(row[1]) for row in self.graph.run("MATCH (n:Erased) RETURN n.id, n.value")}

    def erased_cards(self) -> list[tuple[SourceRef, ...]]:
        """The turns that each erased card came from."""
        marks = (erased_from(row[0]) for row in self.graph.run("MATCH (n:Erased) RETURN n.value"))
        return [mark.sources for mark in marks if mark.sources]

    def find_ids(self, prefix: str, limit: int = 10, scopes: Sequence[str] | None = None) -> list[str]:
        """Ids of cards that begin with a prefix.

        Args:
            scopes: The only scopes that may be seen; None = all.
        """
        within, given = ("", {}) if scopes is None else ("c.scope IN $scopes AND ", {"scopes": list(scopes)})
        query = f"MATCH (c:Card) WHERE {within}c.id STARTS WITH $prefix RETURN c.id ORDER BY c.id LIMIT $limit"
        return [row[0] for row in self.graph.run(query, {"prefix": prefix, "limit": limit, **given})]

    def matching(self, filters: Filters, scopes: Sequence[str] | None, order: str | None = None) -> list[Card]:
        """Cards that pass the filters a graph can judge (tier is not among them: it depends on the time).

        Args:
            scopes: The only scopes that may be seen; None = all.
            order: `recent`, `importance` or `title`; None = any.
        """
        where, values = _conditions(filters, scopes)
        sort = f" ORDER BY {_ORDERS[order]}, c.id" if order else ""
        query = f"MATCH (c:Card) WHERE {where} RETURN {returning('c', CARD_COLUMNS)}{sort}"
        return [card_from_row(row) for row in self.graph.run(query, values)]

    def page(
        self, filters: Filters, scopes: Sequence[str] | None, order: str, limit: int, offset: int
    ) -> tuple[list[Card], int]:
        """One page of the matching cards in an order, and how many match in all."""
        where, values = _conditions(filters, scopes)
        total = self.graph.run(f"MATCH (c:Card) WHERE {where} RETURN count(c)", values)[0][0]
        query = f"MATCH (c:Card) WHERE {where} RETURN {returning('c', CARD_COLUMNS)} ORDER BY {_ORDERS[order]}, c.id"
        rows = self.graph.run(f"{query} SKIP $skip LIMIT $limit", {**values, "skip": offset, "limit": limit})
        return [card_from_row(row) for row in rows], total

    def degrees(self, ids: Iterable[str] | None = None, scopes: Sequence[str] | None = None) -> dict[str, int]:
        """How many links each card has; all cards with links when no ids are given.

        Args:
            scopes: Count only links to cards of these scopes; None = all.
        """
        if scopes is not None:
            return self._degrees_within(scopes, None if ids is None else list(dict.fromkeys(ids)))
        if ids is None:
            rows = self.graph.run("MATCH (c:Card)-[r:LINK]-(:Card) RETURN c.id, count(r)")
        else:
            rows = by_id(self.graph, "(c:Card {id: $id})-[r:LINK]-(:Card)", "c.id, count(r)", ids)
        return {row[0]: row[1] for row in rows}

    def _degrees_within(self, scopes: Sequence[str], ids: list[str] | None) -> dict[str, int]:
        if ids is not None and len(ids) > _SEVERAL:  # then comparing each card with every id takes longest
            query = "UNWIND $ids AS wanted MATCH (c:Card {id: wanted})-[r:LINK]-(o:Card) RETURN c.id, o.scope, count(r)"
            found: Counter[str] = Counter()
            for card_id, scope, count in self.graph.run(query, {"ids": ids}):
                found[card_id] += count if scope in scopes else 0
            return dict(found)
        wanted, given = ("", {}) if ids is None else ("c.id IN $ids AND ", {"ids": ids})
        query = f"MATCH (c:Card)-[r:LINK]-(o:Card) WHERE {wanted}o.scope IN $scopes RETURN c.id, count(r)"
        return {row[0]: row[1] for row in self.graph.run(query, {**given, "scopes": list(scopes)})}

    def neighbours(self, ids: Sequence[str], scopes: Sequence[str] | None = None) -> dict[str, list[Neighbour]]:
        """The cards one link away from each of these, links in both directions.

        Args:
            scopes: The only scopes that may be seen, and whose cards count in a degree; None = all.
        """
        if not ids:
            return {}
        if scopes is None:
            if self.links is not None:
                return self.links.neighbours(ids)
            self.on_links(self)
        found: dict[str, list[tuple[Link, list[Any]]]] = {card_id: [] for card_id in ids}
        ends = "b.title, b.type, b.state, b.scope"
        for pattern, answer, own in (
            ("(a:Card{})-[r:LINK]->(b:Card)", f"a.id, b.id, {_LINK}, {ends}", 0),
            ("(b:Card)-[r:LINK]->(a:Card{})", f"b.id, a.id, {_LINK}, {ends}", 1),
        ):
            for row in self._around(pattern, answer, list(found), scopes):
                found[row[own]].append((_link(row[:7]), [row[1 - own], *row[7:]]))
        others = {end[0] for pairs in found.values() for _, end in pairs}
        degrees = self.degrees(others, scopes) if others else {}
        return {
            card_id: [
                Neighbour(link, end[0], end[1], end[2], end[3], end[4], degrees.get(end[0], 1)) for link, end in pairs
            ]
            for card_id, pairs in found.items()
        }

    def _around(self, pattern: str, answer: str, ids: Sequence[str], scopes: Sequence[str] | None) -> list[Any]:
        """What a pattern with a hole at the cards `a` of these ids answers of their neighbours `b`."""
        within, given = ("", {}) if scopes is None else ("b.scope IN $scopes", {"scopes": list(scopes)})
        if len(ids) <= _FEW:
            where = f" WHERE {within}" if within else ""
            query = f"MATCH {pattern.format(' {id: $id}')}{where} RETURN {answer}"
            return [row for one in ids for row in self.graph.run(query, {"id": one, **given})]
        # Here a join with the ids is slower than looking at every card: 37 ms against 9 (25,000 cards).
        also = f" AND {within}" if within else ""
        query = f"MATCH {pattern.format('')} WHERE a.id IN $ids{also} RETURN {answer}"
        return self.graph.run(query, {"ids": list(ids), **given})

    def links_between(self, a: str, b: str) -> list[Link]:
        """Every link between two cards, in either direction."""
        query = (
            "MATCH (x:Card)-[r:LINK]->(y:Card) WHERE (x.id = $a AND y.id = $b) OR (x.id = $b AND y.id = $a) "
            f"RETURN x.id, y.id, {_LINK}"
        )
        return [_link(row) for row in self.graph.run(query, {"a": a, "b": b})]

    def all_links(self) -> list[Link]:
        """Every link."""
        return [_link(row) for row in self.graph.run(f"MATCH (a:Card)-[r:LINK]->(b:Card) RETURN a.id, b.id, {_LINK}")]

    def session(self, session_id: str) -> SessionInfo | None:
        """One session, if it is there."""
        return read_sessions(self.graph, [session_id]).get(session_id)

    def sessions_of_source(self, digest: str) -> list[SessionInfo]:
        """The sessions that came from the bytes of a sha256."""
        query = f"MATCH (s:Session) WHERE s.source = $source RETURN {returning('s', SESSION_COLUMNS)} ORDER BY s.id"
        return [session_from_row(row) for row in self.graph.run(query, {"source": digest})]

    def sessions(self) -> list[SessionInfo]:
        """Every session, oldest first."""
        query = f"MATCH (s:Session) RETURN {returning('s', SESSION_COLUMNS)} ORDER BY s.timestamp, s.id"
        return [session_from_row(row) for row in self.graph.run(query)]

    def sessions_by_id(self, ids: Iterable[str]) -> dict[str, SessionInfo]:
        """Sessions by id; those that do not exist are left out."""
        return read_sessions(self.graph, ids)

    def cards_from(
        self, session_ids: Sequence[str], scopes: Sequence[str] | None = None
    ) -> dict[str, list[tuple[str, list[int]]]]:
        """Per session: the active cards that came from it, each with its turns.

        Args:
            scopes: The only scopes that may be seen; None = all.
        """
        if not session_ids:
            return {}
        if self.links is not None and scopes is None:
            return self.links.cards_from(session_ids)
        within, given = ("", {}) if scopes is None else ("c.scope IN $scopes AND ", {"scopes": list(scopes)})
        query = (
            f"MATCH (c:Card)-[r:EXTRACTED_FROM]->(s:Session) WHERE {within}s.id IN $ids AND c.state = $state "
            "RETURN s.id, c.id, r.turns"
        )
        found: dict[str, list[tuple[str, list[int]]]] = {}
        for row in self.graph.run(query, {"ids": list(session_ids), "state": str(CardState.ACTIVE), **given}):
            found.setdefault(row[0], []).append((row[1], row[2]))
        return found

    def cards_with_content(self, contents: Sequence[str]) -> dict[str, list[Card]]:
        """Active cards whose content is exactly one of these, by content."""
        if not contents:
            return {}
        query = (
            f"MATCH (c:Card) WHERE c.content IN $contents AND c.state = $state RETURN {returning('c', CARD_COLUMNS)}"
        )
        found: dict[str, list[Card]] = {}
        for row in self.graph.run(query, {"contents": list(contents), "state": str(CardState.ACTIVE)}):
            card = card_from_row(row)
            found.setdefault(card.content, []).append(card)
        return found

    def mentioning(self, entities: Iterable[str]) -> dict[str, list[str]]:
        """Per entity: the active cards that mention it."""
        wanted = list(entities)
        if not wanted:
            return {}
        query = "MATCH (c:Card)-[:MENTIONS]->(e:Entity) WHERE e.id IN $ids AND c.state = $state RETURN e.id, c.id"
        found: dict[str, list[str]] = {}
        for entity, card_id in self.graph.run(query, {"ids": wanted, "state": str(CardState.ACTIVE)}):
            found.setdefault(entity, []).append(card_id)
        return found

    def counts(self) -> dict[str, Counter[str]]:
        """Cards by type and by state, links by relation."""
        found: dict[str, Counter[str]] = {"type": Counter(), "state": Counter(), "relation": Counter()}
        for kind, state, count in self.graph.run("MATCH (c:Card) RETURN c.type, c.state, count(c)"):
            found["state"][state] += count
            if state == CardState.ACTIVE:
                found["type"][kind] += count
        for relation, count in self.graph.run("MATCH ()-[r:LINK]->() RETURN r.relation, count(r)"):
            found["relation"][relation] += count
        return found


def read_mark(graph: GraphConnection) -> LedgerMark:
    """How far a graph has read the ledger.

    Raises:
        OlderGraphError: It is of another layout.
    """
    values = dict(graph.run("MATCH (m:Meta) RETURN m.id, m.value"))
    if values.get("layout") != LAYOUT:
        raise OlderGraphError("the graph is of another version of Alaya", "run `alaya rebuild l2`")
    return LedgerMark(int(values.get("seq", 0)), values.get("segment", ""), int(values.get("offset", 0)))


def visible_states(filters: Filters) -> list[str]:
    """The states that a search sees."""
    return [str(state) for state in ((*LIVING, CardState.ARCHIVED) if filters.archived else LIVING)]


def _conditions(filters: Filters, scopes: Sequence[str] | None) -> tuple[str, dict[str, Any]]:
    clauses = ["c.state IN $states"]
    values: dict[str, Any] = {"states": visible_states(filters)}
    single = {
        "type": filters.type,
        "standing": filters.standing,
        "origin": filters.origin,
        "scope": filters.scope,
    }
    for name, wanted in single.items():
        if wanted:
            clauses.append(f"c.{name} IN ${name}")
            values[name] = list(wanted)
    if scopes is not None:
        clauses.append("c.scope IN $visible")
        values["visible"] = list(scopes)
    session = (filters.session,) if filters.session else ()
    for column, wanted in (("tags", filters.tag), ("entities", filters.entity), ("sessions", session)):
        # The engine has no "any of"; names of parameters are ours, values are bound.
        names = [f"{column}_{chr(97 + index // 26)}{chr(97 + index % 26)}" for index in range(len(wanted))]
        if names:
            clauses.append("(" + " OR ".join(f"list_contains(c.{column}, ${name})" for name in names) + ")")
            values.update(zip(names, wanted, strict=True))
    if filters.since is not None:
        clauses.append("c.created_at >= $since")
        values["since"] = filters.since
    if filters.until is not None:
        clauses.append("c.created_at <= $until")
        values["until"] = filters.until
    return " AND ".join(clauses), values
