"""Claude Code sessions: one file a session, messages of the API spread over several lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, BinaryIO

from alaya_core.models.session import SessionHeader, SessionStream, Turn, TurnKind
from alaya_core.readers.body import Body, read_body, result_text, tool_call
from alaya_core.readers.fields import Tally, mapping, name_of, text_of, to_ms, word_of, words
from alaya_core.readers.injected import read_assistant, read_user
from alaya_core.readers.jsonl import Record, look_ahead, records, skip_unknown
from alaya_core.readers.openclaw import tool_turn
from alaya_core.readers.sources import SourceHints
from alaya_core.readers.tree import Repeats

_BOOKKEEPING = words(
    "agent-name ai-title atis-latch attachment bridge-session custom-title file-history-snapshot frame-link "
    "last-prompt mode permission-mode pr-link progress queue-operation relocated result started summary system "
    "worktree-state"
)
_PEOPLE = frozenset({"human", "user", "cli", "sdk"})
_OWN_NAME = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|agent-[0-9a-zA-Z]+")
_HELD = 64


def read_claude_code(file: BinaryIO, hints: SourceHints) -> Iterator[SessionStream]:
    """The one session of a file; a subagent's file is a session of its own."""
    header = SessionHeader("", channel="claude-code", agent=hints.agent or "main", format="claude-code")
    stream = SessionStream(header, iter(()))
    first, walk = look_ahead(
        records(file, stream), lambda record: record if name_of(record.get("sessionId")) else None, limit=_HELD
    )
    _name_session(header, first or {}, hints)
    stream.turns = _Reader(stream).turns(walk)
    yield stream


def _name_session(header: SessionHeader, first: Mapping[str, Any], hints: SourceHints) -> None:
    stem = hints.name.partition(".jsonl")[0]
    session_id = name_of(first.get("sessionId"))
    header.id = stem if _OWN_NAME.fullmatch(stem) or not session_id else session_id
    if session_id and session_id != header.id:
        header.metadata["session_id"] = session_id
    fields = {"cwd": "cwd", "gitBranch": "git_branch", "version": "version", "agentId": "agent_id"}
    for theirs, ours in fields.items():
        if value := name_of(first.get(theirs), 1_000):
            header.metadata[ours] = value


