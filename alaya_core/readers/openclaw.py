"""OpenClaw transcripts (and those of pi, their ancestor): a tree of entries, one JSON object a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from alaya_core.models.session import SessionHeader, SessionStream, Turn, TurnKind
from alaya_core.readers.body import Body, read_body, result_text
from alaya_core.readers.fields import Tally, clean, mapping, name_of, text_of, to_ms, word_of
from alaya_core.readers.injected import Reading, read_assistant, read_user, without_memory
from alaya_core.readers.jsonl import Record, look_ahead, records, skip_unknown
from alaya_core.readers.openclaw_index import describe
from alaya_core.readers.sources import SourceHints
from alaya_core.readers.tree import Repeats, Tree

_BOOKKEEPING = frozenset(
    {
        "session",
        "model_change",
        "thinking_level_change",
        "active_tools_change",
        "custom",
        "label",
        "session_info",
        "leaf",
    }
)
_SUMMARIES = frozenset({"compaction", "branch_summary"})
_UUID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(-topic-(?P<topic>[^.]+))?", re.IGNORECASE
)
_USUAL_STOPS = frozenset({"stop", "toolUse", "endTurn", "end_turn", "tool_use"})


def read_openclaw(file: BinaryIO, hints: SourceHints) -> Iterator[SessionStream]:
    """The one session of a transcript."""
    stream = SessionStream(SessionHeader("", format="openclaw"), iter(()))
    head, walk = look_ahead(records(file, stream), lambda entry: entry if entry.get("type") == "session" else None)
    _name_session(stream.header, head or {}, hints)
    describe(stream.header, hints)
    stream.turns = turns_of(walk, stream)
    yield stream


def _name_session(header: SessionHeader, head: Mapping[str, Any], hints: SourceHints) -> None:
    """Takes the id from the file's name where OpenClaw named it: header ids of different files may be equal."""
    stem, _, archived = hints.name.partition(".jsonl")
    own = name_of(head.get("id"))
    named = _UUID.fullmatch(stem)
    header.id = stem if named or not own else own
    if own and own != header.id:
        header.metadata["header_id"] = own
    if named and named["topic"]:
        header.metadata["topic"] = named["topic"]
    if archived.startswith((".reset.", ".deleted.")):
        header.id += archived
        header.metadata["archived"] = archived.split(".")[1]
    header.timestamp = to_ms(head.get("timestamp"))
    for key in ("cwd", "parentSession", "branchedFrom"):
        if value := name_of(head.get(key), 1_000):
            header.metadata[key] = value
    if model := name_of(head.get("modelId")):
        header.metadata["model"] = model


def turns_of(walk: Iterator[Record], stream: SessionStream) -> Iterator[Turn]:
    """The turns of entries in the order they were written; fills the header in as it goes."""
    tree, repeats, tally = Tree(), Repeats(), Tally(stream.header)
    number = 0
    for line, entry in walk:
        turns = _read_entry(entry, line, stream, tally)
        key = text_of(entry.get("id"))
        if repeats.is_repeat(key, turns):
            stream.skip(line, "a repeat of an earlier entry")
            continue
        parent = entry.get("parentId")
        root = "parentId" in entry and parent is None
        tree.add(key, parent if isinstance(parent, str) else None, number, len(turns), root=root)
        for turn in turns:
            number += 1
            yield tally.turn(turn)
    tally.close()
    if abandoned := tree.abandoned():
        stream.header.metadata["abandoned"] = abandoned


def _read_entry(entry: dict[str, Any], line: int, stream: SessionStream, tally: Tally) -> list[Turn]:
    kind = word_of(entry.get("type"))
    when = to_ms(entry.get("timestamp"))
    key = name_of(entry.get("id"))
    if kind == "message" or (not kind and "message" in entry):
        return _read_message(entry, when, key, line, stream, tally)
    if kind == "custom_message":
        body = read_body(entry.get("content"))
        return [Turn("system", body.content, when, TurnKind.INJECTED, name=name_of(entry.get("customType")), key=key)]
    if kind in _SUMMARIES:
        return [Turn("system", text_of(entry.get("summary")), when, TurnKind.SUMMARY, name=kind, key=key)]
    if kind not in _BOOKKEEPING:
        skip_unknown(stream, line, "type", kind)
    elif kind == "session_info" and (title := name_of(entry.get("name"), 500)):
        stream.header.metadata["title"] = title
    elif kind == "model_change":
        tally.model = name_of(entry.get("modelId")) or tally.model
    return []


