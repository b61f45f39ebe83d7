"""What a person should know of the cards that go before they are gone. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping

from alaya_core.models.answers import GoingCard
from alaya_core.models.card import RULES_SUMMARY
from alaya_core.services.erase.past import CardPast
from alaya_core.text import safe_line

_OURS = re.compile(r"card-[0-9a-f]{32}")
_SHORT = len("card-") + 8
_MOST_NAMED = 3


def going(goes: Mapping[str, CardPast]) -> list[GoingCard]:
    """The cards that go, in the order of their ids."""
    return [GoingCard(card_id=key, title=goes[key].card.title, note=_note(goes[key])) for key in sorted(goes)]


def alias_note(alias: str) -> str:
    """What is to be known of an id that leads to the card it was merged into; empty for the card's own."""
    if not alias:
        return ""
    return f"{_short(alias)} was merged into this card; undo the merge first to erase it alone"


def _note(past: CardPast) -> str:
    parts = []
    if past.card.distilled_by == RULES_SUMMARY:
        parts.append("a summary that quotes it; it is made anew of what stays")
    if past.card.origin == "human" and past.made_by == "human":
        parts.append("written by hand")
    elif past.edited:
        parts.append("edited by hand")
    if merged := past.card.merged_from:
        more = f" and {len(merged) - _MOST_NAMED} more" if len(merged) > _MOST_NAMED else ""
        named = ", ".join(map(_short, merged[:_MOST_NAMED]))
        parts.append(f"{named}{more} {'was' if len(merged) == 1 else 'were'} merged into it")
    return "; ".join(parts)


def _short(card_id: str) -> str:
    return card_id[:_SHORT] if _OURS.fullmatch(card_id) else safe_line(card_id)
