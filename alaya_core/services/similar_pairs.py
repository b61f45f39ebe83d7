"""Which cards are alike, by the vectors that are stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from alaya_core.models.card import Card
from alaya_core.models.plan import Pair
from alaya_core.services.workspace import Workspace

_LOOKED_AT = 20
"""Nearest neighbours of a card that are compared with it."""


def similar_pairs(
    workspace: Workspace,
    cards: Sequence[Card],
    *,
    least: float,
    told: Callable[[int, int], None] = lambda _done, _total: None,
    only: set[str] | None = None,
) -> list[Pair]:
    """The pairs of cards of one scope that are more alike than a threshold, most alike first.

    Args:
        least: 0..1, rescaled.
        told: Called with the cards that are done, and their number; may raise to stop.
        only: Only pairs with one of these cards; None = all.

    Raises:
        AlayaError: The vectors cannot be read, or nobody can say how they were made.
    """
    import numpy as np

    from alaya_core.services.consolidate.pairs import near_pairs
    from alaya_core.services.embedding import are_chinese
    from alaya_core.services.index import embedder_of

    store = workspace.vectors
    if not store.exists:
        return []
    embedder = embedder_of(workspace, store.mark())
    embedder.background()
    known = store.matrix().vectors_of([card.id for card in cards])
    by_scope: dict[str, list[Card]] = {}
    for card in cards:
        if card.id in known:
            by_scope.setdefault(card.scope, []).append(card)
    total, done = sum(map(len, by_scope.values())), 0
    pairs: list[Pair] = []
    for own in by_scope.values():
        rows = None if only is None else [at for at, card in enumerate(own) if card.id in only]
        pairs += near_pairs(
            [card.id for card in own],
            np.stack([known[card.id] for card in own]),
            are_chinese(card.text_to_embed() for card in own),
            lambda cosines, chinese, others: embedder.rescale(cosines, "zh" if chinese else "en", others),
            least=least,
            most=_LOOKED_AT,
            rows=rows,
            told=lambda rows, _, before=done: told(before + rows, total),  # type: ignore[misc]
        )
        done += len(own)
    return sorted(pairs, key=lambda pair: (-pair.similarity, pair.one, pair.other))
