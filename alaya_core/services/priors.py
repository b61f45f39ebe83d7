"""What cards and sessions were before changes that do not tell it themselves: read off the ledger in one go. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from alaya_core.models.card import Card
from alaya_core.models.commit import Commit, Event
from alaya_core.models.session import SessionInfo
from alaya_core.stores.folding import fold

Place = tuple[int, int]
"""One event: the seq of its commit, and its number in it."""


@dataclass(slots=True)
class Priors:
    """Cards and sessions as they were before an event; a session that was not there is left out."""

    cards: dict[Place, Card] = field(default_factory=dict)
    sessions: dict[Place, SessionInfo] = field(default_factory=dict)


def priors_of(ledger: Iterable[Commit], commits: Sequence[Commit]) -> Priors:
    """What is needed to take commits back and does not stand in them: a text that they name by its hash, and what a
    session was.

    Args:
        ledger: All commits, the oldest first; read only as far as needed.
    """
    wanted = {
        (commit.seq, number): key
        for commit in commits
        for number, event in enumerate(commit.events)
        if (key := _asked_for(event))
    }
    out = Priors()
    if not wanted:
        return out
    keys = set(wanted.values())
    last = max(seq for seq, _ in wanted)
    cards: dict[str, Card] = {}
    sessions: dict[str, SessionInfo] = {}
    for commit in ledger:
        if commit.seq > last:
            break
        for number, event in enumerate(commit.events):
            key = _about(event)
            if key not in keys:
                continue
            if (commit.seq, number) in wanted:
                out.cards |= {(commit.seq, number): cards[key]} if key in cards else {}
                out.sessions |= {(commit.seq, number): sessions[key]} if key in sessions else {}
            after = fold([replace(commit, events=(event,))], cards, sessions)
            cards |= after.cards
            sessions |= after.sessions
            for gone in after.removed:
                cards.pop(gone, None)
            for gone in after.removed_sessions:
                sessions.pop(gone, None)
    return out


def names_by_hash(before: Mapping[str, Any]) -> bool:
    """Whether a text that was there is not told, but named by its hash."""
    return any(isinstance(value, dict) for value in before.values())


def _asked_for(event: Event) -> str:
    """The card or session whose state before an event must be sought; empty if the event tells it."""
    if event["kind"] == "card.changed":
        return _about(event) if names_by_hash(event["before"]) else ""
    return _about(event) if event["kind"] in ("session.ingested", "session.distilled") else ""


def _about(event: Event) -> str:
    """The card or session that an event changes; empty for the rest."""
    match event["kind"]:
        case "card.created":
            return str(event["card"]["id"])
        case "session.ingested":
            return str(event["session"]["id"])
        case "card.changed" | "card.removed" | "session.distilled" | "session.removed":
            return str(event["id"])
        case _:
            return ""