class _Reader:
    """Reads one file; holds the message being put together."""

    def __init__(self, stream: SessionStream) -> None:
        self._stream = stream
        self._tally = Tally(stream.header)
        self._tools: dict[str, str] = {}
        self._message_id = ""
        self._usage: Mapping[str, Any] = {}
        self._held: list[Turn] = []

    def turns(self, walk: Iterator[Record]) -> Iterator[Turn]:
        repeats = Repeats()
        for line, record in walk:
            turns = self._read(record, line)
            if repeats.is_repeat(text_of(record.get("uuid")), turns):
                self._stream.skip(line, "a repeat of an earlier line")
            elif turns:
                yield from self._put_together(turns, record)
        yield from self._release()
        self._tally.close()

    def _put_together(self, turns: list[Turn], record: Mapping[str, Any]) -> Iterator[Turn]:
        """Joins an assistant's line to the message it belongs to; results of its tools wait behind it meanwhile."""
        message = mapping(record.get("message"))
        message_id = name_of(message.get("id")) if turns[0].role == "assistant" else ""
        if message_id and message_id == self._message_id and turns[0].extra == self._held[0].extra:
            self._held[0] = _joined(self._held[0], turns[0])
            self._held.extend(turns[1:])
            self._usage = mapping(message.get("usage")) or self._usage
            return
        if turns[0].role == "tool" and self._message_id and len(self._held) < _HELD:
            self._held.extend(turns)
            return
        yield from self._release()
        self._held = turns
        self._message_id = message_id
        self._usage = mapping(message.get("usage"))
        if not message_id:
            yield from self._release()

    def _release(self) -> Iterator[Turn]:
        held, self._held, self._message_id = self._held, [], ""
        self._tally.usage([self._usage.get("input_tokens"), self._usage.get("output_tokens")])
        self._usage = {}
        for turn in held:
            yield self._tally.turn(turn)

    def _read(self, record: dict[str, Any], line: int) -> list[Turn]:
        kind = word_of(record.get("type"))
        if kind in ("user", "assistant"):
            return self._read_message(record, line, kind)
        when, key, extra = to_ms(record.get("timestamp")), name_of(record.get("uuid")), _marks(record)
        if kind == "tool_use":
            return [Turn("assistant", "", when, tool_calls=(tool_call(record),), key=key, extra=extra)]
        if kind == "tool_result":
            output = result_text(record.get("output", record.get("content")))
            return [tool_turn(output, when, key, record.get("tool_use_id"), record.get("name"), record)]
        if kind == "attachment":
            return _queued(mapping(record.get("attachment")), when, key, extra)
        if kind not in _BOOKKEEPING:
            skip_unknown(self._stream, line, "type", kind)
        metadata = self._stream.header.metadata
        if kind == "summary" and (summary := text_of(record.get("summary"))):
            metadata["summary"] = summary[:2_000]
        elif kind == "custom-title" and (title := name_of(record.get("customTitle"), 500)):
            metadata["title"] = title
        elif kind == "ai-title" and (title := name_of(record.get("aiTitle"), 500)):
            metadata.setdefault("title", title)
        return []

    def _read_message(self, record: dict[str, Any], line: int, kind: str) -> list[Turn]:
        message = record.get("message")
        if not isinstance(message, dict):
            self._stream.skip(line, "the message is not an object")
            return []
        if message.get("content") is None:
            self._stream.skip(line, f"a line of type {kind} without content")
            return []
        body = read_body(message["content"])
        when, key, extra = to_ms(record.get("timestamp")), name_of(record.get("uuid")), _marks(record)
        if kind == "assistant":
            return [self._assistant(record, message, body, Turn("assistant", body.content, when, key=key, extra=extra))]
        results = [self._result(block, record, when, key) for block in body.results]
        if results and not body.texts:
            return results
        return [*results, _user(record, body, Turn("user", body.content, when, key=key, extra=extra))]

    def _assistant(self, record: Mapping[str, Any], message: Mapping[str, Any], body: Body, turn: Turn) -> Turn:
        self._tools.update({call.id: call.name for call in body.calls if call.id})
        model = name_of(message.get("model"))
        if model == "<synthetic>" or record.get("isApiErrorMessage") is True:
            return replace(turn, kind=TurnKind.FAILED)
        self._tally.model = model or self._tally.model
        reading = read_assistant(body.text)
        thinking = "\n".join(part for part in (body.reasoning, reading.thinking) if part)
        kind = reading.kind
        if record.get("isAbortedMidStream") is True and not turn.content and not body.calls:
            kind = TurnKind.FAILED
        return replace(turn, kind=kind, text=reading.text, tool_calls=tuple(body.calls), thinking=thinking)

    def _result(self, block: Mapping[str, Any], record: Mapping[str, Any], when: int | None, key: str) -> Turn:
        content = result_text(block.get("content")) or text_of(record.get("toolUseResult"))
        tool = self._tools.pop(name_of(block.get("tool_use_id")), "")
        turn = tool_turn(content, when, key, block.get("tool_use_id"), tool, block)
        return replace(turn, extra={**turn.extra, **_marks(record)})


def _marks(record: Mapping[str, Any]) -> dict[str, Any]:
    """What says that a line belongs to a subagent."""
    if record.get("isSidechain") is not True:
        return {}
    agent = name_of(record.get("agentId"))
    return {"sidechain": True, "agent_id": agent} if agent else {"sidechain": True}


def _user(record: Mapping[str, Any], body: Body, turn: Turn) -> Turn:
    if record.get("isCompactSummary") is True:
        return replace(turn, role="system", kind=TurnKind.SUMMARY)
    origin = word_of(mapping(record.get("origin")).get("kind"))
    by_program = (
        any(record.get(mark) for mark in ("isMeta", "isVisibleInTranscriptOnly", "sourceToolUseID"))
        or (origin and origin not in _PEOPLE)
        or ("sidechain" in turn.extra and not origin)
    )
    if by_program:
        return replace(turn, kind=TurnKind.INJECTED)
    reading = read_user(body.text)
    return replace(turn, kind=reading.kind, text=reading.text, name=reading.name)


def _queued(attachment: Mapping[str, Any], when: int | None, key: str, extra: dict[str, Any]) -> list[Turn]:
    """What a person typed while the agent was busy is kept as an attachment, and nowhere else."""
    if attachment.get("type") != "queued_command":
        return []
    body = read_body(attachment.get("prompt"))
    if not body.content:
        return []
    turn = Turn("user", body.content, when, key=key, extra={**extra, "queued": True})
    typed = attachment.get("commandMode") in (None, "prompt")
    return [_user({**attachment, "isMeta": not typed}, body, turn)]


def _joined(first: Turn, second: Turn) -> Turn:
    def join(one: str, other: str) -> str:
        return "\n".join(part for part in (one, other) if part)

    kinds = {first.kind, second.kind}
    return replace(
        first,
        content=join(first.content, second.content),
        text=join(first.text, second.text),
        kind=TurnKind.MESSAGE if TurnKind.MESSAGE in kinds else first.kind,
        tool_calls=first.tool_calls + second.tool_calls,
        thinking=join(first.thinking, second.thinking),
    )
