"""Turns and headers of sessions in Alaya's own JSON, whoever wrote them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from alaya_core.models.session import SessionHeader, ToolCall, Turn, TurnKind
from alaya_core.models.session_json import TURN_FIELDS, usual_text
from alaya_core.readers.body import read_body, tool_call
from alaya_core.readers.fields import clean, mapping, name_of, text_of, to_ms
from alaya_core.readers.injected import read_assistant, read_user

FORMATS = ("openclaw", "claude-code", "codex", "codex-legacy", "alaya", "text", "openclaw-sqlite")

_HEADER_KEYS = frozenset({"id", "timestamp", "channel", "agent", "format", "metadata", "turns"})
_KINDS = {str(kind): kind for kind in TurnKind}
_ROLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "tool": "tool",
    "toolresult": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
}


def read_turn(obj: Mapping[str, Any]) -> Turn:
    """A turn that anybody may have written, as far as it goes."""
    body = read_body(obj.get("content"))
    kind = _KINDS.get(text_of(obj.get("kind")), TurnKind.MESSAGE)
    content = text_of(obj["content"]) if isinstance(obj.get("content"), str) else body.content
    text = obj.get("text")
    extra = {str(key): clean(value) for key, value in obj.items() if key not in TURN_FIELDS}
    nested = obj.get("extra")
    extra |= clean(nested) if isinstance(nested, dict) else {} if nested is None else {"extra": clean(nested)}
    role = text_of(obj.get("role"))
    return Turn(
        role=_ROLES.get(role.lower(), "user"),
        content=content,
        timestamp=to_ms(obj.get("timestamp")),
        kind=kind,
        text=text_of(text) if isinstance(text, str) else usual_text(kind, content),
        tool_calls=_calls(obj.get("tool_calls")) or tuple(body.calls),
        thinking=text_of(obj.get("thinking")) or body.reasoning,
        name=text_of(obj.get("name")) or ("" if role.lower() in _ROLES else name_of(role)),
        key=text_of(obj.get("key")),
        extra=extra,
    )


def _calls(value: Any) -> tuple[ToolCall, ...]:
    calls = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
    return tuple(
        tool_call(call)
        if "function" in call
        else ToolCall(text_of(call.get("id")), text_of(call.get("name")), clean(call.get("arguments")))
        for call in calls
    )


def own_turn(obj: Mapping[str, Any]) -> Turn:
    """A turn of a session that Alaya wrote: whole numbers are milliseconds there, however small."""
    return replace(read_turn(obj), timestamp=_own_time(obj.get("timestamp")))


def _own_time(value: Any) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1e14
    return value if whole else to_ms(value)


def foreign_turn(obj: Mapping[str, Any]) -> Turn:
    """A turn that Alaya did not write: what it is, is told by its role and its words."""
    turn = read_turn(obj)
    if "kind" in obj or "text" in obj:
        return turn
    said = turn.content if isinstance(obj.get("content"), str) else read_body(obj.get("content")).text
    if turn.role == "tool":
        return replace(turn, kind=TurnKind.TOOL)
    if turn.role == "system":
        return replace(turn, kind=TurnKind.INJECTED, text="")
    reading = read_user(said) if turn.role == "user" else read_assistant(said)
    if reading.kind is TurnKind.MESSAGE and reading.text == said.strip():
        return replace(turn, text=said)
    thinking = "\n".join(part for part in (turn.thinking, reading.thinking) if part)
    return replace(turn, kind=reading.kind, text=reading.text, thinking=thinking, name=turn.name or reading.name)


def is_own(fields: Mapping[str, Any]) -> bool:
    """Whether a session's fields say that Alaya wrote it, so that its turns are taken as they stand."""
    return fields.get("format") in FORMATS


def fill_header(header: SessionHeader, fields: Mapping[str, Any], agent: str | None, fallback_id: str) -> None:
    """Fills a header in from a session's fields; fields that no header has go to the metadata."""
    header.id = text_of(fields.get("id")) or name_of(fields.get("id")) or fallback_id
    when = fields.get("timestamp")
    header.timestamp = _own_time(when) if is_own(fields) else to_ms(when)
    header.channel = text_of(fields.get("channel")) or "unknown"
    header.agent = text_of(fields.get("agent")) or agent or "main"
    header.format = str(fields["format"]) if is_own(fields) else "alaya"
    header.metadata = {str(key): clean(value) for key, value in mapping(fields.get("metadata")).items()}
    for key, value in fields.items():
        if key not in _HEADER_KEYS:
            header.metadata.setdefault(str(key), clean(value))
