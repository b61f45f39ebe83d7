"""Sessions as their files keep them: of a turn, the fields that say something, the source's own small fields beside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from alaya_core.models.session import SessionHeader, ToolCall, Turn, TurnKind

TURN_FIELDS = frozenset(
    {"role", "content", "timestamp", "kind", "text", "tool_calls", "thinking", "name", "key", "extra"}
)
_SEARCHED = (TurnKind.MESSAGE, TurnKind.TOOL)


def turn_to_json(turn: Turn) -> dict[str, Any]:
    """A turn as JSON: `role`, `content` and `timestamp` always, the rest where it says something.

    `text` is left out where it is what one would guess: the content for messages and tool output, nothing otherwise.
    """
    raw: dict[str, Any] = {"role": turn.role, "content": turn.content, "timestamp": turn.timestamp}
    if turn.kind is not TurnKind.MESSAGE:
        raw["kind"] = str(turn.kind)
    if turn.text != usual_text(turn.kind, turn.content):
        raw["text"] = turn.text
    if turn.tool_calls:
        raw["tool_calls"] = [
            {"id": call.id, "name": call.name, "arguments": call.arguments} for call in turn.tool_calls
        ]
    for name in ("thinking", "name", "key"):
        if getattr(turn, name):
            raw[name] = getattr(turn, name)
    raw.update({name: value for name, value in turn.extra.items() if name not in TURN_FIELDS})
    if clashing := {name: value for name, value in turn.extra.items() if name in TURN_FIELDS}:
        raw["extra"] = clashing
    return raw


def turn_from_json(raw: Mapping[str, Any]) -> Turn:
    """The inverse of `turn_to_json`; expects what that wrote."""
    kind = TurnKind(raw.get("kind", TurnKind.MESSAGE))
    content = raw["content"]
    return Turn(
        role=raw["role"],
        content=content,
        timestamp=raw["timestamp"],
        kind=kind,
        text=raw.get("text", usual_text(kind, content)),
        tool_calls=tuple(
            ToolCall(call["id"], call["name"], call.get("arguments")) for call in raw.get("tool_calls", ())
        ),
        thinking=raw.get("thinking", ""),
        name=raw.get("name", ""),
        key=raw.get("key", ""),
        extra={name: value for name, value in raw.items() if name not in TURN_FIELDS} | raw.get("extra", {}),
    )


def usual_text(kind: TurnKind, content: str) -> str:
    """What is searched of a turn unless it says otherwise: all of a message or of tool output, nothing of the rest."""
    return content if kind in _SEARCHED else ""


def header_to_json(header: SessionHeader) -> dict[str, Any]:
    """A session's header without its metadata; it stands before the turns, and naming the format marks it as ours."""
    return {
        "id": header.id,
        "timestamp": header.timestamp,
        "channel": header.channel,
        "agent": header.agent,
        "format": header.format,
    }
