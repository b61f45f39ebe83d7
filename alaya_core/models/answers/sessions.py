"""Answers about sessions: what came in, what was distilled, what a card came from."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from alaya_core.models.answers.base import Answer, Instant
from alaya_core.models.answers.tidying import ModelUsage


class SkippedView(Answer):
    """A line of a source that could not be read."""

    line: int | None
    reason: str


class SessionOutcome(Answer):
    """What became of one session of an ingest."""

    session_id: str
    status: Literal["new", "grown", "unchanged", "conflict", "failed"]
    turns: int = 0
    new_turns: int = 0
    skipped: list[SkippedView] = Field(default_factory=list)
    skipped_count: int = 0
    source: str = ""
    reason: str = ""
    path: str = ""
    channel: str = ""
    agent: str = ""
    format: str = ""
    timestamp: Instant | None = None
    duration_ms: int | None = None
    tokens: int | None = None


class PassedOver(Answer):
    """A file that an ingest did not read, and why."""

    path: str
    reason: str


class DistilledCard(Answer):
    """A card that a distillation made."""

    card_id: str
    title: str
    type: str


class DistilledLink(Answer):
    """A link that a distillation made."""

    from_title: str
    relation: str
    to_title: str
    reason: str = ""


class DistillOutcome(Answer):
    """What became of one session of a distillation."""

    session_id: str
    status: Literal["done", "skipped", "retry"]
    reason: str = ""
    cards: list[DistilledCard] = Field(default_factory=list)
    links: list[DistilledLink] = Field(default_factory=list)


class DistillReport(Answer):
    """`distill`. counts: sessions done, skipped, to retry; cards; links.

    Attributes:
        usage: What a model was asked, and what it cost; None when rules did it.
        settled: What the new cards settled with older ones, a sentence each.
    """

    sessions: list[DistillOutcome]
    counts: dict[str, int]
    distiller: str
    vectors_pending: int = 0
    usage: ModelUsage | None = None
    settled: list[str] = Field(default_factory=list)


class IngestReport(Answer):
    """`ingest`. counts: sessions by status, turns, new turns, skipped lines, files passed over."""

    sessions: list[SessionOutcome]
    passed_over: list[PassedOver]
    counts: dict[str, int]
    distilled: DistillReport | None = None


class TraceTurn(Answer):
    """A turn as `trace` shows it; `relevant` marks those the card came from.

    Attributes:
        kind: `message` and other kinds of turn; `lost`: its log has it no longer; `erased`: a person took it away.
    """

    turn: int
    role: str
    content: str
    relevant: bool
    timestamp: Instant | None = None
    kind: str = "message"
    name: str = ""
    tool_calls: list[dict[str, Any]] = Field(default_factory=list)
    moved_from: int | None = None


class TraceSession(Answer):
    """A session that a card came from.

    Attributes:
        missing: Whether its file is gone; the turns then come from the card's own context file.
        total: Turns in the whole session.
    """

    session_id: str
    path: str
    timestamp: Instant
    channel: str = ""
    agent: str = ""
    turns: list[TraceTurn]
    total: int = 0
    missing: bool = False


class TraceAnswer(Answer):
    """`trace`."""

    card_id: str
    title: str
    sessions: list[TraceSession]
    masked: bool = True
