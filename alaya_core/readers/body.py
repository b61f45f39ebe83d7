"""The content of a message, whatever its spelling: a string, a list of blocks, nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from alaya_core.models.session import ToolCall
from alaya_core.readers.fields import clean, compact_json, decoded, human_size, mapping, name_of, text_of

_TEXT = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal"})
_CALL = frozenset({"toolCall", "tool_use", "server_tool_use", "mcp_tool_use"})
_IMAGE = frozenset({"image", "input_image", "image_url"})
_SILENT = frozenset({"redacted_thinking", "encrypted_content", "fallback"})


@dataclass(slots=True)
class Body:
    """A message taken apart.

    Attributes:
        lines: All that is to be seen of it, pictures as a line each.
        texts: What somebody wrote.
        thinking: The model's reasoning.
        calls: Tools called.
        results: Blocks that hold a tool's result.
    """

    lines: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    results: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def content(self) -> str:
        """All lines as one text."""
        return "\n".join(self.lines)

    @property
    def text(self) -> str:
        """All that was written, as one text."""
        return "\n".join(self.texts)

    @property
    def reasoning(self) -> str:
        """All of the thinking as one text."""
        return "\n".join(self.thinking)


def read_body(content: Any) -> Body:
    """Takes a message's content apart; anything that is no content gives an empty body."""
    body = Body()
    if isinstance(content, dict):
        content = [content]
    if isinstance(content, str):
        content = [content] if content else []
    for block in content if isinstance(content, list) else []:
        _read_block(block, body)
    return body


def _read_block(block: Any, body: Body) -> None:
    if isinstance(block, str):
        _add_text(block, body)
        return
    if not isinstance(block, dict):
        return
    kind = block.get("type")
    if not isinstance(kind, str):
        _add_text(block.get("text"), body)
    elif kind in _TEXT:
        _add_text(block.get("text", block.get("refusal")), body)
    elif kind == "thinking":
        if thought := text_of(block.get("thinking")):
            body.thinking.append(thought)
    elif kind in _CALL:
        body.calls.append(tool_call(block))
    elif kind.endswith("tool_result"):
        body.results.append(block)
    elif kind in _IMAGE or kind == "document":
        body.lines.append(picture(block))
    elif kind not in _SILENT:
        body.lines.append(f"[block: {name_of(kind, 60)}]")


def _add_text(text: Any, body: Body) -> None:
    if written := text_of(text):
        body.lines.append(written)
        body.texts.append(written)


def tool_call(block: Mapping[str, Any]) -> ToolCall:
    """A tool call of any spelling (`toolCall`, `tool_use`, OpenAI's `function`)."""
    function = mapping(block.get("function"))
    name = name_of(block.get("name")) or name_of(function.get("name"))
    key = name_of(block.get("id")) or name_of(block.get("call_id"))
    for where in (block, function):
        for spelling in ("arguments", "input", "args"):
            if spelling in where:
                arguments = where[spelling]
                return ToolCall(key, name, decoded(arguments))
    return ToolCall(key, name)


def result_text(content: Any) -> str:
    """What a tool printed: text as it is, blocks by their text, other values as JSON."""
    if content is None:
        return ""
    if isinstance(content, str):
        return text_of(content)
    if isinstance(content, list) and all(isinstance(item, dict) and "type" in item for item in content):
        return read_body(content).content
    if isinstance(content, dict) and isinstance(content.get("type"), str) and "text" in content:
        return read_body(content).content
    return compact_json(clean(content))


def picture(block: Mapping[str, Any]) -> str:
    """One line that stands for a picture or document: its kind and size, never its bytes."""
    what = "document" if block.get("type") == "document" else "image"
    source = mapping(block.get("source")) or mapping(block.get("image_url")) or block
    mime = source.get("mimeType") or source.get("media_type") or block.get("mimeType")
    data = source.get("data")
    url = source.get("url") or block.get("image_url")
    if isinstance(url, str) and url.startswith("data:"):
        head, _, data = url.partition(",")
        mime = mime or head[5:].partition(";")[0]
    elif isinstance(url, str) and data is None:
        return f"[{what}: {name_of(url, 300)}]"
    return sized(what, name_of(mime, 60), data)


def sized(what: str, mime: str, data: Any) -> str:
    """`[image: image/png, 1.2 MB]` for base64 data of any size."""
    size = human_size(len(data) * 3 // 4 - data[-2:].count("=")) if isinstance(data, str) and data else ""
    about = ", ".join(part for part in (mime, size) if part)
    return f"[{what}: {about}]" if about else f"[{what}]"
