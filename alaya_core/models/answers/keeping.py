"""Answers about the home itself: status, verify, rebuild, doctor, config."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from alaya_core.models.answers.base import Answer, Instant


class Finding(Answer):
    """Something `verify` found.

    Attributes:
        kind: A short name that does not change (`missing_vector`, `torn_line` ...).
        fix: The command or step that mends it.
        report: Whether it is only told: nothing is wrong, but somebody may want to know.
    """

    kind: str
    ids: list[str]
    fix: str
    detail: str = ""
    report: bool = False


class VerifyAnswer(Answer):
    """`verify`.

    Attributes:
        ok: Whether nothing is wrong; what is only reported does not count.
        plan: What `--fix` would do, a sentence each.
        fixed: What it did.
    """

    ok: bool
    findings: list[Finding]
    checked: dict[str, int]
    plan: list[str] = Field(default_factory=list)
    fixed: list[str] = Field(default_factory=list)


class RebuildAnswer(Answer):
    """`rebuild`: which views were built anew, from what, how long it took, and what had to be left out."""

    rebuilt: list[str]
    cards: int
    links: int
    sessions: int
    passages: int
    vectors_pending: int
    took_ms: int
    warnings: list[str] = Field(default_factory=list)


class Left(Answer):
    """Something that still holds what was erased, or may.

    Attributes:
        kind: `turn`, `card`, `session`, `backup`, `export`, `file`.
        name: Its id or path.
        why: What it holds, and what to do about it.
    """

    kind: str
    name: str
    why: str


class GoingCard(Answer):
    """A card that an erase takes away; the note says what a person should know of it before, and may be empty."""

    card_id: str
    title: str
    note: str = ""


class Erasure(Answer):
    """What an erase takes away.

    Attributes:
        note: What a person should know of the name that was given.
        cards: Ids of the cards that go; going: the same cards, so that a person knows them.
    """

    what: Literal["card", "session", "turn"]
    name: str
    title: str = ""
    note: str = ""
    cards: list[str] = Field(default_factory=list)
    going: list[GoingCard] = Field(default_factory=list)
    links: int = 0
    turns: int = 0
    sources: int = 0
    commits: int = 0


class EraseAnswer(Answer):
    """`erase`.

    Attributes:
        done: Whether it is gone; False for a preview.
        erased: What goes (or went).
        left: What still holds it.
    """

    done: bool
    erased: Erasure
    left: list[Left] = Field(default_factory=list)
    took_ms: int = 0


class ReembedAnswer(Answer):
    """`reembed`: the vectors of all cards by another model.

    Attributes:
        done: Whether the memory is searched by them now; False for a dry run.
        from_model, to_model: Who made the old ones, who makes the new.
        texts: How many texts need a vector; cached: of them, how many are known already.
        tokens: Of those not known, an estimate.
        seconds: How long those will take, an estimate by a sample; None = not measured: no text was sent for it.
        host: Where the text is sent; None = nowhere.
        price: What it costs, where `embedding.price_per_million_tokens` says.
    """

    done: bool
    from_model: str
    from_dimensions: int
    to_model: str
    to_dimensions: int
    texts: int
    cached: int
    tokens: int
    requests: int
    seconds: float | None
    host: str | None = None
    price: float | None = None
    note: str = ""
    took_ms: int = 0


class UpkeepAnswer(Answer):
    """`upkeep`: what was folded and compacted.

    Attributes:
        did: A sentence for each thing that was done; stays: for each that has to wait.
        before, after: Bytes by part of the home.
    """

    did: list[str]
    stays: list[str] = Field(default_factory=list)
    before: dict[str, int]
    after: dict[str, int]
    took_ms: int = 0


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
    passage_vectors: int = 0
    passages_owing: int = 0


class PassageVectors(Answer):
    """How many vectors of passages were made, how many are left, and what stood in the way."""

    made: int = 0
    left: int = 0
    note: str = ""


class StatusAnswer(Answer):
    """`status`.

    Attributes:
        temperature: Cards a band, hottest first.
        upkeep: What waits for `upkeep`: accesses not folded, versions of tables, rows the words index lacks, bytes.
        health: Sentences that need a person's attention.
    """

    home: str
    raw: RawStatus
    graph: GraphStatus
    vectors: VectorStatus
    tiers: dict[str, int]
    standings: dict[str, int]
    temperature: dict[str, int]
    ledger: dict[str, int]
    upkeep: dict[str, int] = Field(default_factory=dict)
    health: list[str]
    distiller: str
    sends_text_to: list[str] = Field(default_factory=list)


class ConfigRow(Answer):
    """One setting: where its value comes from, and what it means."""

    key: str
    value: Any
    default: Any
    origin: Literal["default", "file"]
    meaning: str


class ConfigAnswer(Answer):
    """`config`."""

    path: str
    settings: list[ConfigRow]
    warnings: list[str]
