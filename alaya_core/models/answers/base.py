"""What all answers share: their base, and how instants are written."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer

from alaya_core.clock import iso, parse_when


def _read_instant(value: Any) -> Any:
    return parse_when(value, 0) if isinstance(value, str) else value


Instant = Annotated[int, BeforeValidator(_read_instant), PlainSerializer(iso, when_used="json")]
"""Milliseconds since the epoch in Python, ISO 8601 (UTC) in JSON."""


class Answer(BaseModel):
    """Base of all answers: unknown fields are refused, so that a typo cannot hide."""

    model_config = ConfigDict(extra="forbid")
