"""Which sessions are to be distilled, and which of their turns may be learnt from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from alaya_core.errors import NotFoundError
from alaya_core.models.session import SessionInfo, Turn, TurnKind
from alaya_core.services.distill.rules import RULES_VERSION
from alaya_core.services.workspace import Workspace
from alaya_core.text import safe_line

_BY_RULES = RULES_VERSION.split("/")[0] + "/"


@dataclass(frozen=True, slots=True)
class Unread:
    """A session with turns to be read.

    Attributes:
        start: The first of them.
    """

    info: SessionInfo
    start: int


@dataclass(frozen=True, slots=True)
class Learnable:
    """What may be learnt from in the turns that are to be read.

    Attributes:
        turns: (number, turn), without what a distiller does not read.
        tools: Whether tools were at work between them.
        last: When the last turn of them all took place, ms; the session's time where no turn says.
    """

    turns: list[tuple[int, Turn]]
    tools: bool
    last: int


def unread(workspace: Workspace, session: str | None, *, redo: bool, upgrade: bool = False) -> list[Unread]:
    """The sessions to be read, oldest first.

    Args:
        session: Only this one; None = all.
        redo: Those that were read before, too.
        upgrade: Those that were read by rules, too; all of their turns.

    Raises:
        NotFoundError: There is no such session.
    """
    with workspace.graph.reading() as reader:
        if session is None:
            infos = [info for info in reader.sessions() if _may_read(workspace, info)]
        else:
            info = reader.session(session)
            if info is None or not _may_read(workspace, info):
                shown = safe_line(session)[:80]
                raise NotFoundError(f"there is no session '{shown}'", "`alaya status` counts them; ids are exact")
            infos = [info]
    found = []
    for info in infos:
        by_rules = info.distilled_by.startswith(_BY_RULES)
        # What a model read, rules do not read again: they would make its cards once more, and less well.
        able = by_rules or not info.distilled_by or workspace.chat is not None
        again = (redo and able) or (upgrade and by_rules)
        if again or info.turns > info.distilled_turns:
            found.append(Unread(info, 0 if again else info.distilled_turns))
    return found


def learnable(workspace: Workspace, one: Unread) -> Learnable:
    """Reads the turns of a session.

    Raises:
        AlayaError: Its file cannot be read.
    """
    abandoned = _abandoned(workspace, one.info)
    tools, last = False, one.info.timestamp
    turns: list[tuple[int, Turn]] = []
    for number, turn in enumerate(workspace.sessions.turns(one.info.path, one.start, one.info.turns), one.start):
        last = max(last, turn.timestamp or 0)
        tools = tools or turn.kind is TurnKind.TOOL or bool(turn.tool_calls)
        turns.extend(_read(number, turn, abandoned))
    return Learnable(turns, tools, last)


def _read(number: int, turn: Turn, abandoned: Sequence[tuple[int, int]]) -> Iterator[tuple[int, Turn]]:
    said = turn.kind is TurnKind.MESSAGE and turn.text.strip()
    if said and not any(first <= number <= last for first, last in abandoned):
        yield number, replace(turn, content="", thinking="", tool_calls=())


def _may_read(workspace: Workspace, info: SessionInfo) -> bool:
    return workspace.agent is None or info.agent == workspace.agent


def _abandoned(workspace: Workspace, info: SessionInfo) -> list[tuple[int, int]]:
    ranges = workspace.sessions.header(info.path)["metadata"].get("abandoned") or []
    return [(int(first), int(last)) for first, last in ranges]
