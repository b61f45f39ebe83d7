"""Makes a broken words index anew where that can be done in passing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from alaya_core.errors import AlayaError
from alaya_core.services.workspace import Workspace
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


def _mended(workspace: Workspace, table: str) -> bool:
    if not workspace.takes_changes:
        return False
    try:
        with workspace.locks.indexing(timeout_s=_PATIENCE_S):
            return workspace.vectors.generation.mend_words(table, most=_ROWS_UNASKED)
    except AlayaError:  # the one who looks says what is wrong
        return False
