"""One change of the memory: what the ledger keeps a line of, and what the views apply.

Kinds of event (each `{"kind", "v", ...}`):

    card.created     {card}                                       the whole card
    card.changed     {id, rev, verb, after, before, why}          fields that changed; rev is the new one
    card.removed     {id}                                         its making was undone
    link.created     {link}
    link.removed     {link}                                       the whole link, so that it can come back
    session.ingested {session, from_turn, source, skipped, replaced}   turns from `from_turn` on are new
    session.distilled {id, turns, by, status, reason}             turns before `turns` are distilled
    session.removed  {id}                                         its coming in was undone; its file stays
    commits.undone   {seqs}                                       the commits that this one takes back
    commits.redone   {seqs}                                       the undone commits that this one does again
    erased           {what, key, turns, sources}                  what a person erased, by a hash of its id
    proposal.made    {key, verb, cards, score, why}               what tidying would do, and leaves to a person
    proposal.judged  {key, verdict, by}                           a proposal (or what a model was asked) was decided
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from alaya_core.models.card import Card, CardState, Link, Relation, SourceRef, Standing
from alaya_core.models.card_types import CardType
from alaya_core.models.session import SessionInfo

Event = Mapping[str, Any]

EVENT_VERSIONS = {
    "card.created": 1,
    "card.changed": 2,
    "card.removed": 1,
    "link.created": 1,
    "link.removed": 1,
    "session.ingested": 1,
    "session.distilled": 1,
    "session.removed": 1,
    "commits.undone": 1,
    "commits.redone": 1,
    "erased": 1,
    "proposal.made": 1,
    "proposal.judged": 1,
}
"""The version of each kind that this program writes; `upcast.py` brings older ones up to it."""

_INLINE_BEFORE = 200


@dataclass(frozen=True, slots=True)
class Commit:
    """One acknowledged change.

    Attributes:
        seq: Local, rising by one; the only order there is.
        id: A ULID.
        at: ms since the epoch, UTC, by the clock of the writer.
        actor: `human`, `agent:<id>`, `rules`, `introspect` ...
        run: The run it belongs to; empty if none.
        device: The machine it was made on.
        end: Offset behind its line in its segment; a hint for whoever reads on from here.
    """

    seq: int
    id: str
    at: int
    actor: str
    run: str
    device: str
    events: tuple[Event, ...]
    v: int = 1
    segment: str = ""
    end: int = 0


def card_to_json(card: Card) -> dict[str, Any]:
    """A card as the ledger keeps it."""
    raw = {name: getattr(card, name) for name in _CARD_NAMES}
    raw.update(
        type=str(card.type),
        state=str(card.state),
        standing=str(card.standing),
        tags=list(card.tags),
        entities=list(card.entities),
        merged_from=list(card.merged_from),
        sources=sources_to_json(card.sources),
    )
    return raw


def card_from_json(raw: Mapping[str, Any]) -> Card:
    """A card out of the ledger; fields it does not know are left out."""
    return replace(Card(**{**_BLANK, "id": raw["id"]}), **card_fields(raw))


_CARD_NAMES = tuple(field.name for field in fields(Card))  # `asdict` copies deeply, at eight times the price
_BLANK: dict[str, Any] = {
    "title": "",
    "content": "",
    "type": CardType.CONCEPT,
    "created_at": 0,
    "added_at": 0,
    "updated_at": 0,
}
_CARD_FIELDS = frozenset(_CARD_NAMES)
_TUPLES = ("tags", "entities", "merged_from")


def card_fields(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a card from JSON, each in its type."""
    values = {name: value for name, value in raw.items() if name in _CARD_FIELDS}
    for name, kind in (("type", CardType), ("state", CardState), ("standing", Standing)):
        if name in values:
            values[name] = kind(values[name])
    for name in _TUPLES:
        if name in values:
            values[name] = tuple(values[name])
    if "sources" in values:
        values["sources"] = sources_from_json(values["sources"])
    return values


def sources_to_json(sources: tuple[SourceRef, ...]) -> list[dict[str, Any]]:
    """Where a card came from, as JSON."""
    return [{"session_id": source.session_id, "turns": list(source.turns)} for source in sources]


def sources_from_json(raw: list[Mapping[str, Any]]) -> tuple[SourceRef, ...]:
    """Where a card came from, out of JSON."""
    return tuple(SourceRef(item["session_id"], tuple(item["turns"])) for item in raw)


def link_to_json(link: Link) -> dict[str, Any]:
    """A link as the ledger keeps it."""
    return asdict(link)


