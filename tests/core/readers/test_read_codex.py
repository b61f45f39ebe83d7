"""Codex rollouts, new and old: what is told twice counts once, what a program put there is not the user's."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from alaya_core.models.session import SessionHeader, SkippedLine, ToolCall, Turn, TurnKind
from alaya_core.readers import SourceHints, read_sessions

WHEN = "2026-03-31T06:29:00Z"


def line(kind: str, payload: Any) -> dict[str, Any]:
    return {"timestamp": WHEN, "type": kind, "payload": payload}


def item(role: str, *texts: str) -> dict[str, Any]:
    spelling = "output_text" if role == "assistant" else "input_text"
    return line(
        "response_item",
        {"type": "message", "role": role, "content": [{"type": spelling, "text": text} for text in texts]},
    )


def raw(kind: str, **more: Any) -> dict[str, Any]:
    return line("response_item", {"type": kind, **more})


def event(kind: str, **more: Any) -> dict[str, Any]:
    return line("event_msg", {"type": kind, **more})


def read(
    *records: dict[str, Any], form: str = "codex", name: str = "rollout-x.jsonl"
) -> tuple[SessionHeader, list[Turn], list[SkippedLine]]:
    data = b"\n".join(json.dumps(record).encode() for record in records) + b"\n"
    [stream] = read_sessions(io.BytesIO(data), SourceHints(name), form)
    turns = list(stream.turns)
    return stream.header, turns, stream.skipped


def test_what_is_told_as_item_and_as_event_counts_once() -> None:
    _, turns, _ = read(
        event("user_message", message="go"), item("user", "go"),
        item("assistant", "ok"), event("agent_message", message="ok"),
        event("user_message", message="go"), item("user", "go"),
        item("assistant", "ok"), event("agent_message", message="ok"),
        event("user_message", message="only an event"),
        item("assistant", "only an item"),
    )  # fmt: skip
    assert [turn.text for turn in turns] == ["go", "ok", "go", "ok", "only an event", "only an item"]


def test_the_same_words_again_from_one_source_are_said_again() -> None:
    _, turns, _ = read(item("assistant", "ok"), item("assistant", "ok"))
    assert len(turns) == 2


@pytest.mark.parametrize(
    "record",
    [
        item("user", "<environment_context>\n<cwd>/</cwd>\n</environment_context>"),
        item("user", "<user_instructions>be brief</user_instructions>"),
        item("user", "# AGENTS.md instructions for /tmp\nbe brief"),
        item("developer", "<permissions instructions>x"),
        line(
            "response_item", {"type": "agent_message", "author": "b", "content": [{"type": "input_text", "text": "x"}]}
        ),
    ],
)
def test_items_that_a_program_put_there(record: dict[str, Any]) -> None:
    _, [turn], _ = read(record)
    assert (turn.kind, turn.text, bool(turn.content)) == (TurnKind.INJECTED, "", True)


def test_the_request_is_what_follows_its_heading() -> None:
    _, [turn], _ = read(item("user", "# Context from my IDE setup:\nx\n\n## My request for Codex:\nfix it\n"))
    assert turn.text == "fix it"


def test_thoughts_calls_and_results() -> None:
    _, turns, _ = read(
        event("agent_reasoning", text="**Listing**"),
        raw("reasoning", summary=[{"type": "summary_text", "text": "**Listing**"}], content=None),
        raw("function_call", name="shell", arguments='{"command":["ls"]}', call_id="1"),
        raw("function_call_output", call_id="1", output='{"output":"a.txt\\n","metadata":{}}'),
        raw("custom_tool_call", name="apply_patch", input="*** Begin", call_id="2"),
        raw("custom_tool_call_output", call_id="2", output=[{"type": "input_text", "text": "done"}]),
        raw("local_shell_call", call_id="3", action={"command": ["ls"]}),
        raw("function_call_output", call_id="3", output={"content": "b", "success": True}),
        raw("image_generation_call", id="4", revised_prompt="a cat", result="QUFB"),
        raw("reasoning", summary=[], content=[{"type": "reasoning_text", "text": "last"}]),
    )
    assert [(turn.role, turn.content, turn.tool_calls) for turn in turns] == [
        ("assistant", "", (ToolCall("1", "shell", {"command": ["ls"]}),)),
        ("tool", "a.txt\n", ()),
        ("assistant", "", (ToolCall("2", "apply_patch", "*** Begin"),)),
        ("tool", "done", ()),
        ("assistant", "", (ToolCall("3", "local_shell", {"command": ["ls"]}),)),
        ("tool", "b", ()),
        ("assistant", "[image: 3 B]", (ToolCall("4", "image_generation", {"prompt": "a cat"}),)),
        ("assistant", "", ()),
    ]
    assert [turns[0].thinking, turns[-1].thinking] == ["**Listing**", "last"]


def test_header_and_metadata() -> None:
    header, turns, skipped = read(
        line("session_meta", {"id": "019b", "timestamp": WHEN, "cwd": "/w", "cli_version": "0.106.0"}),
        line("turn_context", {"model": "gpt-x"}),
        line("session_meta", {"id": "parent", "cwd": "/other"}),
        event("token_count", info=None),
        event("token_count", info={"total_token_usage": {"total_tokens": 7}}),
        event("user_message", message="", images=["data:image/png;base64,QUFB"], local_images=["/tmp/a.png"]),
        event("error", message="boom"),
        line("compacted", {"message": "so far"}),
        line("compacted", {"message": ""}),
        line("world_state", {"state": {}}),
    )
    assert (header.id, header.timestamp, header.channel) == ("019b", 1774938540000, "codex")
    assert header.metadata == {"cwd": "/w", "cli_version": "0.106.0", "model": "gpt-x", "tokens": 7, "duration_ms": 0}
    assert [(turn.kind, turn.content) for turn in turns] == [
        (TurnKind.MESSAGE, "[image: image/png, 3 B]\n[image: /tmp/a.png]"),
        (TurnKind.FAILED, "boom"),
        (TurnKind.SUMMARY, "so far"),
    ]
    assert not skipped


def test_the_unknown_is_told() -> None:
    odd = [event("brand_new"), raw("brand_new"), line("brand_new", {}), line("event_msg", 5), {"a": 1}]
    _, _, skipped = read(*odd, item("wizard", "x"))
    assert [one.reason for one in skipped] == [
        'unknown event "brand_new"', 'unknown item "brand_new"', 'unknown type "brand_new"',
        "the payload is not an object", "no type", 'unknown role "wizard"',
    ]  # fmt: skip


def test_the_old_layout() -> None:
    header, turns, skipped = read(
        {"id": "old-1", "timestamp": "2025-05-07T17:24:21Z", "instructions": None},
        {"record_type": "state"},
        {"created_at": WHEN, "role": "user", "message": "hi", "model": "m"},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"created_at": WHEN, "type": "tool_call", "function": {"name": "git"}, "arguments": "status"},
        {"created_at": WHEN, "type": "function_call", "function": {"name": "t"}, "arguments": {"a": 1}},
        {"created_at": WHEN, "type": "tool_result", "name": "git", "result": "clean"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "yo"}]},
        {"timestamp": WHEN, "type": "error", "text": "boom"},
        {"timestamp": WHEN, "type": "world_state", "payload": {}},
        {"type": "brand_new"},
        form="codex-legacy",
    )
    assert (header.id, header.timestamp, header.metadata["model"]) == ("old-1", 1746638661000, "m")
    assert [(turn.role, turn.content, turn.tool_calls) for turn in turns] == [
        ("user", "hi", ()),
        ("assistant", "", (ToolCall("", "git", "status"),)),
        ("assistant", "", (ToolCall("", "t", {"a": 1}),)),
        ("tool", "clean", ()),
        ("assistant", "yo", ()),
        ("assistant", "boom", ()),
    ]
    assert (turns[1].thinking, turns[-1].kind) == ("hm", TurnKind.FAILED)
    assert [one.reason for one in skipped] == ['unknown item "brand_new"']
