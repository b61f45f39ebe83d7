"""A session in words: its one-paragraph summary, and its readable form. Secrets are masked in both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from alaya_core import secrets
from alaya_core.clock import iso, local
from alaya_core.models.session import SessionHeader, SessionInfo, Turn, TurnKind
from alaya_core.text import clip, safe_line, safe_text

_SHOWN = 2_000


class Summary:
    """Gathers a session's summary while its turns pass by."""

    def __init__(self) -> None:
        self._roles: Counter[str] = Counter()
        self._first = ""
        self._last = ""

    def add(self, turn: Turn) -> None:
        """Looks at one more turn."""
        self._roles[turn.role] += 1
        if turn.kind is TurnKind.MESSAGE and turn.role == "user" and turn.text.strip():
            self._last = turn.text[:500]
            self._first = self._first or self._last

    def text(self, header: SessionHeader) -> str:
        """One paragraph: how many turns, where and when, how it begins and ends."""
        roles = ", ".join(f"{count} {role}" for role, count in self._roles.most_common())
        where = f"{header.channel} with {header.agent}"
        when = local(header.timestamp or 0)
        parts = [f"{sum(self._roles.values())} turns ({roles or 'none'}) on {when}, {where}."]
        title = header.metadata.get("title")
        if isinstance(title, str) and title.strip():
            parts.append(f"Titled: {_said(title)}.")
        if self._first:
            parts.append(f'Begins: "{_said(self._first)}".')
        if self._last and self._last != self._first:
            parts.append(f'Ends: "{_said(self._last)}".')
        return " ".join(parts)


def markdown(info: SessionInfo, turns: Iterable[Turn]) -> Iterator[str]:
    """A session as Markdown, a piece at a time; long tool output is cut, and says where the rest is."""
    yield f"# {safe_line(info.id)}\n\n"
    yield f"- time: {iso(info.timestamp)}\n- channel: {safe_line(info.channel)}\n- agent: {safe_line(info.agent)}\n"
    yield f"- turns: {info.turns}\n- format: {info.format}\n\n{info.summary}\n"
    for number, turn in enumerate(turns):
        when = f" · {iso(turn.timestamp)}" if turn.timestamp is not None else ""
        kind = "" if turn.kind is TurnKind.MESSAGE else f" ({turn.kind})"
        yield f"\n## [{number}] {turn.role}{kind}{when}\n\n"
        shown = turn.content if turn.kind is TurnKind.MESSAGE else turn.content[:_SHOWN]
        yield ("(erased)" if _is_erased(turn) else secrets.mask(safe_text(shown))) + "\n"
        if len(shown) < len(turn.content):
            yield f"\n({len(turn.content) - len(shown)} more characters in the .json beside this file)\n"
        for call in turn.tool_calls:
            yield f"\n> called {safe_line(call.name)}\n"


def _is_erased(turn: Turn) -> bool:
    return turn.extra.get("erased") is True and not turn.content


def _said(text: str) -> str:
    return clip(safe_line(secrets.mask(text)), 160)
