"""Brings L1 up to the ledger: first what is slow, without a lock, then what is written, in pieces; the mark is moved
last, so that a process killed anywhere in between only means that the piece is written again."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from alaya_core.errors import (
    AlayaError,
    BusyError,
    DamagedError,
    DiskFullError,
    NewerHomeError,
    ProviderError,
    ReadOnlyHomeError,
)
from alaya_core.progress import CancelToken, ProgressSink, silent
from alaya_core.services.embedding_choice import configured, recorded
from alaya_core.services.index.embed import cards_lacking, embed_cards, embed_texts, warm_cards
from alaya_core.services.index.embedders import embedder_of, length_of
from alaya_core.services.index.rebuild import rebuild_vectors
from alaya_core.services.index.waiting import waiting_since
from alaya_core.services.index.writer import Synced, Writer
from alaya_core.services.upkeep import tend
from alaya_core.services.workspace import Workspace
from alaya_core.stores.vector_state import VectorMark
from alaya_core.stores.vector_tables import VectorEngineError
from alaya_core.stores.vectors import VectorStore

if TYPE_CHECKING:
    from alaya_core.services.embedding import Embedder

_EMBED_UNASKED = 64
_OWED_UNASKED = 5_000
_CHARACTERS_UNASKED = 50_000
_CARDS_UNASKED = 1_000
_TURNS_UNASKED = 2_000
"""What a reader does in passing (cards embedded at once; cards without a vector; ...); more is left to whoever has the
time."""
_PEN_UNASKED_S = 0.25
"""How long a reader waits for the pen to write it down, s."""


def sync(
    workspace: Workspace,
    *,
    patient: bool,
    progress: ProgressSink = silent,
    cancel: CancelToken | None = None,
) -> Synced:
    """Brings L1 up to the ledger.

    Args:
        patient: Whether to wait for other processes and to embed whatever is missing; a reader is not patient: it
            leaves both to others and answers from what is there.
    """
    store = workspace.vectors
    try:
        mark, last = store.mark(), workspace.ledger.last_seq()
        if mark.seq > last:  # the ledger was restored from a backup
            if patient:
                return rebuild_vectors(workspace, progress, cancel)
            return Synced(stale=True, notes=["the index holds changes that the ledger lost: run `alaya rebuild l1`"])
        if store.exists and mark.seq == last and not (patient and mark.pending):
            return Synced()
        workspace.require_writable()
        return _sync(workspace, store, patient, progress, cancel)
    except (BusyError, ReadOnlyHomeError):
        if patient:
            raise
        return Synced(stale=True)
    except (DamagedError, DiskFullError, NewerHomeError, VectorEngineError) as error:
        if patient:
            raise
        return Synced(stale=True, notes=[f"newer changes are not searched: {error.message}"])


def repay(workspace: Workspace) -> None:
    """Makes a few of the vectors that are owed since their embedding did not answer; waits for nobody.

    For a reader who has just seen it answer: else every recall during an outage would wait for it twice.
    """
    store = workspace.vectors
    mark = store.mark()
    if not (mark.dimensions and 0 < mark.pending <= _OWED_UNASKED and workspace.takes_changes):
        return
    with contextlib.suppress(AlayaError):  # nobody asked for it
        with workspace.locks.indexing(timeout_s=0.0):
            pass
        owing = sorted(store.read(lambda living: living.pending()))[:_EMBED_UNASKED]
        embedder = _embedded(workspace, store, owing, False, Synced(), silent, None)
        _write(workspace, mark, embedder, owing, False, Synced(), silent, None)


def _sync(
    workspace: Workspace, store: VectorStore, patient: bool, progress: ProgressSink, cancel: CancelToken | None
) -> Synced:
    outcome = Synced()
    patience = None if patient else 0.0
    if not patient:
        with workspace.locks.indexing(timeout_s=patience):
            pass  # whoever holds it embeds what is waiting: a reader need not do it too
    if not store.exists:
        _create(workspace, store, outcome, patience)
    mark = store.mark()
    waiting = waiting_since(workspace, mark.ledger)
    if not patient and (len(waiting.cards) > _CARDS_UNASKED or waiting.turns > _TURNS_UNASKED):
        return Synced(stale=True)
    owing = store.read(lambda living: living.pending()) if patient and mark.pending else []
    if owing and not mark.dimensions:
        return _with_vectors_at_last(workspace, outcome, progress, cancel)
    embedder = _embedded(workspace, store, [*waiting.cards, *owing], patient, outcome, progress, cancel)
    _write(workspace, mark, embedder, owing, patient, outcome, progress, cancel)
    if patient:
        tend(workspace)
    return outcome


def _write(
    workspace: Workspace,
    mark: VectorMark,
    embedder: Embedder | None,
    owing: Sequence[str],
    patient: bool,
    outcome: Synced,
    progress: ProgressSink,
    cancel: CancelToken | None,
) -> None:
    """Writes what waits and what is owed.

    Args:
        mark: Of the generation that the embedder was asked for.
        owing: Cards that changed in nothing but that their vector may be known now.
    """
    with workspace.locks.indexing(timeout_s=None if patient else 0.0):
        living = workspace.vectors.generation
        if _kind(living.mark()) != _kind(mark):
            embedder = None  # another generation took its place meanwhile: what it lacks is made the next time
        elif embedder is not None and embedder is workspace.embedder and not mark.embedding and mark.dimensions:
            living.set_mark(replace(living.mark(), embedding=recorded(configured(workspace.config))))
        writer = Writer(workspace, living, embedder, progress=progress, cancel=cancel, outcome=outcome)
        writer.patience_s = None if patient else _PEN_UNASKED_S
        waiting = waiting_since(workspace, living.mark().ledger)
        writer.target, before = waiting.target, living.mark().pending
        writer.cards(sorted({*waiting.cards, *owing}))
        writer.sessions(waiting.sessions)
        writer.finish(matrix=patient and bool(owing) and len(living.pending()) < before)


def _kind(mark: VectorMark) -> tuple[object, ...]:
    return mark.model, mark.dimensions, dict(mark.embedding)


def _create(workspace: Workspace, store: VectorStore, outcome: Synced, patience: float | None) -> None:
    """Makes the tables; where there were some that are broken, beside them, so that no reader meets half a change."""
    dimensions = 0
    try:
        dimensions = length_of(workspace.embedder)
    except ProviderError as error:
        outcome.notes.append(f"no vectors: {error.message}")
    model, settings = workspace.embedder.provider.model, recorded(configured(workspace.config))
    with workspace.locks.building(timeout_s=patience), workspace.locks.indexing(timeout_s=patience):
        if store.exists:
            return
        fresh = store.new_generation() if store.broken else store.generation
        with workspace.locks.writing("index"):
            fresh.create(model, dimensions, settings)
            if fresh.path != store.path:
                outcome.notes.append("the tables of words and vectors were gone, and are made anew")
                store.switch_to(fresh)


def _embedded(
    workspace: Workspace,
    store: VectorStore,
    ids: Sequence[str],
    patient: bool,
    outcome: Synced,
    progress: ProgressSink,
    cancel: CancelToken | None,
) -> Embedder | None:
    """Embeds what waits (a reader: if it is little), and gives who knows the vectors now."""
    mark = store.mark()
    if not ids or not mark.dimensions:
        return None
    try:
        embedder = embedder_of(workspace, mark)
    except AlayaError as error:
        outcome.notes.append(f"no vectors: {error.message}")
        return None
    if patient:
        wanted = list(dict.fromkeys(ids))
        said = embed_cards(
            workspace, embedder, wanted, dimensions=mark.dimensions, older=None, progress=progress, cancel=cancel
        )
    else:
        lacking = cards_lacking(embedder, warm_cards(workspace, ids), None)[:_EMBED_UNASKED]
        texts = [card.text_to_embed() for card in lacking]
        if not texts or sum(map(len, texts)) > _CHARACTERS_UNASKED:
            return embedder
        said = _silence(embedder, mark) or embed_texts(embedder, texts, mark.dimensions, progress, cancel)
    if said:
        outcome.notes.append(said)
    return embedder


def _silence(embedder: Embedder, mark: VectorMark) -> str:
    """Why an embedding would not do, found out by one word: the patience for texts is longer than a reader's."""
    try:
        length = len(embedder.provider.embed_query("alaya"))
    except ProviderError as error:
        return f"no vectors: {error.message}"
    if length != mark.dimensions:
        return f"no vectors: {mark.model} answers with {length} numbers, the stored vectors have {mark.dimensions}"
    return ""


def _with_vectors_at_last(
    workspace: Workspace, outcome: Synced, progress: ProgressSink, cancel: CancelToken | None
) -> Synced:
    """Tables that were made while nobody knew how long a vector is are made anew as soon as somebody does."""
    try:
        length_of(workspace.embedder)
    except ProviderError as error:
        outcome.notes.append(f"no vectors: {error.message}")
        return outcome
    return rebuild_vectors(workspace, progress, cancel)
