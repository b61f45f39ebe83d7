"""Sessions cut to what a model reads at once, and small ones put together. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

_MOST_SESSIONS = 6
"""In one request: an answer about more of them grows too long."""
_LINE_COST = 8
_SESSION_COST = 40
_LONGEST_SHARE = 2
_LEFT_OUT = " [...] "


@dataclass(frozen=True, slots=True)
class Line:
    """What was said in one turn, as a model is shown it.

    Attributes:
        who: The role or name of the speaker, on one line.
        person: Whether it is not an assistant.
        tokens: About how many it takes, the number and speaker too.
    """

    turn: int
    who: str
    text: str
    person: bool
    tokens: int


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive turns of one session.

    Attributes:
        session: Its id.
        time: When the session began, ms.
    """

    session: str
    time: int
    lines: tuple[Line, ...]

    @property
    def tokens(self) -> int:
        """About how many it takes in a request."""
        return _SESSION_COST + sum(line.tokens for line in self.lines)

    @property
    def turns(self) -> frozenset[int]:
        """The numbers of its turns."""
        return frozenset(line.turn for line in self.lines)

    def halves(self) -> tuple[Window, ...]:
        """The window as two; as it is when it has one turn."""
        middle = len(self.lines) // 2
        parts = (self.lines[:middle], self.lines[middle:])
        return tuple(replace(self, lines=part) for part in parts) if middle else (self,)


def line_of(turn: int, who: str, text: str, *, person: bool, budget: int, count: Callable[[str], int]) -> Line:
    """A turn as a line; of a text longer than half a request its head and tail.

    Args:
        budget: Tokens of a request.
        count: About how many tokens a text is.
    """
    most = max(50, budget // _LONGEST_SHARE)
    tokens = count(text)
    if tokens > most:
        # Per character as dear as the whole text is on average; what is pasted says least in its middle.
        keep = max(40, len(text) * most // tokens)
        text = text[: keep * 3 // 4] + _LEFT_OUT + text[-(keep // 4) :]
        tokens = count(text)
    return Line(turn, who, text, person, tokens + _LINE_COST)


def windows_of(session: str, time: int, lines: Sequence[Line], budget: int) -> list[Window]:
    """A session's lines as windows of at most so many tokens each, in order; a line is never parted."""
    windows: list[Window] = []
    part: list[Line] = []
    used = _SESSION_COST
    for line in lines:
        if part and used + line.tokens > budget:
            windows.append(Window(session, time, tuple(part)))
            part, used = [], _SESSION_COST
        part.append(line)
        used += line.tokens
    if part:
        windows.append(Window(session, time, tuple(part)))
    return windows


def fits(batch: Sequence[Window], window: Window, budget: int) -> bool:
    """Whether a small session may go into the same request as others."""
    return not batch or (len(batch) < _MOST_SESSIONS and sum(one.tokens for one in (*batch, window)) <= budget)
