"""From what a person types to a card: a whole id, the beginning of one, or the id of one that was merged away. And what
of a card, and of where it came from, whoever asks may see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from alaya_core.errors import AmbiguousIdError, NotFoundError
from alaya_core.models.card import Card, CardState
from alaya_core.models.session import SessionInfo
from alaya_core.stores.graph_read import GraphReader
from alaya_core.text import safe_line, storable

PREFIX = "card-"
LEAST = 8
"""Characters behind the prefix that are enough to name a card."""


def find_card(reader: GraphReader, reference: str, scopes: Sequence[str] | None, *, forgotten: bool = False) -> Card:
    """The card that a reference names; the id of a merged card names its survivor.

    Args:
        reference: An id, or at least 8 characters of it after `card-` (which may be left out).
        scopes: The only scopes that may be seen; None = all.
        forgotten: Whether forgotten cards are meant too.

    Raises:
        NotFoundError: No card of that id may be seen.
        AmbiguousIdError: The beginning fits several; the message lists them.
    """
    wanted = storable(reference.strip())
    card = reader.cards([wanted]).get(wanted)
    if card is None:
        card = _by_prefix(reader, wanted, scopes)
    seen = {card.id} if card else set()
    while card is not None and card.state is CardState.MERGED and card.successor not in seen:
        seen.add(card.successor)
        card = reader.cards([card.successor]).get(card.successor)
    if card is None or (scopes is not None and card.scope not in scopes):
        shown = safe_line(wanted)[:80]
        raise NotFoundError(f"there is no card '{shown}'", "`alaya list` shows cards with their ids")
    if card.state is CardState.FORGOTTEN and not forgotten:
        raise NotFoundError(f"the card '{safe_line(card.id)}' was forgotten", f"bring it back: alaya restore {card.id}")
    return card


def sessions_seen(
    reader: GraphReader, session_ids: Iterable[str], scopes: Sequence[str] | None
) -> dict[str, SessionInfo]:
    """The sessions of these ids that whoever asks may see: a session belongs to its agent, as its passages do."""
    known = reader.sessions_by_id(list(dict.fromkeys(session_ids)))
    return {key: info for key, info in known.items() if scopes is None or f"agent:{info.agent}" in scopes}


def as_seen(reader: GraphReader, cards: Iterable[Card], scopes: Sequence[str] | None) -> dict[str, Card]:
    """Cards as whoever asks may see them, by id: without the sessions and successors that are hidden from them. A
    session that is no more has no owner, so only the memory's owner sees that there was one.

    Args:
        scopes: The only scopes that may be seen; None = all.
    """
    found = {card.id: card for card in cards}
    if scopes is None or not found:
        return found
    sessions = sessions_seen(reader, (source.session_id for card in found.values() for source in card.sources), scopes)
    successors = reader.cards(card.successor for card in found.values() if card.successor)
    return {key: _without_hidden(card, sessions, successors, scopes) for key, card in found.items()}


def without_sessions(card: Card) -> Card:
    """A card for somebody of whom it is not known which of its sessions they may see."""
    return replace(card, sources=())


def _without_hidden(
    card: Card, sessions: Mapping[str, SessionInfo], successors: Mapping[str, Card], scopes: Sequence[str]
) -> Card:
    successor = successors.get(card.successor)
    return replace(
        card,
        sources=tuple(source for source in card.sources if source.session_id in sessions),
        successor=card.successor if successor is not None and successor.scope in scopes else "",
    )


def _by_prefix(reader: GraphReader, wanted: str, scopes: Sequence[str] | None) -> Card | None:
    prefix = wanted if wanted.startswith(PREFIX) else PREFIX + wanted
    if len(prefix) - len(PREFIX) < LEAST:
        return None
    ids = reader.find_ids(prefix, 6, scopes)
    if len(ids) > 1:
        listed = ", ".join(safe_line(found) for found in ids[:5]) + (", ..." if len(ids) > 5 else "")
        raise AmbiguousIdError(f"'{safe_line(wanted)[:80]}' fits several cards: {listed}", "give more of the id")
    return reader.cards(ids).get(ids[0]) if ids else None
