"""Whatever the bytes: turns, reasons, or a SourceError; flat memory; nothing a store cannot hold."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alaya_core.errors import SourceError
from alaya_core.models.session import Turn, TurnKind
from alaya_core.models.session_json import turn_from_json, turn_to_json
from alaya_core.readers import SourceHints, detect, read_sessions
from alaya_core.readers.alaya import FORMATS

STREAMED = [name for name in FORMATS if name != "openclaw-sqlite"]


def words(text: str) -> st.SearchStrategy[str]:
    return st.sampled_from(text.split())


junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["user", "message"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
names = words(
    "type role content message id parentId uuid parentUuid sessionId timestamp payload text thinking name arguments"
    " input tool_use_id toolCallId summary customType model usage stopReason provenance origin attachment prompt turns"
    " metadata channel agent isMeta isSidechain images info call_id output result image_url source data extra kind"
)
kinds = words(
    "session message custom custom_message compaction branch_summary session_info user assistant summary attachment"
    " queued_command tool_use tool_result response_item event_msg session_meta turn_context compacted function_call"
    " function_call_output reasoning user_message agent_message error token_count text thinking toolCall image"
    " toolResult bashExecution tool system developer image_generation_call tool_search_output"
)
shaped = st.recursive(
    junk | kinds,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner | kinds, max_size=6),
    max_leaves=14,
)
records = st.dictionaries(names, shaped, min_size=1, max_size=7)


def drain(data: bytes, form: str | None, name: str = "x.jsonl") -> Iterator[Turn]:
    with suppress(SourceError):
        for stream in read_sessions(io.BytesIO(data), SourceHints(name), form):
            yield from stream.turns
            assert stream.skipped_count >= len(stream.skipped)
            assert stream.header.id
            json.dumps(stream.header.metadata, ensure_ascii=False).encode()


def check(turn: Turn) -> None:
    assert turn.role in ("user", "assistant", "tool", "system")
    assert turn.text == "" or turn.kind in (TurnKind.MESSAGE, TurnKind.TOOL)
    written = json.dumps(turn_to_json(turn), ensure_ascii=False, allow_nan=False).encode()
    assert turn_from_json(json.loads(written)) == turn
    turn.digest()


@given(
    st.binary(max_size=400), st.sampled_from([None, *STREAMED]), st.sampled_from(["x.jsonl", "x.txt", "x", "x.json"])
)
def test_any_bytes(data: bytes, form: str | None, name: str) -> None:
    detect(data, name)
    for turn in drain(data, form, name):
        check(turn)


@given(
    st.lists(records | junk, max_size=6),
    st.sampled_from([None, *STREAMED]),
    st.sampled_from([b"\n", b"\r\n", b"\xff\n"]),
)
def test_any_records(found: list[Any], form: str | None, end: bytes) -> None:
    for turn in drain(end.join(json.dumps(record).encode() for record in found), form):
        check(turn)


@given(st.lists(records, max_size=3), st.lists(records, max_size=3))
def test_any_messages(contents: list[Any], blocks: list[Any]) -> None:
    openclaw = [
        {"type": "message", "id": "a", "message": {**one, "role": role, "content": blocks}}
        for one in contents
        for role in ("user", "assistant", "toolResult")
    ]
    claude = [
        {**one, "type": role, "message": {"content": blocks}} for one in contents for role in ("user", "assistant")
    ]
    codex = [
        {"type": kind, "payload": {**one, "content": blocks}}
        for one in contents
        for kind in ("response_item", "event_msg")
    ]
    alaya = [{"id": "s", "turns": [*contents, *blocks]}]
    for form, made in (
        ("openclaw", openclaw),
        ("claude-code", claude),
        ("codex", codex),
        ("codex-legacy", contents),
        ("alaya", alaya),
    ):
        for turn in drain(b"\n".join(json.dumps(record).encode() for record in made), form):
            check(turn)


class _Endless(io.RawIOBase):
    """A log of many lines, made up as it is read."""

    def __init__(self, line: bytes, count: int) -> None:
        self._line, self._left, self._rest = line, count, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest and self._left:
            self._left -= 1
            self._rest = self._line.replace(b"NUMBER", b"%08d" % self._left)
        given, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(given)] = given
        return len(given)


@pytest.mark.parametrize(
    ("form", "line"),
    [
        ("openclaw", b'{"type":"message","id":"NUMBER","parentId":"x","message":{"role":"user","content":"NUMBER"}}\n'),
        ("claude-code", b'{"type":"user","uuid":"NUMBER","message":{"content":"NUMBER"}}\n'),
        ("codex", b'{"type":"event_msg","payload":{"type":"user_message","message":"NUMBER"}}\n'),
    ],
)
def test_memory_stays_flat_over_many_lines(form: str, line: bytes) -> None:
    count = 30_000
    tracemalloc.start()
    found = sum(1 for _ in drain_file(io.BufferedReader(_Endless(line, count)), form))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == count
    assert peak < 4_000_000  # some 100 bytes a line for ids and branches


def drain_file(file: Any, form: str) -> Iterator[Turn]:
    for stream in read_sessions(file, SourceHints("x.jsonl"), form):
        yield from stream.turns


def test_one_line_of_15_mb() -> None:
    line = json.dumps({"type": "message", "message": {"role": "toolResult", "content": "x" * 15_000_000}}).encode()
    tracemalloc.start()
    [turn] = drain_file(io.BytesIO(line), "openclaw")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(turn.content) == 15_000_000
    assert peak < 100_000_000
