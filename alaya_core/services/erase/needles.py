"""Text that is to be gone, made findable: by runs of 16 characters, whatever case, width and spacing. No I/O."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

RUN = 16
"""Characters in a row, spaces not counted, that two texts share only when one quotes the other."""
ERASED = "[erased]"

_SHORTEST = 4
_SHORTEST_WITHIN = 8
_MOST_RUNS = 1_000_000
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|([nrtbf"\\/]))')
_SAID = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


class Needles:
    """Finds what some texts say in others.

    A text of 16 characters or more is found by any run of it, one of 8 or more by the whole of it, one of 4 or more
    where it stands alone; what is shorter says nothing by which it could be told. Of more than a million characters
    only every second, third ... run is known, so that memory stays bounded: longer quotes are found all the same.

    Args:
        texts: What is to be gone.
        kept: What is said elsewhere and stays: what both say is not looked for.
        names: Ids, found as whole words only.
    """

    def __init__(self, texts: Iterable[str], kept: Iterable[str] = (), names: Iterable[str] = ()) -> None:
        wanted = {normalised(text) for text in texts}
        self._step = 1 + sum(map(len, wanted)) // _MOST_RUNS
        self._short = {text for text in wanted if _SHORTEST <= len(text) < RUN}
        self._runs = {run for text in wanted for run in _runs(text, self._step)}
        for text in kept:
            said = normalised(text)
            self._runs.difference_update(_runs(said, 1))
            self._short = {short for short in self._short if short not in said}
        listed = sorted({name for name in names if name}, key=len, reverse=True)
        self._names = re.compile(rf"(?<![\w~-])(?:{'|'.join(map(re.escape, listed))})(?![\w~-])") if listed else None

    def __bool__(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self._runs or self._short or self._names)

    @property
    def standing_alone(self) -> bool:
        """Whether some of it is so short that it is only found in a string of its own."""
        return any(len(short) < _SHORTEST_WITHIN for short in self._short)

    def found_in(self, text: str) -> bool:
        """Whether a text holds any of it, as it stands or escaped as in JSON."""
        if self._names is not None and self._names.search(text):
            return True
        if self._said_in(normalised(text)):
            return True
        plain = unescaped(text)
        return plain != text and (self._said_in(normalised(plain)) or bool(self._names and self._names.search(plain)))

    def found_beyond(self, texts: Iterable[str], kept: Iterable[str]) -> bool:
        """Whether some texts hold any of it that others do not say as well."""
        said = [form for text in texts for form in _forms(text)]
        also = [form for text in kept for form in _forms(text)]
        shared = {run for form in said for run in _runs(form, 1) if run in self._runs}
        for form in also:
            shared.difference_update(_runs(form, 1))
        short = [one for one in self._short if _holds_short(one, said) and not any(one in form for form in also)]
        return bool(shared or short)

    def cut(self, text: str) -> str:
        """The text with every stretch that holds some of it replaced by `[erased]`."""
        said, places = _placed(text)
        covered: list[tuple[int, int]] = []
        reach = self._step - 1
        for start in range(len(said) - RUN + 1):
            if said[start : start + RUN] in self._runs:
                covered.append((max(0, start - reach), min(len(said), start + RUN + reach)))
        for short in self._short:
            if len(short) >= _SHORTEST_WITHIN or said == short:
                covered.extend((at, at + len(short)) for at in _all_of(short, said))
        spans = [(places[first], places[last - 1] + 1) for first, last in covered]
        if self._names is not None:
            spans.extend(match.span() for match in self._names.finditer(text))
        return _without(text, spans)

    def _said_in(self, said: str) -> bool:
        if said in self._short or any(len(short) >= _SHORTEST_WITHIN and short in said for short in self._short):
            return True
        runs = self._runs
        return bool(runs) and any(said[start : start + RUN] in runs for start in range(len(said) - RUN + 1))


def normalised(text: str) -> str:
    """A text without case, width and spaces."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def unescaped(text: str) -> str:
    """A text with the escapes of JSON undone."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else _SAID.get(found[2], found[2]), text)


def _forms(text: str) -> Iterator[str]:
    """A text as it stands, and with the escapes of JSON undone."""
    yield normalised(text)
    if (plain := unescaped(text)) != text:
        yield normalised(plain)


def _holds_short(short: str, said: Iterable[str]) -> bool:
    return any(short == one or (len(short) >= _SHORTEST_WITHIN and short in one) for one in said)


def _runs(said: str, step: int) -> Iterator[str]:
    return (said[start : start + RUN] for start in range(0, len(said) - RUN + 1, step))


def _placed(text: str) -> tuple[str, list[int]]:
    """A text normalised a character at a time, and where each character of that stands."""
    said: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        for plain in unicodedata.normalize("NFKC", char).casefold():
            if not plain.isspace():
                said.append(plain)
                places.append(place)
    return "".join(said), places


def _all_of(short: str, said: str) -> Iterator[int]:
    at = said.find(short)
    while at >= 0:
        yield at
        at = said.find(short, at + 1)


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    parts: list[str] = []
    done = 0
    for first, last in sorted(spans):
        if first > done or not parts:
            parts += [text[done:first], ERASED]
        done = max(done, last)
    return "".join([*parts, text[done:]])
