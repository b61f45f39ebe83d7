"""The memory in numbers, and whether it is tidied often enough."""

from __future__ import annotations

from collections import Counter

from alaya_core.clock import DAY_MS, HOUR_MS
from alaya_core.errors import ConfigError
from alaya_core.models.answers import StatsAnswer
from alaya_core.models.card import CardState, Standing
from alaya_core.models.requests import Filters
from alaya_core.services.workspace import Workspace

IMPORTANCE = (("critical", 0.9), ("high", 0.7), ("medium", 0.4), ("low", 0.0))
"""Bands of importance, each from its least on."""


def stats(workspace: Workspace) -> StatsAnswer:
    """Counts of the cards that whoever asks may see: those that recall finds, and those that were archived."""
    from alaya_core.services.introspect import last_whole_run

    with workspace.graph.reading() as reader:
        cards = reader.matching(Filters(archived=True), workspace.visible_scopes())
    living = [card for card in cards if card.state is not CardState.ARCHIVED]
    bands = Counter(band_of(card.importance) for card in cards)
    standings = Counter(card.standing for card in living)
    return StatsAnswer(
        total=len(cards),
        active=len(living),
        archived=len(cards) - len(living),
        by_type=dict(Counter(str(card.type) for card in cards).most_common()),
        by_importance={name: bands[name] for name, _ in IMPORTANCE},
        by_standing={str(standing): standings[standing] for standing in Standing},
        by_scope=dict(Counter(card.scope for card in cards).most_common()),
        last_run=last_whole_run(workspace),
        next_run=_next_run(workspace),
    )


def band_of(importance: float) -> str:
    """The name of the band that an importance falls into."""
    return next((name for name, least in IMPORTANCE if importance >= least), IMPORTANCE[-1][0])


def overdue(last_ended: int | None, oldest_card: int | None, now: int, hours: int) -> str:
    """That the memory was not tidied for long, in a sentence; empty if it was, or if there is nothing to tidy.

    Args:
        last_ended: When the last whole run ended, ms; None = there was none.
        oldest_card: When the first card entered, ms; None = there is no card.
        now: ms.
        hours: After how many it is overdue.
    """
    since = last_ended if last_ended is not None else oldest_card
    if since is None or oldest_card is None or now - since <= hours * HOUR_MS:
        return ""
    gone = now - since
    long = f"{gone // DAY_MS} days" if gone >= 2 * DAY_MS else f"{gone // HOUR_MS} hours"
    what = f"introspect ended last {long} ago" if last_ended is not None else f"no introspect ran in {long}"
    return f"{what}: run `alaya introspect`, or let `alaya cron` say how it runs by itself"


def _next_run(workspace: Workspace) -> int | None:
    from alaya_core.schedule import next_time

    try:
        return next_time(workspace.config.introspect.schedule, workspace.clock())
    except ConfigError as error:
        workspace.notices.append(f"{error.message}; {error.hint}")
        return None
