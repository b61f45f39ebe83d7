"""Broken lines of the access logs and of the folded vitals: found, and made harmless in their place."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from alaya_core.safe_json import load_json
from alaya_core.stores.files import translated, write_file


@dataclass(frozen=True, slots=True)
class BrokenBytes:
    """Bytes of a log that are no access.

    Attributes:
        path: The log; line: from 1.
        start, end: Where they lie; the newline behind them belongs to them, where there is one.
    """

    path: Path
    line: int
    start: int
    end: int


def broken_accesses(folder: Path) -> Iterator[BrokenBytes]:
    """Every line of the logs that is no access; of one that ends in a whole access, only what stands before that.

    Args:
        folder: `raw/accesses` of a home.
    """
    for path in sorted(folder.glob("*.jsonl")):
        offset = 0
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip() and not (line.endswith(b"\n") and _is_access(line)):
                    yield BrokenBytes(path, number, offset, offset + (_whole_access(line) or len(line)))
                offset += len(line)


def blank(broken: BrokenBytes, aside: Path) -> None:
    """Keeps the bytes in a file of their own, and puts blanks in their place.

    The log keeps its length: others append to it meanwhile without a lock, and offsets into it are remembered.
    """
    with translated(broken.path), broken.path.open("r+b") as file:
        file.seek(broken.start)
        data = file.read(broken.end - broken.start)
        write_file(aside / f"{broken.path.stem}-{broken.start}.part", data)
        file.seek(broken.start)
        file.write(b" " * (len(data) - 1) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def broken_vitals(path: Path) -> bool:
    """Whether the folded vitals are there and not what they should be."""
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except FileNotFoundError:
        return False
    return not lines or not all(_is_fold(line, first=number == 0) for number, line in enumerate(lines))


def _is_access(line: bytes) -> bool:
    try:
        raw = load_json(line)
        return bool(
            isinstance(raw["at"], int)
            and isinstance(raw["agent"], str)
            and isinstance(raw["kind"], str)
            and all(isinstance(card, str) and float(similarity) == similarity for card, similarity in raw["cards"])
        )
    except (ValueError, KeyError, TypeError):
        return False


def _whole_access(line: bytes) -> int:
    """Where a whole access begins inside a line, behind one that was torn; 0 = nowhere."""
    at = line.rfind(b'{"at":')
    return at if at > 0 and line.endswith(b"\n") and _is_access(line[at:]) else 0


def _is_fold(line: bytes, *, first: bool) -> bool:
    try:
        raw = load_json(line)
        if not line.endswith(b"\n") or ("marks" in raw) != first:
            return False
        if first:
            return all(isinstance(mark, int) for mark in raw["marks"].values())
        float(raw["n"])
        return isinstance(raw["id"], str) and isinstance(raw["last"], int) and isinstance(raw["first"], int)
    except (ValueError, KeyError, TypeError, AttributeError):
        return False
