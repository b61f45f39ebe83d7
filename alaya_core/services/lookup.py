"""From what a person types to a card: a whole id, the beginning of one, or the id of one that was merged away."""

from __future__ import annotations

from collections.abc import Sequence

from alaya_core.errors import AmbiguousIdError, NotFoundError
from alaya_core.models.card import Card, CardState
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
        card = _by_prefix(reader, wanted)
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


def _by_prefix(reader: GraphReader, wanted: str) -> Card | None:
    prefix = wanted if wanted.startswith(PREFIX) else PREFIX + wanted
    if len(prefix) - len(PREFIX) < LEAST:
        return None
    ids = reader.find_ids(prefix, 6)
    if len(ids) > 1:
        listed = ", ".join(safe_line(found) for found in ids[:5]) + (", ..." if len(ids) > 5 else "")
        raise AmbiguousIdError(f"'{safe_line(wanted)[:80]}' fits several cards: {listed}", "give more of the id")
    return reader.cards(ids).get(ids[0]) if ids else None
