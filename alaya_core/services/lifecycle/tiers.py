"""Where a card's vector lives, and which cards may be forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from alaya_core.models.card import Tier, Vitals
from alaya_core.services.lifecycle.temperature import (
    DEFAULT_MODEL,
    LivingCard,
    TemperatureModel,
    days_between,
    life_of,
    unused_days,
)


class PlacedCard(LivingCard, Protocol):
    """A card that has a tier."""

    @property
    def id(self) -> str: ...
    @property
    def pinned(self) -> bool: ...
    @property
    def importance_by(self) -> str: ...


@dataclass(frozen=True, slots=True)
class TierRules:
    """When a card is HOT or COLD (temperatures 0..1, ages in days), and how many may be.

    Attributes:
        hot: HOT from this temperature on.
        fresh_days: HOT as long as it entered or was used within these days.
        busy_uses, busy_days: HOT with more uses than this, the last within these days.
        cold, cold_days: COLD below this temperature and longer unused than these days.
        hot_limit, warm_limit: Most cards in a tier.
    """

    hot: float = 0.7
    fresh_days: float = 7
    busy_uses: float = 10
    busy_days: float = 90
    cold: float = 0.3
    cold_days: float = 30
    hot_limit: int = 5_000
    warm_limit: int = 20_000


DEFAULTS = TierRules()


@dataclass(frozen=True, slots=True)
class TierCase:
    """A card as the limits see it.

    Attributes:
        tier: What the rules alone say.
        cold: Whether it meets the COLD rule, whatever came before that rule.
    """

    id: str
    tier: Tier
    temperature: float
    pinned: bool
    cold: bool


@dataclass(frozen=True, slots=True)
class Placement:
    """Every card's tier within the limits.

    Attributes:
        over_hot: HOT cards beyond the limit that stay, because they are pinned.
        over_warm: WARM cards beyond the limit that stay, because they do not meet the COLD rule; worth a warning.
    """

    tiers: dict[str, Tier]
    over_hot: int = 0
    over_warm: int = 0


def is_cold(card: LivingCard, vitals: Vitals, temperature: float, now: int, rules: TierRules = DEFAULTS) -> bool:
    """Whether a card meets the COLD rule."""
    return temperature < rules.cold and unused_days(card, vitals, now) > rules.cold_days


def tier_of(card: PlacedCard, vitals: Vitals, temperature: float, now: int, rules: TierRules = DEFAULTS) -> Tier:
    """A card's tier by the rules alone; the first that fits decides, so every card has exactly one."""
    if card.pinned or temperature >= rules.hot or unused_days(card, vitals, now) <= rules.fresh_days:
        return Tier.HOT
    used = vitals.last_access > 0 and days_between(vitals.last_access, now) <= rules.busy_days
    if vitals.access_count > rules.busy_uses and used:
        return Tier.HOT
    return Tier.COLD if is_cold(card, vitals, temperature, now, rules) else Tier.WARM


def tier_case(card: PlacedCard, vitals: Vitals, temperature: float, now: int, rules: TierRules = DEFAULTS) -> TierCase:
    """A card for `place`."""
    cold = is_cold(card, vitals, temperature, now, rules)
    if card.is_session_summary and not card.pinned:
        tier = Tier.COLD if cold else Tier.WARM
    else:
        tier = tier_of(card, vitals, temperature, now, rules)
    return TierCase(card.id, tier, temperature, card.pinned, cold)


def place(cases: Iterable[TierCase], rules: TierRules = DEFAULTS) -> Placement:
    """Every card's tier within the limits: the coolest move down, pinned ones and those not yet COLD never."""
    rows = list(cases)
    tiers = {row.id: row.tier for row in rows}
    over_hot = _move(rows, tiers, Tier.HOT, Tier.WARM, rules.hot_limit, lambda row: not row.pinned)
    over_warm = _move(rows, tiers, Tier.WARM, Tier.COLD, rules.warm_limit, lambda row: row.cold and not row.pinned)
    return Placement(tiers, over_hot, over_warm)


def may_forget(
    card: PlacedCard,
    vitals: Vitals,
    tier: Tier,
    now: int,
    *,
    depended_on: bool,
    model: TemperatureModel = DEFAULT_MODEL,
    model_line: float = 0.8,
    unused: float = 90,
    uses: float = 3,
    below: float | None = None,
) -> bool:
    """Whether a card is COLD, faded, long unused, hardly ever used, worth little and needed by none.

    Args:
        depended_on: Whether another card depends on it.
        model_line: The importance from which on a card is in the top fifth of what the model gave.
        unused: Days it must have been unused for.
        uses: Weighted uses it must have had fewer than.
        below: To what it must have faded; None = the model's line.
    """
    if tier is not Tier.COLD or card.pinned or depended_on or is_protected(card, model_line):
        return False
    life = life_of(card, vitals, now)
    line = model.forgets_below if below is None else below
    return bool(float(model.fading(life)) < line and life.unused > unused and vitals.access_count < uses)


def is_protected(card: PlacedCard, model_line: float = 0.8, importance: float = 0.8) -> bool:
    """Whether its importance protects a card: given by a person or a rule, or high even for the model that gave it."""
    if card.importance < importance:
        return False
    return card.importance_by != "llm" or card.importance >= model_line


def top_fifth(importances: Iterable[float]) -> float:
    """The importance from which on a card is in the top fifth of these; above all of them if that would be more than a
    fifth (a model that scores all alike singles out none)."""
    ranked = sorted(importances, reverse=True)
    fifth = len(ranked) // 5
    if fifth == 0:
        return 2.0
    line = ranked[fifth - 1]
    return (
        line
        if sum(value >= line for value in ranked) <= fifth
        else next((value for value in reversed(ranked) if value > line), 2.0)
    )


def _move(
    rows: list[TierCase], tiers: dict[str, Tier], full: Tier, below: Tier, limit: int, may: Callable[[TierCase], bool]
) -> int:
    """Moves the coolest that may go until the tier holds its limit; returns how many are still too many."""
    inside = [row for row in rows if tiers[row.id] is full]
    excess = max(0, len(inside) - max(0, limit))
    leaving = sorted(filter(may, inside), key=lambda row: (row.temperature, row.id))[:excess]
    tiers.update((row.id, below) for row in leaving)
    return excess - len(leaving)
