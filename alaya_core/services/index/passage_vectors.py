"""Vectors of passages, made when there is time, newest session first: words find a passage at once."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from alaya_core.errors import AlayaError, DamagedError
from alaya_core.models.answers import PassageVectors
from alaya_core.progress import CancelledError, CancelToken, Progress, ProgressSink, silent
from alaya_core.services.index.embedders import embedder_of, length_of
from alaya_core.services.index.passages_lacking import counted, lacking
from alaya_core.services.index.rebuild import rebuild_vectors
from alaya_core.services.passages import text_to_embed
from alaya_core.services.workspace import Workspace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from alaya_core.stores.vector_generation import VectorGeneration

_AT_ONCE = 96
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
        seconds: After how long to stop, after a whole batch; 0 = before the first; None = when there is nothing left.

    Returns:
        How many were made, how many are left, and why it stopped early, if it did.

    Raises:
        CancelledError: `cancel` was set.
    """
    living = workspace.vectors.generation
    if not living.exists or not workspace.takes_changes:
        return PassageVectors()
    try:
        answer = PassageVectors(left=len(lacking(workspace, living.spoken.columns())))
    except DamagedError as error:
        return PassageVectors(note=error.message)
    if not answer.left:
        _count(workspace, living)
        return answer
    until = math.inf if seconds is None else time.monotonic() + seconds
    try:
        if not living.mark().dimensions and time.monotonic() < until:
            living = _with_vectors_at_last(workspace, progress, cancel)
        _embed(workspace, living, answer, until, progress, cancel)
    except CancelledError:
        _count(workspace, living)
        raise
    except AlayaError as error:
        answer.note = error.message
    _count(workspace, living)
    return answer


def _embed(
    workspace: Workspace,
    living: VectorGeneration,
    answer: PassageVectors,
    until: float,
    progress: ProgressSink,
    cancel: CancelToken | None,
) -> None:
    """Makes vectors batch by batch, and counts them, until a time of the monotonic clock."""
    mark = living.mark()
    for batch in _batches(living, lacking(workspace, living.spoken.columns())):
        if time.monotonic() >= until:
            return
        progress(Progress("embed passages", answer.made, answer.made + answer.left))
        if cancel is not None:
            cancel.check()
        embedder = embedder_of(workspace, mark)
        vectors = embedder.provider.embed_passages(batch.texts, cancel) if batch.texts else None
        if vectors is not None and (said := _stored(workspace, living, batch.rows, vectors)):
            answer.note = said
            return
        answer.made += len(batch.rows)
        answer.left -= len(batch.rows)


def _with_vectors_at_last(workspace: Workspace, progress: ProgressSink, cancel: CancelToken | None) -> VectorGeneration:
    """Tables that were made while nobody knew how long a vector is are made anew as soon as somebody does."""
    length_of(workspace.embedder)
    rebuild_vectors(workspace, progress, cancel)
    return workspace.vectors.generation


def _batches(living: VectorGeneration, rows: NDArray[np.int64]) -> Iterator[_Batch]:
    """Passages in pieces."""
    for start in range(0, len(rows), _AT_ONCE):
        wanted = rows[start : start + _AT_ONCE].tolist()
        texts = living.spoken.rows(wanted)
        there = [row for row in wanted if row in texts]
        yield _Batch(there, [text_to_embed(texts[row]["name"] or "", texts[row]["text"]) for row in there])


def _stored(workspace: Workspace, living: VectorGeneration, rows: list[int], vectors: NDArray[np.float32]) -> str:
    """Writes vectors down; says why not, where it must not be."""
    mark = living.mark()
    if vectors.shape[1] != mark.dimensions:
        return f"{mark.model} answers with {vectors.shape[1]} numbers, the stored vectors have {mark.dimensions}"
    with workspace.locks.indexing(), workspace.locks.writing("index"):
        if workspace.vectors.generation.path != living.path:
            return "other tables took the place of these meanwhile"
        living.spoken.put_vectors(rows, vectors)
    return ""


def _count(workspace: Workspace, living: VectorGeneration) -> None:
    """Writes down how far it is."""
    if counted(workspace, living.mark(), living.spoken.columns()) == living.mark():
        return
    with workspace.locks.indexing(), workspace.locks.writing("index"):
        if workspace.vectors.generation.path == living.path:
            living.set_mark(counted(workspace, living.mark(), living.spoken.columns()))
