"""Writes cards and passages into a generation of L1. Nothing here asks an embedding: vectors are made beforehand, and
what is not known when its row is written stays pending."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from alaya_core.errors import DamagedError, NotFoundError
from alaya_core.models.card import LIVING, Card, CardState, Tier
from alaya_core.models.session import SessionInfo, TurnKind
from alaya_core.progress import CancelToken, Progress, ProgressSink, silent
from alaya_core.services.index.card_rows import card_row
from alaya_core.services.index.passages_lacking import counted
from alaya_core.services.index.waiting import chunks
from alaya_core.services.passages import passage_rows
from alaya_core.services.workspace import Workspace
from alaya_core.stores.ledger import LedgerMark
from alaya_core.stores.vector_generation import VectorGeneration
from alaya_core.stores.vector_state import at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from alaya_core.services.embedding import Embedder
    from alaya_core.stores.graph_read import GraphReader

SEARCHED = (CardState.ACTIVE, CardState.SUPERSEDED, CardState.ARCHIVED)
CARDS_AT_ONCE = 1_000
_PASSAGES_AT_ONCE = 2_000  # 5,000 cost 100 MB more at the peak


@dataclass(slots=True)
class Synced:
    """How L1 stands after a sync.

    Attributes:
        stale: Whether changes are waiting that it does not hold.
        notes: What did not work, in words for `degraded`.
        passages: How many passages were written.
        lost: Sessions that are left out: their file cannot be read, or there is no room for them.
    """

    stale: bool = False
    notes: list[str] = field(default_factory=list)
    passages: int = 0
    lost: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Writer:
    """Writes into one generation; its owner holds the index lock, or builds it where nobody sees it.

    Attributes:
        embedder: Who knows vectors of this generation's kind; None = nobody.
        older: Another generation of the same kind, whose vectors may be used again.
        shown: Whether others read the generation, and writes must stand behind the home's one pen.
        patience_s: How long to wait for that pen each time; None = the home's own patience.
        target: How far the ledger was read: the graph that rows are made from holds it, and the mark moves to it.
    """

    workspace: Workspace
    generation: VectorGeneration
    embedder: Embedder | None
    older: VectorGeneration | None = None
    shown: bool = True
    patience_s: float | None = None
    target: LedgerMark = field(default_factory=LedgerMark)
    progress: ProgressSink = silent
    cancel: CancelToken | None = None
    outcome: Synced = field(default_factory=Synced)
    _spoken_changed: bool = False

    def cards(self, ids: Sequence[str], *, absent: bool = False) -> None:
        """Writes cards as they are now, and removes those that are not searched any more.

        Args:
            absent: Whether the generation is known to hold none of them.

        Raises:
            BusyError: The graph is behind the target, and another process has the pen to bring it up.
        """
        for done, some in enumerate(chunks(ids, CARDS_AT_ONCE)):
            self._check()
            self.progress(Progress("index cards", done * CARDS_AT_ONCE, len(ids)))
            self._cards(some, absent)

    def _cards(self, ids: Sequence[str], absent: bool) -> None:
        with self._memory() as reader:
            cards, seqs = reader.cards(ids), reader.card_seqs(ids)
        living = [card for card in cards.values() if card.state in SEARCHED and card.id in seqs]
        vectors = self._vectors([card for card in living if not card.vector_dropped])
        rows = [card_row(card, seqs[card.id], vectors.get(card.id)) for card in living]
        found = {card.id for card in living}
        gone = [card_id for card_id in ids if card_id not in found]
        with self._pen():
            self.generation.cards.add(rows) if absent else self.generation.cards.put(rows)
            if gone and not absent:
                self.generation.remove_cards(gone)

    def _vectors(self, cards: Sequence[Card]) -> dict[str, NDArray[Any]]:
        dimensions = self.generation.mark().dimensions
        if not cards or not dimensions:
            return {}
        known = self.embedder.known([card.text_to_embed() for card in cards]) if self.embedder else {}
        found = {cards[place].id: vector for place, vector in known.items() if len(vector) == dimensions}
        missing = {card.id: card.content_hash() for card in cards if card.id not in found}
        return found | (self.older or self.generation).vectors_of_text(missing)

    def sessions(self, sessions: dict[str, int], *, absent: bool = False) -> None:
        """Writes the passages of sessions from a turn on.

        Args:
            sessions: Session id -> first turn to write.
            absent: Whether the generation is known to hold none of them.

        Raises:
            BusyError: As for `cards`.
        """
        if not sessions:
            return
        with self._memory() as reader:
            infos = {info.id: info for info in reader.sessions() if info.id in sessions}
        self._spoken_changed, left_out = True, 0
        for done, (session_id, from_turn) in enumerate(sessions.items()):
            self.progress(Progress("index passages", done, len(sessions), session_id))
            # Of a session that was left out before, all of it is new.
            first = from_turn if from_turn and self.generation.spoken.said_before(session_id) else 0
            if not absent:
                with self._pen():
                    self.generation.remove_passages(session_id, first)
            info = infos.get(session_id)
            if info is not None and self.generation.passages.count() >= self.workspace.config.passages.limit:
                left_out += 1
            elif info is not None:
                try:
                    self._passages(info, first)
                except (NotFoundError, DamagedError) as error:
                    self.outcome.lost.append(f"session {session_id} is left out: {error.message}")
        self._say_left_out(left_out)

    def _say_left_out(self, count: int) -> None:
        if count:
            most = self.workspace.config.passages.limit
            sessions = "1 session is" if count == 1 else f"{count:,} sessions are"
            said = f"{sessions} not searched, or not to the end: there are {most:,} passages (`passages.limit`)"
            self.outcome.notes.append(said)
            self.outcome.lost.append(said)

    def _passages(self, info: SessionInfo, from_turn: int) -> None:
        rows = self._rows(info, from_turn)
        while batch := list(islice(rows, _PASSAGES_AT_ONCE)):
            self._check()
            with self._pen():
                self.generation.spoken.add(batch)
            self.outcome.passages += len(batch)

    def _rows(self, info: SessionInfo, from_turn: int) -> Iterator[dict[str, Any]]:
        limit = self.workspace.config.passages.tool_characters
        said = self.generation.spoken.said_before(info.id) if from_turn else 0
        for number, turn in enumerate(self.workspace.sessions.turns(info.path, from_turn, info.turns), from_turn):
            yield from passage_rows(info.id, number, turn, f"agent:{info.agent}", limit, said)
            said += int(turn.kind is not TurnKind.TOOL and bool(turn.text))

    def finish(self, *, matrix: bool = False) -> None:
        """Moves the mark to the target, last of all, and looks after the tables.

        Args:
            matrix: Whether vectors came to cards that did not change, so that the saved matrix lacks them.
        """
        generation = self.generation
        mark = replace(generation.mark(), pending=len(generation.pending()), passages=generation.passages.count())
        if self._spoken_changed:
            mark = counted(self.workspace, mark, generation.spoken.columns())
        with self._pen():
            generation.set_mark(at(mark, self.target))
        # Under the index lock alone: it can take seconds, and captures must not wait for it.
        generation.upkeep(self.workspace.vectors.keep_s)
        if matrix or generation.matrix_is_stale():
            generation.save_matrix(_hot_first(self.workspace) if mark.dimensions else ())
        generation.close_to_others()

    @contextlib.contextmanager
    def _memory(self) -> Iterator[GraphReader]:
        """The graph with all that the mark is going to say: what one that is behind does not know is not gone."""
        with self.workspace.graph.reading() as reader:
            # Beyond the ledger it holds what a restored one lost.
            if self.target.seq <= reader.mark().seq <= self.workspace.ledger.last_seq():
                yield reader
                return
        with (
            self.workspace.locks.writing("catch up", timeout_s=self.patience_s),
            self.workspace.graph.reading_to_write() as reader,
        ):
            yield reader

    def _check(self) -> None:
        if self.cancel is not None:
            self.cancel.check()

    def _pen(self) -> contextlib.AbstractContextManager[None]:
        if not self.shown:
            return contextlib.nullcontext()
        return self.workspace.locks.writing("index", timeout_s=self.patience_s)


def _hot_first(workspace: Workspace) -> list[str]:
    """Cards in the order of the matrix."""
    with workspace.graph.reading() as reader:
        cards = reader.all_cards()
    tiers = workspace.now().tiers([card for card in cards if card.state in LIVING])
    return [card_id for card_id, tier in tiers.items() if tier is Tier.HOT]
