"""Which cards go with a session or a turn, and which stay because turns that stay say the same. Reads only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from alaya_core.errors import DamagedError, NotFoundError
from alaya_core.models.card import Card, SourceRef
from alaya_core.services.erase.needles import Needles
from alaya_core.services.erase.past import CardPast, cards_of, pasts
from alaya_core.services.erase.plan import ErasePlan
from alaya_core.services.erase.scrubbing import turn_texts
from alaya_core.services.workspace import Workspace
from alaya_core.stores.graph_read import GraphReader

TurnRef = tuple[str, int]
"""Id of a session, number of a turn."""


@dataclass(frozen=True, slots=True)
class Division:
    """Attributes:
    goes: The past of the cards that go.
    stays: Cards that say some of what goes, and the turns that say it too, by which they stay.
    """

    goes: Mapping[str, CardPast]
    stays: Mapping[str, tuple[TurnRef, ...]]


def divided(workspace: Workspace, reader: GraphReader, plan: ErasePlan) -> Division:
    """Of the cards that came from a session or turn: those that came from nowhere else go, and those that say more of
    it than the turns that stay say themselves.

    Args:
        plan: With the texts of the session or turn, and no others yet.
    """
    candidates = pasts(
        workspace.ledger.commits(), cards_of(workspace.ledger.commits(), plan.session, plan.turn).__contains__
    )
    needles = Needles(plan.texts)
    goes: dict[str, CardPast] = {}
    stays: dict[str, tuple[TurnRef, ...]] = {}
    for key, past in candidates.items():
        if _only_from(past.card, plan):
            goes[key] = past
        elif any(needles.found_in(text) for text in past.texts):
            remaining = _remaining(workspace, reader, past.card, plan)
            if needles.found_beyond(past.texts, (text for texts in remaining.values() for text in texts)):
                goes[key] = past
            else:
                stays[key] = tuple(ref for ref, texts in remaining.items() if any(map(needles.found_in, texts)))
    goes = with_absorbed(workspace, set(goes))
    # A card that took one of them in says what that one said.
    said = Needles([text for past in goes.values() for text in past.texts])
    for key, past in candidates.items():
        if key not in goes and past.absorbed & set(goes):
            remaining = _remaining(workspace, reader, past.card, plan)
            if said.found_beyond(past.texts, (text for texts in remaining.values() for text in texts)):
                goes |= with_absorbed(workspace, {key})
    return Division(goes, {key: refs for key, refs in stays.items() if key not in goes})


def with_absorbed(workspace: Workspace, wanted: set[str]) -> dict[str, CardPast]:
    """The past of cards, and of all that were ever merged into them and are still part of them."""
    found: dict[str, CardPast] = {}
    missing = set(wanted)
    while missing:
        found |= pasts(workspace.ledger.commits(), missing.__contains__)
        missing = {one for past in found.values() for one in past.card.merged_from} - set(found) - missing
    return found


def turns_elsewhere(plan: ErasePlan, goes: Mapping[str, CardPast]) -> list[TurnRef]:
    """The turns that the cards that go ever came from, without those that go too."""
    refs = {
        (source.session_id, turn)
        for past in goes.values()
        for version in past.sources
        for source in version
        for turn in source.turns
    }
    return sorted((session, turn) for session, turn in refs if not _covers(plan, session, turn))


def _only_from(card: Card, plan: ErasePlan) -> bool:
    return bool(card.sources) and not any(_refs(card.sources, plan))


def _remaining(workspace: Workspace, reader: GraphReader, card: Card, plan: ErasePlan) -> dict[TurnRef, list[str]]:
    """What the turns say that a card came from and that stay."""
    said: dict[TurnRef, list[str]] = {}
    for session_id, number in _refs(card.sources, plan):
        info = reader.session(session_id)
        try:
            turns = [] if info is None else workspace.sessions.turns(info.path, number, number + 1)
            said[session_id, number] = [text for turn in turns for text in turn_texts(turn)]
        except (NotFoundError, DamagedError):
            continue
    return said


def _refs(sources: tuple[SourceRef, ...], plan: ErasePlan) -> Iterator[TurnRef]:
    for source in sources:
        for turn in source.turns:
            if not _covers(plan, source.session_id, turn):
                yield source.session_id, turn


def _covers(plan: ErasePlan, session_id: str, turn: int) -> bool:
    return bool(plan.session) and session_id == plan.session and plan.turn in (None, turn)
