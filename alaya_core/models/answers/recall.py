"""What a recall answers."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from alaya_core.models.answers.base import Answer, Instant
from alaya_core.models.answers.cards import CardList, Related
from alaya_core.models.answers.sessions import TraceTurn


class RecallHit(Answer):
    """A card that was found; the first eight fields are fixed for ever."""

    card_id: str
    title: str
    content: str
    score: float
    type: str
    tags: list[str]
    related: list[Related]
    source_sessions: list[str]
    tier: str
    temperature: float
    importance: float
    origin: str
    scope: str
    state: str
    created_at: Instant | None = None
    why: dict[str, Any]
    context: list[TraceTurn] | None = None


class PassageHit(Answer):
    """A turn (or a piece of a long one) of a raw session that was found."""

    session_id: str
    turn: int
    role: str
    text: str
    timestamp: Instant | None
    score: float
    cards: list[str]
    why: dict[str, Any]


class Filtered(Answer):
    """What fell below the floor, and what the filters did: nothing is silent.

    Attributes:
        without: Where filters left nothing: for each of them how many there were without it (but with all others),
            by its option's name; `all`: without any.
        notes: What a person should know about the filters, in sentences.
    """

    below_floor: int = 0
    best: float | None = None
    without: dict[str, int] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list)


class FilteredList(CardList):
    """`list`, with what its filters did (see `Filtered`)."""

    without: dict[str, int] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list)


class RecallAnswer(Answer):
    """`recall`.

    Attributes:
        degraded: Parts that did not answer, in words (`graph busy`, `no vectors: ...`).
        stale: Whether newer changes exist that this answer has not seen.
    """

    schema_version: Literal[1] = 1
    query: str
    results: list[RecallHit]
    passages: list[PassageHit]
    filtered: Filtered
    degraded: list[str]
    stale: bool
    took_ms: int
    skipped: str | None = None
