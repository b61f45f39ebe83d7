"""What was true or happened when."""

from __future__ import annotations

from collections.abc import Iterable

from alaya_core.clock import local
from alaya_core.errors import UsageError
from alaya_core.models.answers import TimelineAnswer, TimelineDay, TimelineEntry
from alaya_core.services.workspace import Workspace
from alaya_core.stores.graph_entities import Moment, moments


def timeline(
    workspace: Workspace, *, since: int | None = None, until: int | None = None, limit: int = 100
) -> TimelineAnswer:
    """The cards that whoever asks may see, by the day they were true, newest first.

    Args:
        since, until: ms, inclusive.
        limit: Most cards.

    Raises:
        UsageError: A limit below 0.
    """
    require_limit(limit)
    with workspace.graph.reading() as reader:
        found, total = moments(reader, workspace.visible_scopes(), since=since, until=until, limit=limit)
    return TimelineAnswer(days=by_day(found), total=total)


def require_limit(limit: int) -> None:
    """Raises UsageError for a limit that cannot be."""
    if limit < 0:
        raise UsageError("a list has 0 entries or more", "use --limit with a number from 0 on")


def by_day(found: Iterable[Moment]) -> list[TimelineDay]:
    """Cards by day, as the machine's clock has it, in the order they come in."""
    days: list[TimelineDay] = []
    for moment in found:
        day = local(moment.created_at, "%Y-%m-%d")
        if not days or days[-1].day != day:
            days.append(TimelineDay(day=day, entries=[]))
        days[-1].entries.append(entry(moment))
    return days


def entry(moment: Moment) -> TimelineEntry:
    """A card in a timeline."""
    return TimelineEntry(
        at=moment.created_at, card_id=moment.id, title=moment.title, type=moment.type, state=moment.state
    )
