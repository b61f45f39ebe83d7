"""Trace: from a card back to the very turns it came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from alaya_core import secrets
from alaya_core.errors import DamagedError, NotFoundError
from alaya_core.models.answers import TraceAnswer, TraceSession, TraceTurn
from alaya_core.models.card import Card
from alaya_core.models.session import SessionInfo, Turn
from alaya_core.services.lookup import as_seen, find_card
from alaya_core.services.workspace import Workspace
from alaya_core.stores.contexts import ContextTurn, content_digest

_NEARBY = 200
"""How far from its place a turn is looked for when its log was repaired."""


def trace(workspace: Workspace, reference: str, *, full: bool, reveal: bool) -> TraceAnswer:
    """The sessions and turns a card came from, as far as whoever asks may see them.

    Args:
        reference: A card's id or a prefix of it.
        full: Whether all turns of the sessions are answered, not only the card's own.
        reveal: Whether secrets are shown as they are.

    Raises:
        NotFoundError, AmbiguousIdError: No such card.
    """
    with workspace.graph.reading() as reader:
        scopes = workspace.visible_scopes()
        found = find_card(reader, reference, scopes)
        card = as_seen(reader, [found], scopes)[found.id]
        infos = reader.sessions_by_id(source.session_id for source in card.sources)
        marks = {source.session_id: reader.erased(source.session_id) for source in card.sources}
    kept: dict[str, list[ContextTurn]] = {}
    for turn in _contexts(workspace, card):
        kept.setdefault(turn.session_id, []).append(turn)
    sessions = []
    for source in card.sources:
        info = infos.get(source.session_id)
        own = kept.get(source.session_id, [])
        try:
            if info is None:
                raise NotFoundError("the session is not known")
            session = _session(workspace, info, source.turns, own, full, reveal)
            mark = marks[source.session_id]
            sessions.append(_with_erased(session, mark.turns if mark else frozenset()))
        except (NotFoundError, DamagedError):
            sessions.append(_from_context(source.session_id, info, own))
    return TraceAnswer(card_id=card.id, title=card.title, sessions=sessions, masked=not reveal)


def source_turns(workspace: Workspace, card: Card, infos: Mapping[str, SessionInfo]) -> list[TraceTurn]:
    """The turns a card came from, secrets masked; where a session is gone, as the card's context kept them.

    Args:
        card: As whoever asks may see it.
        infos: Its sessions.
    """
    kept = _contexts(workspace, card)
    turns: list[TraceTurn] = []
    for source in card.sources:
        own = [turn for turn in kept if turn.session_id == source.session_id]
        info = infos.get(source.session_id)
        try:
            if info is None:
                raise NotFoundError("the session is not known")
            turns.extend(_session(workspace, info, source.turns, own, full=False, reveal=False).turns)
        except (NotFoundError, DamagedError):
            turns.extend(map(_kept_view, own))
    return turns


def _contexts(workspace: Workspace, card: Card) -> list[ContextTurn]:
    """What was kept for the card, and for those it absorbed."""
    return [turn for card_id in (card.id, *card.merged_from) for turn in workspace.contexts.read(card_id)]


def _session(
    workspace: Workspace,
    info: SessionInfo,
    numbers: tuple[int, ...],
    own: list[ContextTurn],
    full: bool,
    reveal: bool,
) -> TraceSession:
    kept = {turn.turn: turn for turn in own}
    came_from: dict[int, int] = {}
    lost: list[ContextTurn] = []
    for number in numbers:
        place = _anchor(workspace, info, number, kept.get(number))
        if place is None:
            lost.append(kept[number])
        else:
            came_from[place] = number
    turns = [_kept_view(turn, lost=True) for turn in lost]
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
        turns=sorted(turns, key=lambda view: view.turn),
        total=info.turns,
    )


def _with_erased(session: TraceSession, numbers: frozenset[int]) -> TraceSession:
    for turn in session.turns:
        if turn.turn in numbers:
            turn.kind = "erased"
    return session


def _chosen(workspace: Workspace, info: SessionInfo, places: list[int], full: bool) -> Iterator[tuple[int, Turn]]:
    if full:
        yield from enumerate(workspace.sessions.turns(info.path, 0, info.turns))
        return
    for place in places:
        for turn in workspace.sessions.turns(info.path, place, place + 1):
            yield place, turn


def _anchor(workspace: Workspace, info: SessionInfo, number: int, kept: ContextTurn | None) -> int | None:
    """Where a turn is now: at its number, or, when its log was repaired, where its content is found nearby; None when
    the log has it no longer.

    Raises:
        NotFoundError, DamagedError: The session's file is gone, or has lost turns.
    """
    here = next(iter(workspace.sessions.turns(info.path, number, number + 1)), None)
    if kept is None:
        return number
    if here is not None and content_digest(here.content) == kept.hash:
        return number
    if workspace.sessions.count(info.path) < info.turns:
        raise DamagedError(f"{info.path} has lost turns", "run `alaya verify`")
    start = max(0, number - _NEARBY)
    found = [
        place
        for place, turn in enumerate(
            workspace.sessions.turns(info.path, start, min(number + _NEARBY, info.turns)), start
        )
        if content_digest(turn.content) == kept.hash
    ]
    return min(found, key=lambda place: abs(place - number), default=None)


def _from_context(session_id: str, info: SessionInfo | None, own: list[ContextTurn]) -> TraceSession:
    """What the card's own context file still knows of a session that is gone."""
    return TraceSession(
        session_id=session_id,
        path=info.path if info else "",
        timestamp=info.timestamp if info else next((turn.timestamp for turn in own if turn.timestamp), None) or 0,
        channel=info.channel if info else "",
        agent=info.agent if info else "",
        turns=[_kept_view(turn) for turn in own],
        total=info.turns if info else len(own),
        missing=True,
    )


def _kept_view(turn: ContextTurn, *, lost: bool = False) -> TraceTurn:
    """A turn as the card's context kept it, secrets masked; `lost`: its log has it no longer."""
    return TraceTurn(
        turn=turn.turn,
        role=turn.role,
        content=turn.content,
        relevant=True,
        timestamp=turn.timestamp,
        kind="lost" if lost else "message",
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
