"""What will become of one card: the rules of cool-down and forgetting, day by day, until nothing more can happen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from alaya_core.clock import DAY_MS
from alaya_core.models.card import LIVING, Card, CardState, Standing, Tier, Vitals
from alaya_core.services.card_views import Now
from alaya_core.services.lifecycle.cooling import cooled, forgotten
from alaya_core.services.lifecycle.standing import settle
from alaya_core.services.lifecycle.temperature import MODELS
from alaya_core.services.lifecycle.tiers import is_protected, tier_case

HORIZON_DAYS = 3_650
_FEW_USES = 3


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What, beside itself, decides whether a card is forgotten.

    Attributes:
        dependants: How many living cards depend on it.
        model_line: The importance from which on a card is in the top fifth of what a model gave.
        refused: Whether a person rejected to have it forgotten.
    """

    dependants: int = 0
    model_line: float = 0.8
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """Something that happens to a card on a day.

    Attributes:
        day: Whole days from now; 0 = at the next cool-down.
        what: `tier`, `standing`, `archived` or `forgotten`; to: the new tier, standing or state.
    """

    day: int
    what: Literal["tier", "standing", "archived", "forgotten"]
    to: str
    why: str


def foretell(card: Card, now: Now, around: Surroundings, horizon: int = HORIZON_DAYS) -> list[Step]:
    """What happens to a card that nobody uses or changes from now on, under a cool-down and a forgetting each day.

    The limits of the tiers are left out: they depend on all other cards.

    Args:
        horizon: Days looked ahead.
    """
    vitals = now.of(card)
    card = replace(card, merged_from=())  # their uses are in the vitals already
    shown = _shown(card, now, vitals, 0)
    steps: list[Step] = []
    for day in range(horizon + 1):
        found, card = _on_day(card, now, vitals, around, day)
        steps += found
        if card.state not in (*LIVING, CardState.ARCHIVED):
            break
        tier = _shown(card, now, vitals, day)
        if tier is not shown and card.state in LIVING:
            if tier is not Tier.COLD and shown is not Tier.COLD:
                steps.append(Step(day, "tier", str(tier), _warm_why(tier)))
            shown = tier
        if _over(card, vitals, around, now):
            break
    return steps


def never(card: Card, now: Now, around: Surroundings, steps: list[Step]) -> list[str]:
    """What does not happen to a card, and why, a sentence each."""
    if card.state not in LIVING or any(step.what == "forgotten" for step in steps):
        return []
    said = []
    if card.pinned:
        said.append("stays HOT: pinned")
    kept = _kept_for(card, now.of(card), around)
    said.append(f"forgotten never: {kept}" if kept else "not forgotten within ten years")
    return said


def _kept_for(card: Card, vitals: Vitals, around: Surroundings) -> str:
    if card.pinned:
        return "pinned"
    if is_protected(card, around.model_line):
        return f"importance {card.importance:g}"
    if around.dependants:
        return f"{around.dependants} card{'s' * (around.dependants != 1)} depend{'s' * (around.dependants == 1)} on it"
    if around.refused:
        return "a person rejected it"
    return f"used {vitals.access_count:g} times" if vitals.access_count >= _FEW_USES else ""


def _at(now: Now, vitals: Vitals, card: Card, day: int) -> Now:
    return replace(now, at=now.at + day * DAY_MS, vitals={card.id: vitals})


def _shown(card: Card, now: Now, vitals: Vitals, day: int) -> Tier:
    return _at(now, vitals, card, day).tier(card)


def _on_day(card: Card, now: Now, vitals: Vitals, around: Surroundings, day: int) -> tuple[list[Step], Card]:
    """The steps of one day, and the card behind them."""
    then = _at(now, vitals, card, day)
    model = MODELS[now.config.lifecycle.model]
    steps: list[Step] = []
    if card.state in LIVING:
        settled = settle(card, vitals, then.at, model)
        tier = tier_case(card, vitals, settled.temperature, then.at, then.rules).tier
        decision = cooled(card, then, model, settled, tier)
        if decision is not None:
            (after,) = decision.changed
            steps += _moves(card, after, then, day, decision.why)
            card = after
    if around.refused:
        return steps, card
    settings = now.config.introspect
    decision = forgotten(
        card,
        then,
        model,
        depended_on=around.dependants > 0,
        model_line=around.model_line,
        days=settings.forget_days,
        threshold=settings.forget_threshold,
    )
    if decision is not None:
        steps.append(Step(day, "forgotten", "forgotten", decision.why))
        card = decision.changed[0]
    return steps, card


def _moves(before: Card, after: Card, then: Now, day: int, why: str) -> list[Step]:
    if after.state is CardState.ARCHIVED:
        return [Step(day, "archived", "archived", why)]
    steps = []
    if after.standing is not before.standing:
        steps.append(Step(day, "standing", str(after.standing), why))
    if after.vector_dropped != before.vector_dropped:
        steps.append(Step(day, "tier", str(then.tier(after)), why))
    return steps


def _warm_why(tier: Tier) -> str:
    return "no rule keeps it HOT any longer" if tier is Tier.WARM else "a rule makes it HOT"


def _over(card: Card, vitals: Vitals, around: Surroundings, now: Now) -> bool:
    """Whether nothing more can happen: it is as far down as it gets, and something keeps it for good."""
    if not card.vector_dropped or card.standing is not Standing.PERIPHERAL or not _kept_for(card, vitals, around):
        return False
    archives = MODELS[now.config.lifecycle.model].archives_below is not None or card.expires_at is not None
    return not archives or is_protected(card) or card.pinned
