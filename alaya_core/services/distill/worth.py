"""Whether a session is worth a request to a model. No I/O."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from alaya_core.clock import DAY_MS

_OLD_MS = 7 * DAY_MS
_MOSTLY = 0.8


class Verdict(StrEnum):
    """What becomes of a session."""

    SEND = "send"
    WAIT = "wait"  # until it has grown
    DONE = "done"  # there is nothing in it


@dataclass(frozen=True, slots=True)
class Measures:
    """What is known of the turns of a session that were not read yet.

    Attributes:
        messages, tokens: Of what would be sent.
        noise: Messages that are small talk, and would not be.
        tools: Whether tools were at work.
        strong: Whether something in it is of weight by the rules: asked to be remembered, a preference, a danger.
        last: When its last turn took place, ms.
    """

    messages: int
    tokens: int
    noise: int = 0
    tools: bool = False
    strong: bool = False
    last: int = 0


def worthwhile(found: Measures, *, min_tokens: int, min_messages: int, now: int) -> tuple[Verdict, str]:
    """Whether to send it, and why not.

    Where tools were at work something was done, so half as many tokens will do. What is too short waits until it has
    grown, but for a week at most.

    Args:
        now: ms.
    """
    if not found.messages:
        return Verdict.DONE, "only small talk" if found.noise else "nothing in it that somebody said"
    if found.strong:
        return Verdict.SEND, ""
    if found.noise >= _MOSTLY * (found.noise + found.messages):
        return Verdict.DONE, f"mostly small talk: {found.noise} of {found.noise + found.messages} messages"
    enough = min_tokens // 2 if found.tools else min_tokens
    why = ""
    if found.tokens < enough:
        why = f"too short: {found.tokens} tokens of {enough}"
    elif found.messages < min_messages:
        why = f"too short: {found.messages} messages of {min_messages}"
    if not why:
        return Verdict.SEND, ""
    return (Verdict.DONE if now - found.last > _OLD_MS else Verdict.WAIT), why