def _read_message(
    entry: dict[str, Any], when: int | None, key: str, line: int, stream: SessionStream, tally: Tally
) -> list[Turn]:
    message = entry.get("message")
    if not isinstance(message, dict):
        stream.skip(line, "the message is not an object")
        return []
    role = message.get("role")
    when = to_ms(message.get("timestamp")) if when is None else when
    body = read_body(message.get("content"))
    if role == "user":
        turns = [_user(message, body, when, key, stream.header)]
    elif role == "assistant":
        turns = [_assistant(message, body, when, key, tally)]
    elif role in ("toolResult", "tool"):
        return [tool_turn(body.content, when, key, message.get("toolCallId"), message.get("toolName"), message)]
    elif role == "bashExecution":
        return [_shell(message, when, key)]
    elif role in ("branchSummary", "compactionSummary"):
        return [Turn("system", text_of(message.get("summary")), when, TurnKind.SUMMARY, name=role, key=key)]
    elif role in ("custom", "hookMessage", "system"):
        name = name_of(message.get("customType"))
        return [Turn("system", body.content, when, TurnKind.INJECTED, name=name, key=key)]
    else:
        skip_unknown(stream, line, "role", role)
        return []
    results = [
        tool_turn(result_text(block.get("content")), when, key, block.get("tool_use_id"), block.get("name"), block)
        for block in body.results
    ]
    alone = results and not turns[0].content and not turns[0].tool_calls and not turns[0].thinking
    return results if alone else turns + results


def _user(message: Mapping[str, Any], body: Body, when: int | None, key: str, header: SessionHeader) -> Turn:
    provenance = mapping(message.get("provenance"))
    reading = read_user(body.text)
    if provenance.get("kind") == "inter_session":
        reading = Reading("", TurnKind.INJECTED)
    if reading.channel and header.channel == "unknown":
        header.channel = reading.channel
    extra = {"provenance": clean(provenance)} if provenance else {}
    return Turn("user", body.content, when, reading.kind, reading.text, name=reading.name, key=key, extra=extra)


def _assistant(message: Mapping[str, Any], body: Body, when: int | None, key: str, tally: Tally) -> Turn:
    model = name_of(message.get("model"))
    usage = mapping(message.get("usage"))
    tally.model = model if model and not model.startswith(("gateway-", "delivery-")) else tally.model
    tally.usage([usage.get("input"), usage.get("output")])
    reading = read_assistant(body.text)
    kind, content = reading.kind, body.content
    stop = name_of(message.get("stopReason"))
    if stop in ("error", "aborted") and not content and not body.calls:
        kind, content = TurnKind.FAILED, text_of(message.get("errorMessage")) or stop
    elif model == "gateway-injected" and kind is TurnKind.MESSAGE:
        kind = TurnKind.INJECTED
    text = reading.text if kind is TurnKind.MESSAGE else ""
    thinking = "\n".join(part for part in (body.reasoning, reading.thinking) if part)
    extra = {"stop_reason": stop} if stop and stop not in _USUAL_STOPS else {}
    return Turn("assistant", content, when, kind, text, tuple(body.calls), thinking, key=key, extra=extra)


def _shell(message: Mapping[str, Any], when: int | None, key: str) -> Turn:
    content = f"$ {text_of(message.get('command'))}\n{text_of(message.get('output'))}".rstrip("\n")
    code = message.get("exitCode")
    extra = {"exit_code": code} if isinstance(code, int) and not isinstance(code, bool) else {}
    return Turn("tool", content, when, TurnKind.TOOL, without_memory(content), name="bash", key=key, extra=extra)


def tool_turn(content: str, when: int | None, key: str, call: Any, tool: Any, source: Mapping[str, Any]) -> Turn:
    """What a tool returned, with the id of the call it answers."""
    extra: dict[str, Any] = {}
    if call_id := name_of(call):
        extra["tool_call_id"] = call_id
    if source.get("isError") is True or source.get("is_error") is True:
        extra["is_error"] = True
    # An agent that asked its memory through a shell must not find the answer again as something that was said.
    return Turn("tool", content, when, TurnKind.TOOL, without_memory(content), name=name_of(tool), key=key, extra=extra)
