"""Makes a broken words index anew where that can be done in passing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TypeVar

from alaya_core.errors import AlayaError, DamagedError
from alaya_core.services.workspace import Workspace
from alaya_core.stores.vector_generation import VectorGeneration
from alaya_core.stores.vector_tables import WordsIndexError

_ROWS_UNASKED = 20_000
"""A table of more rows is left to whoever has the time."""
_PATIENCE_S = 0.25

_T = TypeVar("_T")


def with_words(workspace: Workspace, table: str, look: Callable[[], _T]) -> _T:
    """What a look finds that needs the words index of a table; where that is broken, it is made anew first.

    Raises:
        WordsIndexError: It is broken, and cannot be made anew now.
    """
    try:
        return look()
    except WordsIndexError:
        if not _mended(workspace, table):
            raise
    return look()


def lacking_records(workspace: Workspace) -> str:
    """Makes the records of passages anew where they are gone or cannot be read and there are few; else says so.

    Returns:
        What is not searched, in words for `degraded`; empty = all are.
    """
    living = workspace.vectors.generation
    expected = living.mark().passages
    if _recorded(living) >= expected:
        return ""
    if workspace.takes_changes and expected <= _ROWS_UNASKED:
        with (
            contextlib.suppress(AlayaError),
            workspace.locks.indexing(timeout_s=_PATIENCE_S),
            workspace.locks.writing("index", timeout_s=_PATIENCE_S),
        ):
            if not living.spoken.whole():
                living.spoken.mend()
    found = _recorded(living)
    return f"{expected - max(0, found):,} passages lack their records: run `alaya upkeep`" if found < expected else ""


def _recorded(living: VectorGeneration) -> int:
    try:
        return living.spoken.columns().searched(None)
    except DamagedError:
        return -1


def _mended(workspace: Workspace, table: str) -> bool:
    if not workspace.takes_changes:
        return False
    try:
        with workspace.locks.indexing(timeout_s=_PATIENCE_S):
            return workspace.vectors.generation.mend_words(table, most=_ROWS_UNASKED)
    except AlayaError:  # the one who looks says what is wrong
        return False
