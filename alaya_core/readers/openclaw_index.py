"""What OpenClaw's own index of sessions says about a session."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from alaya_core.models.session import SessionHeader
from alaya_core.readers.fields import mapping, name_of, to_ms
from alaya_core.readers.sources import SourceHints

_KEPT = {
    "chatType": "chat_type",
    "label": "label",
    "displayName": "title",
    "model": "model",
    "totalTokens": "tokens",
    "runtimeMs": "duration_ms",
    "compactionCount": "compactions",
    "status": "status",
    "spawnedBy": "spawned_by",
}
_TRANSPORT = re.compile(r"agent:[^:]+:([^:]+):(?:direct|group|channel|dm|thread|topic)(?::|$)")


def describe(header: SessionHeader, hints: SourceHints) -> None:
    """Fills in agent, channel and metadata from the index; what the index does not know stays as it was."""
    archived = "archived" in header.metadata
    session_id = header.id.partition(".reset.")[0].partition(".deleted.")[0]
    key, entry = _find(hints, session_id, str(header.metadata.get("header_id", "")))
    header.agent = hints.agent or agent_of(key) or header.agent
    header.channel = channel_of(key, entry) or header.channel
    if not key:
        return
    header.metadata["session_key"] = key
    if archived:  # the entry tells of the session that took this one's place
        return
    for theirs, ours in _KEPT.items():
        value = entry.get(theirs)
        if isinstance(value, int | float) and not isinstance(value, bool):
            header.metadata[ours] = value
        elif name := name_of(value, 500):
            header.metadata[ours] = name
    if header.timestamp is None:
        header.timestamp = to_ms(entry.get("sessionStartedAt")) or to_ms(entry.get("startedAt"))


def _find(hints: SourceHints, session_id: str, other_id: str) -> tuple[str, Mapping[str, Any]]:
    index = hints.session_index or {}
    by_id: tuple[str, Mapping[str, Any]] = ("", {})
    for key, value in index.items():
        entry = mapping(value)
        file = entry.get("sessionFile")
        if isinstance(file, str) and re.split(r"[\\/]", file)[-1] == hints.name:
            return name_of(key), entry
        if entry.get("sessionId") == session_id or (other_id and entry.get("sessionId") == other_id and not by_id[0]):
            by_id = (name_of(key), entry)
    return by_id


def agent_of(key: str) -> str:
    """The agent that a session key names; may be empty."""
    parts = key.split(":")
    return parts[1] if parts[0] == "agent" and len(parts) > 2 else ""


def channel_of(key: str, entry: Mapping[str, Any]) -> str:
    """The channel that an entry or its session key names; may be empty."""
    delivery, origin = mapping(entry.get("deliveryContext")), mapping(entry.get("origin"))
    for value in (
        entry.get("lastChannel"),
        entry.get("channel"),
        delivery.get("channel"),
        origin.get("provider"),
        origin.get("surface"),
    ):
        if channel := name_of(value, 60):
            return channel.lower()
    if found := _TRANSPORT.match(key):
        return found[1].lower()
    for kind in ("cron", "hook", "subagent"):
        if key.startswith(f"{kind}:") or f":{kind}:" in key:
            return kind
    return ""
