"""Vectors of passages, made when there is time, newest session first: words find a passage at once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from alaya_core.clock import DAY_MS
from alaya_core.errors import AlayaError
from alaya_core.models.answers import PassageVectors
from alaya_core.progress import CancelToken, Progress, ProgressSink, silent
from alaya_core.services.index.embedders import embedder_of
from alaya_core.services.passages import text_to_embed
from alaya_core.services.workspace import Workspace
from alaya_core.stores.passage_columns import NO_TIME, PassageColumns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from alaya_core.stores.vector_generation import VectorGeneration

_AT_ONCE = 256
"""Passages that are embedded before they are written down."""


@dataclass(frozen=True, slots=True)
class _Batch:
    rows: list[int]
    texts: list[str]


def embed_passages(
    workspace: Workspace,
    *,
    seconds: float | None = None,
    progress: ProgressSink = silent,
    cancel: CancelToken | None = None,
) -> PassageVectors:
    """Makes vectors of passages that have none, as `passages.embed` says which.

    Each batch is embedded without a lock and then written; cut off, it goes on where it was.

    Args:
        seconds: After how long to stop, after a whole batch; None = when there is nothing left.

    Returns:
        How many were made, how many are left, and why it stopped early, if it did.

    Raises:
        CancelledError: `cancel` was set.
    """
    living = workspace.vectors.generation
    mark = living.mark()
    if not living.exists or not mark.dimensions or not workspace.takes_changes:
        return PassageVectors()
    lacking = _lacking(workspace, living.spoken.columns())
    answer = PassageVectors(left=len(lacking))
    started = time.monotonic()
    try:
        for batch in _batches(living, lacking) if len(lacking) else ():
            progress(Progress("embed passages", answer.made, answer.made + answer.left))
            if cancel is not None:
                cancel.check()
            embedder = embedder_of(workspace, mark)
            vectors = embedder.provider.embed_passages(batch.texts, cancel) if batch.texts else None
            if vectors is not None and not _stored(workspace, living, batch.rows, vectors):
                break
            answer.made += len(batch.rows)
            answer.left -= len(batch.rows)
            if seconds is not None and time.monotonic() - started > seconds:
                break
    except AlayaError as error:
        if error.code == "cancelled":
            raise
        answer.note = error.message
    _count(workspace, living)
    return answer


def _lacking(workspace: Workspace, columns: PassageColumns) -> NDArray[np.int64]:
    """Rows without a vector that should have one, by session, the newest session first, rising within it."""
    which = workspace.config.passages.embed
    rows = columns.embeddable()
    rows = rows[columns.records["scale"][rows] <= 0]
    if which == "none" or not len(rows):
        return np.zeros(0, np.int64)
    times = columns.records["time"][rows]
    if which == "recent":
        since = workspace.clock() - workspace.config.passages.recent_days * DAY_MS
        rows = rows[(times == NO_TIME) | (times >= since)]
        times = columns.records["time"][rows]
    sessions = columns.records["session"][rows]
    newest = np.full(len(columns.sessions), NO_TIME, np.int64)
    np.maximum.at(newest, sessions, times)
    order = np.lexsort((rows, sessions, -newest[sessions].astype(np.float64)))
    return np.asarray(rows[order], np.int64)


def _batches(living: VectorGeneration, rows: NDArray[np.int64]) -> Iterator[_Batch]:
    """Passages in pieces."""
    for start in range(0, len(rows), _AT_ONCE):
        wanted = rows[start : start + _AT_ONCE].tolist()
        texts = living.spoken.rows(wanted)
        there = [row for row in wanted if row in texts]
        yield _Batch(there, [text_to_embed(texts[row]["name"] or "", texts[row]["text"]) for row in there])


def _stored(workspace: Workspace, living: VectorGeneration, rows: list[int], vectors: NDArray[np.float32]) -> bool:
    """Writes vectors down; False when another generation took the place of the one they are for."""
    if vectors.shape[1] != living.mark().dimensions:
        return False
    with workspace.locks.indexing(), workspace.locks.writing("index"):
        if workspace.vectors.generation.path != living.path:
            return False
        living.spoken.put_vectors(rows, vectors)
    return True


def _count(workspace: Workspace, living: VectorGeneration) -> None:
    """Writes down how far it is, for whoever wants to know without opening anything."""
    columns = living.spoken.columns()
    having = int((columns.records["scale"] > 0).sum())
    lacking = len(_lacking(workspace, columns))
    mark = living.mark()
    if (mark.passage_vectors, mark.passages_owing) == (having, lacking):
        return
    with workspace.locks.indexing(), workspace.locks.writing("index"):
        if workspace.vectors.generation.path == living.path:
            living.set_mark(replace(living.mark(), passage_vectors=having, passages_owing=lacking))
