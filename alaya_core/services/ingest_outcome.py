"""What an ingest says of each session. No I/O."""

from __future__ import annotations

from typing import Literal

from alaya_core.models.answers import SessionOutcome, SkippedView
from alaya_core.models.session import SessionInfo, SessionStream
from alaya_core.services.erase.arrivals import REASON
from alaya_core.services.growth import Arrival

_SHOWN_SKIPS = 50


def outcome_of(info: SessionInfo, arrival: Arrival, stream: SessionStream, source: str) -> SessionOutcome:
    """What became of a session that was read from a source of some name."""
    status: Literal["new", "grown", "unchanged", "conflict"] = arrival.status
    metadata = stream.header.metadata
    duration, tokens = metadata.get("duration_ms"), metadata.get("tokens")
    reason = arrival.reason
    if not info.turns:
        reason = reason or "it has no turns"
    return SessionOutcome(
        session_id=info.id,
        status=status,
        turns=info.turns,
        new_turns=0 if status == "unchanged" else info.turns - arrival.from_turn,
        skipped=[SkippedView(line=item.line, reason=item.reason) for item in stream.skipped[:_SHOWN_SKIPS]],
        skipped_count=stream.skipped_count,
        source=source,
        reason=reason,
        path=info.path,
        channel=info.channel,
        agent=info.agent,
        format=info.format,
        timestamp=info.timestamp,
        duration_ms=duration if isinstance(duration, int) else None,
        tokens=tokens if isinstance(tokens, int) else None,
    )


def not_taken(session_id: str, turns: int, stream: SessionStream, source: str) -> SessionOutcome:
    """A session that was erased, and stays so."""
    header = stream.header
    return SessionOutcome(
        session_id=session_id,
        status="unchanged",
        turns=turns,
        source=source,
        reason=REASON,
        channel=header.channel,
        agent=header.agent,
        format=header.format,
        timestamp=header.timestamp,
    )


def unchanged(info: SessionInfo, source: str) -> SessionOutcome:
    """A session whose very bytes are kept already."""
    return SessionOutcome(
        session_id=info.id,
        status="unchanged",
        turns=info.turns,
        source=source,
        path=info.path,
        channel=info.channel,
        agent=info.agent,
        format=info.format,
        timestamp=info.timestamp,
    )
