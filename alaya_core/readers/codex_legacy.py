"""Codex rollouts of 2025: bare records without payloads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from alaya_core.models.session import SessionHeader, SessionStream, Turn, TurnKind
from alaya_core.readers.codex_items import Thoughts, item_turn, message_turn
from alaya_core.readers.fields import Tally, name_of, text_of, to_ms, word_of
from alaya_core.readers.jsonl import Record, look_ahead, records
from alaya_core.readers.sources import SourceHints

_BOOKKEEPING = frozenset({"world_state", "session_meta", "turn_context", "event_msg"})


def read_codex_legacy(file: BinaryIO, hints: SourceHints) -> Iterator[SessionStream]:
    """The one session of an old rollout."""
    header = SessionHeader("", channel="codex", agent=hints.agent or "main", format="codex-legacy")
    stream = SessionStream(header, iter(()))
    head, walk = look_ahead(records(file, stream), lambda record: record if _is_head(record) else None)
    head = head or {}
    header.id = name_of(head.get("id")) or hints.name.partition(".jsonl")[0]
    header.timestamp = _when(head)
    stream.turns = _turns(walk, stream)
    yield stream


def _is_head(record: dict[str, Any]) -> bool:
    return "id" in record and "role" not in record and "type" not in record


def _when(record: dict[str, Any]) -> int | None:
    return to_ms(record.get("timestamp", record.get("created_at")))


def _turns(walk: Iterator[Record], stream: SessionStream) -> Iterator[Turn]:
    tally, thoughts = Tally(stream.header), Thoughts()
    for line, record in walk:
        tally.model = name_of(record.get("model")) or tally.model
        turn = _read(record, line, stream, thoughts)
        if turn is not None:
            yield tally.turn(thoughts.give(turn))
    if (last := thoughts.rest()) is not None:
        yield tally.turn(last)
    tally.close()


def _read(record: dict[str, Any], line: int, stream: SessionStream, thoughts: Thoughts) -> Turn | None:
    kind = word_of(record.get("type"))
    if _is_head(record) or "record_type" in record or kind in _BOOKKEEPING:
        return None
    when = _when(record)
    if kind == "error":
        problem = text_of(record.get("text")) or text_of(record.get("message")) or "error"
        return Turn("assistant", problem, when, TurnKind.FAILED)
    if "role" in record:
        return message_turn(record, when, line, stream)
    return item_turn(record, when, line, stream, thoughts)
