"""What may be read out of a model's answer about sessions: cards and links, each field checked. No I/O."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from alaya_core.models.card import Relation
from alaya_core.models.card_types import POLICIES, CardType
from alaya_core.services.card_making import title_of
from alaya_core.text import safe_line, storable, without_escapes

_ALSO = {
    "preferences": CardType.PREFERENCE,
    "entities": CardType.ENTITY,
    "events": CardType.EVENT,
    "cases": CardType.CASE,
    "patterns": CardType.PATTERN,
}
"""Names of earlier systems."""
_LONGEST = 6_000
_LONGEST_OVERVIEW = 600
_MOST_WORDS = 20
_TURN = re.compile(r"\D{0,6}(\d{1,9})\D{0,2}")


@dataclass(frozen=True, slots=True)
class ProposedCard:
    """A card as a model proposes it.

    Attributes:
        session: The label of the session it is of.
        turns: Of that session, turns that the model was sent; empty where it named none of them.
        importance: 0..1; by: who judged it; expires: an ISO date or time as it was written, empty = never.
    """

    session: str
    title: str
    content: str
    type: CardType
    overview: str = ""
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    importance: float = 0.5
    by: str = "llm"
    confidence: float = 0.7
    turns: tuple[int, ...] = ()
    expires: str = ""


@dataclass(frozen=True, slots=True)
class ProposedLink:
    """A link as a model proposes it, its ends by their titles."""

    from_title: str
    to_title: str
    relation: Relation = Relation.RELATES_TO
    reason: str = ""
    weight: float = 0.5


@dataclass(frozen=True, slots=True)
class Reply:
    """What an answer proposes.

    Attributes:
        refused: How many of what, why they count for nothing, were left out.
    """

    cards: tuple[ProposedCard, ...] = ()
    links: tuple[ProposedLink, ...] = ()
    refused: Counter[str] = field(default_factory=Counter)


def read_reply(value: Any, sent: Mapping[str, frozenset[int]]) -> Reply:
    """Reads a decoded answer.

    Args:
        value: Anything that JSON can hold.
        sent: By the label of each session, the turns that the model was sent.

    Raises:
        ValueError: It is no answer: there is no list of cards, or there are entries but no card among them.
    """
    rows = value.get("cards") if isinstance(value, Mapping) else value
    if isinstance(value, Mapping) and "cards" not in value and "title" in value and "content" in value:
        rows = [value]
    if not isinstance(rows, list):
        raise ValueError('there is no list of "cards"')
    refused: Counter[str] = Counter()
    cards: dict[tuple[str, str], ProposedCard] = {}
    for row in rows:
        card = _card(row, sent)
        if isinstance(card, str):
            refused[card] += 1
            continue
        key = (card.session, plain_title(card.title))
        if key in cards:
            refused["card named twice"] += 1
            card = replace(cards[key], turns=tuple(sorted({*cards[key].turns, *card.turns})))
        cards[key] = card
    if rows and not cards:
        raise ValueError(f"none of its {len(rows)} entries is a card ({', '.join(refused)})")
    links = value.get("links") if isinstance(value, Mapping) else None
    found = [_link(row) for row in links] if isinstance(links, list) else []
    read = tuple(link for link in found if link is not None)
    if len(read) < len(found):
        refused["link without ends"] += len(found) - len(read)
    return Reply(tuple(cards.values()), read, refused)


def plain_title(title: str) -> str:
    """By what two titles are the same."""
    return " ".join(title.casefold().split())


def number(value: Any, default: float) -> float:
    """A share 0..1, from a number or the text of one; the default where it is none."""
    if isinstance(value, str):
        try:
            value = float(value[:40])
        except ValueError:
            return default
    if isinstance(value, bool) or not isinstance(value, int | float):
        return default
    return float(value) if 0 <= value <= 1 and math.isfinite(value) else default


def _card(row: Any, sent: Mapping[str, frozenset[int]]) -> ProposedCard | str:
    """A card, or why it is none."""
    if not isinstance(row, Mapping):
        return "entry that is no card"
    overview = _text(row.get("overview"))[:_LONGEST_OVERVIEW]
    content = _text(row.get("content"))[:_LONGEST].rstrip() or overview
    # one line, and no word cut; without a title the first line of the content is one
    title = title_of(safe_line(_text(row.get("title"))) or content)
    if not content or not title:
        return "card without text"
    session = _session(row.get("session"), sent)
    if session is None:
        return "card of another session"
    kind = _type(row.get("type"))
    return ProposedCard(
        session=session,
        title=title,
        content=content,
        type=kind,
        overview="" if overview == content else overview,
        tags=_words(row.get("tags")),
        entities=_words(row.get("entities")),
        importance=number(row.get("importance"), POLICIES[kind].default_importance),
        confidence=number(row.get("confidence"), 0.7),
        turns=_turns(row.get("turns"), sent[session]),
        expires=_text(row.get("expires"))[:40],
    )


def _link(row: Any) -> ProposedLink | None:
    if not isinstance(row, Mapping):
        return None
    ends = [safe_line(_text(row.get(name))) for name in ("from_title", "to_title")]
    if not all(ends):
        return None
    name = _text(row.get("relation")).upper().replace(" ", "_")
    relation = Relation(name) if name in Relation.__members__ else Relation.RELATES_TO
    reason = safe_line(_text(row.get("reason")))[:200]
    return ProposedLink(ends[0], ends[1], relation, reason, number(row.get("weight"), 0.5))


def _text(value: Any) -> str:
    return storable(without_escapes(value)).strip() if isinstance(value, str) else ""


def _session(value: Any, sent: Mapping[str, frozenset[int]]) -> str | None:
    if len(sent) == 1:
        return next(iter(sent))
    label = _text(value).upper() if isinstance(value, str) else f"S{value}"
    return label if label in sent else None


def _type(value: Any) -> CardType:
    name = _text(value).lower()
    if name in _ALSO:
        return _ALSO[name]
    try:
        return CardType(name)
    except ValueError:
        return CardType.FACT


def _words(value: Any) -> tuple[str, ...]:
    rows: Sequence[Any] = value if isinstance(value, list) else re.split(r"[,，、;；]", _text(value))
    words = (safe_line(_text(row)) for row in rows[:_MOST_WORDS])
    return tuple(dict.fromkeys(word for word in words if word))


def _turns(value: Any, sent: frozenset[int]) -> tuple[int, ...]:
    rows = value if isinstance(value, list) else [value]
    return tuple(sorted({turn for row in rows if (turn := _turn(row)) is not None and turn in sent}))


def _turn(value: Any) -> int | None:
    if isinstance(value, str):
        found = _TURN.fullmatch(value.strip())
        return int(found[1]) if found else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if value == int(value) else None
