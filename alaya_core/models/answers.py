"""What `Memory` answers: plain data (pydantic), the same for the screen, the command line and a library user.

Instants are milliseconds since the epoch in Python and ISO 8601 (UTC) in JSON.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

from alaya_core.clock import iso, parse_when


def _read_instant(value: Any) -> Any:
    return parse_when(value, 0) if isinstance(value, str) else value


Instant = Annotated[int, BeforeValidator(_read_instant), PlainSerializer(iso, when_used="json")]


class Answer(BaseModel):
    """Base of all answers: unknown fields are refused, so that a typo cannot hide."""

    model_config = ConfigDict(extra="forbid")


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
    successor: str | None = None
    distilled_by: str | None = None
    source_sessions: list[str]
    standing: str
    tier: str
    temperature: float
    access_count: float
    last_access: Instant | None = None


class CardAnswer(Answer):
    """`show`, and every command that changes one card.

    Attributes:
        changed: Whether this call changed anything.
        note: What a person should know about it; may be empty.
    """

    card: CardView
    related: list[Related] = []
    related_total: int = 0
    sources: list[SourceView] = []
    changed: bool = False
    note: str = ""


class SourceView(Answer):
    """Turns of one session that a card came from."""

    session_id: str
    turns: list[int]


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
    """What fell below the floor: nothing is silent."""

    below_floor: int = 0
    best: float | None = None


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
    skipped: list[SkippedView] = []
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


class IngestReport(Answer):
    """`ingest`. counts: sessions by status, turns, new turns, skipped lines, files passed over."""

    sessions: list[SessionOutcome]
    passed_over: list[PassedOver]
    counts: dict[str, int]
    distilled: DistillReport | None = None


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
    cards: list[DistilledCard] = []
    links: list[DistilledLink] = []


class DistillReport(Answer):
    """`distill`. counts: sessions done, skipped, to retry; cards; links."""

    sessions: list[DistillOutcome]
    counts: dict[str, int]
    distiller: str
    vectors_pending: int = 0


class TraceTurn(Answer):
    """A turn as `trace` shows it; `relevant` marks those the card came from."""

    turn: int
    role: str
    content: str
    relevant: bool
    timestamp: Instant | None = None
    kind: str = "message"
    name: str = ""
    tool_calls: list[dict[str, Any]] = []
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
    removed: list[LinkView] = []
    changed: bool = True
    note: str = ""


class CommitView(Answer):
    """One ledger line, told to a person."""

    seq: int
    id: str
    at: Instant
    actor: str
    run: str | None = None
    what: list[str]
    cards: list[str] = []
    events: list[dict[str, Any]] = []


class HistoryAnswer(Answer):
    """`history`, newest first."""

    commits: list[CommitView]
    total: int


class Finding(Answer):
    """Something `verify` found.

    Attributes:
        kind: A short name that does not change (`missing_vector`, `torn_line` ...).
        fix: The command or step that mends it.
    """

    kind: str
    ids: list[str]
    fix: str
    detail: str = ""


class VerifyAnswer(Answer):
    """`verify`."""

    ok: bool
    findings: list[Finding]
    checked: dict[str, int]
    fixed: list[str] = []


class RebuildAnswer(Answer):
    """`rebuild`: which views were built anew, from what, and how long it took."""

    rebuilt: list[str]
    cards: int
    links: int
    sessions: int
    passages: int
    vectors_pending: int
    took_ms: int


class InitReport(Answer):
    """`init`."""

    home: str
    created: list[str]


class Check(Answer):
    """One thing `doctor` looked at."""

    name: str
    status: Literal["ok", "warn", "fail"]
    detail: str
    hint: str = ""


class DoctorAnswer(Answer):
    """`doctor`."""

    ok: bool
    checks: list[Check]


class RawStatus(Answer):
    """The raw layer."""

    sessions: int
    turns: int
    bytes: int
    oldest: Instant | None
    newest: Instant | None
    undistilled: int
    channels: dict[str, int]


class GraphStatus(Answer):
    """The linked layer."""

    cards: int
    by_type: dict[str, int]
    by_state: dict[str, int]
    links: int
    by_relation: dict[str, int]
    bytes: int
    engine: str


class VectorStatus(Answer):
    """The layer that finds."""

    total: int
    hot: int
    warm: int
    cold: int
    pending: int
    passages: int
    bytes: int
    model: str
    dimensions: int | None
    matrix_bytes: int = 0


class StatusAnswer(Answer):
    """`status`. temperature: cards a band, hottest first. health: sentences that need a person's attention."""

    home: str
    raw: RawStatus
    graph: GraphStatus
    vectors: VectorStatus
    tiers: dict[str, int]
    standings: dict[str, int]
    temperature: dict[str, int]
    ledger: dict[str, int]
    health: list[str]
    distiller: str
    sends_text_to: list[str] = Field(default_factory=list)


class ConfigRow(Answer):
    """One setting: where its value comes from, and what it means."""

    key: str
    value: Any
    default: Any
    origin: Literal["default", "file", "environment"]
    meaning: str


class ConfigAnswer(Answer):
    """`config`."""

    path: str
    settings: list[ConfigRow]
    warnings: list[str]


CardAnswer.model_rebuild()
RecallHit.model_rebuild()
IngestReport.model_rebuild()
