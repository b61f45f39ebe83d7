"""Questions to an open graph about the things cards name and the times they tell of; whole cards are not read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from alaya_core.models.card import LIVING
from alaya_core.stores.graph_read import GraphReader

_SEEN = [str(state) for state in LIVING]


@dataclass(frozen=True, slots=True)
class Moment:
    """A card in time.

    Attributes:
        created_at: When it was true, ms.
    """

    id: str
    title: str
    type: str
    state: str
    created_at: int


@dataclass(frozen=True, slots=True)
class Mention(Moment):
    """A card with the things it names.

    Attributes:
        importance: 0..1.
    """

    importance: float
    entities: tuple[str, ...]
    content: str


def mentions(reader: GraphReader, scopes: Sequence[str] | None) -> list[Mention]:
    """The cards in sight that name anything, in no order.

    Args:
        scopes: The only scopes that may be seen; None = all.
    """
    where, values = _in_sight(scopes)
    rows = reader.graph.run(
        f"MATCH (c:Card) WHERE {where} AND size(c.entities) > 0 "
        "RETURN c.id, c.title, c.type, c.state, c.created_at, c.importance, c.entities, c.content",
        values,
    )
    return [
        Mention(card_id, title, kind, state, created_at, importance, tuple(names), content)
        for card_id, title, kind, state, created_at, importance, names, content in rows
    ]


def moments(
    reader: GraphReader, scopes: Sequence[str] | None, *, since: int | None, until: int | None, limit: int
) -> tuple[list[Moment], int]:
    """The cards in sight that were true within a time, newest first, and how many there are in all.

    Args:
        scopes: The only scopes that may be seen; None = all.
        since, until: ms, inclusive; None = no bound.
        limit: Most of them.
    """
    where, values = _in_sight(scopes)
    if since is not None:
        where, values["since"] = f"{where} AND c.created_at >= $since", since
    if until is not None:
        where, values["until"] = f"{where} AND c.created_at <= $until", until
    total = reader.graph.run(f"MATCH (c:Card) WHERE {where} RETURN count(c)", values)[0][0]
    rows = reader.graph.run(
        f"MATCH (c:Card) WHERE {where} RETURN c.id, c.title, c.type, c.state, c.created_at "
        "ORDER BY c.created_at DESC, c.id LIMIT $limit",
        {**values, "limit": limit},
    )
    return [Moment(*row) for row in rows], total


def _in_sight(scopes: Sequence[str] | None) -> tuple[str, dict[str, Any]]:
    if scopes is None:
        return "c.state IN $states", {"states": _SEEN}
    return "c.state IN $states AND c.scope IN $scopes", {"states": _SEEN, "scopes": list(scopes)}
