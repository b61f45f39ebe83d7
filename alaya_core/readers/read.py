"""The one door to all readers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from alaya_core.errors import SourceError
from alaya_core.models.session import SessionStream
from alaya_core.readers.alaya import FORMATS
from alaya_core.readers.alaya_stream import read_alaya
from alaya_core.readers.claude_code import read_claude_code
from alaya_core.readers.codex import read_codex
from alaya_core.readers.codex_legacy import read_codex_legacy
from alaya_core.readers.detect import HEAD, recognise
from alaya_core.readers.jsonl import BOM, rewound
from alaya_core.readers.openclaw import read_openclaw
from alaya_core.readers.openclaw_sqlite import Decompress, read_sqlite
from alaya_core.readers.plain import read_plain
from alaya_core.readers.sources import SourceHints

_BY_LINE: dict[str, Callable[[BinaryIO, SourceHints], Iterator[SessionStream]]] = {
    "openclaw": read_openclaw,
    "claude-code": read_claude_code,
    "codex": read_codex,
    "codex-legacy": read_codex_legacy,
}


def read_sessions(
    file: BinaryIO,
    hints: SourceHints,
    format: str | None = None,
    *,
    path: Path | None = None,
    decompress: Decompress | None = None,
) -> Iterator[SessionStream]:
    """The sessions of a file, each a stream of turns to be read before the next session is asked for.

    Args:
        file: The open file; may be a pipe.
        hints: What is known beside its bytes.
        format: Its format, where somebody knows better than `detect`.
        path: Where it lies; needed for databases only.
        decompress: Undoes zstd, for databases that keep compressed events; without it those are skipped.

    Raises:
        SourceError: It is empty, cannot be read, or is of no known format.
    """
    try:
        head = _read_head(file)
        file.seek(0) if _seekable(file) else None
    except OSError as error:
        raise SourceError(f"cannot read {hints.name}: {error.strerror or error}", "check its permissions") from None
    if not _seekable(file):
        file = rewound(head, file)
    if not head.removeprefix(BOM).strip():
        raise SourceError(f"{hints.name} is empty", "nothing was said in it; leave it out")
    found = format or recognise(head, hints.name)
    if found == "trajectory":
        raise SourceError(
            f"{hints.name} is a runtime trace, not a session", "ingest the .jsonl of the same id beside it"
        )
    if found not in FORMATS:
        what = f"no format is called '{format}'" if format else f"{hints.name} is of no known format"
        raise SourceError(what, f"known are: {', '.join(FORMATS)}")
    if found == "openclaw-sqlite":
        if path is None:
            raise SourceError(f"{hints.name} is a database and cannot be read from a pipe", "give its path")
        return _guarded(read_sqlite(path, hints, decompress), hints)
    if found in _BY_LINE:
        return _guarded(_BY_LINE[found](file, hints), hints)
    if found == "alaya":
        return _guarded(read_alaya(file, hints), hints)
    return _guarded(read_plain(file, hints, head), hints)


def _guarded(streams: Iterator[SessionStream], hints: SourceHints) -> Iterator[SessionStream]:
    try:
        yield from streams
    except OSError as error:
        raise SourceError(f"cannot read {hints.name}: {error.strerror or error}") from None


def _read_head(file: BinaryIO) -> bytes:
    parts: list[bytes] = []
    missing = HEAD
    while missing > 0 and (part := file.read(missing)):
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def _seekable(file: BinaryIO) -> bool:
    try:
        return file.seekable()
    except (AttributeError, OSError):
        return False
