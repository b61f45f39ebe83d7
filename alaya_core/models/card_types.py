"""The one table of card types and what each means for a card's life."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CardType(StrEnum):
    """What kind of knowledge a card holds."""

    CONCEPT = "concept"
    PATTERN = "pattern"
    GOTCHA = "gotcha"
    DECISION = "decision"
    FACT = "fact"
    BELIEF = "belief"
    SUMMARY = "summary"
    PROFILE = "profile"
    PREFERENCE = "preference"
    ENTITY = "entity"
    EVENT = "event"
    CASE = "case"


class OnDuplicate(StrEnum):
    """What becomes of two cards of a type that say nearly the same."""

    MERGE = "merge"  # one card, the history of both kept
    UNITE = "unite"  # always one card, with what the other knew beyond it
    CONFIRM = "confirm"  # a fact that says it too makes it a fact
    REPLACE = "replace"  # the newer one stands for both
    NEWEST = "newest"  # the newer one holds, the old one is superseded
    APPEND = "append"  # both stay: each happened


@dataclass(frozen=True, slots=True)
class TypePolicy:
    """Attributes:
    daily_decay: Share of its score a card loses a day under the half-life model.
    default_importance: 0..1, for a card that nobody judged.
    on_duplicate: What becomes of two that say nearly the same.
    """

    daily_decay: float
    default_importance: float
    on_duplicate: OnDuplicate = OnDuplicate.MERGE


POLICIES: dict[CardType, TypePolicy] = {
    CardType.CONCEPT: TypePolicy(0.008, 0.6),
    CardType.PATTERN: TypePolicy(0.008, 0.6),
    CardType.GOTCHA: TypePolicy(0.008, 0.6),
    CardType.DECISION: TypePolicy(0.008, 0.6),
    CardType.FACT: TypePolicy(0.008, 0.5),
    CardType.BELIEF: TypePolicy(0.07, 0.5, OnDuplicate.CONFIRM),
    CardType.SUMMARY: TypePolicy(0.025, 0.6, OnDuplicate.REPLACE),
    CardType.PROFILE: TypePolicy(0.008, 0.9, OnDuplicate.UNITE),
    CardType.PREFERENCE: TypePolicy(0.008, 0.8, OnDuplicate.NEWEST),
    CardType.ENTITY: TypePolicy(0.008, 0.5),
    CardType.EVENT: TypePolicy(0.008, 0.5, OnDuplicate.APPEND),
    CardType.CASE: TypePolicy(0.008, 0.5, OnDuplicate.APPEND),
}
