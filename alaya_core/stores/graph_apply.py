"""Applies commits to an open graph: small ones a statement a row, large ones in bulk; both idempotent."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from alaya_core.models.card import Card, Link
from alaya_core.models.commit import Commit, event_cards, sources_from_json, sources_to_json
from alaya_core.models.session import SessionInfo
from alaya_core.stores.folding import Erased, LinkKey, fold, session_ids
from alaya_core.stores.graph_engine import GraphConnection, Row
from alaya_core.stores.graph_rows import (
    CARD_COLUMNS,
    SESSION_COLUMNS,
    card_from_row,
    card_row,
    returning,
    session_from_row,
    session_row,
    upsert,
)

_BULK = 24
_FEW = 8
_FEW_LINKS = 2
"""More are copied in one go: twenty made one by one in a transaction leave the file 4 MB longer, copied 0.1 MB."""
_LINK_COLUMNS = {
    "a": "string",
    "b": "string",
    "relation": "string",
    "weight": "float",
    "reason": "string",
    "origin": "string",
    "created_at": "int",
}


def apply_commits(graph: GraphConnection, commits: Sequence[Commit]) -> None:
    """Brings the graph up to the last of these commits, inside the caller's transaction."""
    cards = read_cards(graph, {card for commit in commits for event in commit.events for card in event_cards(event)})
    sessions = read_sessions(graph, {key for commit in commits for key in session_ids(commit)})
    folded = fold(commits, cards, sessions)
    known_before = set(cards)
    _put(
        graph,
        "Session",
        SESSION_COLUMNS,
        [session_row(session, folded.session_seq[session.id]) for session in folded.sessions.values()],
        {key: session_row(session, -1) for key, session in sessions.items()},
    )
    _put(
        graph,
        "Card",
        CARD_COLUMNS,
        [card_row(card, folded.card_seq[card.id]) for card in folded.cards.values()],
        {key: card_row(card, -1) for key, card in cards.items()},
    )
    _root(graph, [folded.cards[key] for key in folded.rooted if key in folded.cards], known_before)
    _unlink(graph, folded.unlinked)
    held = known_before | folded.cards.keys()  # a lost line may have made a card that later lines name
    _link(graph, [link for link in folded.links.values() if {link.from_id, link.to_id} <= held], known_before)
    _remove(graph, "Card", folded.removed)
    _remove(graph, "Session", folded.removed_sessions)
    last = commits[-1]
    known = {
        row[0]: erased_from(row[1]) for row in by_id(graph, "(n:Erased {id: $id})", "n.id, n.value", folded.erased)
    }
    for key, mark in folded.erased.items():
        if key in known:
            mark = replace(mark, turns=mark.turns | known[key].turns)
        graph.run("MERGE (n:Erased {id: $id}) SET n.value = $value", {"id": key, "value": _erased(mark)})
    for key, value in (("seq", str(last.seq)), ("segment", last.segment), ("offset", str(last.end))):
        graph.run("MERGE (n:Meta {id: $id}) SET n.value = $value", {"id": key, "value": value})


def read_cards(graph: GraphConnection, ids: Iterable[str]) -> dict[str, Card]:
    """Cards by id; those that do not exist are left out."""
    answer = returning("n", CARD_COLUMNS)
    return {row[0]: card_from_row(row) for row in by_id(graph, "(n:Card {id: $id})", answer, ids)}


def read_sessions(graph: GraphConnection, ids: Iterable[str]) -> dict[str, SessionInfo]:
    """Sessions by id; those that do not exist are left out."""
    answer = returning("n", SESSION_COLUMNS)
    return {row[0]: session_from_row(row) for row in by_id(graph, "(n:Session {id: $id})", answer, ids)}


def by_id(graph: GraphConnection, pattern: str, answer: str, ids: Iterable[str]) -> list[Row]:
    """What a pattern around one node answers, for each of some ids.

    Measured: `IN $ids` looks at every node and compares it with every id; a lookup of a single id costs 0.3 ms at any
    size, a join with many of them about as much as one look at every node.

    Args:
        pattern: Holds `{id: $id}`.
        answer: What is returned.
    """
    wanted = list(dict.fromkeys(ids))
    if len(wanted) <= _FEW:
        query = f"MATCH {pattern} RETURN {answer}"
        return [row for one in wanted for row in graph.run(query, {"id": one})]
    joined = pattern.replace("$id", "wanted")
    return graph.run(f"UNWIND $ids AS wanted MATCH {joined} RETURN {answer}", {"ids": wanted})


def _put(
    graph: GraphConnection,
    table: str,
    columns: Mapping[str, str],
    rows: list[dict[str, Any]],
    before: Mapping[str, dict[str, Any]],
) -> None:
    """Writes rows, new ones and changed ones.

    Args:
        before: Rows as they are, by id.
    """
    if len(rows) <= _BULK:
        for row in rows:
            if (known := before.get(row["id"])) is None:
                graph.run(upsert(table, columns, "${}"), row)
                continue
            # Every text column that is set, changed or not, makes the file 30 to 200 KB longer.
            changed = [name for name in columns if row[name] != known[name]]
            settings = ", ".join(f"n.`{name}` = ${name}" for name in changed)
            graph.run(f"MATCH (n:{table} {{id: $id}}) SET {settings}", {name: row[name] for name in ("id", *changed)})
        return
    fresh = [row for row in rows if row["id"] not in before]
    if fresh:
        _load(graph, upsert(table, columns, "`{}`"), columns, fresh)
    # Every text column that is set, changed or not, makes the file longer, here too.
    alike: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        if (known := before.get(row["id"])) is not None:
            alike.setdefault(tuple(name for name in columns if row[name] != known[name]), []).append(row)
    for names, same in alike.items():
        settings = ", ".join(f"n.`{name}` = `{name}`" for name in names)
        _load(graph, f"MATCH (n:{table} {{id: `id`}}) SET {settings}", {name: columns[name] for name in names}, same)


