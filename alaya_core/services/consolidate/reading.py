"""A card as it is compared: what its text says, read once however many others it is compared with. No I/O."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from alaya_core.models.card import Card
from alaya_core.services.consolidate.attributes import Attribute, attributes, tells_only
from alaya_core.services.consolidate.preferences import Preference, preference
from alaya_core.services.consolidate.texts import denies, fingerprint, numbers, statements, subject_of, tokens, told
from alaya_core.text import cells

_LONGEST = 70  # cells of a sentence that surely fits into a title


class Reading:
    """What a card says.

    Attributes:
        card: The card.
    """

    def __init__(self, card: Card) -> None:
        self.card = card

    @cached_property
    def fingerprint(self) -> tuple[str, str]:
        """The same for the same text."""
        return fingerprint(self.card)

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """Its sentences."""
        return self._said[1]

    @cached_property
    def _said(self) -> tuple[str, tuple[str, ...]]:
        return statements(self.card)

    @cached_property
    def words(self) -> list[str]:
        """The words of its only sentence, told of who said it; none if it has several."""
        who, parts = self._said
        return tokens(_short(parts[0], who)) if len(parts) == 1 else []

    @cached_property
    def subject(self) -> list[str]:
        """What its first sentence names before it says something."""
        who, parts = self._said
        return subject_of(tokens(_short(parts[0], who))) if parts else []

    @cached_property
    def attributes(self) -> tuple[Attribute, ...]:
        """What it tells of things."""
        return attributes(self.card)

    @cached_property
    def tells_only(self) -> bool:
        """Whether it says nothing beside."""
        return tells_only(self.card)

    @cached_property
    def preference(self) -> Preference | None:
        """The one preference that it holds."""
        return preference(self.card)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """All numbers in it."""
        return frozenset(word for part in self.parts for word in numbers(part))

    @cached_property
    def denies(self) -> bool:
        """Whether it says no."""
        return sum(map(denies, self.parts)) % 2 == 1

    @cached_property
    def names(self) -> frozenset[str]:
        """Its entities, folded."""
        return frozenset(name.casefold() for name in self.card.entities)

    def tells_all_of(self, other: Reading) -> bool:
        """Whether nothing but attributes that it tells too goes with the other one, when it takes its place."""
        mine = {(attribute.subject, attribute.name) for attribute in self.attributes}
        return other.tells_only and mine >= {(attribute.subject, attribute.name) for attribute in other.attributes}

    def shared_with(self, other: Reading) -> Iterator[tuple[Attribute, Attribute]]:
        """The attributes that both tell of the same thing."""
        if not self.attributes or not other.attributes:
            return
        theirs = {(attribute.subject, attribute.name): attribute for attribute in other.attributes}
        for mine in self.attributes:
            if (mine.subject, mine.name) in theirs:
                yield mine, theirs[(mine.subject, mine.name)]


def _short(sentence: str, who: str) -> str:
    """A sentence told of who said it; a long one as it is, for nothing of it may be cut."""
    return told(sentence, who) if cells(sentence) <= _LONGEST else sentence


__all__ = ["Reading"]
