"""What the ledger holds beyond a generation of L1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from alaya_core.models.commit import event_cards
from alaya_core.services.workspace import Workspace
from alaya_core.stores.ledger import LedgerMark


@dataclass(frozen=True, slots=True)
class Waiting:
    """What changed since L1 was written.

    Attributes:
        target: Where the ledger ends.
        cards: Ids of cards that were touched.
        sessions: Session id -> first turn that is new.
        turns: How many turns that is.
    """

    target: LedgerMark
    cards: tuple[str, ...]
    sessions: dict[str, int]
    turns: int


def waiting_since(workspace: Workspace, mark: LedgerMark) -> Waiting:
    """Reads the ledger on from a mark."""
    cards: dict[str, None] = {}
    sessions: dict[str, int] = {}
    turns = 0
    for commit in workspace.ledger.commits(mark):
        mark = LedgerMark(commit.seq, commit.segment, commit.end)
        for event in commit.events:
            if event["kind"].startswith("card."):
                cards.update(dict.fromkeys(event_cards(event)))
            elif event["kind"] == "session.ingested":
                key, first = event["session"]["id"], event["from_turn"]
                sessions[key] = min(first, sessions.get(key, first))
                turns += event["session"]["turns"] - first
            elif event["kind"] == "session.removed":
                sessions[event["id"]] = 0
    return Waiting(mark, tuple(cards), sessions, turns)


def chunks(ids: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """Ids in pieces."""
    for start in range(0, len(ids), size):
        yield ids[start : start + size]
