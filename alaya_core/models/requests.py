"""What callers ask of `Memory`: the filters and options that several use cases share."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

ORIGINS = ("human", "rules", "llm", "memex")
"""Where a card can have come from."""
SCOPE = re.compile(r"global|(agent|project|user|custom):[^\s\x00-\x1f]{1,200}")
"""What a scope looks like."""
SORTS = ("recent", "hottest", "coldest", "linked", "importance", "title", "used")


@dataclass(frozen=True, slots=True)
class Filters:
    """Which cards (and passages) may be found; empty tuples and None filter nothing.

    Attributes:
        without_origin: Cards of these origins are left out.
        importance: The least importance of a card.
        since: Earliest `created_at` (cards) or turn time (passages), ms, inclusive.
        until: Latest, ms, inclusive.
        archived: Whether archived cards are seen too.
    """

    scope: tuple[str, ...] = ()
    type: tuple[str, ...] = ()
    tag: tuple[str, ...] = ()
    tier: tuple[str, ...] = ()
    standing: tuple[str, ...] = ()
    origin: tuple[str, ...] = ()
    without_origin: tuple[str, ...] = ()
    entity: tuple[str, ...] = ()
    session: str | None = None
    importance: float | None = None
    since: int | None = None
    until: int | None = None
    archived: bool = False

    @property
    def bare(self) -> Filters:
        """The same without anything that leaves a card out."""
        return Filters(archived=self.archived)

    @property
    def only_cards(self) -> bool:
        """Whether something is asked for that a passage cannot have, so that none is meant."""
        by_name = (self.type, self.tag, self.tier, self.standing, self.origin, self.entity)
        return any(by_name) or self.importance is not None


@dataclass(frozen=True, slots=True)
class RecallOptions:
    """How to recall.

    Attributes:
        limit: Most cards (and as many passages) to answer; None = `recall.max_results` of the config.
        within: What to search.
        context: Whether each hit brings the turns it came from.
        auto: An agent's hook asks: decide first whether the text needs memory, and count the access lightly.
        typed: Somebody is typing: log no access.
        vectors: Whether the vector leg may be used (words answer at once, vectors a moment later).
    """

    limit: int | None = None
    within: Literal["cards", "passages", "both"] = "both"
    filters: Filters = field(default_factory=Filters)
    context: bool = False
    auto: bool = False
    typed: bool = False
    vectors: bool = True


PHASES = ("distill", "consolidate", "cool-down", "forget", "index", "snapshot")
"""What a run of introspect does, in this order."""


@dataclass(frozen=True, slots=True)
class IntrospectOptions:
    """How to introspect.

    Attributes:
        phases: Only these; empty = all.
        dry_run: Say what would be done, and change nothing.
        force: Do it even if it ran a short time ago (where `unless_within_hours` is given), and begin anew instead of
            going on with a run that was cut off.
        yes: Forget unusually many cards without asking.
        unless_within_hours: Skip if a whole run ended within so many hours.
        by: Who started it, for whoever watches; e.g. `cron`.
    """

    phases: tuple[str, ...] = ()
    dry_run: bool = False
    force: bool = False
    yes: bool = False
    unless_within_hours: float | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class CardChanges:
    """What `edit` changes; None leaves a field as it is.

    Attributes:
        superseded_by: The card that says better what this one says; this one is then marked superseded.
    """

    title: str | None = None
    content: str | None = None
    overview: str | None = None
    type: str | None = None
    tags: tuple[str, ...] | None = None
    entities: tuple[str, ...] | None = None
    importance: float | None = None
    confidence: float | None = None
    scope: str | None = None
    superseded_by: str | None = None
