"""Builds a new generation of L1 beside the living one, which answers and grows until the switch."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from alaya_core.errors import AlayaError, DamagedError, ProviderError
from alaya_core.progress import CancelToken, ProgressSink, silent
from alaya_core.providers.embedding import EmbeddingSettings
from alaya_core.services.embedding_choice import configured, made_by, recorded, same_kind
from alaya_core.services.index.embed import embed_cards
from alaya_core.services.index.embedders import embedder_of, length_of, usual_length
from alaya_core.services.index.waiting import waiting_since
from alaya_core.services.index.writer import Synced, Writer
from alaya_core.services.workspace import Workspace
from alaya_core.stores.vector_generation import VectorGeneration
from alaya_core.stores.vector_state import VectorMark

if TYPE_CHECKING:
    from alaya_core.services.embedding import Embedder

_PATIENCE_S = 600.0
"""How long work of minutes waits for others before it is thrown away."""
_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class _Kind:
    """What the new vectors are.

    Attributes:
        embedder: Who knows them; None = nobody can be asked.
    """

    settings: EmbeddingSettings | None
    model: str
    dimensions: int
    embedder: Embedder | None


def rebuild_vectors(
    workspace: Workspace,
    progress: ProgressSink = silent,
    cancel: CancelToken | None = None,
    *,
    needed_now: bool = True,
) -> Synced:
    """Builds a new generation of L1 from the graph, the sessions and the vectors that are known, and switches to it.

    The caller holds no lock: vectors are made before any is taken.

    Args:
        needed_now: Whether vectors that nobody knows yet are made first, by the configured embedding. Otherwise nobody
            is asked: the vectors stay of the kind they are, and those that are lacking stay pending, so that it
            succeeds without a service.

    Raises:
        ProviderError: Vectors are lacking because the service does not answer, and the living generation has some:
            it goes on living.
        BusyError: Another process is rebuilding.
    """
    workspace.require_writable()
    outcome = Synced()
    living = workspace.vectors.generation
    mark = living.mark() if living.exists else VectorMark()
    kind = _configured_kind(workspace, mark, outcome) if needed_now or not mark.dimensions else _kept(workspace, mark)
    if needed_now and kind.embedder is not None and not outcome.notes:
        with workspace.graph.reading() as reader:
            ids = sorted(reader.card_seqs())
        kind, said = _embedded(workspace, kind, ids, mark, progress, cancel)
        outcome.notes.extend([said] if said else [])
    if needed_now and outcome.notes and mark.dimensions:
        raise ProviderError(outcome.notes[0], "the tables stay as they were; repeat when the service answers")
    with workspace.locks.building(timeout_s=None if needed_now else _PATIENCE_S):
        _build(workspace, kind, outcome, progress, cancel)
    return outcome


def _configured_kind(workspace: Workspace, mark: VectorMark, outcome: Synced) -> _Kind:
    settings, embedder = configured(workspace.config), workspace.embedder
    try:
        dimensions = length_of(embedder)
    except ProviderError as error:
        dimensions = usual_length(settings, embedder, mark)
        outcome.notes.extend([] if dimensions else [f"no vectors: {error.message}"])
    return _Kind(settings, embedder.provider.model, dimensions, embedder)


def _embedded(
    workspace: Workspace,
    kind: _Kind,
    ids: list[str],
    mark: VectorMark,
    progress: ProgressSink,
    cancel: CancelToken | None,
) -> tuple[_Kind, str]:
    """Makes the vectors that nobody knows, and says why it could not; a model that turns out to give vectors of
    another length than before makes all of them."""
    assert kind.embedder is not None
    for _ in range(2):
        older, length = _same(workspace.vectors.generation, mark, kind), kind.dimensions
        said = embed_cards(
            workspace, kind.embedder, ids, dimensions=length, older=older, progress=progress, cancel=cancel
        )
        found = kind.embedder.provider.dimensions
        if not found or found == length:
            break
        kind = replace(kind, dimensions=found)
    return kind, said


def _kept(workspace: Workspace, mark: VectorMark) -> _Kind:
    """The kind of the vectors that are there."""
    embedder = None
    with contextlib.suppress(AlayaError):  # what cannot be asked is not asked: the stored vectors serve
        embedder = embedder_of(workspace, mark)
    return _Kind(made_by(mark), mark.model, mark.dimensions, embedder)


def _same(living: VectorGeneration, mark: VectorMark, kind: _Kind) -> VectorGeneration | None:
    """The living generation, if its vectors are of a kind."""
    if not mark.dimensions or mark.dimensions != kind.dimensions or mark.model != kind.model:
        return None
    return living if kind.settings is None or same_kind(kind.settings, mark) else None


def _build(
    workspace: Workspace, kind: _Kind, outcome: Synced, progress: ProgressSink, cancel: CancelToken | None
) -> None:
    store = workspace.vectors
    store.remove_leftovers()
    living = store.generation
    older = _same(living, living.mark() if living.exists else VectorMark(), kind)
    fresh = store.new_generation()
    with _discarded_if_cut_off(fresh):
        fresh.create(kind.model, kind.dimensions, recorded(kind.settings) if kind.settings else {})
        writer = Writer(
            workspace,
            fresh,
            kind.embedder,
            older=older,
            shown=False,
            progress=progress,
            cancel=cancel,
            outcome=outcome,
        )
        with workspace.graph.reading() as reader:
            writer.target, ids = reader.mark(), sorted(reader.card_seqs())
            sessions = dict.fromkeys((info.id for info in reader.sessions()), 0)
        writer.cards(ids, absent=True)
        writer.sessions(sessions, absent=True)
        if older is not None:
            with contextlib.suppress(DamagedError):  # then they are made anew
                fresh.spoken.carry(older.spoken)
        writer.finish(matrix=bool(kind.dimensions))
        for round_ in range(1, _ROUNDS + 1):
            waiting = waiting_since(workspace, fresh.mark().ledger)
            if waiting.target.seq > fresh.mark().seq:
                writer.target = waiting.target
                writer.cards(sorted(waiting.cards))
                writer.sessions(waiting.sessions)
                writer.finish()
            with (
                workspace.locks.indexing(timeout_s=_PATIENCE_S),
                workspace.locks.writing("rebuild l1", timeout_s=_PATIENCE_S),
            ):
                # In a home that is written to all the time the rest is a backlog like any other.
                if round_ == _ROUNDS or workspace.ledger.last_seq() == fresh.mark().seq:
                    store.switch_to(fresh)
                    return


@contextlib.contextmanager
def _discarded_if_cut_off(fresh: VectorGeneration) -> Iterator[None]:
    try:
        yield
    except BaseException:
        fresh.discard()
        raise
