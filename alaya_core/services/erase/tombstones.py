"""What stays of an erased turn. No I/O."""

from __future__ import annotations

from alaya_core.models.session import Turn


def tombstone(turn: Turn) -> Turn:
    """An erased turn: that somebody said something then. The same for a turn as it is kept and as its log has it."""
    return Turn(role=turn.role, content="", timestamp=turn.timestamp, kind=turn.kind, extra={"erased": True})
