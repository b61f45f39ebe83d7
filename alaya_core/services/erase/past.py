"""All that cards ever said, and the sessions they came from, as the ledger tells it. No I/O of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from alaya_core.models.card import Card, CardState, SourceRef
from alaya_core.models.commit import Commit, Event, card_fields, card_from_json, event_cards
from alaya_core.models.session import SessionInfo


@dataclass(slots=True)
class CardPast:
    """What one card was, from its making on.

    Attributes:
        card: As it is now, or was before its making was undone.
        texts: Every title, overview and content it ever had.
        embedded: Every text that its vector ever stood for.
        sources: Every set of turns it ever came from, oldest first.
        labels: Every tag and entity; absorbed: every card that was ever merged into it.
        reasons: Of its links, where a person gave them.
        made_by: Who made it, as the ledger says it; edited: whether a person changed what it says.
    """

    card: Card
    texts: set[str] = field(default_factory=set)
    embedded: set[str] = field(default_factory=set)
    sources: list[tuple[SourceRef, ...]] = field(default_factory=list)
    labels: set[str] = field(default_factory=set)
    absorbed: set[str] = field(default_factory=set)
    reasons: set[str] = field(default_factory=set)
    made_by: str = ""
    edited: bool = False

    def _seen(self) -> None:
        card = self.card
        self.texts.update(text for text in (card.title, card.overview, card.content) if text)
        self.embedded.add(card.text_to_embed())
        self.labels.update(card.tags, card.entities)
        self.absorbed.update(card.merged_from)
        if card.sources and card.sources not in self.sources:
            self.sources.append(card.sources)

    @property
    def sessions(self) -> set[str]:
        """The sessions that it came from at any time."""
        return {source.session_id for version in self.sources for source in version}


def pasts(commits: Iterable[Commit], wanted: Callable[[str], bool]) -> dict[str, CardPast]:
    """The past of the cards whose id is wanted, by id.

    Args:
        commits: The whole ledger.
    """
    found: dict[str, CardPast] = {}
    for actor, event in ((commit.actor, event) for commit in commits for event in commit.events):
        if event["kind"] == "card.created" and wanted(event["card"]["id"]):
            card = card_from_json(event["card"])
            past = found.setdefault(card.id, CardPast(card, made_by=actor))
            past.card = card
            past._seen()
        elif event["kind"] == "card.changed" and (known := found.get(event["id"])):
            known.card = replace(known.card, rev=event["rev"], **card_fields(event["after"]))
            known.edited |= actor == "human" and event["verb"] == "edit"
            known._seen()
        elif event["kind"] == "link.created" and event["link"]["origin"] == "human" and event["link"]["reason"]:
            for end in event_cards(event):
                if end in found:
                    found[end].reasons.add(event["link"]["reason"])
    return found


def cards_of(commits: Iterable[Commit], session_id: str, turn: int | None) -> set[str]:
    """The cards that ever came from a session, or from one of its turns."""
    found: set[str] = set()
    for event in _events(commits):
        if event["kind"] in ("card.created", "card.changed"):
            values: dict[str, Any] = event["card"] if event["kind"] == "card.created" else event["after"]
            for source in values.get("sources", ()):
                if source["session_id"] == session_id and (turn is None or turn in source["turns"]):
                    found.add(event_cards(event)[0])
    return found


def session_paths(commits: Iterable[Commit]) -> set[str]:
    """Where the files of all sessions that ever came in lie, or lay, relative to the home."""
    return {event["session"]["path"] for event in _events(commits) if event["kind"] == "session.ingested"}


def states_of(commits: Iterable[Commit], session_id: str) -> list[tuple[SessionInfo, str]]:
    """Every state of a session that came in, oldest first, each with the log it replaced."""
    return [
        (SessionInfo(**event["session"]), event["replaced"])
        for event in _events(commits)
        if event["kind"] == "session.ingested" and event["session"]["id"] == session_id
    ]


def survivors(commits: Iterable[Commit], ids: Iterable[str]) -> set[str]:
    """The cards that any of these were ever merged into."""
    wanted = set(ids)
    return {
        event["after"]["successor"]
        for event in _events(commits)
        if event["kind"] == "card.changed" and event["id"] in wanted and event["after"].get("state") == CardState.MERGED
    }


def sources_named(commits: Iterable[Commit], *, but: str = "") -> dict[str, set[str]]:
    """Per sha256 of a log: the sessions that ever came from it, without one of them."""
    found: dict[str, set[str]] = {}
    for event in _events(commits):
        if event["kind"] == "session.ingested" and event["session"]["id"] != but:
            for digest in (event["session"]["source"], event["replaced"]):
                if digest:
                    found.setdefault(digest, set()).add(event["session"]["id"])
    return found


def texts_by_card(commits: Iterable[Commit]) -> Iterator[tuple[str, str]]:
    """(card, a text that it had at some time) for all cards."""
    for event in _events(commits):
        if event["kind"] in ("card.created", "card.changed"):
            values: dict[str, Any] = event["card"] if event["kind"] == "card.created" else event["after"]
            text = "\n".join(values[name] for name in ("title", "overview", "content") if values.get(name))
            if text:
                yield event_cards(event)[0], text


def _events(commits: Iterable[Commit]) -> Iterator[Event]:
    return (event for commit in commits for event in commit.events)
