"""Nouns of the raw layer: sessions and their turns, as readers produce them and L3 keeps them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class TurnKind(StrEnum):
    """What a turn is; only a `message` is ever distilled."""

    MESSAGE = "message"  # somebody said it
    TOOL = "tool"  # what a tool or a shell command printed
    INJECTED = "injected"  # context, recalled memory or notices that a program put there
    HEARTBEAT = "heartbeat"  # polls, acknowledgements and reminders between programs
    SUMMARY = "summary"  # what a compaction or branch summary said about other turns
    FAILED = "failed"  # a turn that failed before or while producing content


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the assistant called.

    Attributes:
        id: The id by which the result refers to it; may be empty.
        name: The tool's name.
        arguments: What it was given, decoded where it was JSON.
    """

    id: str
    name: str
    arguments: Any = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a session.

    Attributes:
        role: `user`, `assistant`, `tool` or `system`.
        content: All of its text as the log had it; an image stands as one line naming its kind and size.
        timestamp: Milliseconds since the epoch, UTC; None when the log did not say.
        kind: What it is.
        text: The part that may be searched: the content without envelopes, injected context and recalled memory.
            Empty for kinds that must not be searched.
        tool_calls: Tools called in this turn.
        thinking: The model's reasoning, where the log kept it.
        name: The speaker's or tool's name; may be empty.
        key: The entry's id in its source; may be empty.
        extra: Other small fields worth keeping (e.g. `dia_id`, `is_error`, `provenance`).
    """

    role: str
    content: str
    timestamp: int | None = None
    kind: TurnKind = TurnKind.MESSAGE
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    thinking: str = ""
    name: str = ""
    key: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    def digest(self) -> bytes:
        """32 bytes over role, content, time and tool calls: whether two turns are the same, however they were read."""
        calls = [[call.id, call.name, call.arguments] for call in self.tool_calls]
        raw = json.dumps(
            [self.role, self.content, self.timestamp, calls], ensure_ascii=True, sort_keys=True, default=str
        )
        return hashlib.sha256(raw.encode("ascii")).digest()


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """A line (or row) of a source that could not be read, and why."""

    line: int | None
    reason: str


@dataclass(slots=True)
class SessionHeader:
    """What a session says of itself; complete only when its turns have been read.

    Attributes:
        id: The session's id in its source (safe file names are L3's business); a reader invents one from the file name.
        timestamp: Its start, ms since the epoch, UTC; None when neither header nor turns say.
        channel: Where it took place (`telegram`, `cli`, `claude-code` ...); `unknown` if nobody says.
        agent: Whose session it is; `main` if nobody says.
        format: The format it was read as (`openclaw`, `openclaw-sqlite`, `claude-code`, `codex`, `codex-legacy`,
            `alaya`, `text`).
        metadata: model, tokens, duration_ms, cwd, title, abandoned turn ranges ..., whatever the source knew.
    """

    id: str
    timestamp: int | None = None
    channel: str = "unknown"
    agent: str = "main"
    format: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class SessionStream:
    """A session being read, a turn at a time, so that its size does not matter.

    Attributes:
        header: Filled in further while the turns are read.
        turns: May be read once.
        skipped: The first lines that could not be read; grows while the turns are read.
        skipped_count: How many there were in all (`skipped` holds the first 1,000).
        raw_rows: For sources that are not a file of their own (a database): the session's rows as bytes, a line each;
            None when the source file itself is what to keep.
    """

    header: SessionHeader
    turns: Iterator[Turn]
    skipped: list[SkippedLine] = field(default_factory=list)
    skipped_count: int = 0
    raw_rows: Iterator[bytes] | None = None

    def skip(self, line: int | None, reason: str) -> None:
        """Counts a line that could not be read."""
        self.skipped_count += 1
        if len(self.skipped) < 1_000:
            self.skipped.append(SkippedLine(line, reason))


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session that is kept, as the views know it.

    Attributes:
        id: The id as the source gave it.
        timestamp: Start, ms since the epoch, UTC.
        turns: How many turns it has.
        path: Its L3 file, relative to the home, with `/`.
        summary: One paragraph.
        distilled_turns: Turns already distilled (a grown session has more turns than this).
        distilled_by: `rules/1`, a model's name, or empty.
        source: sha256 of the bytes it came from.
        chain: Running hash over its turns, hex.
    """

    id: str
    timestamp: int
    channel: str
    agent: str
    format: str
    turns: int
    path: str
    summary: str = ""
    distilled_turns: int = 0
    distilled_by: str = ""
    source: str = ""
    chain: str = ""
