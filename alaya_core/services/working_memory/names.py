"""Which names mean the same thing: spelt alike, or said to be one by a card. No I/O."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

_READ = 4_000  # characters of a text in which names are looked for
_LONGEST = 60  # characters of a name that a text explains
_MOST_WORDS = 6
_BLANKS = re.compile(r"[\s\-_‐-―−]+")
_AKA = r"(?:also\ known\ as|a\.k\.a\.|aka|又名|又称|也叫|亦称|简称|全称|即)"
_EXPLAINED = re.compile(
    rf"(?P<open>[(（])\s*(?P<aka>{_AKA})?[\s:：]*(?P<inside>[^()（）\n]{{1,{_LONGEST}}})[)）]"
    rf"|(?P<said>(?<![a-z]){_AKA})[\s:：]*(?P<behind>[^\n]{{1,{_LONGEST}}})",
    re.IGNORECASE | re.VERBOSE,
)
_SIGNS = ("(", "（", "known as", "aka", "a.k.a", "又名", "称", "也叫", "即")  # no match without one
_WORD = re.compile(r"[^\s,，。;；:：、()（）\"“”'‘’「」]+")
_WIDE = re.compile(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")
_EDGES = " \t,，。.;；:：、\"“”'‘’「」`"


class Named(Protocol):
    """A card, as far as the names in it matter."""

    @property
    def title(self) -> str: ...
    @property
    def content(self) -> str: ...
    @property
    def entities(self) -> tuple[str, ...]: ...
    @property
    def created_at(self) -> int: ...


@dataclass(slots=True)
class Thing:
    """What cards are about.

    Attributes:
        spellings: How many cards write it how.
        cards: How many cards are about it.
        last: The latest time of which one of them tells, ms.
    """

    spellings: Counter[str] = field(default_factory=Counter)
    cards: int = 0
    last: int = 0

    @property
    def name(self) -> str:
        """The commonest spelling."""
        return min(self.spellings, key=lambda name: (-self.spellings[name], -len(name), name))

    @property
    def aliases(self) -> list[str]:
        """The other spellings, the commonest first."""
        name = self.name
        return sorted((each for each in self.spellings if each != name), key=lambda each: (-self.spellings[each], each))


@dataclass(frozen=True, slots=True)
class Things:
    """All things, by the key under which all their names are found."""

    by_key: Mapping[str, Thing]
    root: Mapping[str, str]

    def __len__(self) -> int:
        return len(self.by_key)

    def key_of(self, name: str) -> str | None:
        """The key of the thing that a name means, however it is spelt; None if there is none."""
        return self.root.get(name_key(name))

    def keys_of(self, card: Named) -> set[str]:
        """The things that a card is about."""
        return {self.root[name_key(name)] for name in names_in(card)}


def things_of(cards: Iterable[Named]) -> Things:
    """The things that cards are about, each with all its names.

    Two names are one thing if they differ by case, width, blanks, hyphens or underscores only, or if a card says so
    (`Large Language Model (LLM)`, `X, also known as Y`, `网关（Gateway）`, `X 又名 Y`) and both are names of things.
    """
    about = [card for card in cards if names_in(card)]
    root = {key: key for card in about for key in map(name_key, names_in(card))}
    for card in about:
        for one, other in _said_equal(card, root):
            _join(root, one, other)
    root = {key: _top(root, key) for key in root}
    things: dict[str, Thing] = {}
    for card in about:
        names = set(names_in(card))
        for key in {root[name_key(name)] for name in names}:
            thing = things.setdefault(key, Thing())
            thing.cards += 1
            thing.last = max(thing.last, card.created_at)
        for name in names:
            things[root[name_key(name)]].spellings[name] += 1
    return Things(things, root)


def names_in(card: Named) -> list[str]:
    """The names of things that a card bears."""
    return [name for name in card.entities if name.strip()]


@lru_cache(maxsize=65_536)
def name_key(name: str) -> str:
    """What all spellings of a name have in common."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return _BLANKS.sub("", folded) or folded


def _said_equal(card: Named, known: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Pairs of known names that the text of a card says are one."""
    for text in (card.title[:_READ], card.content[:_READ]):
        lowered = text.lower()
        if not any(sign in lowered for sign in _SIGNS):
            continue
        for match in _EXPLAINED.finditer(text):
            left = _ending_with(text[max(0, match.start() - _LONGEST) : match.start()], known)
            if left is None:
                continue
            if match["open"]:
                right = name_key(match["inside"].strip(_EDGES))
                if right in known and right != left and (match["aka"] or _may_explain(left, right)):
                    yield left, right
            else:
                found = _beginning_with(match["behind"], known)
                if found is not None and found != left:
                    yield left, found


def _may_explain(one: str, other: str) -> bool:
    """Whether a name in brackets may be the same thing: short for it (`kubernetes`, `k8s`), or in another script."""
    if bool(_WIDE.search(one)) != bool(_WIDE.search(other)):
        return True
    short, long = sorted((one, other), key=len)
    return len(short) < len(long) and short[0] == long[0] and _within(re.sub(r"\d", "", short), long)


def _within(letters: str, text: str) -> bool:
    """Whether the letters stand in a text in this order."""
    rest = iter(text)
    return all(letter in rest for letter in letters)


def _ending_with(text: str, known: Mapping[str, str]) -> str | None:
    """The longest known name with which a text ends."""
    text = text.rstrip(_EDGES)
    starts = [match.start() for match in _WORD.finditer(text)][-_MOST_WORDS:]
    starts += [index for index in range(max(0, len(text) - 2 * _MOST_WORDS), len(text)) if _WIDE.match(text[index])]
    return next((key for key in (name_key(text[start:]) for start in sorted(starts)) if key in known), None)


def _beginning_with(text: str, known: Mapping[str, str]) -> str | None:
    """The longest known name with which a text begins."""
    text = text.lstrip(_EDGES)
    ends = [match.end() for match in _WORD.finditer(text)][:_MOST_WORDS]
    ends += [index + 1 for index in range(min(len(text), 2 * _MOST_WORDS)) if _WIDE.match(text[index])]
    keys = (name_key(text[:end].rstrip(_EDGES)) for end in sorted(ends, reverse=True))
    return next((key for key in keys if key in known), None)


def _top(root: Mapping[str, str], key: str) -> str:
    while root[key] != key:
        key = root[key]
    return key


def _join(root: dict[str, str], one: str, other: str) -> None:
    """Makes two names one thing; which of the keys stands for it follows from the keys, not from the order of cards."""
    first, second = sorted((_top(root, one), _top(root, other)))
    root[second] = first
