"""What two cards are as one: the union of all that either knows. No I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from alaya_core.models.card import Card, CardState, Link, SourceRef, ordered_ends
from alaya_core.models.commit import Event, card_changed, link_created, link_removed


@dataclass(frozen=True, slots=True)
class Merged:
    """A merge of two cards.

    Attributes:
        whole: The card that stays; alias: the other.
        events: What the ledger says of it.
        removed, made: The links that go, and those that come.
    """

    whole: Card
    alias: Card
    events: list[Event]
    removed: list[Link]
    made: list[Link]


def merged(keep: Card, other: Card, own: Iterable[Link], others: Iterable[Link], *, now: int, why: str) -> Merged:
    """One card of two, with all that hangs on either.

    Args:
        own: The links of `keep`; others: the links of `other`.
        now: ms.
        why: The reason, for the history.
    """
    whole, alias = merged_cards(keep, other, now=now)
    removed, made = moved_links(keep.id, other.id, own, others)
    events = [
        *map(link_removed, removed),
        card_changed(other, alias, "merge", why=why),
        card_changed(keep, whole, "merge", why=why),
        *map(link_created, made),
    ]
    return Merged(whole, alias, events, removed, made)


def merged_cards(keep: Card, other: Card, *, now: int) -> tuple[Card, Card]:
    """The card that stays, with what the other knew beyond it, and the other as an alias of it.

    Its text is kept as it stands; the other's is put behind it unless it is said there already. Tags, entities and
    sources are united; of what cannot be united the kept card's counts, but importance and pin are the higher ones, and
    it was true from the earlier time on.

    Args:
        now: ms.
    """
    importance, by = max((keep.importance, keep.importance_by), (other.importance, other.importance_by))
    whole = replace(
        keep,
        content=united_text(keep.content, other.content),
        overview=keep.overview or other.overview,
        tags=united(keep.tags, other.tags),
        entities=united(keep.entities, other.entities),
        sources=united_sources(*keep.sources, *other.sources),
        importance=importance,
        importance_by=by,
        pinned=keep.pinned or other.pinned,
        created_at=min(keep.created_at, other.created_at),
        merged_from=united(keep.merged_from, (other.id, *other.merged_from)),
        rev=keep.rev + 1,
        updated_at=now,
    )
    alias = replace(other, state=CardState.MERGED, successor=keep.id, pinned=False, rev=other.rev + 1, updated_at=now)
    return whole, alias


def moved_links(keep: str, other: str, own: Iterable[Link], others: Iterable[Link]) -> tuple[list[Link], list[Link]]:
    """What becomes of the links when `other` goes into `keep`.

    Links between the two go; those of `other` to a third card are hung on `keep`. Where both had the same relation to
    the same card, the heavier one counts.

    Args:
        own: The links of `keep`; others: the links of `other`.

    Returns:
        The links that go, and those that are made.
    """
    there = {link.id: link for link in own}
    gone: dict[str, Link] = {}
    made: dict[str, Link] = {}
    for link in others:
        gone[link.id] = link
        ends = [keep if end == other else end for end in (link.from_id, link.to_id)]
        from_id, to_id = ordered_ends(ends[0], ends[1], link.relation)
        if from_id == to_id:
            continue
        moved = replace(link, from_id=from_id, to_id=to_id)
        same = made.get(moved.id) or there.get(moved.id)
        if same is not None and same.weight >= moved.weight:
            continue
        if moved.id in there:
            gone[moved.id] = there[moved.id]
        made[moved.id] = moved
    return list(gone.values()), list(made.values())


def united_text(kept: str, added: str) -> str:
    """A text with another behind it, unless it is said there already."""
    return kept if _plain(added) in _plain(kept) else f"{kept.rstrip()}\n\n{added.strip()}"


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def united(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """The words of both, each once."""
    return tuple(dict.fromkeys((*one, *other)))


def united_sources(*sources: SourceRef) -> tuple[SourceRef, ...]:
    """All of these turns, session by session in the order in which they come."""
    turns: dict[str, set[int]] = {}
    for source in sources:
        turns.setdefault(source.session_id, set()).update(source.turns)
    return tuple(SourceRef(session, tuple(sorted(numbers))) for session, numbers in turns.items())