def _load(graph: GraphConnection, query: str, columns: Mapping[str, str], rows: list[dict[str, Any]]) -> None:
    schema = {"id": "string", **columns}
    graph.load(f"LOAD FROM $rows {query}", {name: [row[name] for row in rows] for name in schema}, schema)


def _root(graph: GraphConnection, cards: list[Card], known_before: set[str]) -> None:
    """Writes the edges of cards to their sessions and entities."""
    stale = [card.id for card in cards if card.id in known_before]
    if stale:
        for kind in ("EXTRACTED_FROM", "MENTIONS"):
            graph.run(f"UNWIND $ids AS wanted MATCH (c:Card {{id: wanted}})-[r:{kind}]->() DELETE r", {"ids": stale})
    named = sorted({source.session_id for card in cards for source in card.sources})
    present = set(read_sessions(graph, named))
    origins = [
        (card.id, source.session_id, list(source.turns))
        for card in cards
        for source in card.sources
        if source.session_id in present
    ]
    mentions = [(card.id, entity) for card in cards for entity in dict.fromkeys(card.entities)]
    if len(origins) + len(mentions) <= _FEW_LINKS:
        for card_id, session_id, turns in origins:
            graph.run(
                "MATCH (c:Card {id: $card}), (s:Session {id: $session}) "
                "CREATE (c)-[:EXTRACTED_FROM {turns: $turns}]->(s)",
                {"card": card_id, "session": session_id, "turns": turns},
            )
        for card_id, entity in mentions:
            graph.run("MERGE (e:Entity {id: $id})", {"id": entity})
            graph.run(
                "MATCH (c:Card {id: $card}), (e:Entity {id: $entity}) CREATE (c)-[:MENTIONS]->(e)",
                {"card": card_id, "entity": entity},
            )
        return
    if origins:
        columns = {name: [row[at] for row in origins] for at, name in enumerate(("a", "b", "turns"))}
        graph.load("COPY EXTRACTED_FROM FROM $rows", columns, {"a": "string", "b": "string", "turns": "ints"})
    if mentions:
        entities = sorted({entity for _, entity in mentions})
        graph.load("LOAD FROM $rows MERGE (e:Entity {id: id})", {"id": entities}, {"id": "string"})
        columns = {name: [row[at] for row in mentions] for at, name in enumerate(("a", "b"))}
        graph.load("COPY MENTIONS FROM $rows", columns, {"a": "string", "b": "string"})


def _remove(graph: GraphConnection, table: str, ids: Iterable[str]) -> None:
    for one in ids:
        graph.run(f"MATCH (n:{table} {{id: $id}}) DETACH DELETE n", {"id": one})


def erased_from(value: str) -> Erased:
    """What is known of something erased, from its row."""
    raw = json.loads(value)
    return Erased(raw["what"], frozenset(raw["turns"]), sources_from_json(raw["sources"]))


def _erased(mark: Erased) -> str:
    return json.dumps(
        {"what": mark.what, "turns": sorted(mark.turns), "sources": sources_to_json(mark.sources)}, ensure_ascii=False
    )


def _unlink(graph: GraphConnection, keys: Iterable[LinkKey]) -> None:
    for from_id, to_id, relation in keys:
        graph.run(
            "MATCH (a:Card {id: $a})-[r:LINK {relation: $relation}]->(b:Card {id: $b}) DELETE r",
            {"a": from_id, "b": to_id, "relation": relation},
        )


def _link(graph: GraphConnection, links: Iterable[Link], known_before: set[str]) -> None:
    """Writes links. Not by MERGE: the engine's finds links that are not there, and loses the new one."""
    rows = [
        {
            "a": link.from_id,
            "b": link.to_id,
            "relation": str(link.relation),
            "weight": link.weight,
            "reason": link.reason,
            "origin": link.origin,
            "created_at": link.created_at,
        }
        for link in links
    ]
    maybe = sorted({row["a"] for row in rows if row["a"] in known_before})
    pattern = "(a:Card {id: $id})-[r:LINK]->(b:Card)"
    existing = {tuple(row) for row in by_id(graph, pattern, "a.id, b.id, r.relation", maybe)}
    fresh = [row for row in rows if (row["a"], row["b"], row["relation"]) not in existing]
    for row in rows:
        if (row["a"], row["b"], row["relation"]) in existing:
            graph.run(
                "MATCH (:Card {id: $a})-[r:LINK {relation: $relation}]->(:Card {id: $b}) "
                "SET r.weight = $weight, r.reason = $reason, r.origin = $origin, r.created_at = $created_at",
                row,
            )
    if len(fresh) > _FEW_LINKS:
        data = {name: [row[name] for row in fresh] for name in _LINK_COLUMNS}
        graph.load("COPY LINK FROM $rows", data, _LINK_COLUMNS)
        return
    for row in fresh:
        graph.run(
            "MATCH (x:Card {id: $a}), (y:Card {id: $b}) CREATE (x)-[:LINK {relation: $relation, weight: $weight, "
            "reason: $reason, origin: $origin, created_at: $created_at}]->(y)",
            row,
        )
