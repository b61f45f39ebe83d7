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


@dataclass(frozen=True, slots=True)
class TypePolicy:
    """Attributes:
    daily_decay: Share of its score a card loses a day under the half-life model.
    default_importance: 0..1, for a card that nobody judged.
    """

    daily_decay: float
    default_importance: float


POLICIES: dict[CardType, TypePolicy] = {
    CardType.CONCEPT: TypePolicy(0.008, 0.6),
    CardType.PATTERN: TypePolicy(0.008, 0.6),
    CardType.GOTCHA: TypePolicy(0.008, 0.6),
    CardType.DECISION: TypePolicy(0.008, 0.6),
    CardType.FACT: TypePolicy(0.008, 0.5),
    CardType.BELIEF: TypePolicy(0.07, 0.5),
    CardType.SUMMARY: TypePolicy(0.025, 0.6),
    CardType.PROFILE: TypePolicy(0.008, 0.9),
    CardType.PREFERENCE: TypePolicy(0.008, 0.8),
    CardType.ENTITY: TypePolicy(0.008, 0.5),
    CardType.EVENT: TypePolicy(0.008, 0.5),
    CardType.CASE: TypePolicy(0.008, 0.5),
}
