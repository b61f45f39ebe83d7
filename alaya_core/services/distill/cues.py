"""What a cue is: a way of saying something that tells what kind of knowledge a sentence holds."""

from __future__ import annotations

import re
from dataclasses import dataclass

from alaya_core.models.card_types import CardType

IDENTITY = HEALTH = SAFETY = 1.0
PREFERENCE = RELATION = CHANGE = 0.8
GENERAL = 0.5
PASSING = 0.2


@dataclass(frozen=True, slots=True)
class Cue:
    """A row of a cue table.

    Attributes:
        name: What it means, also a tag where that helps (`health`, `root-cause`).
        type: The type of card it speaks for.
        strength: 0..1, how surely such a sentence is worth keeping; .5 is enough.
        intrinsic: Importance of such knowledge by itself.
        person: Whether only a person can mean it (an assistant without a name has no health and no hobbies).
        pattern: Searched in the sentence without its markdown.
    """

    name: str
    type: CardType
    strength: float
    intrinsic: float
    person: bool
    pattern: re.Pattern[str]


def cue(name: str, type_: CardType, strength: float, intrinsic: float, pattern: str, *, person: bool = False) -> Cue:
    """A row, its pattern verbose and without regard to case."""
    return Cue(name, type_, strength, intrinsic, person, re.compile(_cased(pattern), re.VERBOSE | re.IGNORECASE))


def _cased(pattern: str) -> str:
    """A capital asked for is a capital, though all else is without regard to case."""
    return pattern.replace("[A-Z]", "(?-i:[A-Z])")


def listed(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def words(pattern: str) -> re.Pattern[str]:
    """A verbose pattern without regard to case."""
    return re.compile(pattern, re.VERBOSE | re.IGNORECASE)
