"""What stored data looks like to a person: every string from a memory passes here before a widget sees it.

Nothing here is markup: functions answer plain `str` for cells of a list, or `Content` built from literal text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from alaya_core.clock import DAY_MS, local
from alaya_core.errors import AlayaError
from alaya_core.text import safe_line, safe_text

LINE_LIMIT = 500
"""Characters of a line that are looked at; no screen is wider."""

TEXT_LIMIT = 20_000
"""Characters of a text that are shown at once."""

ABSENT = "(no title)"

# Terminals disagree about how wide a joined or re-styled emoji is, and a wrong guess shifts the rest of the line; its
# parts have one width everywhere. Between letters (Persian, Indic scripts) a joiner stays.
_EMOJI_GLUE = re.compile("\u200d(?=[\u2190-\u2bff\U0001f000-\U0001faff])|[\ufe0e\ufe0f\U000e0020-\U000e007f]")
_ZERO_WIDTH = re.compile("[\u200b\u2060\ufeff\u00ad]")


def line(text: str, limit: int = LINE_LIMIT) -> str:
    """Stored text on one line, harmless, at most `limit` characters of it."""
    return _ZERO_WIDTH.sub("", _EMOJI_GLUE.sub("", safe_line(text[: limit * 2])[:limit]))


def title(text: str, limit: int = LINE_LIMIT) -> str:
    """A card's title on one line; never empty, so that a row can always be seen."""
    return line(text, limit) or ABSENT


def block(text: str, limit: int = TEXT_LIMIT) -> str:
    """Stored text on many lines, harmless; says how much is left out beyond `limit`."""
    shown = _EMOJI_GLUE.sub("", safe_text(text[:limit])).expandtabs(4)
    return shown if len(text) <= limit else f"{shown}\n\n... {count(len(text) - limit)} more characters"


def fit(text: str, width: int, *, right: bool = False) -> str:
    """A harmless line clipped (with dots) or filled to exactly `width` cells."""
    if width <= 0:
        return ""
    used = cell_len(text)
    if used > width:
        dots = "..." if width > 6 else ""
        return set_cell_size(text, width - len(dots)) + dots
    filling = " " * (width - used)
    return filling + text if right else text + filling


def count(number: int) -> str:
    """8512 -> `8,512`."""
    return f"{number:,}"


def share(value: float) -> str:
    """A number in 0..1 in three cells: `.92`, `1.0`."""
    if not 0 <= value < 1e6:  # a broken store may hold anything, NaN too
        return " ? "
    rounded = f"{value:.2f}"
    return rounded[1:] if rounded.startswith("0.") else rounded[:3]


def age(at: int | None, now: int) -> str:
    """How long ago, in at most four cells; never negative."""
    if at is None:
        return ""
    passed = max(0, now - at)
    for unit, name in ((365 * DAY_MS, "y"), (DAY_MS, "d"), (3_600_000, "h"), (60_000, "m")):
        if passed >= unit:
            return f"{passed // unit}{name}" if passed // unit < 1000 else "old"
    return "now"


def day_and_age(at: int | None, now: int) -> str:
    """`2026-03-31 (2d)`."""
    return "never" if at is None else f"{local(at, '%Y-%m-%d')} ({age(at, now)})"


def tier_letter(tier: str) -> str:
    """H, W or C; colour never says it alone."""
    return line(tier)[:1].upper() or "?"


def tier_colour(tier: str) -> str:
    """The theme's colour of a tier, as a style of `Content`."""
    return {"HOT": "$text-error", "WARM": "$text-warning", "COLD": "$text-primary"}.get(tier, "$foreground-muted")


def home_name(home: Path | str) -> str:
    """A home as a person writes it."""
    text = str(home)
    own = str(Path.home())
    return line("~" + text[len(own) :] if text == own or text.startswith(own + "/") else text)


_RELATIONS = {
    ("DEPENDS_ON", "out"): "depends on",
    ("DEPENDS_ON", "in"): "needed by",
    ("CAUSED_BY", "out"): "caused by",
    ("CAUSED_BY", "in"): "causes",
    ("TEMPORAL_NEXT", "out"): "next",
    ("TEMPORAL_NEXT", "in"): "before",
    ("SIMILAR_TO", ""): "similar",
    ("CONTRADICTS", ""): "contradicts",
    ("RELATES_TO", ""): "related",
}
RELATION_ORDER = list(_RELATIONS.values())


def relation_words(relation: str, direction: str) -> str:
    """A relation as the card on the screen sees it: `depends on`, `needed by`."""
    words = _RELATIONS.get((relation, direction)) or _RELATIONS.get((relation, ""))
    return words or line(relation.replace("_", " ").lower(), 40)


def turns_words(turns: Iterable[int]) -> str:
    """`turn 3`, `turns 3-5, 9`."""
    numbers = sorted(set(turns))
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    told = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs[:8])
    more = f" and {len(runs) - 8} more" if len(runs) > 8 else ""
    return f"{'turn' if len(numbers) == 1 else 'turns'} {told}{more}"


def why_lines(why: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The stages of a score, each with its value, in the order the core names them."""
    lines: list[tuple[str, str]] = []
    for stage, value in why.items():
        if isinstance(value, Mapping):
            told = "  ".join(f"{line(str(name), 40)} {_told(part)}" for name, part in value.items())
        elif isinstance(value, list | tuple):
            told = ", ".join(_told(part) for part in value)
        else:
            told = _told(value)
        if told:
            lines.append((line(str(stage).replace("_", " "), 40), told))
    return lines


def _told(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    return "" if value is None else line(str(value), 120)


def joined(parts: Iterable[str | tuple[str, str]], gap: str = "  ") -> Content:
    """Pieces of literal text side by side, empty ones left out; a pair is a text and its style."""
    shown = [part for part in parts if (part if isinstance(part, str) else part[0])]
    pieces: list[str | tuple[str, str]] = []
    for index, part in enumerate(shown):
        if index:
            pieces.append(gap)
        pieces.append(part)
    return Content.assemble(*pieces) if pieces else Content("")


def error_sentence(error: Exception) -> tuple[str, str]:
    """What went wrong and what to do, harmless (messages quote file names and stored text)."""
    if isinstance(error, AlayaError):
        return block(error.message, 1000), block(error.hint, 1000)
    if isinstance(error, PermissionError):
        sentence = f"no permission to use {error.filename}" if error.filename else "no permission to use the home"
        return block(sentence, 1000), "it belongs to somebody else; open another home with --home FOLDER"
    return block(f"{type(error).__name__}: {error}", 1000), ""
