"""How much a card matters: what it is by itself, and how its speaker stressed it."""

from __future__ import annotations

REPEATED = 0.2


def importance(intrinsic: float, signal: float, *, repeated: bool = False) -> float:
    """Intrinsic importance and signal, at least .05 and at most 1."""
    return round(min(1.0, max(0.05, intrinsic + signal + REPEATED * repeated)), 2)
