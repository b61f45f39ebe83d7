"""Which passages are to have a vector, and how far that is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from alaya_core.clock import DAY_MS
from alaya_core.services.workspace import Workspace
from alaya_core.stores.passage_columns import NO_TIME, PassageColumns
from alaya_core.stores.vector_state import VectorMark


def lacking(workspace: Workspace, columns: PassageColumns) -> NDArray[np.int64]:
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


def counted(workspace: Workspace, mark: VectorMark, columns: PassageColumns) -> VectorMark:
    """A mark that says how many passages have a vector, and how many should get one, for whoever opens nothing."""
    having = int((columns.records["scale"] > 0).sum())
    return replace(mark, passage_vectors=having, passages_owing=len(lacking(workspace, columns)))
