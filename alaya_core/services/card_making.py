"""From what a distiller or a person proposes to cards and links of the memory. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from alaya_core import secrets
from alaya_core.errors import UsageError
from alaya_core.models.card import Card, CardDraft, Link, LinkDraft, ordered_ends
from alaya_core.models.card_types import CardType
from alaya_core.text import cells, clip, safe_line, storable

TITLE_CELLS = 80
_MOST_TAGS = 20
_LONGEST_TAG = 80
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*")  # a full stop inside a name ends nothing
_SCOPE = re.compile(r"global|(agent|project|user|custom):[^\s\x00-\x1f]{1,200}")


def card_from_draft(
    draft: CardDraft, *, card_id: str, scope: str, origin: str, distilled_by: str, now: int, time: int | None = None
) -> Card:
    """A card out of a draft, its text fit to be stored.

    Args:
        time: When it was true, where the draft does not say, ms; None = now.
    """
    created = draft.created_at if draft.created_at is not None else (now if time is None else time)
    return Card(
        id=card_id,
        title=storable(safe_line(draft.title)),
        content=storable(draft.content),
        overview=storable(draft.overview),
        type=draft.type,
        created_at=created,
        added_at=now,
        updated_at=now,
        tags=tidy(draft.tags),
        entities=tidy(draft.entities),
        importance=share(draft.importance, "importance"),
        importance_by=draft.importance_by,
        confidence=share(draft.confidence, "confidence"),
        scope=scope,
        origin=origin,
        sources=draft.sources,
        distilled_by=distilled_by,
        expires_at=draft.expires_at,
    )


def links_from_drafts(drafts: Iterable[LinkDraft], ids: dict[str, str], *, origin: str, now: int) -> list[Link]:
    """Links between the cards of one proposal; one whose end is unknown, or that points at itself, is left out."""
    links: dict[str, Link] = {}
    for draft in drafts:
        from_id, to_id = ids.get(draft.from_key), ids.get(draft.to_key)
        if from_id is None or to_id is None or from_id == to_id:
            continue
        ends = ordered_ends(from_id, to_id, draft.relation)
        link = Link(*ends, draft.relation, share(draft.weight, "weight"), storable(draft.reason), origin, now)
        links.setdefault(link.id, link)
    return list(links.values())


def masked(draft: CardDraft) -> CardDraft:
    """A draft without the secrets in it."""
    return replace(
        draft,
        title=secrets.mask(draft.title),
        content=secrets.mask(draft.content),
        overview=secrets.mask(draft.overview),
    )


def title_of(content: str) -> str:
    """A title for a text that has none: its first line or sentence, at most 80 cells, no word cut."""
    lines = (line.strip(" #*->\t`") for line in content.splitlines())
    first = safe_line(next((line for line in lines if line), ""))
    sentence = _SENTENCE_END.split(first, maxsplit=1)[0] or first
    if cells(sentence) <= TITLE_CELLS:
        return sentence.rstrip(".。") or sentence
    cut = clip(sentence, TITLE_CELLS, "")
    at = cut.rfind(" ")
    return cut[:at] if at > TITLE_CELLS // 3 else cut


def tidy(words: Sequence[str]) -> tuple[str, ...]:
    """Tags or entities: one line each, no doubles, no blanks, not too many, none too long."""
    clean = (clip(secrets.mask(safe_line(storable(word)).removeprefix("#")), _LONGEST_TAG) for word in words)
    return tuple(dict.fromkeys(word for word in clean if word))[:_MOST_TAGS]


def share(value: float, name: str) -> float:
    """A number within 0..1.

    Raises:
        UsageError: It is not.
    """
    if not 0 <= value <= 1:  # NaN fails too
        raise UsageError(f"{name} is {value}, it must be from 0 to 1", f"try {name} 0.5")
    return float(value)


def card_type(name: str) -> CardType:
    """A card type by its name.

    Raises:
        UsageError: There is no such type.
    """
    try:
        return CardType(name)
    except ValueError:
        kinds = ", ".join(CardType)
        raise UsageError(f"there is no card type '{safe_line(name)[:60]}'", f"one of: {kinds}") from None


def scope_name(scope: str) -> str:
    """A scope that may be used.

    Raises:
        UsageError: It is none.
    """
    if not _SCOPE.fullmatch(scope):
        raise UsageError(
            f"'{safe_line(scope)[:60]}' is not a scope", "global, agent:ID, project:ID, user:ID or custom:NAME"
        )
    return storable(scope)
