"""What is foretold of a card is what happens when the days go by."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alaya_core.clock import DAY_MS
from alaya_core.errors import NotFoundError
from alaya_core.memory import Memory
from alaya_core.models.card import Card, CardState, Tier, Vitals
from alaya_core.models.requests import IntrospectOptions
from alaya_core.services.lifecycle.cooling import plan_cool_down, plan_forget
from alaya_core.services.lifecycle.fate import Surroundings, foretell, never
from tests.conftest import Clock
from tests.core.lifecycle.drawn import MODELS, cards, moment

HORIZON = 420


def lived(card: Card, vitals: Vitals, model: str, around: Surroundings, days: int) -> list[tuple[int, str, str]]:
    """What really happens, day by day, through the plans for all cards."""
    seen: list[tuple[int, str, str]] = []
    shown = moment(model, {card.id: vitals}).tier(card)
    for day in range(days + 1):
        now = moment(model, {card.id: vitals}, day)
        before = card
        for decision in plan_cool_down([card], now):
            card = replace(decision.changed[0], rev=card.rev + 1)
        if card.state is CardState.ARCHIVED and before.state is not CardState.ARCHIVED:
            seen.append((day, "archived", "archived"))
        if card.standing is not before.standing:
            seen.append((day, "standing", str(card.standing)))
        if card.state is not CardState.ARCHIVED and (tier := now.tier(card)) is not shown:
            seen.append((day, "tier", str(tier)))
            shown = tier
        depended_on = {card.id} if around.dependants else set()
        if plan_forget([card], now, depended_on, model_line=around.model_line, days=90, threshold=None):
            seen.append((day, "forgotten", "forgotten"))
            break
    return seen


@given(cards(), st.sampled_from(MODELS), st.sampled_from([0, 0, 2]))
@settings(deadline=None, max_examples=20)
def test_the_named_day_is_the_day_on_which_the_clock_moves_the_card(
    drawn: tuple[Card, Vitals], model: str, dependants: int
) -> None:
    comes_true(*drawn, model, Surroundings(dependants, 0.9), HORIZON)


@pytest.mark.slow
@given(cards(), st.sampled_from(MODELS), st.sampled_from([0, 0, 2]))
@settings(deadline=None, max_examples=40)
def test_the_named_day_is_the_day_over_years(drawn: tuple[Card, Vitals], model: str, dependants: int) -> None:
    comes_true(*drawn, model, Surroundings(dependants, 0.9), 1_200)


def comes_true(card: Card, vitals: Vitals, model: str, around: Surroundings, horizon: int) -> None:
    steps = foretell(card, moment(model, {card.id: vitals}), around, horizon)
    told = [(step.day, step.what, step.to) for step in steps]
    real = lived(card, vitals, model, around, horizon)
    assert sorted(told) == sorted(real)
    assert [day for day, _, _ in told] == sorted(day for day, _, _ in told)
    assert all(step.why for step in steps)
    if any(what == "forgotten" for _, what, _ in real):
        assert never(card, moment(model, {card.id: vitals}), around, steps) == []


def test_what_is_said_of_a_card_comes_true(memory: Memory, clock: Clock) -> None:
    card = memory.capture("A passing remark about the weather", importance=0.1, confidence=0.3).card.card_id
    told = memory.fate(card)
    assert [(step.what, step.to) for step in told.steps if step.what == "tier"] == [("tier", "WARM"), ("tier", "COLD")]
    cold = next(step for step in told.steps if step.to == "COLD")
    gone = next(step for step in told.steps if step.what == "forgotten")
    assert f"turns COLD in {cold.days} days" in told.sentence

    start = clock.now
    for step, before, after in ((cold, Tier.WARM, Tier.COLD), (gone, "active", "forgotten")):
        clock.now = start + (step.days - 1) * DAY_MS
        memory.introspect(IntrospectOptions(phases=("cool-down", "forget")))
        assert before in (memory.show(card).card.tier, memory.show(card).card.state)
        clock.now = start + step.days * DAY_MS
        assert clock.now == step.at
        memory.introspect(IntrospectOptions(phases=("cool-down", "forget")))
        if after == "forgotten":
            with pytest.raises(NotFoundError):
                memory.show(card)
        else:
            assert memory.show(card).card.tier == after
    assert memory.fate(card).state == "forgotten"


def test_why_a_card_stays(memory: Memory) -> None:
    texts = ("It matters a lot", "Somebody depends on this", "Pinned to the wall", "The one that depends")
    matters, needed, pinned, other = (
        memory.capture(text, importance=0.9 if text == texts[0] else 0.1).card.card_id for text in texts
    )
    memory.link(other, needed, relation="DEPENDS_ON")
    memory.pin(pinned)
    assert memory.fate(matters).never == ["forgotten never: importance 0.9"]
    assert memory.fate(needed).never == ["forgotten never: 1 card depends on it"]
    assert memory.fate(pinned).never == ["stays HOT: pinned", "forgotten never: pinned"]
    assert memory.fate(matters).sentence.endswith("forgotten never: importance 0.9")
    memory.archive(other)
    assert memory.fate(other).sentence.startswith("it is archived")
    assert memory.fate(needed).never == []
