"""Which known cards a draft is like, so that a model may say whether it is one of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from alaya_core.errors import AlayaError
from alaya_core.models.card import Card, CardDraft, CardState
from alaya_core.progress import CancelledError, CancelToken
from alaya_core.services.distill.duplicates import Offer
from alaya_core.services.workspace import Workspace

if TYPE_CHECKING:
    from alaya_core.services.embedding import Embedder, Vectors

_MOST = 5
_LOOKED_AT = 50
"""Nearest cards that are looked at: those of other scopes are among them."""


class Offers:
    """Finds known cards by their vectors, those among them that were made a moment ago and are in no index yet.

    Attributes:
        trouble: Why nothing can be found; empty while all is well.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._work = workspace
        self._vectors: dict[str, Vectors] = {}
        self._fresh: dict[str, Vectors] = {}
        self.trouble = ""

    def find(
        self, drafts: Sequence[CardDraft], scope: str, hidden: Collection[str], cancel: CancelToken
    ) -> dict[str, tuple[Offer, ...]]:
        """By the key of each draft, the known cards of a scope that it is like, most alike first; none where there are
        none, or vectors cannot be had.

        Args:
            hidden: Ids of cards that must not be offered.

        Raises:
            CancelledError: `cancel` was set.
        """
        if self.trouble or not drafts:
            return {}
        try:
            return self._found(drafts, scope, hidden, cancel)
        except CancelledError:
            raise
        except AlayaError as error:
            self.trouble = f"known cards were not compared: {error.message}"
            return {}

    def remember(self, made: Mapping[str, Card]) -> None:
        """Takes note of what became of the drafts, by their keys."""
        for key, card in made.items():
            if key in self._vectors:
                self._fresh[card.id] = self._vectors[key]
        self._vectors.clear()

    def _found(
        self, drafts: Sequence[CardDraft], scope: str, hidden: Collection[str], cancel: CancelToken
    ) -> dict[str, tuple[Offer, ...]]:
        from alaya_core.services.index import embedder_of

        store = self._work.vectors
        stored = store.exists and bool(store.mark().dimensions)
        embedder = embedder_of(self._work, store.mark()) if stored else self._work.embedder
        texts = [draft.text_to_embed() for draft in drafts]
        vectors = embedder.passages(texts, cancel=cancel)
        matrix = store.matrix() if stored else None
        near: list[dict[str, float]] = []
        for draft, vector in zip(drafts, vectors, strict=True):
            self._vectors[draft.key] = vector
            cosines = dict(matrix.nearest(vector, _LOOKED_AT)) if matrix is not None else {}
            cosines |= {card: float(vector @ fresh) for card, fresh in self._fresh.items() if len(fresh) == len(vector)}
            near.append(cosines)
        with self._work.graph.reading() as reader:
            cards = reader.cards({card for cosines in near for card in cosines} - set(hidden))
        usable = {card.id: card for card in cards.values() if _offered(card, scope)}
        return {
            draft.key: self._best(
                text, {card: score for card, score in cosines.items() if card in usable}, usable, embedder
            )
            for draft, text, cosines in zip(drafts, texts, near, strict=True)
        }

    def _best(
        self, text: str, cosines: Mapping[str, float], cards: Mapping[str, Card], embedder: Embedder
    ) -> tuple[Offer, ...]:
        import numpy as np

        from alaya_core.services.embedding import are_chinese, dominant_script

        if not cosines:
            return ()
        ids = list(cosines)
        chinese = are_chinese(cards[each].text_to_embed() for each in ids)
        given = np.array([cosines[each] for each in ids], np.float32)
        scores = embedder.rescale(given, dominant_script(text), chinese)
        least = self._work.config.distill.offer_similarity
        offers = [Offer(cards[each], float(score)) for each, score in zip(ids, scores, strict=True) if score >= least]
        return tuple(sorted(offers, key=lambda offer: (-offer.similarity, offer.card.id))[:_MOST])


def _offered(card: Card, scope: str) -> bool:
    return card.state is CardState.ACTIVE and card.scope == scope and not card.is_session_summary
