"""Trace: from a card back to the very turns it came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from alaya_core import secrets
from alaya_core.errors import NotFoundError
from alaya_core.models.answers import TraceAnswer, TraceSession, TraceTurn
from alaya_core.models.card import Card
from alaya_core.models.session import SessionInfo, Turn
from alaya_core.services.lookup import find_card
from alaya_core.services.workspace import Workspace
from alaya_core.stores.contexts import ContextTurn, content_digest

_NEARBY = 200
"""How far from its place a turn is looked for when its log was repaired."""


def trace(workspace: Workspace, reference: str, *, full: bool, reveal: bool) -> TraceAnswer:
    """The sessions and turns a card came from.

    Args:
        reference: A card's id or a prefix of it.
        full: Whether all turns of the sessions are answered, not only the card's own.
        reveal: Whether secrets are shown as they are.

    Raises:
        NotFoundError, AmbiguousIdError: No such card.
    """
    with workspace.graph.reading() as reader:
        card = find_card(reader, reference, workspace.visible_scopes())
        infos = {source.session_id: reader.session(source.session_id) for source in card.sources}
    kept: dict[str, list[ContextTurn]] = {}
    for turn in workspace.contexts.read(card.id):
        kept.setdefault(turn.session_id, []).append(turn)
    sessions = []
    for source in card.sources:
        info = infos[source.session_id]
        own = kept.get(source.session_id, [])
        try:
            if info is None:
                raise NotFoundError("the session is not known")
            sessions.append(_session(workspace, info, source.turns, own, full, reveal))
        except NotFoundError:
            sessions.append(_from_context(source.session_id, info, own))
    return TraceAnswer(card_id=card.id, title=card.title, sessions=sessions, masked=not reveal)


def source_turns(workspace: Workspace, card: Card, infos: Mapping[str, SessionInfo]) -> list[TraceTurn]:
    """The turns a card came from, secrets masked; those whose session is gone are left out."""
    turns: list[TraceTurn] = []
    for source in card.sources:
        info = infos.get(source.session_id)
        if info is None:
            continue
        for number in source.turns:
            for turn in workspace.sessions.turns(info.path, number, number + 1):
                turns.append(_view(number, turn, relevant=True, reveal=False))
    return turns


def _session(
    workspace: Workspace,
    info: SessionInfo,
    numbers: tuple[int, ...],
    own: list[ContextTurn],
    full: bool,
    reveal: bool,
) -> TraceSession:
    places = {number: number for number in numbers}
    hashes = {turn.turn: turn.hash for turn in own}
    for number in numbers:
        places[number] = _anchor(workspace, info, number, hashes.get(number))
    came_from = {place: number for number, place in places.items()}
    turns: list[TraceTurn] = []
    for number, turn in _chosen(workspace, info, sorted(came_from), full):
        view = _view(number, turn, relevant=number in came_from, reveal=reveal)
        if number in came_from and came_from[number] != number:
            view.moved_from = came_from[number]
        turns.append(view)
    return TraceSession(
        session_id=info.id,
        path=str(workspace.home.root / info.path),
        timestamp=info.timestamp,
        channel=info.channel,
        agent=info.agent,
        turns=turns,
        total=info.turns,
    )


def _chosen(workspace: Workspace, info: SessionInfo, places: list[int], full: bool) -> Iterator[tuple[int, Turn]]:
    if full:
        yield from enumerate(workspace.sessions.turns(info.path))
        return
    for place in places:
        for turn in workspace.sessions.turns(info.path, place, place + 1):
            yield place, turn


def _anchor(workspace: Workspace, info: SessionInfo, number: int, digest: str | None) -> int:
    """Where a turn is now: at its number, or, when its log was repaired, where its content is found nearby."""
    if digest is None:
        return number
    here = next(iter(workspace.sessions.turns(info.path, number, number + 1)), None)
    if here is not None and content_digest(here.content) == digest:
        return number
    start = max(0, number - _NEARBY)
    found = [
        place
        for place, turn in enumerate(workspace.sessions.turns(info.path, start, number + _NEARBY), start)
        if content_digest(turn.content) == digest
    ]
    return min(found, key=lambda place: abs(place - number), default=number)


def _from_context(session_id: str, info: SessionInfo | None, own: list[ContextTurn]) -> TraceSession:
    """What the card's own context file still knows of a session that is gone."""
    return TraceSession(
        session_id=session_id,
        path=info.path if info else "",
        timestamp=info.timestamp if info else next((turn.timestamp for turn in own if turn.timestamp), None) or 0,
        channel=info.channel if info else "",
        agent=info.agent if info else "",
        turns=[
            TraceTurn(turn=turn.turn, role=turn.role, content=turn.content, relevant=True, timestamp=turn.timestamp)
            for turn in own
        ],
        total=info.turns if info else len(own),
        missing=True,
    )


def _view(number: int, turn: Turn, *, relevant: bool, reveal: bool) -> TraceTurn:
    return TraceTurn(
        turn=number,
        role=turn.role,
        content=turn.content if reveal else secrets.mask(turn.content),
        relevant=relevant,
        timestamp=turn.timestamp,
        kind=str(turn.kind),
        name=turn.name,
        tool_calls=[{"id": call.id, "name": call.name} for call in turn.tool_calls],
    )
