"""Codex rollouts: items sent to the model, and events shown to the user, in one file."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from alaya_core.models.session import SessionHeader, SessionStream, Turn, TurnKind
from alaya_core.readers.body import picture
from alaya_core.readers.codex_items import Thoughts, item_turn
from alaya_core.readers.fields import Tally, mapping, name_of, text_of, to_ms, word_of, words
from alaya_core.readers.injected import read_assistant, read_user
from alaya_core.readers.jsonl import Record, look_ahead, records, skip_unknown
from alaya_core.readers.sources import SourceHints
from alaya_core.readers.tree import digest64

_BOOKKEEPING = frozenset({"world_state", "inter_agent_communication_metadata"})
_QUIET_EVENTS = words(
    "account/rateLimits/updated agent_message_delta agent_reasoning_delta agent_reasoning_raw_content "
    "agent_reasoning_section_break background_event codex/event/raw_item collab_agent_interaction_begin "
    "collab_agent_interaction_end collab_agent_spawn_begin collab_agent_spawn_end collab_close_begin "
    "collab_close_end collab_waiting_begin collab_waiting_end context_compacted dynamic_tool_call_request "
    "dynamic_tool_call_response entered_review_mode exec_command_begin exec_command_end exec_command_output_delta "
    "exited_review_mode guardian_assessment image_generation_begin image_generation_end item_completed "
    "item_started mcp_tool_call_begin mcp_tool_call_end patch_apply_begin patch_apply_end plan_update "
    "session_configured stream_error sub_agent_activity task_complete task_started thread_goal_updated "
    "thread_name_updated thread_rolled_back thread_settings_applied token_count turn.completed turn.started "
    "turn_aborted turn_complete turn_diff turn_started undo_completed undo_started view_image_tool_call warning "
    "web_search_begin web_search_end"
)
_NEAR = 32


def read_codex(file: BinaryIO, hints: SourceHints) -> Iterator[SessionStream]:
    """The one session of a rollout."""
    header = SessionHeader("", channel="codex", agent=hints.agent or "main", format="codex")
    stream = SessionStream(header, iter(()))
    meta, walk = look_ahead(
        records(file, stream),
        lambda record: mapping(record.get("payload")) if record.get("type") == "session_meta" else None,
    )
    meta = meta or {}
    header.id = name_of(meta.get("id")) or hints.name.partition(".jsonl")[0]
    header.timestamp = to_ms(meta.get("timestamp"))
    for key in ("cwd", "cli_version", "originator", "source", "model_provider"):
        if value := name_of(meta.get(key), 1_000):
            header.metadata[key] = value
    stream.turns = _Reader(stream).turns(walk)
    yield stream


def _pictures(payload: Mapping[str, Any]) -> list[str]:
    paths = [path for key in ("images", "local_images") if isinstance(payload.get(key), list) for path in payload[key]]
    return [picture({"type": "image", "image_url": path}) for path in paths if isinstance(path, str)]


class Twins:
    """Pairs each message sent to the model with the event that showed it, so that one of the two is dropped."""

    def __init__(self) -> None:
        self._open: dict[str, deque[int]] = {"item": deque(maxlen=_NEAR), "event": deque(maxlen=_NEAR)}

    def is_second(self, source: str, turn: Turn) -> bool:
        """Whether this turn's twin from the other source came shortly before; if not, it waits for one."""
        mark = digest64(f"{turn.role}\n{(turn.text or turn.content).strip()}".encode("utf-8", "replace"))
        other = self._open["event" if source == "item" else "item"]
        if mark in other:
            other.remove(mark)
            return True
        self._open[source].append(mark)
        return False


class _Reader:
    """Reads one rollout."""

    def __init__(self, stream: SessionStream) -> None:
        self._stream = stream
        self._tally = Tally(stream.header)
        self._twins = Twins()
        self._thoughts = Thoughts()

    def turns(self, walk: Iterator[Record]) -> Iterator[Turn]:
        for line, record in walk:
            turn = self._read(record, line)
            if turn is not None:
                yield self._tally.turn(self._thoughts.give(turn))
        if (last := self._thoughts.rest()) is not None:
            yield self._tally.turn(last)
        self._tally.close()

    def _read(self, record: dict[str, Any], line: int) -> Turn | None:
        kind, payload = word_of(record.get("type")), record.get("payload")
        when = to_ms(record.get("timestamp"))
        if kind in _BOOKKEEPING:
            return None
        if not isinstance(payload, dict):
            if kind and "payload" in record:
                self._stream.skip(line, "the payload is not an object")
            else:
                skip_unknown(self._stream, line, "type", kind)
            return None
        if kind == "response_item":
            turn = item_turn(payload, when, line, self._stream, self._thoughts)
            twin = turn is not None and payload.get("type") == "message" and turn.kind is TurnKind.MESSAGE
            return None if twin and turn is not None and self._twins.is_second("item", turn) else turn
        if kind == "event_msg":
            return self._event(payload, when, line)
        if kind == "compacted":
            summary = text_of(payload.get("message"))
            return Turn("system", summary, when, TurnKind.SUMMARY, name="compacted") if summary else None
        if kind == "turn_context":
            self._tally.model = name_of(payload.get("model")) or self._tally.model
        elif kind != "session_meta":
            skip_unknown(self._stream, line, "type", kind)
        return None

    def _event(self, payload: Mapping[str, Any], when: int | None, line: int) -> Turn | None:
        kind = word_of(payload.get("type"))
        if kind in ("user_message", "agent_message"):
            said = text_of(payload.get("message"))
            role, read = ("user", read_user) if kind == "user_message" else ("assistant", read_assistant)
            reading = read(said)
            content = "\n".join([said, *_pictures(payload)] if said else _pictures(payload))
            turn = Turn(role, content, when, reading.kind, reading.text, thinking=reading.thinking, name=reading.name)
            if not content or (turn.kind is TurnKind.MESSAGE and self._twins.is_second("event", turn)):
                return None
            return turn
        if kind == "agent_reasoning":
            self._thoughts.add(text_of(payload.get("text")), when)
        elif kind == "error":
            problem = payload.get("message") or mapping(payload.get("error")).get("message")
            return Turn("assistant", text_of(problem) or "error", when, TurnKind.FAILED)
        elif kind == "token_count":
            total = mapping(mapping(payload.get("info")).get("total_token_usage")).get("total_tokens")
            if isinstance(total, int) and not isinstance(total, bool):
                self._tally.tokens = max(self._tally.tokens, total)
        elif kind not in _QUIET_EVENTS:
            skip_unknown(self._stream, line, "event", kind)
        return None
