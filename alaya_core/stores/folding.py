"""What a run of commits leaves behind: the fold that every view and every check is made from. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from alaya_core.models.card import Card, Link, SourceRef
from alaya_core.models.commit import Commit, Event, card_fields, card_from_json, link_from_json, sources_from_json
from alaya_core.models.session import SessionInfo

LinkKey = tuple[str, str, str]


def link_key(link: Link) -> LinkKey:
    """What makes a link the same link."""
    return (link.from_id, link.to_id, str(link.relation))


def session_ids(commit: Commit) -> Iterator[str]:
    """The sessions a commit touches."""
    for event in commit.events:
        if event["kind"] == "session.ingested":
            yield event["session"]["id"]
        elif event["kind"] in ("session.distilled", "session.removed"):
            yield event["id"]


@dataclass(frozen=True, slots=True)
class Erased:
    """What is known of something that a person erased.

    Attributes:
        what: `card`, `session`, or `turns` of one.
        turns: The numbers of the turns.
        sources: The turns that an erased card came from, one tuple of sources a card.
    """

    what: str
    turns: frozenset[int] = frozenset()
    sources: tuple[SourceRef, ...] = ()


@dataclass(slots=True)
class Folded:
    """Cards, sessions and links as they are after the commits.

    Attributes:
        cards: Every touched card; sessions: every touched session.
        card_seq: The commit that last changed each card; session_seq: likewise.
        rooted: Cards whose sources or entities changed.
        links: Links that were made and stand; unlinked: keys of links that were taken away.
        removed: Cards whose making was undone; removed_sessions: likewise, as far as they are known.
        erased: Per hash of an id, what of it was erased.
    """

    cards: dict[str, Card] = field(default_factory=dict)
    card_seq: dict[str, int] = field(default_factory=dict)
    rooted: set[str] = field(default_factory=set)
    sessions: dict[str, SessionInfo] = field(default_factory=dict)
    session_seq: dict[str, int] = field(default_factory=dict)
    links: dict[LinkKey, Link] = field(default_factory=dict)
    unlinked: set[LinkKey] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    removed_sessions: dict[str, SessionInfo | None] = field(default_factory=dict)
    erased: dict[str, Erased] = field(default_factory=dict)


def fold(commits: Iterable[Commit], cards: Mapping[str, Card], sessions: Mapping[str, SessionInfo]) -> Folded:
    """What commits do to the cards and sessions they touch.

    Args:
        commits: In the order of their seq.
        cards: The touched cards that existed before; sessions: likewise.
    """
    out = Folded()
    for commit in commits:
        for event in commit.events:
            _APPLY[event["kind"]](out, event, commit.seq, cards, sessions)
    return out


def _card_created(out: Folded, event: Event, seq: int, *_: Any) -> None:
    card = card_from_json(event["card"])
    out.cards[card.id] = card
    out.card_seq[card.id] = seq
    out.rooted.add(card.id)
    out.removed.discard(card.id)


def _card_removed(out: Folded, event: Event, *_: Any) -> None:
    out.cards.pop(event["id"], None)
    out.rooted.discard(event["id"])
    out.removed.add(event["id"])


def _card_changed(out: Folded, event: Event, seq: int, cards: Mapping[str, Card], _: object) -> None:
    card_id, after = event["id"], event["after"]
    known = out.cards.get(card_id) or cards.get(card_id)
    if known is None or card_id in out.removed:
        return
    out.cards[card_id] = replace(known, rev=event["rev"], **card_fields(after))
    out.card_seq[card_id] = seq
    if "sources" in after or "entities" in after:
        out.rooted.add(card_id)


def _link_created(out: Folded, event: Event, *_: Any) -> None:
    link = link_from_json(event["link"])
    out.links[link_key(link)] = link
    out.unlinked.discard(link_key(link))


def _link_removed(out: Folded, event: Event, *_: Any) -> None:
    key = link_key(link_from_json(event["link"]))
    out.links.pop(key, None)
    out.unlinked.add(key)


def _session_ingested(out: Folded, event: Event, seq: int, _: object, sessions: Mapping[str, SessionInfo]) -> None:
    info = SessionInfo(**event["session"])
    before = out.sessions.get(info.id) or sessions.get(info.id)
    if before is not None and info.id not in out.removed_sessions:
        done = min(before.distilled_turns, event["from_turn"])
        info = replace(info, distilled_turns=done, distilled_by=before.distilled_by)
    out.sessions[info.id] = info
    out.session_seq[info.id] = seq
    out.removed_sessions.pop(info.id, None)


def _session_distilled(out: Folded, event: Event, seq: int, _: object, sessions: Mapping[str, SessionInfo]) -> None:
    before = out.sessions.get(event["id"]) or sessions.get(event["id"])
    if before is None or event["status"] == "retry":
        return
    out.sessions[before.id] = replace(before, distilled_turns=event["turns"], distilled_by=event["by"])
    out.session_seq[before.id] = seq


def _session_removed(out: Folded, event: Event, _: int, __: object, sessions: Mapping[str, SessionInfo]) -> None:
    key = event["id"]
    out.removed_sessions[key] = out.sessions.pop(key, None) or sessions.get(key)


def _erased(out: Folded, event: Event, *_: Any) -> None:
    before = out.erased.get(event["key"], Erased(event["what"]))
    turns = before.turns | set(event["turns"])
    out.erased[event["key"]] = Erased(event["what"], turns, sources_from_json(event["sources"]))


def _nothing(*_: Any) -> None:
    """Which commits were undone is for `undo`; what that changed stands in the events beside."""


_Apply = Callable[["Folded", Event, int, Mapping[str, Card], Mapping[str, SessionInfo]], None]
_APPLY: dict[str, _Apply] = {
    "card.created": _card_created,
    "card.changed": _card_changed,
    "card.removed": _card_removed,
    "link.created": _link_created,
    "link.removed": _link_removed,
    "session.ingested": _session_ingested,
    "session.distilled": _session_distilled,
    "session.removed": _session_removed,
    "commits.undone": _nothing,
    "commits.redone": _nothing,
    "erased": _erased,
    "proposal.made": _nothing,
    "proposal.judged": _nothing,
}
