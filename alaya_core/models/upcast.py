"""Events of earlier versions, brought up to this one while they are read; their lines stay as they are.

The list only grows: a ledger of any version there ever was can be read for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Event = Mapping[str, Any]


def _with_reason(event: Event) -> Event:
    """0.1.0 wrote no reason for the change of a card."""
    return {**event, "why": ""}


UPCASTS: tuple[tuple[str, int, Callable[[Event], Event]], ...] = (("card.changed", 1, _with_reason),)
"""(kind, version it is brought from, what brings it to the next)."""

_STEPS = {(kind, version): step for kind, version, step in UPCASTS}


def upcast(event: Event) -> Event:
    """An event as this version writes it."""
    while step := _STEPS.get((event["kind"], event["v"])):
        event = {**step(event), "v": event["v"] + 1}
    return event
