"""How slowly a card cools: it rises by use and worth, and sinks when nobody needs it."""

from __future__ import annotations

from dataclasses import dataclass

from alaya_core.models.card import Standing, Vitals
from alaya_core.services.lifecycle.temperature import (
    DEFAULT_MODEL,
    LivingCard,
    TemperatureModel,
    life_of,
    unit,
)


@dataclass(frozen=True, slots=True)
class StandingRules:
    """When a card moves (uses are weighted counts, the rest 0..1 or days).

    Attributes:
        working_uses, working_score: Peripheral -> working at both of these.
        core_uses, core_score, core_importance: Working -> core at all of these.
        old_days: Working -> peripheral beyond this age with fewer than `working_uses` uses.
        leave_core_score, leave_core_days: Core -> working below this score and longer unused than these days.
    """

    working_uses: float = 3
    working_score: float = 0.4
    core_uses: float = 10
    core_score: float = 0.7
    core_importance: float = 0.8
    old_days: float = 60
    leave_core_score: float = 0.3
    leave_core_days: float = 180


DEFAULTS = StandingRules()


@dataclass(frozen=True, slots=True)
class Settled:
    """A standing that no rule moves any more, and the temperature (0..1) that goes with it."""

    standing: Standing
    temperature: float


def settle(
    card: LivingCard,
    vitals: Vitals,
    now: int,
    model: TemperatureModel = DEFAULT_MODEL,
    rules: StandingRules = DEFAULTS,
) -> Settled:
    """A card's standing and temperature at `now`, iterated until neither moves: settling twice equals settling once."""
    standing = card.standing
    seen: list[Standing] = []
    while standing not in seen:
        seen.append(standing)
        standing = next_standing(card, vitals, now, standing, model, rules)
    if standing is not seen[-1]:  # rules of a config can chase each other: the lowest of the circle, wherever it began
        standing = max(seen[seen.index(standing) :], key=list(Standing).index)
    return Settled(standing, unit(float(model.temperature(life_of(card, vitals, now, standing)))))


def next_standing(
    card: LivingCard,
    vitals: Vitals,
    now: int,
    standing: Standing,
    model: TemperatureModel = DEFAULT_MODEL,
    rules: StandingRules = DEFAULTS,
) -> Standing:
    """Where one step of the rules takes a card of this standing."""
    life = life_of(card, vitals, now, standing)
    score = unit(float(model.temperature(life)))
    if standing is Standing.PERIPHERAL:
        rises = life.uses >= rules.working_uses and score >= rules.working_score
        return Standing.WORKING if rises else standing
    if standing is Standing.CORE:
        sinks = score < rules.leave_core_score and life.unused > rules.leave_core_days
        return Standing.WORKING if sinks else standing
    if life.uses >= rules.core_uses and score >= rules.core_score and life.importance >= rules.core_importance:
        return Standing.CORE
    forgotten = life.age > rules.old_days and life.uses < rules.working_uses
    if forgotten or float(model.fading(life)) < model.sinks_below:
        return Standing.PERIPHERAL
    return standing
