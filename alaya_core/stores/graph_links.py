"""Links by the cards they start from: quicker than neighbours, where only the links themselves are wanted."""

from __future__ import annotations

from collections.abc import Iterable

from alaya_core.models.card import Link, Relation
from alaya_core.stores.graph_apply import by_id
from alaya_core.stores.graph_read import GraphReader

_FIELDS = "a.id, b.id, r.relation, r.weight, r.reason, r.origin, r.created_at"


def links_from(reader: GraphReader, ids: Iterable[str]) -> list[Link]:
    """The links that start from these cards (a symmetric one starts from the smaller id)."""
    rows = by_id(reader.graph, "(a:Card {id: $id})-[r:LINK]->(b:Card)", _FIELDS, ids)
    return [Link(row[0], row[1], Relation(row[2]), row[3], row[4], row[5], row[6]) for row in rows]
