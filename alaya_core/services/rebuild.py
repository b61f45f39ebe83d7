"""Rebuild: the views made anew from nothing but `raw/`, beside the living ones; no model is called."""

from __future__ import annotations

import time
from typing import Literal

from alaya_core.models.answers import RebuildAnswer
from alaya_core.progress import CancelToken, Progress, ProgressSink
from alaya_core.services.index import rebuild_vectors
from alaya_core.services.upkeep import remember_graph_size
from alaya_core.services.workspace import Workspace


def rebuild(
    workspace: Workspace, what: Literal["all", "l1", "l2"], progress: ProgressSink, cancel: CancelToken | None
) -> RebuildAnswer:
    """Builds a new generation of the graph (`l2`), of the vectors (`l1`), or of both, and switches to it.

    Raises:
        ConfigError: The configured graph engine cannot be used.
        BusyError, ReadOnlyHomeError, DamagedError: The home takes no changes, or its ledger cannot be trusted.
    """
    workspace.require_writable()
    started = time.perf_counter()
    rebuilt: list[str] = []
    warnings: list[str] = []
    if what in ("all", "l2"):
        warnings += filter(None, [_rebuild_graph(workspace, progress, cancel)])
        rebuilt.append("l2")
    if what in ("all", "l1"):
        warnings += rebuild_vectors(workspace, progress, cancel).lost
        rebuilt.append("l1")
    with workspace.graph.reading() as reader:
        counts = reader.counts()
        sessions = len(reader.sessions())
    mark = workspace.vectors.mark()
    return RebuildAnswer(
        rebuilt=rebuilt,
        cards=sum(counts["state"].values()),
        links=sum(counts["relation"].values()),
        sessions=sessions,
        passages=mark.passages,
        vectors_pending=mark.pending,
        warnings=warnings,
        took_ms=round((time.perf_counter() - started) * 1000),
    )


def _rebuild_graph(workspace: Workspace, progress: ProgressSink, cancel: CancelToken | None) -> str:
    """Builds the graph anew, and gives what a person should know of it."""
    workspace.graph.require_configured_engine()  # who asks for it gets this engine, or is told why not
    total = workspace.ledger.last_seq()

    def told(done: int) -> None:
        progress(Progress("rebuild graph", min(done, total), total))
        if cancel is not None:
            cancel.check()

    said = workspace.graph.rebuild(told, without_lost=True)
    remember_graph_size(workspace)
    return said
