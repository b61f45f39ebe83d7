"""How slowly a card cools: it rises by use and worth, and sinks when nobody needs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from alaya_core.models.card import Standing, Vitals
from alaya_core.services.lifecycle.temperature import (
    BETA,
    DEFAULT_MODEL,
    SCALAR,
    Life,
    LivingCard,
    Maths,
    Number,
    TemperatureModel,
    columns,
    life_of,
    temperatures,
    unit,
    vector_maths,
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
    life = life_of(card, vitals, now)
    place = _ORDER.index(card.standing)
    if not card.is_session_summary:
        for _ in _ORDER:  # after as many steps as there are standings, it stands still or goes in a circle
            place = _next_place(place, _as(life, place), model, rules, SCALAR)
        circle = place
        for _ in _ORDER:
            place = _next_place(place, _as(life, place), model, rules, SCALAR)
            circle = max(circle, place)
        place = circle  # rules of a config can chase each other: the lowest of the circle, wherever it began
    return Settled(_ORDER[place], unit(float(model.temperature(_as(life, place)))))


def settle_all(
    cards: Sequence[tuple[LivingCard, Vitals]],
    now: int,
    model: TemperatureModel = DEFAULT_MODEL,
    rules: StandingRules = DEFAULTS,
) -> list[Settled]:
    """The same for many cards, each formula computed once for all of them."""
    if not cards:
        return []
    import numpy as np

    maths = vector_maths()
    lives = columns(life_of(card, vitals, now) for card, vitals in cards)
    first = np.array([_ORDER.index(card.standing) for card, _ in cards])
    fixed = np.array([card.is_session_summary for card, _ in cards])
    betas = np.array([BETA[standing] for standing in _ORDER])
    places = first
    for _ in _ORDER:
        places = _next_place(places, replace(lives, beta=betas[places]), model, rules, maths)
    circle = places
    for _ in _ORDER:
        places = _next_place(places, replace(lives, beta=betas[places]), model, rules, maths)
        circle = np.maximum(circle, places)
    places = np.where(fixed, first, circle)
    warm = temperatures(replace(lives, beta=betas[places]), model)
    return [Settled(_ORDER[place], value) for place, value in zip(places.tolist(), warm.tolist(), strict=True)]


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
    return _ORDER[_next_place(_ORDER.index(standing), life, model, rules, SCALAR)]


_ORDER = list(Standing)
_CORE, _WORKING, _PERIPHERAL = range(3)


def _as(life: Life, place: int) -> Life:
    return replace(life, beta=BETA[_ORDER[place]])


def _next_place(place: Number, life: Life, model: TemperatureModel, rules: StandingRules, maths: Maths) -> Number:
    """One step of the rules, over a place in the order of standings or a column of them."""
    score = maths.least(1.0, maths.most(0.0, model.temperature(life, maths)))
    fading = model.fading(life, maths)
    rises = (life.uses >= rules.working_uses) & (score >= rules.working_score)
    leaves = (score < rules.leave_core_score) & (life.unused > rules.leave_core_days)
    enters = (life.uses >= rules.core_uses) & (score >= rules.core_score) & (life.importance >= rules.core_importance)
    sinks = ((life.age > rules.old_days) & (life.uses < rules.working_uses)) | (fading < model.sinks_below)
    working = maths.choose(enters, _CORE, maths.choose(sinks, _PERIPHERAL, _WORKING))
    core = maths.choose(leaves, _WORKING, _CORE)
    peripheral = maths.choose(rises, _WORKING, _PERIPHERAL)
    return maths.choose(place == _PERIPHERAL, peripheral, maths.choose(place == _CORE, core, working))
