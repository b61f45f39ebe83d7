"""Turns made searchable: each a passage, a long one several. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from alaya_core import secrets, words
from alaya_core.models.session import Turn, TurnKind
from alaya_core.text import storable, without_escapes

PASSAGE_TOKENS = 200
"""About how many tokens a passage has at most."""

_SENTENCE_END = re.compile(r"(?<=[.!?;。！？；…])\s*|\n+")


def passage_rows(
    session_id: str, number: int, turn: Turn, scope: str, tool_characters: int
) -> Iterator[dict[str, Any]]:
    """The passages of one turn as rows; none for turns that must not be searched.

    Args:
        number: The turn's number in its session.
        scope: Whose memory it is.
        tool_characters: Of a tool's output, how many characters are searched.
    """
    text = searched_text(turn, tool_characters)
    for piece, part in enumerate(cut(text)):
        yield {
            "id": f"{session_id}#{number}.{piece}",
            "session_id": session_id,
            "turn": number,
            "piece": piece,
            "role": turn.role,
            "kind": str(turn.kind),
            "text": part,
            "words": words.normalise(part),
            "scope": scope,
            "timestamp": turn.timestamp,
        }


def searched_text(turn: Turn, tool_characters: int) -> str:
    """What of a turn is searched, secrets masked: all of what was said, the head and tail of what a tool printed."""
    text = storable(without_escapes(turn.text)).strip()
    if turn.kind is TurnKind.TOOL and len(text) > tool_characters:
        head = tool_characters * 3 // 4
        text = f"{text[:head]}\n...\n{text[-(tool_characters - head) :]}" if tool_characters else ""
    return secrets.mask(text)


def cut(text: str, tokens: int = PASSAGE_TOKENS) -> list[str]:
    """A text in parts of at most about `tokens` tokens, cut between sentences, a long sentence between words."""
    if estimated_tokens(text) <= tokens:
        return [text] if text else []
    parts: list[str] = []
    part = ""
    for sentence in _SENTENCE_END.split(text):
        for fragment in _fragments(sentence, tokens):
            if part and estimated_tokens(part) + estimated_tokens(fragment) > tokens:
                parts.append(part)
                part = ""
            part = f"{part} {fragment}" if part and fragment.isascii() else part + fragment
    return [*parts, part] if part else parts


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has: one for a CJK character, one for four others."""
    if text.isascii():
        return (len(text) + 3) // 4
    wide = sum(1 for char in text if char > "\u2e80")
    return wide + (len(text) - wide + 3) // 4


def _fragments(sentence: str, tokens: int) -> Iterator[str]:
    start, rest = 0, len(sentence)
    # Never a look at the whole rest: a line of many megabytes is cut in time that follows its length.
    while rest > tokens * 4 or estimated_tokens(sentence[start:]) > tokens:
        size = tokens * 4 if sentence[start : start + tokens * 4].isascii() else tokens
        at = sentence.rfind(" ", start + max(1, size // 2), start + size)
        at = start + size if at < 0 else at
        if part := sentence[start:at].strip():
            yield part
        start, rest = at, len(sentence) - at
    if last := sentence[start:].strip():
        yield last
