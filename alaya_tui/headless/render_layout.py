"""How text lies on the page: wrapping by terminal cells, numbers, ages, ids. Pure functions."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from alaya_core.clock import DAY_MS, system_clock
from alaya_core.text import cells, char_cells, clip, safe_line, safe_text

_OURS = re.compile(r"card-[0-9a-f]{32}")
SHORT_ID = len("card-") + 8
WHOLE_PREVIEW = 240  # cells, where no edge says how long a line may be


@dataclass(frozen=True, slots=True)
class Page:
    """Where an answer is laid out.

    Attributes:
        width: Cells a line may take; None when it is no terminal, and lines stay whole.
        colour: Whether bold and dim may be used.
        now: The present, for ages.
        call: How the command line is called on this home, for the commands that answers suggest.
    """

    width: int | None = None
    colour: bool = False
    now: int = field(default_factory=system_clock)
    call: str = "alaya"

    def bold(self, text: str) -> str:
        """Text that the eye should find first."""
        return f"\x1b[1m{text}\x1b[22m" if self.colour and text else text

    def dim(self, text: str) -> str:
        """Text that may be passed over."""
        return f"\x1b[2m{text}\x1b[22m" if self.colour and text else text

    def clip(self, text: str, indent: int = 0) -> str:
        """Stored text on one line, cut at the edge."""
        line = one_line(text)
        return clip(line, max(8, self.width - indent)) if self.width else line

    def block(self, text: str, indent: int = 0, *, most: int | None = None) -> list[str]:
        """Stored text, wrapped and indented; `most` lines of it, the last marked if it was cut."""
        out: list[str] = []
        for line in safe_text(text).strip("\n").split("\n"):
            out += wrap(line, max(8, self.width - indent)) if self.width else [line.rstrip()]
            if most and len(out) > most:
                last = out[most - 1]
                out = [*out[: most - 1], (clip(last, self.width - indent - 4, "") if self.width else last) + " ..."]
                break
        return [(" " * indent + line).rstrip() for line in out]

    def preview(self, text: str, indent: int = 0, lines: int = 3) -> list[str]:
        """The beginning of stored text, its own line breaks and blanks given up."""
        line = safe_line(text)
        begin = clip(line, WHOLE_PREVIEW)
        return self.block(begin, indent, most=lines) if self.width else [" " * indent + begin]

    def item(self, lead: str, text: str) -> list[str]:
        """A leading mark and stored text beside it, wrapped to hang under its own start."""
        indent = cells(lead)
        first, *rest = self.block(one_line(text), indent) or [""]
        return [lead + first[indent:], *rest]


def wrap(line: str, width: int) -> list[str]:
    """Cuts a line into pieces of at most `width` cells: at blanks, or beside characters that take two cells."""
    line = line.expandtabs(4)
    if cells(line) <= width:
        return [line.rstrip()]
    pieces: list[str] = []
    start = used = 0
    gap: int | None = None
    for index, char in enumerate(line):
        if index < start:
            continue
        size = char_cells(char)
        if used + size > width and index > start:
            cut = gap if gap is not None and gap > start else index
            pieces.append(line[start:cut].rstrip())
            start = cut
            while start < len(line) and line[start] == " ":
                start += 1
            used, gap = cells(line[start:index]), None
            if index < start:
                continue
        used += size
        if char == " " or size == 2 or (size == 0 and gap == index):
            gap = index + 1
    if start < len(line):
        pieces.append(line[start:].rstrip())
    return pieces


def one_line(text: str) -> str:
    """Text on one line, runs of blanks as they are: between our own columns they mean something."""
    return re.sub(r"\s*[\n\t\u2028\u2029]\s*", " ", safe_text(text)).strip()


def short(card_id: str) -> str:
    """The shortest form of an id that every command takes: card- and 8 characters; a foreign id stays whole."""
    return card_id[:SHORT_ID] if is_id(card_id) else safe_line(card_id)


def is_id(text: str) -> bool:
    """Whether a text is an id that Alaya gave."""
    return bool(_OURS.fullmatch(text))


def argument(text: str) -> str:
    """An id as it may be pasted into a shell."""
    return shlex.quote(short(text))


def call_on(home: str | None) -> str:
    """How to call the command line on a home that was named (the usual one needs no name)."""
    return f"alaya --home {shlex.quote(safe_line(home))}" if home else "alaya"


def listed(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)


def size(number: int) -> str:
    """Bytes as people say them."""
    value = float(number)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 10 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:,.1f} GB"


def age(moment: int | None, now: int) -> str:
    """How long ago, in the largest unit that fits; a moment in the future is `now`."""
    if moment is None:
        return "never"
    gone = max(0, now - moment)
    for unit, length in (("y", 365 * DAY_MS), ("d", DAY_MS), ("h", DAY_MS // 24), ("m", 60_000)):
        if gone >= length * (2 if unit == "y" else 1):
            return f"{gone // length}{unit}"
    return "now"


def ago(moment: int | None, now: int) -> str:
    """`3d ago`, `just now`, `never`."""
    told = age(moment, now)
    return {"now": "just now", "never": "never"}.get(told, f"{told} ago")


def ratio(value: float) -> str:
    """A number from 0 to 1 in three characters: `.81`, `1.0`."""
    told = f"{value:.2f}"
    return told.removeprefix("0") if told.startswith("0.") else f"{value:.1f}"


def tags(names: Iterable[str]) -> str:
    """`#telegram #通知`."""
    return " ".join(f"#{safe_line(name)}" for name in names)


def spans(numbers: Iterable[int]) -> str:
    """Turn numbers as ranges: `3-5, 9`."""
    out: list[list[int]] = []
    for number in sorted(set(numbers)):
        if out and number == out[-1][1] + 1:
            out[-1][1] = number
        else:
            out.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in out)


def reasons(pairs: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Equal reasons added up, the commonest first."""
    totals: dict[str, int] = {}
    for reason, number in pairs:
        totals[reason] = totals.get(reason, 0) + number
    return sorted(totals.items(), key=lambda pair: -pair[1])
