"""What a cool-down decides for all cards at once, and which of them may be forgotten. No I/O, no clock."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from alaya_core.clock import iso
from alaya_core.models.card import LIVING, Card, CardState, Standing, Tier, Vitals
from alaya_core.models.card_types import CardType
from alaya_core.models.plan import Decision
from alaya_core.services.card_views import Now
from alaya_core.services.lifecycle.standing import Settled, settle_all
from alaya_core.services.lifecycle.temperature import (
    MODELS,
    TemperatureModel,
    days_between,
    life_of,
    unused_days,
)
from alaya_core.services.lifecycle.tiers import is_protected, may_forget

_STAYS_TRUE = (CardType.CASE, CardType.PROFILE)
"""Types that are not passing information, whatever date they hold."""
_EVENT_STAYS = 0.5
"""Importance from which an event is remembered after its day."""
_ORDER = list(Standing)


def plan_cool_down(cards: Sequence[Card], now: Now) -> list[Decision]:
    """Moves of cards between standings and tiers, and into the archive; a second time in a row there are none.

    Args:
        cards: All of them: the limits of the tiers count them.
    """
    model = MODELS[now.config.lifecycle.model]
    living = [card for card in cards if card.state in LIVING]
    settled = settle_all([(card, now.of(card)) for card in living], now.at, model)
    warmth = {card.id: one.temperature for card, one in zip(living, settled, strict=True)}
    tiers = now.placement(living, warmth).tiers
    found = (cooled(card, now, model, one, tiers[card.id]) for card, one in zip(living, settled, strict=True))
    return [decision for decision in found if decision is not None]


def cooled(card: Card, now: Now, model: TemperatureModel, settled: Settled, tier: Tier) -> Decision | None:
    """What a cool-down does to one living card; None = nothing.

    Args:
        settled: Its standing and temperature by now.
        tier: Where the rules would have it.
    """
    if why := _archived_for(card, now, model, settled):
        return Decision("archive", (card,), changed=(replace(card, state=CardState.ARCHIVED),), why=why)
    cold = tier is Tier.COLD
    if cold == card.vector_dropped and settled.standing is card.standing:
        return None
    after = replace(card, standing=settled.standing, vector_dropped=cold)
    unused = unused_days(card, now.of(card), now.at)
    why = f"temperature {settled.temperature:.2f}, unused {unused:.0f} days"
    if cold != card.vector_dropped:
        return Decision("cool" if cold else "reheat", (card,), changed=(after,), why=why)
    rises = _ORDER.index(settled.standing) < _ORDER.index(card.standing)
    why = f"{card.standing} -> {settled.standing}: {why}, used {now.of(card).access_count:g} times"
    return Decision("rise" if rises else "sink", (card,), changed=(after,), why=why)


def plan_forget(
    cards: Sequence[Card],
    now: Now,
    depended_on: Set[str],
    *,
    model_line: float,
    days: float,
    threshold: float | None,
) -> list[Decision]:
    """Cards that nobody needs, as tombstones with their full text.

    Args:
        depended_on: Ids of cards that another one depends on.
        model_line: The importance from which on a card is in the top fifth of what a model gave.
        days: Days unused from which on a card may be forgotten.
        threshold: Below which it must have faded; None = the line of the temperature model.
    """
    model = MODELS[now.config.lifecycle.model]
    found = (
        forgotten(
            card,
            now,
            model,
            depended_on=card.id in depended_on,
            model_line=model_line,
            days=days,
            threshold=threshold,
        )
        for card in cards
    )
    return [decision for decision in found if decision is not None]


def forgotten(
    card: Card,
    now: Now,
    model: TemperatureModel,
    *,
    depended_on: bool,
    model_line: float,
    days: float,
    threshold: float | None,
) -> Decision | None:
    """The forgetting of one card; None = it stays."""
    if not _is_cold(card, model) or (card.expires_at or 0) >= now.at:
        return None
    vitals = now.of(card)
    may = may_forget(
        card,
        vitals,
        Tier.COLD,
        now.at,
        depended_on=depended_on,
        model=model,
        model_line=model_line,
        unused=days,
        below=threshold,
    )
    if not may:
        return None
    why = f"unused {unused_days(card, vitals, now.at):.0f} days, used {vitals.access_count:g} times, importance "
    return Decision(
        "forget", (card,), changed=(replace(card, state=CardState.FORGOTTEN),), why=f"{why}{card.importance:g}"
    )


def _is_cold(card: Card, model: TemperatureModel) -> bool:
    """Whether a card is as far down as it gets by cooling; of a model that archives, the archive is."""
    if card.state is CardState.ARCHIVED:
        return model.archives_below is not None
    return card.state in LIVING and card.vector_dropped


def _archived_for(card: Card, now: Now, model: TemperatureModel, settled: Settled) -> str:
    """Why a cool-down puts a card away, in words; empty = it does not."""
    if card.pinned or is_protected(card):
        return ""
    vitals = now.of(card)
    if model.archives_below is not None:
        fading = float(model.fading(life_of(card, vitals, now.at, settled.standing)))
        if fading < model.archives_below:
            return f"faded to {fading:.3f}"
    return _expired(card, vitals, now)


def _expired(card: Card, vitals: Vitals, now: Now) -> str:
    stays = card.type in _STAYS_TRUE or (card.type is CardType.EVENT and card.importance >= _EVENT_STAYS)
    if card.expires_at is None or stays or vitals.last_access > card.expires_at:
        return ""
    if now.at <= card.expires_at or days_between(card.expires_at, now.at) <= now.config.lifecycle.expired_days:
        return ""
    return f"its date passed on {iso(card.expires_at)[:10]}"
