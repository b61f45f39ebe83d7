"""How cards, links and sessions lie in the graph: its schema, and rows to and from models."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from alaya_core.models.card import Card, Link, Relation
from alaya_core.models.commit import card_fields, card_to_json
from alaya_core.models.session import SessionInfo

CARD_COLUMNS: dict[str, str] = {
    "title": "string",
    "overview": "string",
    "content": "string",
    "type": "string",
    "tags": "strings",
    "entities": "strings",
    "importance": "float",
    "importance_by": "string",
    "confidence": "float",
    "scope": "string",
    "origin": "string",
    "state": "string",
    "pinned": "bool",
    "rev": "int",
    "created_at": "int",
    "added_at": "int",
    "updated_at": "int",
    "sources": "string",
    "sessions": "strings",
    "distilled_by": "string",
    "successor": "string",
    "expires_at": "int",
    "standing": "string",
    "vector_dropped": "bool",
    "merged_from": "strings",
    "seq": "int",
}
"""Column -> type, the primary key `id` apart. `sources` is JSON; `seq` is the commit that last changed the card."""

SESSION_COLUMNS: dict[str, str] = {
    "timestamp": "int",
    "channel": "string",
    "agent": "string",
    "format": "string",
    "turns": "int",
    "path": "string",
    "summary": "string",
    "distilled_turns": "int",
    "distilled_by": "string",
    "source": "string",
    "chain": "string",
    "seq": "int",
}

_TYPES = {
    "string": "STRING",
    "int": "INT64",
    "float": "DOUBLE",
    "bool": "BOOLEAN",
    "strings": "STRING[]",
    "ints": "INT64[]",
}


def _node_table(name: str, columns: Mapping[str, str]) -> str:
    body = ", ".join(f"`{column}` {_TYPES[kind]}" for column, kind in columns.items())
    return f"CREATE NODE TABLE {name}(id STRING PRIMARY KEY, {body})"


LAYOUT = "2"
"""Changes with the schema: a graph of another layout is made anew."""

SCHEMA = (
    _node_table("Card", CARD_COLUMNS),
    _node_table("Session", SESSION_COLUMNS),
    "CREATE NODE TABLE Entity(id STRING PRIMARY KEY)",
    "CREATE NODE TABLE Meta(id STRING PRIMARY KEY, value STRING)",
    "CREATE NODE TABLE Erased(id STRING PRIMARY KEY, value STRING)",
    "CREATE REL TABLE LINK(FROM Card TO Card, relation STRING, weight DOUBLE, reason STRING, origin STRING, "
    "created_at INT64)",
    "CREATE REL TABLE EXTRACTED_FROM(FROM Card TO Session, turns INT64[])",
    "CREATE REL TABLE MENTIONS(FROM Card TO Entity)",
    f"CREATE (:Meta {{id: 'layout', value: '{LAYOUT}'}})",
)
"""Statements that make an empty graph."""


def upsert(table: str, columns: Mapping[str, str], value: str) -> str:
    """`MERGE ... SET` over every column; `value` turns a column's name into where its value comes from."""
    settings = ", ".join(f"n.`{column}` = {value.format(column)}" for column in columns)
    return f"MERGE (n:{table} {{id: {value.format('id')}}}) SET {settings}"


def card_row(card: Card, seq: int) -> dict[str, Any]:
    """A card as a row, `id` included."""
    row = card_to_json(card)
    row.update(
        sources=json.dumps(row["sources"], ensure_ascii=False, separators=(",", ":")),
        sessions=[source.session_id for source in card.sources],
        seq=seq,
    )
    return row


def card_from_row(row: Sequence[Any]) -> Card:
    """A card from the values of `id` and CARD_COLUMNS, in order."""
    raw = dict(zip(("id", *CARD_COLUMNS), row, strict=True))
    raw["sources"] = json.loads(raw["sources"])
    return Card(**card_fields(raw))


def session_row(info: SessionInfo, seq: int) -> dict[str, Any]:
    """A session as a row, `id` included."""
    return {name: seq if name == "seq" else getattr(info, name) for name in ("id", *SESSION_COLUMNS)}


def session_from_row(row: Sequence[Any]) -> SessionInfo:
    """A session from the values of `id` and SESSION_COLUMNS, in order."""
    raw = dict(zip(("id", *SESSION_COLUMNS), row, strict=True))
    del raw["seq"]
    return SessionInfo(**raw)


def link_from_row(row: Sequence[Any]) -> Link:
    """A link from (from, to, relation, weight, reason, origin, created_at)."""
    return Link(row[0], row[1], Relation(row[2]), row[3], row[4], row[5], row[6])


def returning(variable: str, columns: Mapping[str, str]) -> str:
    """The `RETURN` list that the `*_from_row` functions read."""
    return ", ".join(f"{variable}.`{column}`" for column in ("id", *columns))
