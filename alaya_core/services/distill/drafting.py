"""From what a model proposes to drafts of cards and links of one session. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

from alaya_core.models.card import Card, CardDraft, LinkDraft, SourceRef
from alaya_core.services.distill.cues import GENERAL
from alaya_core.services.distill.reply import ProposedCard, ProposedLink, plain_title


def drafts_of(
    cards: Sequence[ProposedCard],
    *,
    session_id: str,
    time: int,
    times: Mapping[int, int],
    sent: Mapping[str, frozenset[int]],
    most: int,
    stressed: Mapping[int, float] = MappingProxyType({}),
) -> list[CardDraft]:
    """The cards of one session as drafts: of more than are allowed the most important ones, in the order of the answer.

    Args:
        time: When the session took place, ms; times: when its turns did, where they say.
        sent: By the label of each window, its turns: the source of a card that names none.
        most: Cards of a session.
        stressed: What a person's own words ("remember ...") add to what is said in a turn: a model may think no less
            of it than rules would.
    """
    folded: dict[str, ProposedCard] = {}
    for card in cards:  # two windows may have told of the same
        folded.setdefault(plain_title(card.title), card)
    folded = {key: _stressed(card, stressed) for key, card in folded.items()}
    order = {id(card): place for place, card in enumerate(folded.values())}
    best = sorted(folded.values(), key=lambda card: (-card.importance, order[id(card)]))[:most]
    return [
        _draft(card, number, session_id, time, times, sent[card.session])
        for number, card in enumerate(sorted(best, key=lambda card: order[id(card)]))
    ]


def links_of(
    links: Iterable[ProposedLink], drafts: Sequence[CardDraft], offered: Iterable[Card]
) -> tuple[list[LinkDraft], int]:
    """Links whose ends are each the title of exactly one draft or offered card, and how many others were refused.

    A draft is named by its key, an offered card by its id.
    """
    ends: dict[str, set[str]] = {}
    for draft in drafts:
        ends.setdefault(plain_title(draft.title), set()).add(draft.key)
    for card in offered:
        ends.setdefault(plain_title(card.title), set()).add(card.id)
    kept: list[LinkDraft] = []
    refused = 0
    for link in links:
        found = [ends.get(plain_title(title), set()) for title in (link.from_title, link.to_title)]
        if any(len(each) != 1 for each in found) or found[0] == found[1]:
            refused += 1
            continue
        (start,), (stop,) = found
        kept.append(LinkDraft(start, stop, link.relation, link.weight, link.reason))
    return kept, refused


def _stressed(card: ProposedCard, stressed: Mapping[int, float]) -> ProposedCard:
    least = GENERAL + max((stressed.get(turn, 0.0) for turn in card.turns), default=0.0)
    return replace(card, importance=min(1.0, least), by="rules") if card.importance < least > GENERAL else card


def _draft(
    card: ProposedCard, number: int, session_id: str, time: int, times: Mapping[int, int], window: frozenset[int]
) -> CardDraft:
    turns = card.turns or tuple(sorted(window))
    said = [times[turn] for turn in turns if turn in times]
    when = max(said, default=time)
    return CardDraft(
        title=card.title,
        content=card.content,
        overview=card.overview,
        type=card.type,
        tags=card.tags,
        entities=card.entities,
        importance=card.importance,
        importance_by=card.by,
        confidence=card.confidence,
        created_at=when,
        sources=(SourceRef(session_id, turns),),
        key=f"{session_id}\n{number}",
        expires_at=expiry(card.expires, when),
    )


def expiry(written: str, said: int) -> int | None:
    """When what was said at a moment ends, ms: a date means the end of that day, UTC; None where it is no date, or lies
    before it was said."""
    text = written.strip()
    try:
        moment = datetime.fromisoformat(text)
        if len(text) <= len("2026-12-31"):
            moment += timedelta(days=1)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        at = int(moment.timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
    return at if at > said else None
