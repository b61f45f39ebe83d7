"""What format a file is of, told by its first bytes; its name only breaks ties."""

from __future__ import annotations

import codecs
import json
from collections import Counter
from pathlib import PurePath
from typing import Any

import ijson

from alaya_core.readers.fields import words
from alaya_core.readers.jsonl import BOM
from alaya_core.readers.plain import has_speakers

HEAD = 65_536
"""How many of a file's first bytes are looked at."""

_CLAUDE = words(
    "agent-name ai-title assistant attachment bridge-session custom-title file-history-snapshot frame-link "
    "last-prompt mode permission-mode pr-link progress queue-operation relocated summary system tool_result "
    "tool_use user worktree-state"
)
_CODEX = words(
    "compacted event_msg inter_agent_communication_metadata response_item session_meta turn_context world_state"
)
_OPENCLAW = words(
    "branch_summary compaction custom custom_message label message model_change session session_info "
    "thinking_level_change"
)
_LEGACY = words(
    "function_call function_call_output function_result local_shell_call message reasoning tool_call tool_result"
)
_SESSION_KEYS = frozenset({"timestamp", "channel", "agent", "metadata"})
_KEY_SIGNS = (
    ("traceSchema", "trajectory"),
    ("payload", "codex"),
    ("parentUuid", "claude-code"),
    ("parentId", "openclaw"),
    ("sessionId", "claude-code"),
    ("message", "openclaw"),
)
_TEXT_SUFFIXES = frozenset({"", ".md", ".markdown", ".txt", ".text", ".log"})
_JSON_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson"})


def detect(head: bytes, name: str) -> str | None:
    """The format of a file that begins with these bytes: `openclaw`, `claude-code`, `codex`, `codex-legacy`, `alaya`,
    `text`, `openclaw-sqlite`, or None if it is none of them.
    """
    found = recognise(head, name)
    return None if found == "trajectory" else found


def recognise(head: bytes, name: str) -> str | None:
    """`detect`, with `trajectory` for the traces that are no sessions."""
    if head.startswith(b"SQLite format 3\0"):
        return "openclaw-sqlite"
    head = head[:HEAD].removeprefix(BOM)
    if not head.strip() or (b"\0" in head[:1024] and not head.lstrip().startswith((b"{", b"["))):
        return None
    votes = Counter(filter(None, map(_line_format, head.split(b"\n"))))
    if votes:
        return max(votes, key=lambda found: votes[found])
    start = head.lstrip()
    if start.startswith((b"{", b"[")) and (found := _document_format(start)):
        return found
    return _text_format(head, name)


def _line_format(line: bytes) -> str | None:
    line = line.strip()
    if not line.startswith(b"{"):
        return None
    try:
        record = json.loads(line.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None
    return record_format(record) if isinstance(record, dict) else None


def record_format(record: dict[str, Any]) -> str | None:
    """The format that one record of a file speaks for."""
    kind = record.get("type")
    kind = kind if isinstance(kind, str) else None
    if record.get("traceSchema") == "openclaw-trajectory":
        return "trajectory"
    if isinstance(record.get("turns"), list):
        return "alaya"
    if kind in _CODEX and "payload" in record:
        return "codex"
    if "parentUuid" in record or ("sessionId" in record and kind in _CLAUDE) or "leafUuid" in record:
        return "claude-code"
    if (kind in ("user", "assistant") and "message" in record) or kind == "file-history-snapshot":
        return "claude-code"
    if kind in _OPENCLAW and _is_openclaw(record, kind):
        return "openclaw"
    if _is_legacy(record, kind):
        return "codex-legacy"
    if kind is None and "id" in record and len(_SESSION_KEYS & record.keys()) >= 2:
        return "alaya"
    return None


def _is_openclaw(record: dict[str, Any], kind: str | None) -> bool:
    if kind == "message":
        return "message" in record
    return "parentId" in record or (kind in ("session", "compaction") and "timestamp" in record)


def _is_legacy(record: dict[str, Any], kind: str | None) -> bool:
    timed = "timestamp" in record or "created_at" in record
    if "role" in record and ("content" in record or "message" in record):
        return timed or kind == "message"
    if kind in _LEGACY:
        return timed or "call_id" in record or "summary" in record
    return kind is None and {"id", "timestamp", "instructions"} <= record.keys()


def _document_format(start: bytes) -> str | None:
    """The format of one JSON value over many lines, or of a first line that is longer than what we see."""
    keys: set[str] = set()
    depth = 0
    inner = 2 if start.startswith(b"[") else 1
    try:
        # In Python: the C parser leaves an exception behind at a number of thousands of digits.
        for event, value in ijson.get_backend("python").basic_parse(start, multiple_values=True):
            if event == "map_key" and depth == inner:
                keys.add(str(value))
            depth += (event in ("start_map", "start_array")) - (event in ("end_map", "end_array"))
            if "turns" in keys:
                return "alaya"
    except (ijson.JSONError, ValueError, RecursionError):
        pass
    if "type" not in keys and "id" in keys and len(_SESSION_KEYS & keys) >= 2:
        return "alaya"
    return next((found for key, found in _KEY_SIGNS if key in keys and "type" in keys), None)


def _text_format(head: bytes, name: str) -> str | None:
    try:
        text = codecs.getincrementaldecoder("utf-8")("strict").decode(head)
    except UnicodeDecodeError:
        text = head.decode("utf-8", "replace")
    bad = sum(1 for char in text if char == "\ufffd" or (char < " " and char not in "\t\n\r\f\x1b"))
    if bad * 20 > len(text):
        return None
    suffix = PurePath(name).suffix.lower()
    if suffix in _JSON_SUFFIXES:
        return None
    return "text" if suffix in _TEXT_SUFFIXES or has_speakers(text) else None
