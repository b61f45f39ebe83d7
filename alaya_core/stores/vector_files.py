"""The files of the vector tables, looked at without the engine."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Collection
from pathlib import Path

_LAST_VERSION = (1 << 64) - 1
_END = b"LANC"


def versions_in(folder: Path, name: str) -> list[int]:
    """The versions of a table that are on the disk, oldest first."""
    found = []
    for path in (folder / f"{name}.lance" / "_versions").glob("*.manifest"):
        if path.stem.isdigit():  # newer layouts count down from 2^64, so that the latest is listed first
            number = int(path.stem)
            found.append(_LAST_VERSION - number if number > _LAST_VERSION // 2 else number)
    return sorted(found)


def versions_older(folder: Path, name: str, age_s: float) -> int:
    """How many versions of a table, without the last, are on the disk for longer than so many seconds."""
    born = []
    for path in (folder / f"{name}.lance" / "_versions").glob("*.manifest"):
        with contextlib.suppress(FileNotFoundError):
            born.append(path.stat().st_mtime)
    return sum(time.time() - at > age_s for at in sorted(born)[:-1])


def data_files(folder: Path, name: str) -> set[str]:
    """The names of the files that hold the rows of a table."""
    return {path.name for path in (folder / f"{name}.lance" / "data").glob("*.lance")}


def any_cut_short(folder: Path, name: str, files: Collection[str]) -> bool:
    """Whether one of these files does not end as it should."""
    for each in files:
        with (folder / f"{name}.lance" / "data" / each).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - len(_END)))
            if file.read() != _END:
                return True
    return False
