"""A session made ready for a model: what may be sent of it, in parts, and whether that is worth a request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from alaya_core import secrets
from alaya_core.errors import ConfigError
from alaya_core.models.session import Turn
from alaya_core.progress import CancelToken
from alaya_core.services.distill.classify import emphasis
from alaya_core.services.distill.noise import Noise
from alaya_core.services.distill.reading import Learnable, Unread, learnable
from alaya_core.services.distill.rules import distill_by_rules, is_noise
from alaya_core.services.distill.subjects import is_chinese
from alaya_core.services.distill.windows import Line, Window, line_of, windows_of
from alaya_core.services.distill.worth import Measures, Verdict, worthwhile
from alaya_core.services.workspace import Workspace
from alaya_core.text import safe_line, storable, without_escapes

_STRONG = 0.8
_NAME = 40
_LOOKED_AT = 20_000
_LONGEST_TEMPLATE = 100_000
TEMPLATE = "distill.txt"


@dataclass(frozen=True, slots=True)
class Session:
    """A session that is to be sent.

    Attributes:
        windows: Its parts, at least one.
        times: When its turns took place, ms, where they say.
    """

    one: Unread
    windows: tuple[Window, ...]
    times: dict[int, int]

    @property
    def persons(self) -> frozenset[int]:
        """The turns in which somebody else than an assistant speaks."""
        return frozenset(line.turn for window in self.windows for line in window.lines if line.person)

    def stressed(self) -> dict[int, float]:
        """The turns in which a person stresses what they say, and how much that adds to its importance."""
        lines = (line for window in self.windows for line in window.lines if line.person)
        return {line.turn: added for line in lines if (added := emphasis(line.text)) > 0}

    def said_by_persons(self) -> list[str]:
        """What was said in them."""
        return [line.text for window in self.windows for line in window.lines if line.person]


class Preparing:
    """Makes sessions ready.

    Attributes:
        template: The instructions that somebody wrote; None = the built-in ones.

    Raises:
        ConfigError: The file of instructions that the config names cannot be read.
    """

    def __init__(self, workspace: Workspace, noise: Noise, cancel: CancelToken) -> None:
        self._work = workspace
        self._noise = noise
        self._cancel = cancel
        self.template = _template(workspace)

    def session(self, one: Unread) -> tuple[Session | None, Verdict, str]:
        """A session, or what becomes of it else, and why.

        Raises:
            AlayaError: It cannot be read.
        """
        settings = self._work.config.distill
        read = learnable(self._work, one)
        lines, noise = self._lines(read.turns, settings.input_tokens)
        found = Measures(
            messages=len(lines),
            tokens=sum(line.tokens for line in lines),
            noise=noise,
            tools=read.tools,
            last=read.last,
        )
        limits = {"min_tokens": settings.min_session_tokens, "min_messages": settings.min_messages}
        verdict, reason = worthwhile(found, **limits, now=self._work.clock())
        if verdict is not Verdict.SEND and _is_strong(read, one):
            verdict, reason = worthwhile(replace(found, strong=True), **limits, now=self._work.clock())
        if verdict is not Verdict.SEND:
            return None, verdict, reason
        windows = windows_of(one.info.id, one.info.timestamp, lines, settings.input_tokens)
        times = {number: turn.timestamp for number, turn in read.turns if turn.timestamp is not None}
        return Session(one, tuple(windows), times), verdict, ""

    def chinese(self, windows: Sequence[Window]) -> bool:
        """Whether what is sent is mostly Chinese."""
        return is_chinese(" ".join(line.text for window in windows for line in window.lines)[:_LOOKED_AT])

    def _lines(self, turns: Sequence[tuple[int, Turn]], budget: int) -> tuple[list[Line], int]:
        """What is to be sent, without secrets and small talk, and how many messages are small talk."""
        from alaya_core.providers.pieces import estimate_tokens

        said = [(number, turn, _masked(turn.text)) for number, turn in turns if not is_noise(turn.text)]
        asked = [place for place, (_, turn, _) in enumerate(said) if turn.role != "assistant"]
        small = self._noise.among([said[place][2] for place in asked], self._cancel)
        left_out = {asked[place] for place in small}
        lines = [
            line_of(
                number,
                safe_line(_masked(turn.name))[:_NAME] or turn.role,
                text,
                person=turn.role != "assistant",
                budget=budget,
                count=estimate_tokens,
            )
            for place, (number, turn, text) in enumerate(said)
            if place not in left_out and text
        ]
        return lines, len(left_out) + len(turns) - len(said)


def _is_strong(read: Learnable, one: Unread) -> bool:
    """Whether the rules hear something of weight."""
    heard = distill_by_rules(read.turns, session_id=one.info.id, session_time=one.info.timestamp)
    return any(card.importance >= _STRONG for card in heard.cards)


def _masked(text: str) -> str:
    return secrets.mask(without_escapes(storable(text))).strip()


def _template(workspace: Workspace) -> str | None:
    named = workspace.config.distill.prompt_template
    path = Path(named).expanduser() if named else workspace.home.prompts / TEMPLATE
    if not named and not path.exists():
        return None
    try:
        text = path.read_text(encoding="utf-8-sig")[:_LONGEST_TEMPLATE].strip()
    except (OSError, ValueError, RuntimeError) as error:
        raise ConfigError(
            f"the instructions in {path} cannot be read: {error}", "see distill.prompt_template"
        ) from None
    if not text:
        raise ConfigError(f"the instructions in {path} are empty", "remove the file for the built-in ones")
    return text