def link_from_json(raw: Mapping[str, Any]) -> Link:
    """A link out of the ledger."""
    return Link(
        from_id=raw["from_id"],
        to_id=raw["to_id"],
        relation=Relation(raw["relation"]),
        weight=raw["weight"],
        reason=raw["reason"],
        origin=raw["origin"],
        created_at=raw["created_at"],
    )


def card_created(card: Card) -> Event:
    """A new card."""
    return _event("card.created", card=card_to_json(card))


def card_changed(before: Card, after: Card, verb: str, *, why: str = "") -> Event:
    """A change of a card: only what differs. A long text that was there stands in the ledger already, so `before`
    names it by its hash.

    Args:
        why: The reason, where the verb does not say it.
    """
    old, new = card_to_json(before), card_to_json(after)
    changed = [name for name in new if new[name] != old[name] and name not in ("id", "rev")]
    return _event(
        "card.changed",
        id=after.id,
        rev=after.rev,
        verb=verb,
        after={name: new[name] for name in changed},
        before={name: _prior(old[name]) for name in changed},
        why=why,
    )


def card_removed(card_id: str) -> Event:
    """A card whose making was undone."""
    return _event("card.removed", id=card_id)


def link_created(link: Link) -> Event:
    """A new link."""
    return _event("link.created", link=link_to_json(link))


def link_removed(link: Link) -> Event:
    """A link taken away."""
    return _event("link.removed", link=link_to_json(link))


def session_ingested(info: SessionInfo, *, from_turn: int, skipped: int, replaced: str = "") -> Event:
    """A session that came in, or grew.

    Args:
        from_turn: The first turn that is new (0 for a new session).
        skipped: Lines of the source that could not be read.
        replaced: sha256 of an earlier source that this one begins with (and that is no longer kept).
    """
    kept = {key: value for key, value in asdict(info).items() if not key.startswith("distilled_")}
    return _event("session.ingested", session=kept, from_turn=from_turn, skipped=skipped, replaced=replaced)


def session_distilled(session_id: str, *, turns: int, by: str, status: str, reason: str = "") -> Event:
    """A session whose first `turns` turns have been distilled."""
    return _event("session.distilled", id=session_id, turns=turns, by=by, status=status, reason=reason)


def session_removed(session_id: str) -> Event:
    """A session whose coming in was undone."""
    return _event("session.removed", id=session_id)


def commits_undone(seqs: Sequence[int]) -> Event:
    """The commits that this one takes back."""
    return _event("commits.undone", seqs=list(seqs))


def commits_redone(seqs: Sequence[int]) -> Event:
    """The undone commits that this one does again."""
    return _event("commits.redone", seqs=list(seqs))


def erased(what: str, identifier: str, *, turns: Sequence[int] = (), sources: Sequence[SourceRef] = ()) -> Event:
    """What a person erased. No byte of it is named: only a hash of its id, so that it is known when it comes again.

    Args:
        what: `card`, `session` or `turns`.
        identifier: The id of the card or session.
        turns: The turns of the session that are gone, where it is not all of it.
        sources: Of a card, the turns it came from: nothing is made of exactly these again.
    """
    return _event(
        "erased", what=what, key=erased_key(identifier), turns=list(turns), sources=sources_to_json(tuple(sources))
    )


def proposal_made(key: str, verb: str, cards: Sequence[str], *, score: float | None, why: str) -> Event:
    """What tidying would do if a person agreed.

    Args:
        key: The same for the same proposal about the same texts.
        verb: `merge`, `supersede`, `forget` ...
        cards: Ids; of a merge, the one that stays first.
        score: 0..1 where there is one.
    """
    return _event("proposal.made", key=key, verb=verb, cards=list(cards), score=score, why=why)


def proposal_judged(key: str, verdict: str, by: str) -> Event:
    """That something was decided, so that it is not asked again unless a text changed.

    Args:
        verdict: `accepted` or `rejected`.
        by: `human`, or the model's name.
    """
    return _event("proposal.judged", key=key, verdict=verdict, by=by)


def erased_key(identifier: str) -> str:
    """By what an erased card or session is known again: 32 hex digits of the sha256 of its id."""
    return hashlib.sha256(identifier.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def event_cards(event: Event) -> tuple[str, ...]:
    """The cards an event touches."""
    match event["kind"]:
        case "card.created":
            return (event["card"]["id"],)
        case "card.changed" | "card.removed":
            return (event["id"],)
        case "link.created" | "link.removed":
            return (event["link"]["from_id"], event["link"]["to_id"])
        case _:
            return ()


def _event(kind: str, **payload: Any) -> Event:
    return {"kind": kind, "v": EVENT_VERSIONS[kind], **payload}


def _prior(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _INLINE_BEFORE:
        return {"sha256": hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()}
    return value
