"""Finding: recall, look, trace."""

from __future__ import annotations

import secrets
from dataclasses import replace

from alaya_core.errors import UsageError
from alaya_core.memory.base import UseCases
from alaya_core.models.answers import CardAnswer, HistoryAnswer, RecallAnswer, TraceAnswer
from alaya_core.models.answers.recall import FilteredList
from alaya_core.models.requests import Filters, RecallOptions
from alaya_core.services import browse


class Finding(UseCases):
    """What changes nothing."""

    def recall(
        self,
        query: str,
        options: RecallOptions | None = None,
        *,
        max_results: int | None = None,
        include_memex: bool = True,
        include_sessions: bool = True,
    ) -> RecallAnswer:
        """Finds cards and passages, best first, with the reason for each place.

        Args:
            query: What to look for.
            options: How; the arguments below narrow them further.
            max_results: Most cards, and as many passages.
            include_memex: Whether cards that memex brought are found.
            include_sessions: Whether passages of sessions are found beside the cards.

        Raises:
            UsageError: The arguments contradict each other.
        """
        from alaya_core.services.recall.run import recall

        chosen = narrowed(options or RecallOptions(), max_results, include_memex, include_sessions)
        return recall(self._work, query, chosen)

    def session_id(self, reference: str) -> str:
        """The id of the session that an id, or the beginning of one, names.

        Raises:
            NotFoundError, AmbiguousIdError: No such session.
        """
        return browse.find_session(self._work, reference)

    def opened(self, card: str, *, query: str) -> None:
        """Counts one use of a card that was opened from a typed search."""
        from alaya_core.services.recall.run import opened

        opened(self._work, card, query)

    def context_block(self, answer: RecallAnswer, budget: int | None = None) -> str:
        """A recall as a block for an agent's prompt, fenced and labelled as data.

        Args:
            answer: What was found.
            budget: Tokens it may take, about; None = `recall.context_tokens` of the config.
        """
        from alaya_core.services.recall.context_block import render_context

        room = self._work.config.recall.context_tokens if budget is None else budget
        return render_context(answer.results, answer.passages, secrets.token_hex(8), room)

    def list_cards(
        self, filters: Filters | None = None, *, sort: str = "recent", limit: int = 50, offset: int = 0
    ) -> FilteredList:
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


def narrowed(
    options: RecallOptions, max_results: int | None, include_memex: bool, include_sessions: bool
) -> RecallOptions:
    """Options, with what the plain arguments of `recall` say of them.

    Raises:
        UsageError: They contradict each other.
    """
    if max_results is not None:
        if max_results < 0:
            raise UsageError("max_results is 0 or more", "leave it out for the config's")
        options = replace(options, limit=max_results)
    if not include_memex:
        without = dict.fromkeys((*options.filters.without_origin, "memex"))
        options = replace(options, filters=replace(options.filters, without_origin=tuple(without)))
    if not include_sessions:
        if options.within == "passages":
            raise UsageError("passages are looked for, but no sessions are included", "leave one of them out")
        options = replace(options, within="cards")
    return options
