"""Answers about cards, links and what happened to them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from alaya_core.models.answers.base import Answer, Instant


class Related(Answer):
    """A neighbour of a card, one link away."""

    card_id: str
    title: str
    relation: str
    direction: Literal["out", "in", "both"]
    score: float
    reason: str = ""
    type: str = ""
    state: str = "active"


class CardView(Answer):
    """A card with its vitals as of now.

    Attributes:
        temperature: 0..1, now.
        access_count: Weighted; an automatic recall counts 0.2.
    """

    card_id: str
    title: str
    overview: str = ""
    content: str
    type: str
    tags: list[str]
    entities: list[str]
    importance: float
    importance_by: str
    confidence: float
    scope: str
    origin: str
    state: str
    pinned: bool
    rev: int
    created_at: Instant
    added_at: Instant
    updated_at: Instant
    expires_at: Instant | None = None
    successor: str | None = None
    distilled_by: str | None = None
    source_sessions: list[str]
    standing: str
    tier: str
    temperature: float
    access_count: float
    last_access: Instant | None = None


class SourceView(Answer):
    """Turns of one session that a card came from."""

    session_id: str
    turns: list[int]


class CardAnswer(Answer):
    """`show`, and every command that changes one card.

    Attributes:
        changed: Whether this call changed anything.
        note: What a person should know about it; may be empty.
    """

    card: CardView
    related: list[Related] = Field(default_factory=list)
    related_total: int = 0
    sources: list[SourceView] = Field(default_factory=list)
    changed: bool = False
    note: str = ""


class CardRow(Answer):
    """A card in a list."""

    card_id: str
    title: str
    type: str
    tags: list[str]
    tier: str
    temperature: float
    standing: str
    importance: float
    origin: str
    scope: str
    state: str
    pinned: bool
    created_at: Instant
    added_at: Instant
    updated_at: Instant
    access_count: float
    links: int = 0


class CardList(Answer):
    """`list`: a page of cards, and how many there are in all."""

    cards: list[CardRow]
    total: int
    sort: str


class LinkView(Answer):
    """A link, with the titles of its ends."""

    from_id: str
    to_id: str
    from_title: str
    to_title: str
    relation: str
    weight: float
    reason: str
    origin: str
    created_at: Instant
    both_ways: bool


class LinkAnswer(Answer):
    """`link` and `unlink`. removed: links taken away by `unlink`."""

    link: LinkView | None = None
    removed: list[LinkView] = Field(default_factory=list)
    changed: bool = True
    note: str = ""


class FieldChange(Answer):
    """What became of one field of a card.

    Attributes:
        before, after: Its value, as text; None where it is not known (or was not there).
        diff: The lines of a longer text that went (`- `), came (`+ `) or stand around them (`  `).
    """

    card_id: str
    field: str
    before: str | None = None
    after: str | None = None
    diff: list[str] = Field(default_factory=list)


class CommitView(Answer):
    """One ledger line, told to a person.

    Attributes:
        why: The reason, where there is one.
        changes: Field by field; only in the history of one card.
        undone: Whether it was taken back since.
    """

    seq: int
    id: str
    at: Instant
    actor: str
    run: str | None = None
    what: list[str]
    why: str = ""
    undone: bool = False
    changes: list[FieldChange] = Field(default_factory=list)
    cards: list[str] = Field(default_factory=list)
    events: list[dict[str, Any]] = Field(default_factory=list)


class HistoryAnswer(Answer):
    """`history`, newest first."""

    commits: list[CommitView]
    total: int


class UndoAnswer(Answer):
    """`undo` and `redo`: the commits that were taken back (or done again), newest first.

    Attributes:
        run: The run of the commits that did it: by it they can be undone or redone in turn.
    """

    undone: list[CommitView] = Field(default_factory=list)
    redone: list[CommitView] = Field(default_factory=list)
    run: str | None = None
    note: str = ""
