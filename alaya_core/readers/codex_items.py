"""Items of Codex's conversations, as they are sent to the model; the same in new and old rollouts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from alaya_core.models.session import SessionStream, ToolCall, Turn, TurnKind
from alaya_core.readers.body import read_body, result_text, sized, tool_call
from alaya_core.readers.fields import clean, compact_json, decoded, mapping, name_of, text_of, word_of
from alaya_core.readers.injected import read_assistant, read_user, without_memory
from alaya_core.readers.jsonl import skip_unknown

_CALLS = frozenset({"function_call", "custom_tool_call", "tool_call", "mcp_call"})
_RESULTS = frozenset(
    {"function_call_output", "custom_tool_call_output", "tool_result", "function_result", "mcp_call_output"}
)
_QUIET = frozenset({"ghost_snapshot", "compaction", "compaction_summary", "context_compaction", "other"})


class Thoughts:
    """Reasoning on its way to the turn of the assistant that follows it."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._when: int | None = None

    def add(self, text: str, when: int | None) -> None:
        """Remembers a thought; the same one as item and as event counts once."""
        if text and text not in self._texts:
            self._texts.append(text)
            self._when = when

    def give(self, turn: Turn) -> Turn:
        """The turn with what was thought before it, if it is the assistant's."""
        if turn.role != "assistant" or not self._texts:
            return turn
        texts, self._texts = self._texts, []
        return replace(turn, thinking="\n".join([*texts, turn.thinking] if turn.thinking else texts))

    def rest(self) -> Turn | None:
        """A turn for thoughts that nothing followed."""
        return Turn("assistant", "", self._when, thinking="\n".join(self._texts)) if self._texts else None


def item_turn(
    item: Mapping[str, Any], when: int | None, line: int, stream: SessionStream, thoughts: Thoughts
) -> Turn | None:
    """The turn an item makes, if it makes one."""
    kind = word_of(item.get("type"))
    key = name_of(item.get("id"))
    if kind == "message" or (not kind and "role" in item):
        return message_turn(item, when, line, stream)
    if kind == "reasoning":
        for part in ("summary", "content"):
            thoughts.add(read_body(item.get(part)).text, when)
    elif kind in _CALLS:
        call = tool_call({**item, "id": item.get("call_id") or item.get("id")})
        return Turn("assistant", "", when, tool_calls=(call,), key=key)
    elif kind in _RESULTS:
        return _result(item, when, key)
    elif kind.endswith("_call"):
        return _named_call(kind.removesuffix("_call"), item, when, key)
    elif kind == "tool_search_output":
        return _tool(compact_json(clean(item.get("tools"))), when, key, item)
    elif kind == "agent_message":
        name = name_of(item.get("author"))
        return Turn("system", read_body(item.get("content")).content, when, TurnKind.INJECTED, name=name, key=key)
    elif kind not in _QUIET:
        skip_unknown(stream, line, "item", kind)
    return None


def message_turn(item: Mapping[str, Any], when: int | None, line: int, stream: SessionStream) -> Turn | None:
    """The turn of somebody speaking."""
    role = item.get("role")
    body = read_body(item.get("content", item.get("message")))
    key = name_of(item.get("id"))
    if role == "user":
        reading = read_user(body.text)
    elif role == "assistant":
        reading = read_assistant(body.text)
    elif role in ("developer", "system"):
        return Turn("system", body.content, when, TurnKind.INJECTED, key=key)
    elif role == "tool":
        return _tool(body.content, when, key, item)
    else:
        skip_unknown(stream, line, "role", role)
        return None
    return Turn(
        role, body.content, when, reading.kind, reading.text, thinking=reading.thinking, name=reading.name, key=key
    )


def _named_call(name: str, item: Mapping[str, Any], when: int | None, key: str) -> Turn:
    arguments = clean(item.get("arguments", item.get("action")))
    content = ""
    if name == "image_generation":
        arguments = {"prompt": text_of(item.get("revised_prompt"))}
        content = sized("image", "", item.get("result"))
    call = ToolCall(name_of(item.get("call_id")) or key, name, arguments)
    return Turn("assistant", content, when, tool_calls=(call,), key=key)


def _result(item: Mapping[str, Any], when: int | None, key: str) -> Turn:
    output = item.get("output", item.get("result", item.get("content")))
    wrapped = mapping(decoded(output)) if isinstance(output, str) else mapping(output)
    for part in ("output", "content"):
        if isinstance(wrapped.get(part), str | list):
            output = wrapped[part]
            break
    return _tool(result_text(output), when, key, item)


def _tool(content: str, when: int | None, key: str, item: Mapping[str, Any]) -> Turn:
    call_id = name_of(item.get("call_id")) or name_of(item.get("tool_call_id"))
    extra = {"tool_call_id": call_id} if call_id else {}
    text = without_memory(content)
    return Turn("tool", content, when, TurnKind.TOOL, text, name=name_of(item.get("name")), key=key, extra=extra)
