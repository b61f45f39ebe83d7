"""The files in a home that are no part of it: notes, copies, what editors and older tools left there."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from alaya_core.stores.home import Home

_APART = ("backup", "export")
_OURS = re.compile(
    r"""
    config\.json | snapshot\.md | raw/(?:FORMAT | erasing\.json | staged\.jsonl | vitals\.jsonl)
    | raw/sources/[0-9a-f]{64}\.zst
    | raw/contexts/[^/]+-context\.json
    | raw/(?:ledger|accesses)/[^/]+\.jsonl | raw/ledger/(?:torn|damaged)/.+ | raw/set-aside/.+
    | (?:kuzu|lancedb)/(?:CURRENT | [a-z]+\.json | (?:building-|damaged-)?(?:[0-9]+-)?gen-.+)
    | (?:cache|logs|runs|locks)/.+
    | (?:.+/)?\.new-[^/]+
    """,
    re.VERBOSE,
)
_SESSION = re.compile(r"(raw/sessions/[0-9]{4}-[0-9]{2}/[^/]+)\.(?:json|md|idx)")


def foreign_files(home: Home, is_session: Callable[[str], bool]) -> Iterator[Path]:
    """Every file whose name is none that this program gives, in order; backups and exports are left out.

    Args:
        is_session: Whether a path, relative to the home, is that of a session the memory ever knew.
    """
    for top, folders, names in os.walk(home.root):
        folders.sort()
        if Path(top) == home.root:
            folders[:] = [name for name in folders if name not in _APART]
        for name in sorted(names):
            path = Path(top) / name
            if path.is_file() and not is_ours(path.relative_to(home.root).as_posix(), is_session):
                yield path


def is_ours(path: str, is_session: Callable[[str], bool]) -> bool:
    """Whether a path, relative to the home, is one that this program writes. No I/O."""
    session = _SESSION.fullmatch(path)
    if session is not None:
        return is_session(f"{session[1]}.json")
    return _OURS.fullmatch(path) is not None
