"""What a person named to be erased: a card, a session, or one turn of it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from alaya_core.errors import AmbiguousIdError, NotFoundError, UsageError
from alaya_core.models.card import Card
from alaya_core.models.session import SessionInfo
from alaya_core.services.erase.past import pasts, states_of
from alaya_core.services.lookup import PREFIX, find_card
from alaya_core.services.workspace import Workspace
from alaya_core.stores.graph_read import GraphReader
from alaya_core.text import safe_line, storable


@dataclass(frozen=True, slots=True)
class Target:
    """Attributes:
    card: The card; None where a session is meant.
    session: The session, as it came in last.
    turn: The one turn that is meant; None = all of it.
    alias: The id that was named, where it is that of a card that was merged into this one.
    """

    card: Card | None = None
    session: SessionInfo | None = None
    turn: int | None = None
    alias: str = ""


def find_target(workspace: Workspace, reader: GraphReader, named: str, turn: int | None) -> Target:
    """What a name means; also what was undone since, of which the ledger still tells.

    Raises:
        NotFoundError: No such thing.
        AmbiguousIdError: It fits several cards, or a card and a session.
        UsageError: A turn of a card, one that the session does not have, or one that is erased already.
    """
    wanted = storable(named.strip())
    session = _session(workspace, reader, wanted)
    card, missing = None, None
    try:
        card = find_card(reader, wanted, None, forgotten=True)
    except NotFoundError as error:
        missing = error
        card = None if reader.cards([wanted]) else _undone_card(workspace, wanted)
    if card is not None and session is not None:
        said = f"'{_shown(wanted)}' is a session, and fits the card {_shown(card.id)}"
        raise AmbiguousIdError(said, "give the whole id")
    if card is not None:
        if turn is not None:
            raise UsageError("a card has no turns", "--turn goes with the id of a session")
        return Target(card=card, alias=_alias(card, wanted))
    if session is None:
        hint = "ids of sessions are exact; `alaya list` shows cards with their ids"
        raise NotFoundError(f"there is no card or session '{_shown(wanted)}'", hint) from missing
    if turn is not None and not 0 <= turn < session.turns:
        raise UsageError(f"the session has no turn {turn}", f"it has {session.turns}, counted from 0")
    before = reader.erased(session.id)
    if turn is not None and before is not None and turn in before.turns:
        raise UsageError(f"turn {turn} of the session is erased already", "nothing of it is left")
    return Target(session=session, turn=turn)


def _alias(card: Card, wanted: str) -> str:
    beginnings = (wanted, PREFIX + wanted)
    if card.id.startswith(beginnings):
        return ""
    return next((one for one in card.merged_from if one.startswith(beginnings)), "")


def _session(workspace: Workspace, reader: GraphReader, wanted: str) -> SessionInfo | None:
    info = reader.session(wanted)
    if info is not None:
        return info
    states = states_of(workspace.ledger.commits(holding=_written(wanted)), wanted)
    return states[-1][0] if states else None


def _undone_card(workspace: Workspace, wanted: str) -> Card | None:
    past = pasts(workspace.ledger.commits(holding=_written(wanted)), wanted.__eq__).get(wanted)
    return past.card if past is not None else None


def _written(wanted: str) -> str:
    return json.dumps(wanted, ensure_ascii=False)


def _shown(text: str) -> str:
    return safe_line(text)[:80]
