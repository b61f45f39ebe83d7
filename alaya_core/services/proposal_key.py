"""By what a proposal is known again. No I/O."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from alaya_core.models.card import Card


def proposal_key(verb: str, cards: Iterable[Card]) -> str:
    """24 hex digits: the same for the same thing to be done with the same cards, whatever their order, as long as none
    of their texts changes."""
    texts = sorted((card.id, card.content_hash()) for card in cards)
    raw = "|".join([verb, *(part for pair in texts for part in pair)])
    return hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest()[:24]
