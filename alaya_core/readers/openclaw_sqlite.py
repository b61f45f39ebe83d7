"""OpenClaw's database of transcripts. Only the transcript tables are ever read: the file also holds credentials."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from alaya_core.errors import SourceError
from alaya_core.models.session import SessionHeader, SessionStream
from alaya_core.readers.fields import name_of, to_ms
from alaya_core.readers.jsonl import BadLine, Record, decode_line, look_ahead
from alaya_core.readers.openclaw import turns_of
from alaya_core.readers.openclaw_index import agent_of, channel_of
from alaya_core.readers.sources import SourceHints

Decompress = Callable[[bytes], bytes]
"""Undoes zstd; may raise anything on bytes that are none."""

_LOCKED = "close the program that holds it, or ingest a copy of it"
_WINDOW = {
    "session_key": "session_key",
    "chat_type": "chat_type",
    "model": "model",
    "display_name": "title",
    "status": "status",
    "reason": "reason",
    "previous_session_id": "previous_session",
    "parent_session_key": "parent_session_key",
    "spawned_by": "spawned_by",
}


def read_sqlite(path: Path, hints: SourceHints, decompress: Decompress | None = None) -> Iterator[SessionStream]:
    """The sessions of a database, in the order they began.

    Raises:
        SourceError: It cannot be opened or holds no transcripts.
    """
    try:
        with closing(_connect(path)) as database:
            columns = _columns(database, "transcript_events")
            if not {"session_id", "seq"} <= columns or not columns & {"event_json", "event_zstd"}:
                raise SourceError(
                    f"{path.name} holds no transcripts",
                    "this version of OpenClaw keeps them in agents/<agent>/sessions/*.jsonl: ingest that folder",
                )
            order = "MIN(created_at), " if "created_at" in columns else ""
            query = f"SELECT session_id FROM transcript_events GROUP BY session_id ORDER BY {order}session_id"
            ids = [_text(row[0]) for row in database.execute(query)]
            if not ids:
                raise SourceError(f"{path.name} holds no transcripts yet", "its transcript_events table is empty")
            for session_id in ids:
                yield _stream(database, path, session_id, columns, hints, decompress)
    except sqlite3.Error as error:
        raise SourceError(f"cannot read {path.name}: {error}", _LOCKED) from None


def _connect(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5.0, check_same_thread=False)
    # Text may hold bytes that are no UTF-8, and one bad row must not cost the others.
    database.text_factory = bytes
    return database


def _columns(database: sqlite3.Connection, table: str) -> set[str]:
    return {_text(row[1]) for row in database.execute(f"PRAGMA table_info({table})")}


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _stream(
    database: sqlite3.Connection,
    path: Path,
    session_id: str,
    columns: set[str],
    hints: SourceHints,
    decompress: Decompress | None,
) -> SessionStream:
    header = SessionHeader(name_of(session_id) or path.stem, format="openclaw-sqlite")
    stream = SessionStream(header, iter(()))
    _describe(database, session_id, header, hints)
    rows = _rows(database, session_id, columns)
    first, walk = look_ahead(
        _records(rows, stream, decompress), lambda entry: entry if entry.get("type") == "session" else None
    )
    if first:
        header.timestamp = to_ms(first.get("timestamp")) or header.timestamp
        if cwd := name_of(first.get("cwd"), 1_000):
            header.metadata["cwd"] = cwd
    stream.turns = turns_of(walk, stream)
    stream.raw_rows = _raw_rows(path, session_id, columns, decompress)
    return stream


def _describe(database: sqlite3.Connection, session_id: str, header: SessionHeader, hints: SourceHints) -> None:
    known = _columns(database, "session_windows")
    header.agent = hints.agent or header.agent
    wanted = sorted({*_WINDOW, "channel", "started_at", "created_at"} & known)
    if "session_id" not in known or not wanted:
        return
    query = f"SELECT {', '.join(wanted)} FROM session_windows WHERE session_id = ?"
    row = database.execute(query, (session_id,)).fetchone()
    if row is None:
        return
    window = {key: _text(value) if isinstance(value, bytes) else value for key, value in zip(wanted, row, strict=True)}
    for theirs, ours in _WINDOW.items():
        if value := name_of(window.get(theirs), 500):
            header.metadata[ours] = value
    key = str(header.metadata.get("session_key", ""))
    header.agent = hints.agent or agent_of(key) or header.agent
    header.channel = channel_of(key, window) or header.channel
    header.timestamp = to_ms(window.get("started_at")) or to_ms(window.get("created_at"))


def _rows(database: sqlite3.Connection, session_id: str, columns: set[str]) -> Iterator[tuple[int, Any, Any]]:
    """(seq, event as JSON, event as zstd) of a session's rows; SQLite hands them out one at a time."""
    json_column = "event_json" if "event_json" in columns else "NULL"
    zstd_column = "event_zstd" if "event_zstd" in columns else "NULL"
    query = f"SELECT seq, {json_column}, {zstd_column} FROM transcript_events WHERE session_id = ? ORDER BY seq"
    try:
        yield from database.execute(query, (session_id,))
    except sqlite3.Error as error:
        raise SourceError(f"the database broke off: {error}", _LOCKED) from None


def _event(row: tuple[int, Any, Any], decompress: Decompress | None) -> bytes:
    _, plain, packed = row
    if plain:
        return plain if isinstance(plain, bytes) else str(plain).encode("utf-8", "replace")
    if packed is None:
        raise BadLine("an empty row")
    if decompress is None:
        raise BadLine("compressed, and nothing was given to decompress it")
    try:
        return decompress(bytes(packed))
    except Exception as error:
        raise BadLine(f"cannot be decompressed: {error}") from None


def _records(
    rows: Iterator[tuple[int, Any, Any]], stream: SessionStream, decompress: Decompress | None
) -> Iterator[Record]:
    for row in rows:
        try:
            yield row[0], decode_line(_event(row, decompress), row[0], stream)
        except BadLine as error:
            stream.skip(row[0], str(error))


def _raw_rows(path: Path, session_id: str, columns: set[str], decompress: Decompress | None) -> Iterator[bytes]:
    with closing(_connect(path)) as database:
        for row in _rows(database, session_id, columns):
            try:
                yield _event(row, decompress).replace(b"\n", b" ") + b"\n"
            except BadLine as error:
                yield json.dumps({"unreadable": str(error)}).encode("ascii") + b"\n"
