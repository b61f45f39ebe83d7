"""OpenClaw transcripts: every record type, its two clocks, its branches and its damage."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from alaya_core.errors import SourceError
from alaya_core.models.session import SessionHeader, SkippedLine, ToolCall, Turn, TurnKind
from alaya_core.readers import SourceHints, hints_for, read_sessions

ID = "11111111-2222-4333-8444-555555555555"
WHEN = "2026-03-31T06:29:00.000Z"
WHEN_MS = 1774938540000


def said(role: str, content: Any, *, id: str | None = None, parent: str | None = None, **more: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "type": "message",
        "timestamp": WHEN,
        "message": {"role": role, "content": content, **more},
    }
    return entry if id is None else {**entry, "id": id, "parentId": parent}


def read(
    *entries: dict[str, Any], name: str = f"{ID}.jsonl", index: Mapping[str, Any] | None = None
) -> tuple[SessionHeader, list[Turn], list[SkippedLine]]:
    data = b"\n".join(json.dumps(entry).encode() for entry in entries) + b"\n"
    [stream] = read_sessions(io.BytesIO(data), SourceHints(name, session_index=index), "openclaw")
    turns = list(stream.turns)
    return stream.header, turns, stream.skipped


def one(*entries: dict[str, Any]) -> Turn:
    [turn] = read(*entries)[1]
    return turn


def test_what_a_user_says_is_text_and_the_envelope_is_not() -> None:
    header, [turn], _ = read(said("user", "[Telegram Ann id:1 +2m 2026-03-31 14:29 GMT+8] hi\n[message_id: 4]"))
    assert turn.content == "[Telegram Ann id:1 +2m 2026-03-31 14:29 GMT+8] hi\n[message_id: 4]"
    assert (turn.text, turn.name, turn.kind, header.channel) == ("hi", "Ann", TurnKind.MESSAGE, "telegram")


def test_an_image_is_one_line_and_never_its_bytes() -> None:
    turn = one(
        said("user", [{"type": "text", "text": "look"}, {"type": "image", "data": "QUFB", "mimeType": "image/png"}])
    )
    assert (turn.content, turn.text) == ("look\n[image: image/png, 3 B]", "look")


@pytest.mark.parametrize(
    "content", [None, [], "", [None], [5], [{}], [{"type": "text"}], [{"type": "text", "text": None}]]
)
def test_content_may_be_nothing(content: Any) -> None:
    assert one(said("user", content)).content == ""


def test_an_assistant_thinks_speaks_and_calls() -> None:
    header, [turn], _ = read(
        said(
            "assistant",
            [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "[[reply_to_current]] ok"},
                {"type": "toolCall", "id": "c|f", "name": "exec", "arguments": {"command": "ls"}, "partialJson": "{"},
                {"type": "redacted_thinking", "data": "zzz"},
                {"type": "new_kind"},
            ],
            model="m",
            usage={"input": 10, "output": 5},
            stopReason="toolUse",
        )
    )
    assert turn.content == "[[reply_to_current]] ok\n[block: new_kind]"
    assert (turn.text, turn.thinking, turn.extra) == ("ok", "hm", {})
    assert turn.tool_calls == (ToolCall("c|f", "exec", {"command": "ls"}),)
    assert header.metadata == {"model": "m", "tokens": 15, "duration_ms": 0}


def test_a_turn_of_tools_only_stays_the_assistants() -> None:
    turn = one(said("assistant", [{"type": "tool_use", "id": "t", "name": "bash", "input": {}}]))
    assert (turn.role, turn.kind, turn.content, turn.tool_calls) == (
        "assistant", TurnKind.MESSAGE, "", (ToolCall("t", "bash", {}),),
    )  # fmt: skip


def test_arguments_nested_beyond_reason_are_cut() -> None:
    nested: Any = "bottom"
    for _ in range(300):
        nested = [nested]
    turn = one(said("assistant", [{"type": "toolCall", "id": "c", "name": "f", "arguments": nested}]))
    written = json.dumps(turn.tool_calls[0].arguments)
    assert "nested too deeply" in written
    assert written.count("[") < 100


@pytest.mark.parametrize(
    ("more", "content"), [({"errorMessage": "429"}, "429"), ({"errorMessage": None}, "error"), ({}, "error")]
)
def test_an_error_without_content_is_a_failed_turn(more: dict[str, Any], content: str) -> None:
    turn = one(said("assistant", [], stopReason="error", **more))
    assert (turn.kind, turn.content, turn.text) == (TurnKind.FAILED, content, "")


def test_an_aborted_turn_with_content_was_said() -> None:
    turn = one(said("assistant", "half a", stopReason="aborted"))
    assert (turn.kind, turn.text, turn.extra) == (TurnKind.MESSAGE, "half a", {"stop_reason": "aborted"})


def test_what_tools_print() -> None:
    turn = one(said("toolResult", "boom", toolCallId="c", toolName="exec", isError=True))
    assert (turn.role, turn.kind, turn.name, turn.text) == ("tool", TurnKind.TOOL, "exec", "boom")
    assert turn.extra == {"tool_call_id": "c", "is_error": True}
    shell = one(
        {
            "type": "message",
            "timestamp": WHEN,
            "message": {"role": "bashExecution", "command": "ls", "output": "a\n", "exitCode": 1},
        }
    )
    assert (shell.role, shell.kind, shell.content, shell.extra) == ("tool", TurnKind.TOOL, "$ ls\na", {"exit_code": 1})


def test_memory_recalled_through_a_tool_is_not_searched_again() -> None:
    turn = one(said("toolResult", "<alaya-memory>tea</alaya-memory>rest"))
    assert ("tea" in turn.content, turn.text) == (True, "rest")


def test_results_inside_an_assistants_message_become_turns() -> None:
    blocks = [
        {"type": "tool_use", "id": "t", "name": "bash"},
        {"type": "tool_result", "tool_use_id": "t", "content": "out"},
    ]
    _, turns, _ = read(said("assistant", blocks))
    assert [(turn.role, turn.content) for turn in turns] == [("assistant", ""), ("tool", "out")]


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ({"type": "compaction", "summary": "s"}, TurnKind.SUMMARY),
        ({"type": "compaction", "summary": "s", "firstKeptEntryIndex": 3}, TurnKind.SUMMARY),
        ({"type": "branch_summary", "summary": "s"}, TurnKind.SUMMARY),
        (said("compactionSummary", None, summary="s"), TurnKind.SUMMARY),
        (said("branchSummary", None, summary="s"), TurnKind.SUMMARY),
        ({"type": "custom_message", "customType": "x", "content": "s"}, TurnKind.INJECTED),
        (said("custom", "s", customType="x"), TurnKind.INJECTED),
        (said("hookMessage", "s"), TurnKind.INJECTED),
        (said("system", [{"type": "text", "text": "s"}]), TurnKind.INJECTED),
    ],
)
def test_turns_that_nobody_said(entry: dict[str, Any], kind: TurnKind) -> None:
    turn = one(entry)
    assert (turn.role, turn.kind, turn.content, turn.text) == ("system", kind, "s", "")


def test_a_turn_from_another_session_is_injected() -> None:
    turn = one(said("user", "please summarise", provenance={"kind": "inter_session", "sourceTool": "x"}))
    assert (turn.kind, turn.text, turn.extra["provenance"]["sourceTool"]) == (TurnKind.INJECTED, "", "x")


def test_bookkeeping_is_silent_and_unknown_types_are_not() -> None:
    header, turns, skipped = read(
        {"type": "session", "id": ID, "timestamp": WHEN, "cwd": "/w"},
        {"type": "model_change", "modelId": "m"},
        {"type": "thinking_level_change"},
        {"type": "custom", "customType": "openclaw.cache-ttl"},
        {"type": "label"},
        {"type": "session_info", "name": "A title"},
        {"type": "compact"},
        {"silly": "this"},
        said("wizard", "x"),
        {"type": "message", "message": "error"},
    )
    assert not turns
    assert [(line.line, line.reason) for line in skipped] == [
        (7, 'unknown type "compact"'),
        (8, "no type"),
        (9, 'unknown role "wizard"'),
        (10, "the message is not an object"),
    ]
    assert (header.timestamp, header.metadata) == (WHEN_MS, {"cwd": "/w", "title": "A title", "model": "m"})


def test_the_outer_clock_is_used_and_the_inner_one_in_its_stead() -> None:
    outer = {**said("user", "a", timestamp=1), "timestamp": "1774938540"}
    inner = said("user", "b", timestamp=1774938541000)
    del inner["timestamp"]
    header, turns, _ = read(outer, inner)
    assert [turn.timestamp for turn in turns] == [WHEN_MS, WHEN_MS + 1000]
    assert (header.timestamp, header.metadata["duration_ms"]) == (WHEN_MS, 1000)


def test_branches_are_kept_and_named_as_abandoned() -> None:
    header, turns, _ = read(
        said("user", "root", id="a"),
        said("user", "left", id="b", parent="a"),
        said("assistant", "left too", id="c", parent="b"),
        said("user", "right", id="d", parent="a"),
    )
    assert [turn.text for turn in turns] == ["root", "left", "left too", "right"]
    assert header.metadata["abandoned"] == [[1, 2]]


def test_the_first_layout_has_no_ids_and_no_branches() -> None:
    header, turns, _ = read(said("user", "a"), said("assistant", "b"))
    assert [turn.key for turn in turns] == ["", ""]
    assert "abandoned" not in header.metadata


def test_a_repeat_is_dropped_only_if_it_says_the_same() -> None:
    _, turns, skipped = read(
        said("user", "a", id="x"), said("user", "a", id="x"), said("user", "b", id="x"), said("user", "a", id="y")
    )
    assert [(turn.key, turn.text) for turn in turns] == [("x", "a"), ("x", "b"), ("y", "a")]
    assert [line.line for line in skipped] == [2]


@pytest.mark.parametrize(
    ("name", "head", "expected"),
    [
        (f"{ID}.jsonl", "other", (ID, "other")),
        (f"{ID}.jsonl", None, (ID, None)),
        (f"{ID}-topic-42.jsonl", ID, (f"{ID}-topic-42", ID)),
        (f"{ID}.jsonl.reset.2026-05-04T14-58-56.795Z", ID, (f"{ID}.reset.2026-05-04T14-58-56.795Z", None)),
        ("copy of it.jsonl", "own", ("own", None)),
        ("copy of it.jsonl", None, ("copy of it", None)),
    ],
)
def test_the_id_is_the_files_where_openclaw_named_it(
    name: str, head: str | None, expected: tuple[str, str | None]
) -> None:
    entries = [said("user", "a")] if head is None else [{"type": "session", "id": head}, said("user", "a")]
    header, _, _ = read(*entries, name=name)
    assert header.id == expected[0]
    if "reset" not in name:
        assert header.metadata.get("header_id") == expected[1]


@pytest.mark.parametrize(
    ("key", "entry", "channel"),
    [
        ("agent:work:main", {"lastChannel": "Telegram"}, "telegram"),
        ("agent:work:main", {"deliveryContext": {"channel": "discord"}}, "discord"),
        ("agent:work:main", {"origin": {"surface": "webchat"}}, "webchat"),
        ("agent:work:whatsapp:direct:49", {}, "whatsapp"),
        ("agent:work:subagent:x", {}, "subagent"),
        ("cron:nightly", {}, "cron"),
        ("agent:work:main", {}, "unknown"),
    ],
)
def test_the_index_names_channel_and_agent(key: str, entry: dict[str, Any], channel: str) -> None:
    index = {"agent:x:other": {"sessionId": "z"}, "broken": None, key: {"sessionId": ID, "chatType": "direct", **entry}}
    header, _, _ = read(said("user", "a"), index=index)
    assert (header.channel, header.metadata["session_key"], header.metadata["chat_type"]) == (channel, key, "direct")
    assert header.agent == ("work" if "work" in key else "main")


def test_the_index_may_know_a_session_by_a_path_of_another_machine() -> None:
    index = {"agent:a:main": {"sessionId": "z", "sessionFile": f"C:\\Users\\u\\{ID}.jsonl", "lastChannel": "slack"}}
    assert read(said("user", "a"), index=index)[0].channel == "slack"


def test_a_reset_session_does_not_take_the_numbers_of_its_successor() -> None:
    index = {"agent:a:main": {"sessionId": ID, "lastChannel": "slack", "totalTokens": 9}}
    header, _, _ = read(said("user", "a"), index=index, name=f"{ID}.jsonl.reset.2026-05-04T14-58-56.795Z")
    assert (header.channel, "tokens" in header.metadata, header.metadata["archived"]) == ("slack", False, "reset")


def database(path: Path, rows: list[tuple[str, int, Any]], column: str = "event_json") -> Path:
    connection = sqlite3.connect(path)
    connection.execute(f"CREATE TABLE transcript_events(session_id TEXT, seq INTEGER, {column}, created_at INTEGER)")
    connection.execute("CREATE TABLE auth_profile_store(secret TEXT)")
    connection.executemany("INSERT INTO transcript_events VALUES(?,?,?,?)", [(*row, 1000 - row[1]) for row in rows])
    connection.commit()
    connection.close()
    return path


def event(text: str) -> str:
    return json.dumps(said("user", text))


def test_a_database_holds_many_sessions_with_their_rows(tmp_path: Path) -> None:
    path = database(
        tmp_path / "a #1?.sqlite",
        [("s", 1, event("one")), ("t", 5, event("three")), ("s", 2, "undefined"), ("s", 3, event("two"))],
    )
    read_back = []
    with path.open("rb") as file:
        for stream in read_sessions(file, hints_for(path), path=path):
            assert stream.raw_rows is not None
            turns = [turn.text for turn in stream.turns]
            reasons = [(line.line, line.reason) for line in stream.skipped]
            read_back.append(
                (stream.header.id, stream.header.format, turns, reasons, b"".join(stream.raw_rows).count(b"\n"))
            )
    assert read_back == [
        ("t", "openclaw-sqlite", ["three"], [], 1),
        ("s", "openclaw-sqlite", ["one", "two"], [(2, "not JSON")], 3),
    ]


def test_compressed_events_need_somebody_to_decompress_them(tmp_path: Path) -> None:
    path = database(
        tmp_path / "z.sqlite", [("s", 1, event("one").encode()[::-1]), ("s", 2, b"junk")], "event_zstd BLOB"
    )

    def decompress(data: bytes) -> bytes:
        if data == b"junk":
            raise RuntimeError("not zstd")
        return data[::-1]

    for given, texts, reason in [(decompress, ["one"], "cannot be decompressed: not zstd"), (None, [], "compressed")]:
        with path.open("rb") as file:
            [stream] = read_sessions(file, hints_for(path), path=path, decompress=given)
            assert [turn.text for turn in stream.turns] == texts
            assert reason in stream.skipped[-1].reason


def test_a_database_without_transcripts_says_where_they_are(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE auth_profile_store(secret TEXT)")
    connection.close()
    for damaged, says in [(False, "holds no transcripts"), (True, "cannot read")]:
        if damaged:
            path.write_bytes(b"SQLite format 3\0junk")
        with path.open("rb") as file, pytest.raises(SourceError, match=says) as refused:
            list(read_sessions(file, hints_for(path), path=path))
        assert refused.value.hint


def test_only_the_transcript_tables_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = database(tmp_path / "a.sqlite", [("s", 1, event("one"))])
    asked: list[str] = []
    connect = sqlite3.connect

    def watched(*args: Any, **more: Any) -> sqlite3.Connection:
        assert str(args[0]).endswith("?mode=ro")
        connection: sqlite3.Connection = connect(*args, **more)
        connection.set_trace_callback(asked.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", watched)
    with path.open("rb") as file:
        for stream in read_sessions(file, hints_for(path), path=path):
            assert len(list(stream.turns)) == len(list(stream.raw_rows or ())) == 1
    assert asked
    assert not [query for query in asked if "transcript_events" not in query and "session_windows" not in query]
