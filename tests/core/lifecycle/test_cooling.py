"""Cool-down and forgetting over all cards: the same as card by card, total, and still after the first time."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alaya_core.clock import DAY_MS, HOUR_MS
from alaya_core.models.card import Card, CardState, Standing, Tier, Vitals
from alaya_core.models.card_types import CardType
from alaya_core.models.plan import Decision
from alaya_core.services.lifecycle.cooling import plan_cool_down, plan_forget
from alaya_core.services.lifecycle.standing import settle, settle_all
from alaya_core.services.lifecycle.temperature import MODELS as BY_NAME
from tests.core.lifecycle.drawn import MODELS, NOW, cards, moment

Drawn = list[tuple[Card, Vitals]]
many = st.lists(cards(), max_size=12, unique_by=lambda pair: pair[0].id)


def applied(some: list[Card], decisions: list[Decision]) -> list[Card]:
    after = {card.id: replace(card, rev=card.rev + 1) for decision in decisions for card in decision.changed}
    return [after.get(card.id, card) for card in some]


def forget(some: list[Card], now, depended_on: frozenset[str] = frozenset()) -> list[Decision]:
    return plan_forget(some, now, depended_on, model_line=0.9, days=90, threshold=None)


@given(many, st.sampled_from(MODELS))
@settings(deadline=None)
def test_all_at_once_is_the_same_as_one_by_one(drawn: Drawn, model: str) -> None:
    at_once = settle_all(drawn, NOW, BY_NAME[model])
    for (card, vitals), one in zip(drawn, at_once, strict=True):
        alone = settle(card, vitals, NOW, BY_NAME[model])
        assert alone.standing is one.standing
        assert alone.temperature == pytest.approx(one.temperature, abs=1e-9)
        assert 0 <= one.temperature <= 1


@given(many, st.sampled_from(MODELS))
@settings(deadline=None)
def test_a_second_cool_down_at_the_same_moment_changes_nothing(drawn: Drawn, model: str) -> None:
    some = [card for card, _ in drawn]
    now = moment(model, {card.id: vitals for card, vitals in drawn})
    first = plan_cool_down(some, now)
    after = applied(some, first)
    assert plan_cool_down(after, now) == []
    assert len({decision.seen[0].id for decision in first}) == len(first)
    assert all(now.tier(card) in Tier for card in after)
    assert all(card.updated_at == before.updated_at for card, before in zip(after, some, strict=True))


@given(many, st.sampled_from(MODELS), st.integers(0, 400), st.integers(1, 23))
@settings(deadline=None)
def test_twice_a_day_is_the_same_as_once(drawn: Drawn, model: str, day: int, hours: int) -> None:
    some = [card for card, _ in drawn]
    night = moment(model, {card.id: used for card, used in drawn}, day + 1)
    noon = replace(night, at=night.at - hours * HOUR_MS)
    once = applied(some, plan_cool_down(some, night))
    twice = applied(some, plan_cool_down(some, noon))
    twice = applied(twice, plan_cool_down(twice, night))
    for one, other in zip(once, twice, strict=True):
        # What rose at noon, still warm enough for it, rightly keeps its standing at night.
        if one.standing is other.standing:
            assert (one.vector_dropped, one.state) == (other.vector_dropped, other.state)


@given(many, st.sampled_from(MODELS))
@settings(deadline=None)
def test_what_is_pinned_important_used_or_needed_is_never_forgotten(drawn: Drawn, model: str) -> None:
    some = [card for card, _ in drawn]
    now = moment(model, {card.id: vitals for card, vitals in drawn}, 2_000)
    cold = applied(some, plan_cool_down(some, now))
    needed = frozenset(card.id for card in cold[::3])
    for decision in forget(cold, now, needed):
        (card,) = decision.seen
        assert not card.pinned
        assert card.id not in needed
        assert card.importance < 0.8 or (card.importance_by == "llm" and card.importance < 0.9)
        assert now.of(card).access_count < 3
        assert decision.changed[0].content == card.content


def of(**fields: object) -> Card:
    at = NOW - 200 * DAY_MS
    usual = {"id": "card-1", "title": "t", "content": "c", "type": CardType.FACT}
    return Card(**{**usual, "created_at": at, "added_at": at, "updated_at": at, **fields})  # type: ignore[arg-type]


def test_a_trifle_that_nobody_used_cools_and_is_forgotten_and_what_matters_stays() -> None:
    trifle = of(id="card-a", importance=0.1, confidence=0.3, added_at=NOW - 500 * DAY_MS)
    matters = of(id="card-b", importance=0.9, added_at=NOW - 500 * DAY_MS)
    now = moment("weibull", {})
    after = applied([trifle, matters], plan_cool_down([trifle, matters], now))
    assert after[0].vector_dropped
    assert [decision.seen[0].id for decision in forget(after, now)] == ["card-a"]


@pytest.mark.parametrize(
    ("fields", "goes"),
    [
        ({}, True),
        ({"pinned": True}, False),
        ({"importance": 0.9, "importance_by": "human"}, False),
        ({"type": CardType.EVENT}, False),
        ({"type": CardType.EVENT, "importance": 0.2}, True),
        ({"expires_at": NOW - 3 * DAY_MS}, False),
        ({"expires_at": None}, False),
    ],
)
def test_passing_information_is_put_away_some_days_after_its_date(fields: dict[str, object], goes: bool) -> None:
    card = of(**({"expires_at": NOW - 8 * DAY_MS} | fields))
    found = plan_cool_down([card], moment("weibull", {}))
    assert ([decision.verb for decision in found] == ["archive"]) is goes
    used = {card.id: Vitals(1, NOW - DAY_MS, NOW - DAY_MS)}
    assert all(decision.verb != "archive" for decision in plan_cool_down([card], moment("weibull", used)))


def test_the_half_life_model_archives_before_it_forgets() -> None:
    card = of(type=CardType.BELIEF, importance=0.2)
    now = moment("halflife", {}, 0)
    (put_away,) = plan_cool_down([card], now)
    assert put_away.changed[0].state is CardState.ARCHIVED
    assert [decision.verb for decision in forget(list(put_away.changed), now)] == ["forget"]


def test_the_summary_of_a_session_neither_rises_nor_is_hot() -> None:
    card = of(distilled_by="session-summary", importance=1.0, added_at=NOW)
    used = {card.id: Vitals(50, NOW, NOW - 30 * DAY_MS)}
    now = moment("weibull", used)
    assert plan_cool_down([card], now) == []
    assert now.tier(card) is Tier.WARM
    assert now.placement([card]).tiers == {card.id: Tier.WARM}
    pinned = replace(card, pinned=True)
    assert now.tier(pinned) is now.placement([pinned]).tiers[card.id] is Tier.HOT
    assert (
        plan_cool_down([replace(card, distilled_by="", id="card-2")], moment("weibull", {"card-2": used["card-1"]}))[0]
        .changed[0]
        .standing
        is Standing.CORE
    )


def test_what_still_holds_is_not_forgotten_before_its_end() -> None:
    cold = of(id="card-a", importance=0.1, confidence=0.2, vector_dropped=True, expires_at=NOW + 30 * DAY_MS)
    assert forget([cold], moment("weibull", {})) == []
    assert [decision.verb for decision in forget([replace(cold, expires_at=None)], moment("weibull", {}))] == ["forget"]
