"""What lines that are lost from the ledger did, told from the graph, which still knows it. No I/O.

The graph is a view of the whole ledger. What the sound lines alone leave behind differs from it by what the lost
lines did; the difference is written as events, each at the latest lost line that can have held it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from typing import Any

from alaya_core.models.card import Card, Link
from alaya_core.models.commit import (
    Commit,
    Event,
    card_changed,
    card_created,
    card_fields,
    card_removed,
    link_created,
    link_removed,
    session_distilled,
    session_ingested,
    session_removed,
    sources_to_json,
)
from alaya_core.models.session import SessionInfo
from alaya_core.stores.folding import Erased, Folded, LinkKey, fold
from alaya_core.text import counted

WHY = "written back from the graph"
_RANK = ("session.ingested", "session.distilled", "card.created", "card.changed", "link.removed", "link.created")
_NOUNS = {
    "card.created": "card",
    "card.changed": "changed card",
    "card.removed": "undone card",
    "link.created": "link",
    "link.removed": "removed link",
    "session.ingested": "session",
    "session.distilled": "distilled session",
    "session.removed": "undone session",
    "erased": "mark of what was erased",
}
_NEVER = 1 << 62


@dataclass(frozen=True, slots=True)
class GraphState:
    """What the graph holds.

    Attributes:
        seq: The last commit in it.
        card_seqs: The commit that last changed each card.
    """

    seq: int
    cards: Mapping[str, Card]
    card_seqs: Mapping[str, int]
    links: Mapping[LinkKey, Link]
    sessions: Mapping[str, SessionInfo]
    erased: Mapping[str, Erased]


def written_back(sound: Sequence[Commit], missing: Sequence[int], graph: GraphState) -> dict[int, list[Event]]:
    """The events that each lost line gets, so that the whole ledger leaves behind what the graph holds.

    Args:
        sound: Every commit up to the graph's last that can be read.
        missing: The seqs of those that cannot, rising; not empty, none beyond the graph's last.
    """
    past = _Past(sound)
    events: dict[int, list[Event]] = {seq: [] for seq in missing}
    _made(past, fold(sound, {}, {}), missing, graph, events)
    healed = fold(whole(sound, events), {}, {})
    last = missing[-1]
    for seq, event in _differences(past, healed, graph, missing):
        events[seq].append(event)
    for key, mark in graph.erased.items():
        if healed.erased.get(key) != mark:
            sources = sources_to_json(mark.sources)
            payload = {"what": mark.what, "key": key, "turns": sorted(mark.turns), "sources": sources}
            events[last].append({"kind": "erased", "v": 1, **payload})
    for listed in events.values():
        listed.sort(key=lambda event: _RANK.index(event["kind"]) if event["kind"] in _RANK else len(_RANK))
    return events


def whole(sound: Iterable[Commit], events: Mapping[int, Sequence[Event]]) -> Iterator[Commit]:
    """The sound commits with those between them that are written back."""
    back = (Commit(seq, "", 0, "verify", "", "", tuple(events[seq])) for seq in sorted(events))
    return merge(sound, back, key=lambda commit: commit.seq)


def told(events: Mapping[int, Sequence[Event]]) -> str:
    """What comes back, for people: `2 cards and 1 link`."""
    kinds = Counter(event["kind"] for listed in events.values() for event in listed)
    parts = [counted(kinds[kind], noun) for kind, noun in _NOUNS.items() if kinds[kind]]
    return " and ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)


class _Past:
    """Where sound commits speak of cards and sessions.

    Attributes:
        mentions: Per card or session, the seqs that speak of it since it was last made or taken away.
        changes: Per card, the changes of it, as (seq, event).
        twice: Cards made again while they lived, as (seq it was made, seq it was made again, id).
        grown: Sessions whose first coming in is not there, as (seq, id).
    """

    def __init__(self, sound: Iterable[Commit]) -> None:
        self.mentions: dict[str, list[int]] = {}
        self.changes: dict[str, list[tuple[int, Event]]] = {}
        self.twice: list[tuple[int, int, str]] = []
        self.grown: list[tuple[int, str]] = []
        self._made: dict[str, int] = {}
        for commit in sound:
            for event in commit.events:
                self._take(commit.seq, event)

    def _take(self, seq: int, event: Event) -> None:
        match event["kind"]:
            case "card.created":
                key = event["card"]["id"]
                if key in self._made:
                    self.twice.append((self._made[key], seq, key))
                self._made[key] = seq
                self.mentions.setdefault(key, []).append(seq)
            case "card.changed":
                self.changes.setdefault(event["id"], []).append((seq, event))
                self.mentions.setdefault(event["id"], []).append(seq)
            case "card.removed" | "session.removed":
                self._made.pop(event["id"], None)
                self.mentions.pop(event["id"], None)
            case "link.created" | "link.removed":
                for key in (event["link"]["from_id"], event["link"]["to_id"]):
                    self.mentions.setdefault(key, []).append(seq)
            case "session.ingested":
                key = event["session"]["id"]
                if key not in self._made and event["from_turn"] > 0:
                    self.grown.append((seq, key))
                self._made.setdefault(key, seq)
                self.mentions.setdefault(key, []).append(seq)
            case "session.distilled":
                self.mentions.setdefault(event["id"], []).append(seq)

    def first(self, key: str) -> int:
        return next(iter(self.mentions.get(key, ())), _NEVER)

    def last(self, key: str) -> int:
        return max(self.mentions.get(key, ()), default=0)


def _made(
    past: _Past, known: Folded, missing: Sequence[int], graph: GraphState, events: dict[int, list[Event]]
) -> None:
    """Writes back the making of cards and sessions that sound lines take for granted, or never name."""
    for made, again, key in past.twice:
        if (place := _latest(missing, again)) is not None and place > made:
            events[place].append(card_removed(key))
    for key, card in graph.cards.items():
        if key not in known.cards:
            first, seq = past.first(key), graph.card_seqs.get(key, 0)
            place = seq if seq in events and first == _NEVER else _place(missing, first)
            events[place].append(card_created(_as_it_was(card, past, place)))
    late = {key: seq for seq, key in past.grown}
    for key, info in graph.sessions.items():
        if key not in known.sessions or key in late:
            place = _place(missing, late.get(key, past.first(key)))
            events[place].append(session_ingested(info, from_turn=0, skipped=0))


def _differences(past: _Past, healed: Folded, graph: GraphState, missing: Sequence[int]) -> Iterator[tuple[int, Event]]:
    """What else the lost lines must have done: changes, links, and what was taken away again."""
    last = missing[-1]
    for key, card in graph.cards.items():
        before = healed.cards.get(key)
        if before is not None and before != card:
            seq = graph.card_seqs.get(key, 0)
            yield seq if seq in missing else last, card_changed(before, card, "edit", why=WHY)
    fresh = [link for pair, link in graph.links.items() if healed.links.get(pair) != link]
    yield from ((last, link_created(link)) for link in fresh)
    loose = [link for pair, link in healed.links.items() if pair not in graph.links]
    yield from ((last, link_removed(link)) for link in loose)
    for key, info in graph.sessions.items():
        for event in _of_session(healed.sessions.get(key), info):
            yield last, event
    gone = [key for key in healed.cards if key not in graph.cards and past.last(key) < last]
    yield from ((last, card_removed(key)) for key in gone)
    gone = [key for key in healed.sessions if key not in graph.sessions and past.last(key) < last]
    yield from ((last, session_removed(key)) for key in gone)


def _of_session(before: SessionInfo | None, after: SessionInfo) -> Iterator[Event]:
    if before is None:
        return
    done, by = before.distilled_turns, before.distilled_by
    if replace(after, distilled_turns=done, distilled_by=by) != before:
        from_turn = min(before.turns, after.turns)
        yield session_ingested(after, from_turn=from_turn, skipped=0)
        done = min(done, from_turn)
    if (done, by) != (after.distilled_turns, after.distilled_by):
        yield session_distilled(after.id, turns=after.distilled_turns, by=after.distilled_by, status="done", reason=WHY)


def _as_it_was(card: Card, past: _Past, place: int) -> Card:
    """A card as it was behind a line: what later changes say was there before them, undone from the first of them."""
    later = [event for seq, event in past.changes.get(card.id, ()) if seq > place]
    prior: dict[str, Any] = {}
    for event in later:
        for name, value in event["before"].items():
            prior.setdefault(name, value)
    inline = {name: value for name, value in prior.items() if not isinstance(value, dict)}
    return replace(card, rev=later[0]["rev"] - 1 if later else card.rev, **card_fields(inline))


def _latest(missing: Sequence[int], before: int) -> int | None:
    """The latest lost line before a seq."""
    return max((seq for seq in missing if seq < before), default=None)


def _place(missing: Sequence[int], before: int) -> int:
    """The same; the latest of all where none is before it."""
    found = _latest(missing, before)
    return missing[-1] if found is None else found
