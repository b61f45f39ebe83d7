"""Finding: recall, look, trace."""

from __future__ import annotations

import secrets

from alaya_core.memory.base import UseCases
from alaya_core.models.answers import CardAnswer, CardList, HistoryAnswer, RecallAnswer, TraceAnswer
from alaya_core.models.requests import Filters, RecallOptions
from alaya_core.services import browse


class Finding(UseCases):
    """What changes nothing."""

    def recall(self, query: str, options: RecallOptions | None = None) -> RecallAnswer:
        """Finds cards and passages, best first, with the reason for each place."""
        from alaya_core.services.recall.run import recall

        return recall(self._work, query, options or RecallOptions())

    def opened(self, card: str, *, query: str) -> None:
        """Counts one use of a card that was opened from a typed search."""
        from alaya_core.services.recall.run import opened

        opened(self._work, card, query)

    def context_block(self, answer: RecallAnswer) -> str:
        """A recall as a block for an agent's prompt, fenced and labelled as data."""
        from alaya_core.services.recall.context_block import render_context

        return render_context(answer.results, answer.passages, secrets.token_hex(8))

    def list_cards(
        self, filters: Filters | None = None, *, sort: str = "recent", limit: int = 50, offset: int = 0
    ) -> CardList:
        """A page of the cards that pass the filters.

        Raises:
            UsageError: An unknown order.
        """
        return browse.list_cards(self._work, filters or Filters(), sort=sort, limit=limit, offset=offset)

    def show(self, card: str, *, neighbours: int = 20) -> CardAnswer:
        """A card in full, with its neighbours.

        Raises:
            NotFoundError, AmbiguousIdError: No such card.
        """
        return browse.show(self._work, card, neighbours=neighbours)

    def trace(self, card: str, *, full: bool = False, reveal: bool = False) -> TraceAnswer:
        """The turns a card came from.

        Args:
            full: All turns of the sessions, the card's own marked.
            reveal: Secrets as they are: only for a person at a terminal.

        Raises:
            NotFoundError, AmbiguousIdError: No such card.
        """
        from alaya_core.services.trace import trace

        return trace(self._work, card, full=full, reveal=reveal)

    def history(self, card: str | None = None, *, limit: int = 50) -> HistoryAnswer:
        """What happened to the memory, or to one card, newest first.

        Raises:
            NotFoundError, AmbiguousIdError: No such card.
        """
        from alaya_core.services.history import history

        return history(self._work, card, limit=limit)

    def warm_up(self) -> None:
        """Loads the engines and the embedding model, so that the next recall need not."""
        from alaya_core.services.index import sync
        from alaya_core.services.recall import run  # noqa: F401

        self._work.embedder.provider.warm_up()
        sync(self._work, patient=False)
        if self._work.vectors.exists:
            self._work.vectors.cards.count()
            self._work.vectors.matrix()

    def last_change(self) -> int:
        """The number of the last change of the memory, by whatever process; cheap."""
        return self._work.ledger.last_seq()
