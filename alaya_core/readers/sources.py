"""Which files are sessions, told by their names and places alone."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from alaya_core.errors import SourceError

_MAX_INDEX = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SourceHints:
    """What is known of a file beside its bytes.

    Attributes:
        name: Its base name.
        agent: The agent whose folder it lies in.
        session_index: The `sessions.json` beside it: session key to entry.
        walked: Whether it was found in a folder, rather than named.
    """

    name: str
    agent: str | None = None
    session_index: Mapping[str, Any] | None = None
    walked: bool = False


@dataclass(frozen=True, slots=True)
class NameVerdict:
    """Whether a file of some name is to be ingested, and for people why not."""

    ingest: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that a walk met, or that was named."""

    path: Path
    verdict: NameVerdict
    walked: bool = False


_REFUSED = (
    (r"\.lock$", "a lock of a running program"),
    (r"^sessions\.json(\..*)?$", "an index of sessions, not a session"),
    (r"^\.usage-cost-cache\.json$", "a cache of costs"),
    (r"\.trajectory(-path\.json|\.jsonl(\..+)?)$", "a runtime trace that repeats the session beside it"),
    (r"\.checkpoint\.[0-9a-fA-F-]+\.jsonl", "a copy taken before a compaction; the session itself holds all of it"),
    (r"\.bak(-[^.]*)?$", "a copy taken before a repair; the session itself holds all of it"),
    (r"\.meta\.json$", "a description of a subagent's session, not the session"),
    (r"\.tmp$|\.part(ial)?$|~$", "a file that was being written"),
    (r"\.(sqlite3?|db)-(wal|shm|journal)$", "a part of the database beside it"),
    (r"\.(zst|gz|zip|xz|bz2)$", "compressed: decompress it first"),
    (r"^\.", "a hidden file"),
)
_REFUSED_NAMES = tuple((re.compile(pattern), NameVerdict(False, reason)) for pattern, reason in _REFUSED)
_DELETED = re.compile(r"\.jsonl\.deleted\.[^/]*$")
_RESET = re.compile(r"\.jsonl\.reset\.[^/]+$")
_SUFFIXES = frozenset({".jsonl", ".ndjson", ".json", ".md", ".markdown", ".txt", ".text", ".sqlite", ".sqlite3", ".db"})
_YES = NameVerdict(True)


def classify_name(path: PurePath, *, deleted: bool = False) -> NameVerdict:
    """Whether a file is to be ingested, by its name.

    Args:
        path: The file; it is not touched.
        deleted: Whether sessions that their owner deleted are wanted.
    """
    name = path.name
    if _DELETED.search(name) and not name.endswith(".zst"):
        return _YES if deleted else NameVerdict(False, "a session that was deleted; ask for deleted ones to have it")
    if _RESET.search(name) and not name.endswith((".zst", ".tmp", ".lock")):
        return _YES
    for pattern, verdict in _REFUSED_NAMES:
        if pattern.search(name):
            return verdict
    if _is_memex(path):
        return NameVerdict(False, "a memex card, not a session")
    if path.suffix.lower() not in _SUFFIXES:
        return NameVerdict(False, "not a kind of file that holds sessions")
    return _YES


def _is_memex(path: PurePath) -> bool:
    parts = path.parts
    return any(part == ".memex" and parts[n + 1 : n + 2] in (("cards",), ("archive",)) for n, part in enumerate(parts))


def hints_for(path: Path, *, walked: bool = False) -> SourceHints:
    """What a file's place says about it; reads `sessions.json` beside it, ignores a broken one."""
    parts = path.parts[:-1]
    agent = next((parts[n + 1] for n, part in enumerate(parts[:-1]) if part == "agents"), None)
    return SourceHints(path.name, agent, _read_index(path.parent / "sessions.json"), walked)


def _read_index(path: Path) -> Mapping[str, Any] | None:
    try:
        if path.stat().st_size > _MAX_INDEX:
            return None
        index = json.loads(path.read_bytes().decode("utf-8-sig", "replace"), strict=False)
    except (OSError, ValueError, RecursionError):
        return None
    return index if isinstance(index, dict) else None


def expand(path: Path, *, deleted: bool = False) -> Iterator[FoundFile]:
    """The file itself, or every file below a folder in order of name; refused ones too, each with its reason.

    Folders whose name begins with a dot are passed over, a folder reached twice is read once.

    Raises:
        SourceError: There is no such file or folder.
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", "") or "no such path"
        raise SourceError(f"cannot read {path}: {why}", "check the path and its permissions") from None
    if stat.S_ISDIR(mode):
        yield from _walk(path, set(), deleted)
    else:
        yield FoundFile(path, _verdict(path, mode, deleted))


def _verdict(path: Path, mode: int, deleted: bool) -> NameVerdict:
    return classify_name(path, deleted=deleted) if stat.S_ISREG(mode) else NameVerdict(False, "not a regular file")


def _walk(folder: Path, seen: set[tuple[int, int]], deleted: bool) -> Iterator[FoundFile]:
    try:
        status = folder.stat()
        names = sorted(entry.name for entry in folder.iterdir())
    except OSError as error:
        yield FoundFile(folder, NameVerdict(False, f"folder cannot be read: {error.strerror}"), walked=True)
        return
    if (status.st_dev, status.st_ino) in seen:
        return
    seen.add((status.st_dev, status.st_ino))
    for name in names:
        path = folder / name
        try:
            mode = path.stat().st_mode
        except OSError:
            reason = "a link to nothing" if path.is_symlink() else "cannot be read"
            yield FoundFile(path, NameVerdict(False, reason), walked=True)
            continue
        if not stat.S_ISDIR(mode):
            yield FoundFile(path, _verdict(path, mode, deleted), walked=True)
        elif not name.startswith("."):
            yield from _walk(path, seen, deleted)
