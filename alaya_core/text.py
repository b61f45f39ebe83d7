"""Stored text made harmless and measurable: every byte from a file or a model is hostile until it has passed here."""

from __future__ import annotations

import re
import unicodedata

_SEQUENCE = re.compile(
    r"""
      \x1b\[ [0-?]* [ -/]* [@-~]                      # CSI
    | \x1b[PX^_\]] .*? (?: \x1b\\ | \x07 | \x9c | $ )  # DCS, SOS, PM, APC, OSC
    """,
    re.VERBOSE | re.DOTALL,
)
_BIDI = dict.fromkeys([*range(0x200E, 0x2010), *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x061C])
_CONTROL = {code: chr(0x2400 + code) for code in range(0x20) if code not in (0x09, 0x0A)}
_CONTROL |= {0x7F: "\u2421"} | {code: f"<{code:02X}>" for code in range(0x80, 0xA0)}
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def safe_text(text: str) -> str:
    """Stored text as a terminal may see it: nothing in it acts, and nothing in it vanishes without a sign.

    Control characters become their visible pictures (ESC is shown as `\u241b`), bidirectional overrides are dropped,
    lone surrogates become U+FFFD; `\\r\\n` and `\\r` become newlines; newlines and tabs stay.
    """
    if not _UNSAFE.search(text):
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = text.translate(_BIDI).translate(_CONTROL)
    return _SURROGATE.sub("\ufffd", text)


def safe_line(text: str) -> str:
    """`safe_text` on one line: newlines and tabs become single spaces."""
    return " ".join(safe_text(text).split())


def without_escapes(text: str) -> str:
    """Text without terminal escape sequences, for words and distillation: what a tool coloured, people read plain."""
    return _SEQUENCE.sub("", text) if "\x1b" in text else text


def storable(text: str) -> str:
    """Text that every store can hold: lone surrogates become U+FFFD, NUL becomes its picture."""
    if "\x00" in text:
        text = text.replace("\x00", "\u2400")
    return _SURROGATE.sub("\ufffd", text)


def char_cells(char: str) -> int:
    """Terminal cells a character takes: 0, 1 or 2."""
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def cells(text: str) -> int:
    """Terminal cells a line of text takes."""
    return len(text) if text.isascii() else sum(map(char_cells, text))


def clip(text: str, width: int, ellipsis: str = "...") -> str:
    """A line cut to at most `width` cells, ending in an ellipsis if anything was cut."""
    if cells(text) <= width:
        return text
    room = max(0, width - cells(ellipsis))
    taken = 0
    for index, char in enumerate(text):
        taken += char_cells(char)
        if taken > room:
            return text[:index].rstrip() + ellipsis[:width]
    return text


def pad(text: str, width: int) -> str:
    """A line clipped and filled with spaces to exactly `width` cells."""
    clipped = clip(text, width)
    return clipped + " " * (width - cells(clipped))


def counted(number: int, noun: str) -> str:
    """`1 card`, `2 cards`, `3 days`, `4 bodies`."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{number:,} {noun.removesuffix('y')}ies"
    return f"{number:,} {noun}s"
