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
    origin: Literal["default", "file"]
    meaning: str


class ConfigAnswer(Answer):
    """`config`."""

    path: str
    settings: list[ConfigRow]
    warnings: list[str]
