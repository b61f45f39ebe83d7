"""Turns made searchable: each a passage, a long one several. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from alaya_core import secrets, words
from alaya_core.models.session import Turn, TurnKind
from alaya_core.stores.passage_columns import ASKS, HAN, TIMED
from alaya_core.text import storable, without_escapes

PASSAGE_TOKENS = 200
"""About how many tokens a passage has at most."""

_SENTENCE_END = re.compile(r"(?<=[.!?;。！？；…])\s*|\n+")


_ASKS = re.compile(r"[?？][\s\"'”’)）\]】]*$")
_TIMED = re.compile(
    r"""
      \b(?: yesterday | today | tonight | tomorrow | last | next | ago | weeks? | weekend | months? | years? | recently
          | since | just | (?:mon|tues|wednes|thurs|fri|satur|sun)day
          | january | february | march | april | may | june | july | august | september | october | november | december
          | (?:19|20)\d\d )\b
    | \d{1,2}:\d\d | \d+\s*[年月日号点] | [昨今明前后][天日晚早] | [上下这本][个]?(?:周|月|星期|礼拜|年) | [去今明前]年
    | (?:周|星期|礼拜)[一二三四五六日天末] | 最近 | 刚[刚才] | 以前 | 之前
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CHINESE = re.compile("[\u3400-\u9fff]")
_UNNAMED = frozenset({"user", "assistant", "human", "ai", "tool", "system", "model", "bot"})


def passage_rows(
    session_id: str, number: int, turn: Turn, scope: str, tool_characters: int, said: int = 0
) -> Iterator[dict[str, Any]]:
    """The passages of one turn as rows; none for turns that must not be searched.

    Args:
        number: The turn's number in its session.
        scope: Whose memory it is.
        tool_characters: Of a tool's output, how many characters are searched.
        said: How many turns of the session were said before it.
    """
    text = searched_text(turn, tool_characters)
    name = speaker(turn)
    for piece, part in enumerate(cut(text)):
        yield {
            "id": f"{session_id}#{number}.{piece}",
            "session_id": session_id,
            "turn": number,
            "piece": piece,
            "role": turn.role,
            "kind": str(turn.kind),
            "name": name,
            "said": said,
            "marks": marks(part),
            "text": part,
            "words": words.normalise(f"{name} {_day(turn, part)} {part}"),
            "scope": scope,
            "timestamp": turn.timestamp,
        }


def speaker(turn: Turn) -> str:
    """The name of who speaks; empty for tools, and where the log only says which role it was."""
    name = storable(without_escapes(turn.name)).strip()[:80]
    return "" if turn.kind is TurnKind.TOOL or name.casefold() in _UNNAMED else secrets.mask(name)


def text_to_embed(name: str, text: str) -> str:
    """What the vector of a passage stands for: who speaks belongs to it."""
    return f"{name}: {text}" if name else text


def marks(text: str) -> int:
    """Whether a text asks, whether it tells a time, whether it is Chinese, as flags."""
    asks, timed, han = _ASKS.search(text[-40:]), _TIMED.search(text), _CHINESE.search(text)
    return (ASKS if asks else 0) | (TIMED if timed else 0) | (HAN if han else 0)


def _day(turn: Turn, text: str) -> str:
    """The day of a turn in the words that a question may use for it."""
    if turn.timestamp is None or turn.kind is TurnKind.TOOL:
        return ""
    try:
        day = datetime.fromtimestamp(turn.timestamp / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return ""
    if _CHINESE.search(text):
        return f"{day.year}年{day.month}月{day.day}日"
    return f"{day.day} {day:%B} {day.year}"


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


def beginning(text: str, room: int, *, whole: bool = True) -> str:
    """The longest beginning of a text that takes at most `room` tokens, cut at a blank where one is near.

    Args:
        whole: Whether the text is there to its end; if not, its last word may be half of one.
    """
    quarters, end = 4 * room, 0
    for char in text:
        quarters -= 4 * estimated_tokens(char) if char > "\u2e80" else 1
        if quarters < 0:
            break
        end += 1
    if whole and end == len(text):
        return text
    cut = text[:end]
    blank = cut.rfind(" ")
    return (cut[:blank] if blank > 0.8 * end else cut).rstrip()


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
