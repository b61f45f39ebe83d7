"""What takes a commit back, or does it again, on the memory as it is now. No I/O."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from alaya_core.errors import ConflictError
from alaya_core.models.card import Card, Link
from alaya_core.models.commit import (
    Commit,
    Event,
    card_changed,
    card_created,
    card_fields,
    card_from_json,
    card_removed,
    link_created,
    link_from_json,
    link_removed,
    session_distilled,
    session_ingested,
    session_removed,
)
from alaya_core.models.session import SessionInfo
from alaya_core.services.priors import Priors, names_by_hash
from alaya_core.stores.folding import LinkKey, link_key


@dataclass(slots=True)
class Present:
    """The touched cards, links and sessions as they are while one change after the other is taken back.

    Attributes:
        now: ms.
    """

    now: int
    cards: dict[str, Card] = field(default_factory=dict)
    links: dict[LinkKey, Link] = field(default_factory=dict)
    sessions: dict[str, SessionInfo] = field(default_factory=dict)


def taken_back(commit: Commit, present: Present, priors: Priors) -> list[Event]:
    """Events that undo a commit, the last of its events first; `present` is as after them.

    What only says something (a proposal) is left as it is: who reads it asks whether its commit stands.

    Args:
        priors: What the commit does not tell of the time before it.

    Raises:
        ConflictError: It cannot be undone.
    """
    made: list[Event] = []
    for number in range(len(commit.events) - 1, -1, -1):
        event = commit.events[number]
        match event["kind"]:
            case "card.created":
                made += _remove_card(event["card"]["id"], present)
            case "card.changed":
                values = _fields_before(event, priors.cards.get((commit.seq, number)))
                made += _set_fields(event["id"], values, "undo", present)
            case "link.created":
                made += _remove_link(link_from_json(event["link"]), present)
            case "link.removed":
                made += _make_link(link_from_json(event["link"]), present)
            case "session.ingested":
                made += _shrink(event, priors.sessions.get((commit.seq, number)), present)
            case "session.distilled":
                made += _undistil(event["id"], priors.sessions.get((commit.seq, number)), present)
            case "erased":
                raise ConflictError("what was erased is gone for good", "it cannot be undone")
    return made


def done_again(commit: Commit, present: Present) -> list[Event]:
    """Events that do an undone commit again; `present` is as after them.

    Raises:
        ConflictError: Something that it needs is not there.
    """
    made: list[Event] = []
    for event in commit.events:
        match event["kind"]:
            case "card.created":
                card = card_from_json(event["card"])
                if card.id not in present.cards:
                    present.cards[card.id] = card
                    made.append(card_created(card))
            case "card.changed":
                made += _set_fields(event["id"], card_fields(event["after"]), "redo", present)
            case "link.created":
                made += _make_link(link_from_json(event["link"]), present)
            case "link.removed":
                made += _remove_link(link_from_json(event["link"]), present)
            case "session.ingested":
                info = SessionInfo(**event["session"])
                present.sessions[info.id] = info
                made.append(event)
            case "session.distilled":
                if event["id"] in present.sessions:
                    made.append(event)
    return made


def _remove_card(card_id: str, present: Present) -> list[Event]:
    return [card_removed(card_id)] if present.cards.pop(card_id, None) else []


def _fields_before(event: Event, prior: Card | None) -> dict[str, Any]:
    """What the changed fields of a card were."""
    before = event["before"]
    if prior is not None:
        return {name: getattr(prior, name) for name in before}
    if names_by_hash(before):
        raise ConflictError(f"an earlier text of {event['id']} is gone for good", "it cannot be undone")
    return card_fields(before)


def _set_fields(card_id: str, values: dict[str, Any], verb: str, present: Present) -> list[Event]:
    card = present.cards.get(card_id)
    if card is None:
        return []
    kept = {name: value for name, value in values.items() if name not in ("rev", "updated_at")}
    if all(getattr(card, name) == value for name, value in kept.items()):
        return []
    after = replace(card, **kept, rev=card.rev + 1, updated_at=present.now)
    present.cards[card_id] = after
    return [card_changed(card, after, verb)]


def _remove_link(link: Link, present: Present) -> list[Event]:
    there = present.links.pop(link_key(link), None)
    return [link_removed(there)] if there else []


def _make_link(link: Link, present: Present) -> list[Event]:
    if any(end not in present.cards for end in (link.from_id, link.to_id)):
        raise ConflictError(
            f"a card of the link {link.from_id} {link.relation} {link.to_id} is not there", "redo its card first"
        )
    there = present.links.get(link_key(link))
    present.links[link_key(link)] = link
    return [*([link_removed(there)] if there else []), link_created(link)] if there != link else []


def _shrink(event: Event, known: SessionInfo | None, present: Present) -> list[Event]:
    """The session as it was before it came in or grew. Its file keeps all its turns: nothing is thrown away."""
    key = event["session"]["id"]
    current = present.sessions.get(key)
    if current is None:
        return []
    if known is None:
        del present.sessions[key]
        return [session_removed(key)]
    if event["from_turn"] < known.turns:
        raise ConflictError(
            f"the log of session {key} was repaired from turn {event['from_turn']} on, which cannot be undone",
            "its earlier state is in raw/sources",
        )
    smaller = replace(known, source=current.source)
    present.sessions[key] = smaller
    return [session_ingested(smaller, from_turn=known.turns, skipped=0)]


def _undistil(key: str, known: SessionInfo | None, present: Present) -> list[Event]:
    if known is None or key not in present.sessions:
        return []
    return [session_distilled(key, turns=known.distilled_turns, by=known.distilled_by, status="undone")]
