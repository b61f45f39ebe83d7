"""Every card, read for work that nobody waits for: others may write in between."""

from __future__ import annotations

from collections.abc import Callable

from alaya_core.models.card import Card
from alaya_core.services.workspace import Workspace

_AT_ONCE = 3_000
"""Read while the graph is held: about a tenth of a second."""


def every_card(workspace: Workspace, check: Callable[[], None] = lambda: None) -> list[Card]:
    """Every card, whatever its state, in pieces, by id; no single moment shows them all so.

    Args:
        check: Called between the pieces; may raise to stop.
    """
    with workspace.graph.reading() as reader:
        ids = sorted(reader.card_seqs())
    found: list[Card] = []
    for start in range(0, len(ids), _AT_ONCE):
        check()
        with workspace.graph.reading() as reader:
            found += reader.cards(ids[start : start + _AT_ONCE]).values()
    return found
