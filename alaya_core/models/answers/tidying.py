"""Answers about a memory that tidies itself: runs of introspect, what waits for a person, the fate of a card."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from alaya_core.models.answers.base import Answer, Instant
from alaya_core.text import counted


class ModelUsage(Answer):
    """What a chat model was asked, and what it cost.

    Attributes:
        calls: Answers that came over the network; cached: those that were known already.
        estimated: Whether the service did not count, so that the tokens are an estimate.
        cost: In the currency of the configured prices; None where there are none.
    """

    model: str
    host: str | None = None
    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False
    cost: float | None = None


class PlannedChange(Answer):
    """One thing that a run did, or would do.

    Attributes:
        titles: Of the cards, in the same order.
        outcome: `done`, `planned` (a dry run), `review` (a person decides), `skipped` (the memory changed meanwhile).
    """

    verb: str
    cards: list[str]
    titles: list[str]
    why: str = ""
    score: float | None = None
    outcome: Literal["done", "planned", "review", "skipped"] = "done"


class PhaseReport(Answer):
    """One phase of a run.

    Attributes:
        lines: What it did, in sentences.
        changes: The first of what it did, in the order of doing; `counts` has all of it.
        left_off: How many more there are.
        code: Of a failed one, the error's; empty otherwise.
    """

    phase: str
    code: str = ""
    status: Literal["done", "planned", "skipped", "failed", "cancelled", "waiting"]
    lines: list[str] = Field(default_factory=list)
    counts: dict[str, int] = Field(default_factory=dict)
    changes: list[PlannedChange] = Field(default_factory=list)
    left_off: int = 0
    took_ms: int = 0


class IntrospectReport(Answer):
    """`introspect`.

    Attributes:
        resumed: Whether it went on with a run that had been cut off.
        reviews: How many proposals wait for a person.
        note: What a person should know; may be empty.
    """

    run: str
    status: Literal["done", "cancelled", "failed", "skipped"]
    dry_run: bool = False
    resumed: bool = False
    phases: list[PhaseReport] = Field(default_factory=list)
    reviews: int = 0
    usage: ModelUsage | None = None
    note: str = ""
    took_ms: int = 0


class RunEvent(Answer):
    """One line of a run's file.

    Attributes:
        kind: `start`, `phase`, `progress`, `change`, `note`, `phase_end`, `end`.
    """

    at: Instant
    run: str
    kind: str
    phase: str = ""
    text: str = ""
    done: int | None = None
    total: int | None = None
    data: dict[str, Any] = Field(default_factory=dict)


class RunView(Answer):
    """A run of introspect, as its file tells it.

    Attributes:
        status: `running`, `done`, `cancelled`, `failed`, or `cut off` (its process is gone, the next run goes on).
    """

    run: str
    started: Instant
    ended: Instant | None = None
    status: str
    by: str = ""
    phase: str = ""
    changes: int = 0


class RunsAnswer(Answer):
    """`introspect --list`, newest first."""

    runs: list[RunView]


class ReviewItem(Answer):
    """A proposal that waits for a person."""

    key: str
    verb: str
    cards: list[str]
    titles: list[str]
    score: float | None = None
    why: str = ""
    at: Instant


class ReviewAnswer(Answer):
    """`review`: what waits; of `accept` and `reject`, what was decided too."""

    items: list[ReviewItem]
    decided: list[ReviewItem] = Field(default_factory=list)
    verdict: str = ""
    note: str = ""


class FateStep(Answer):
    """Something that will happen to a card if nobody uses or changes it.

    Attributes:
        at: The first moment at which a cool-down would do it; days: how far that is from now, whole days.
        what: `tier`, `standing`, `archived`, `forgotten`.
        to: The new tier, standing or state.
        why: By which rule, in words.
    """

    at: Instant
    days: int
    what: Literal["tier", "standing", "archived", "forgotten"]
    to: str
    why: str = ""

    @property
    def said(self) -> str:
        """What happens and when, in words: `turns COLD in 12 days`."""
        what = {"tier": f"turns {self.to}", "standing": f"becomes {self.to}"}.get(self.what, self.to)
        return f"{what} in {counted(self.days, 'day')}" if self.days else f"{what} at the next cool-down"


class FateAnswer(Answer):
    """`fate`: what will become of a card.

    Attributes:
        steps: In the order in which they come, as far as `horizon_days`.
        never: What will not happen to it, and why, a sentence each.
        sentence: All of it in one line.
    """

    card_id: str
    title: str
    model: str
    temperature: float
    tier: str
    standing: str
    state: str
    steps: list[FateStep] = Field(default_factory=list)
    never: list[str] = Field(default_factory=list)
    sentence: str = ""
    horizon_days: int = 0


class StatsAnswer(Answer):
    """`stats`: the memory in numbers, as earlier systems told it."""

    total: int
    active: int
    archived: int
    by_type: dict[str, int]
    by_importance: dict[str, int]
    by_standing: dict[str, int] = Field(default_factory=dict)
    by_scope: dict[str, int] = Field(default_factory=dict)
    last_run: Instant | None = None
    next_run: Instant | None = None


class BulkAnswer(Answer):
    """`delete-bulk`: the cards that were (or would be) forgotten, all in one run."""

    done: bool
    cards: list[str]
    titles: list[str]
    run: str | None = None
    note: str = ""


class SnapshotAnswer(Answer):
    """`snapshot`.

    Attributes:
        changed: Whether the file was written anew.
        cards: The cards in it, in order.
    """

    path: str
    text: str
    tokens: int
    changed: bool
    cards: list[str] = Field(default_factory=list)


class EntityRow(Answer):
    """A thing that cards are about."""

    name: str
    cards: int
    aliases: list[str] = Field(default_factory=list)
    last: Instant | None = None


class TimelineEntry(Answer):
    """Something at a time."""

    at: Instant
    card_id: str
    title: str
    type: str
    state: str = "active"


class TimelineDay(Answer):
    """A day, as the machine's clock has it."""

    day: str
    entries: list[TimelineEntry]


class TimelineAnswer(Answer):
    """`timeline`, newest day first."""

    days: list[TimelineDay]
    total: int


class EntityPage(Answer):
    """Everything about one thing."""

    name: str
    aliases: list[str] = Field(default_factory=list)
    cards: list[TimelineEntry]
    days: list[TimelineDay] = Field(default_factory=list)
    with_others: dict[str, int] = Field(default_factory=dict)
    total: int = 0


class EntitiesAnswer(Answer):
    """`entities`: the things there are, or the page of one."""

    entities: list[EntityRow] = Field(default_factory=list)
    page: EntityPage | None = None
    total: int = 0
