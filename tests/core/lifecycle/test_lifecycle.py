"""Vitals, temperature, standing, tiers: pure in (card, vitals, now), total, and monotone where they promise it."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alaya_core.clock import DAY_MS, HOUR_MS
from alaya_core.models.card import Card, Standing, Tier, Vitals
from alaya_core.models.card_types import CardType
from alaya_core.services.lifecycle.standing import StandingRules, next_standing, settle
from alaya_core.services.lifecycle.temperature import (
    MODELS,
    Weibull,
    columns,
    days_between,
    life_of,
    temperature_of,
    temperatures,
)
from alaya_core.services.lifecycle.tiers import (
    TierCase,
    TierRules,
    is_cold,
    is_protected,
    may_forget,
    place,
    tier_case,
    tier_of,
    top_fifth,
)
from alaya_core.services.lifecycle.vitals import (
    Access,
    AccessKind,
    fold,
    merged,
    whole_hours_before,
    with_access,
)

settings.register_profile("unhurried", deadline=None)  # the first call imports numpy
settings.load_profile("unhurried")

NOW = 1_800_000_000_000
NEW = Vitals()


def card(days_old: Any = 0.0, **more: Any) -> Any:
    at = NOW - int(days_old * DAY_MS)
    fields = {"id": "card-1", "title": "t", "content": "c", "type": CardType.FACT, "confidence": 1.0}
    return Card(**{**fields, "created_at": at, "added_at": at, "updated_at": at, **more})


def used(n: Any, days_ago: Any = 0.0, span: Any = 0.0, similarities: Any = ()) -> Any:
    last = NOW - int(days_ago * DAY_MS)
    return Vitals(n, last, last - int(span * DAY_MS), similarities) if n else NEW


CARDS = st.builds(
    card,
    st.floats(-400, 4000),
    type=st.sampled_from(CardType),
    importance=st.floats(0, 1),
    confidence=st.floats(0, 1),
    standing=st.sampled_from(Standing),
    pinned=st.booleans(),
    expires_at=st.none() | st.just(NOW),
)
USES = st.builds(used, st.integers(0, 60), st.floats(-30, 3000), st.floats(0, 3000), st.tuples(st.floats(0, 1)))
ANY_MODEL = st.sampled_from(list(MODELS.values()))


# vitals


def test_weights_of_the_kinds_of_use() -> None:
    for kind, count in (("recall", 1), ("open", 1), ("auto", 0.2), ("browse", 0)):
        found = fold({}, [Access("c", NOW, AccessKind(kind))])
        assert (found["c"].access_count if count else found) == (count or {})


def test_the_same_card_agent_and_hour_count_once_by_the_heaviest() -> None:
    start = NOW - NOW % HOUR_MS
    accesses = [
        Access("c", start + 1, AccessKind.AUTO, "a", 0.3),
        Access("c", start + 2, AccessKind.RECALL, "a", 0.8),
        Access("c", start + 3, AccessKind.AUTO, "a", 0.4),
        Access("c", start + HOUR_MS - 1, AccessKind.BROWSE, "a", 0.9),
        Access("c", start + HOUR_MS, AccessKind.OPEN, "a"),
        Access("c", start + 5, AccessKind.RECALL, "b", 0.6),
        Access("d", start + 5, AccessKind.AUTO, "a", 2.0),
    ]
    found = fold({}, accesses)
    assert found["c"] == Vitals(3, start + HOUR_MS, start + 2, (0.8, 0.6))
    assert found["d"] == Vitals(0.2, start + 5, start + 5, (1.0,))
    random.Random(1).shuffle(accesses)
    assert fold({}, accesses) == found


def test_folding_goes_on_from_what_is_known() -> None:
    prior = {"c": Vitals(2, NOW, NOW - 5, tuple([0.1] * 10)), "other": Vitals(1, 1, 1)}
    found = fold(prior, [Access("c", NOW + HOUR_MS, AccessKind.RECALL, "", 0.9)])
    assert found == {"c": Vitals(3, NOW + HOUR_MS, NOW - 5, (*[0.1] * 9, 0.9))}


ACCESSES = st.lists(
    st.builds(
        Access,
        st.sampled_from("ab"),
        st.integers(1, 50).map(lambda i: i * HOUR_MS // 3),
        st.sampled_from(AccessKind),
        st.sampled_from(["", "x"]),
        st.none() | st.floats(0, 1),
    ),
    max_size=20,
)


@given(ACCESSES, st.integers(0, 17))
def test_folding_whole_hours_in_parts_is_folding_at_once(accesses: Any, hour: Any) -> None:
    cut = whole_hours_before(hour * HOUR_MS + 7)
    first = fold({}, [one for one in accesses if one.at < cut])
    second = fold(first, [one for one in accesses if one.at >= cut])
    assert first | second == fold({}, accesses)


@given(ACCESSES)
def test_folding_twice_what_came_twice_is_folding_once(accesses: Any) -> None:
    assert fold({}, accesses * 2) == fold({}, accesses)


def test_merged_vitals_are_the_union() -> None:
    assert merged(Vitals(1, 5, 5, (0.1,)), Vitals(2.2, 9, 3, (0.2,))) == Vitals(3.2, 9, 3, (0.1, 0.2))
    assert merged(NEW, Vitals(1, 5, 5)) == Vitals(1, 5, 5)
    assert with_access(NEW, Access("c", 9, AccessKind.BROWSE)) == NEW


# temperature


def test_weibull_formula() -> None:
    old = card(30, importance=0.5, confidence=0.8)
    half_life = 30 * math.exp(0.75)
    recency = math.exp(-math.log(2) / half_life * 30)
    assert temperature_of(old, NEW, NOW) == pytest.approx(0.4 * recency + 0.3 * 0.4)
    frequency = (1 - math.exp(-1)) * (0.5 + 0.5 * math.exp(-10 / 30))
    recency_used = math.exp(-math.log(2) / half_life * 3)
    floor = 1 - math.exp(-4.8 / 5)
    assert floor > frequency
    assert temperature_of(old, used(5, 3, 40), NOW) == pytest.approx(0.4 * recency_used + 0.3 * floor + 0.12)
    near = (1 - math.exp(-1)) * (0.5 + 0.5 * math.exp(-0.25 / 30))
    assert Weibull().frequency(life_of(old, used(5, 3, 1), NOW)) == pytest.approx(near)


@pytest.mark.parametrize(("standing", "beta"), [("core", 0.8), ("working", 1.0), ("peripheral", 1.3)])
def test_standing_shapes_the_curve(standing: Any, beta: Any) -> None:
    life = life_of(card(60, importance=0.0, standing=Standing(standing)), NEW, NOW)
    assert Weibull().recency(life) == pytest.approx(math.exp(-math.log(2) / 30 * 60**beta))


def test_dated_information_cools_three_times_as_fast() -> None:
    dated = life_of(card(10, importance=0.0, expires_at=NOW), NEW, NOW)
    assert Weibull().recency(dated) == pytest.approx(0.5)


def test_product_formula() -> None:
    model = MODELS["product"]
    assert temperature_of(card(), NEW, NOW, model) == 0
    assert temperature_of(card(15), used(10, similarities=(0.6, 0.8)), NOW, model) == pytest.approx(
        math.exp(-0.5) * 0.5 * 0.7
    )
    assert temperature_of(card(), used(40, similarities=(1.0,)), NOW, model) == 1
    assert temperature_of(card(11), used(40, similarities=(1.0,)), NOW, model) < 0.7


@pytest.mark.parametrize(
    ("kind", "importance", "rate"),
    [("fact", 1.0, 0.004), ("fact", 0.5, 0.006), ("belief", 0.0, 0.07), ("summary", 0.0, 0.025)],
)
def test_half_life_formula(kind: Any, importance: Any, rate: Any) -> None:
    old = card(20, type=CardType(kind), importance=importance)
    assert temperature_of(old, NEW, NOW, MODELS["halflife"]) == pytest.approx((1 - rate) ** 20)
    assert temperature_of(old, used(1, 5), NOW, MODELS["halflife"]) == pytest.approx((1 - rate) ** 5)


def test_an_imported_note_is_not_dead_on_arrival() -> None:
    imported = card(0, created_at=NOW - 2000 * DAY_MS)
    assert temperature_of(imported, NEW, NOW) == temperature_of(card(0), NEW, NOW)


def test_ages_are_never_negative() -> None:
    assert days_between(NOW + 5, NOW) == 0
    assert temperature_of(card(-100), used(3, -50), NOW) == temperature_of(card(0), used(3, 0), NOW)


@given(CARDS, USES, ANY_MODEL)
def test_temperatures_are_between_0_and_1(one: Any, vitals: Any, model: Any) -> None:
    assert 0 <= temperature_of(one, vitals, NOW, model) <= 1
    life = life_of(one, vitals, NOW)
    assert model.fading(life) <= model.temperature(life) + 1e-12


@given(st.lists(st.tuples(CARDS, USES), max_size=6), ANY_MODEL)
def test_columns_follow_the_same_formula(rows: Any, model: Any) -> None:
    found = temperatures(columns(life_of(one, vitals, NOW) for one, vitals in rows), model)
    assert found.tolist() == pytest.approx([temperature_of(one, vitals, NOW, model) for one, vitals in rows], abs=1e-12)


@given(st.integers(0, 200), st.floats(0, 3000), st.floats(0, 3000), st.sampled_from([1.0, 0.2]), st.integers(0, 3))
def test_frequency_is_never_lower_for_one_more_use(n: Any, span: Any, pause: Any, weight: Any, light: Any) -> None:
    count = n + 0.2 * light
    before = used(count, pause, span)
    kind = AccessKind.RECALL if weight == 1 else AccessKind.AUTO
    after = with_access(before, Access("c", NOW, kind))
    model = Weibull()
    assert model.frequency(life_of(card(), after, NOW)) >= model.frequency(life_of(card(), before, NOW)) - 1e-12


@given(CARDS, USES, ANY_MODEL)
def test_one_more_use_never_cools(one: Any, vitals: Any, model: Any) -> None:
    after = with_access(vitals, Access("c", NOW, AccessKind.RECALL, "", None))
    assert temperature_of(one, after, NOW, model) >= temperature_of(one, vitals, NOW, model) - 1e-12


@given(CARDS, USES, ANY_MODEL, st.floats(0, 1000))
def test_time_never_warms(one: Any, vitals: Any, model: Any, days: Any) -> None:
    later = NOW + int(days * DAY_MS)
    assert temperature_of(one, vitals, later, model) <= temperature_of(one, vitals, NOW, model) + 1e-12


def test_one_card_needs_no_numpy() -> None:
    code = (
        "import sys\nfrom alaya_core.services.lifecycle import standing, temperature, tiers, vitals\n"
        "from alaya_core.models.card import Card, CardType, Vitals\n"
        "c = Card('card-1', 't', 'c', CardType.FACT, 1, 1, 1)\n"
        "standing.settle(c, Vitals(), 10**12)\nprint('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


# standing


@pytest.mark.parametrize(
    ("one", "vitals", "standing"),
    [
        (card(), NEW, "working"),
        (card(standing=Standing.PERIPHERAL), used(3), "working"),
        (card(standing=Standing.PERIPHERAL), used(2.8), "peripheral"),
        (card(400, standing=Standing.PERIPHERAL, importance=0.0), used(3, 200), "peripheral"),
        (card(importance=0.9), used(10), "core"),
        (card(importance=0.79), used(10), "working"),
        (card(importance=0.9), used(9.8), "working"),
        (card(importance=0.9, standing=Standing.PERIPHERAL), used(10), "core"),
        (card(61), used(2.8, 1), "peripheral"),
        (card(61), used(3, 1), "working"),
        (card(59), used(1, 1), "working"),
        (card(400, importance=0.0), used(3, 400), "working"),  # three uses alone hold .3 * frequency above .1
        (card(45, importance=0.0, expires_at=NOW), NEW, "peripheral"),  # fading < .1 before 60 days
        (card(900, standing=Standing.CORE, importance=0.1), used(1, 181), "peripheral"),
        (card(900, standing=Standing.CORE, importance=0.1), used(1, 179), "core"),
    ],
)
def test_standing(one: Any, vitals: Any, standing: Any) -> None:
    assert settle(one, vitals, NOW).standing == standing


@given(CARDS, USES, ANY_MODEL)
def test_settling_twice_is_settling_once(one: Any, vitals: Any, model: Any) -> None:
    once = settle(one, vitals, NOW, model)
    again = settle(replace(one, standing=once.standing), vitals, NOW, model)
    assert again == once
    assert 0 <= once.temperature <= 1
    assert next_standing(one, vitals, NOW, once.standing, model) is once.standing


def test_rules_that_chase_each_other_end_at_the_lower_standing() -> None:
    rules = StandingRules(core_uses=0, core_score=0, core_importance=0, leave_core_score=2, leave_core_days=-1)
    for standing in (Standing.CORE, Standing.WORKING):
        assert settle(card(standing=standing), NEW, NOW, MODELS["weibull"], rules).standing is Standing.WORKING


@given(CARDS, USES, st.builds(StandingRules, *[st.floats(0, 1)] * 8))
def test_settling_ends_whatever_the_rules(one: Any, vitals: Any, rules: Any) -> None:
    once = settle(one, vitals, NOW, MODELS["weibull"], rules)
    assert settle(replace(one, standing=once.standing), vitals, NOW, MODELS["weibull"], rules) == once


# tiers


@pytest.mark.parametrize(
    ("one", "vitals", "temperature", "tier"),
    [
        (card(900, pinned=True), NEW, 0.0, "HOT"),
        (card(900), used(1, 400), 0.7, "HOT"),
        (card(7), NEW, 0.1, "HOT"),
        (card(900), used(1, 7), 0.1, "HOT"),
        (card(900), used(11, 90), 0.1, "HOT"),
        (card(900), used(11, 91), 0.1, "COLD"),
        (card(900), used(10, 90), 0.1, "COLD"),
        (card(20), NEW, 0.1, "WARM"),
        (card(31), NEW, 0.29, "COLD"),
        (card(31), NEW, 0.3, "WARM"),
        (card(30), NEW, 0.29, "WARM"),
        (card(31), used(1, 20), 0.1, "WARM"),
        (card(-5), NEW, 0.0, "HOT"),
    ],
)
def test_the_first_rule_that_fits_decides(one: Any, vitals: Any, temperature: Any, tier: Any) -> None:
    assert tier_of(one, vitals, temperature, NOW) == tier


@given(CARDS, USES, st.floats(0, 1))
def test_every_card_has_a_tier_and_cold_ones_meet_the_rule(one: Any, vitals: Any, temperature: Any) -> None:
    tier = tier_of(one, vitals, temperature, NOW)
    assert tier in Tier
    assert tier is not Tier.COLD or is_cold(one, vitals, temperature, NOW)
    assert tier_case(one, vitals, temperature, NOW).tier is tier


def case(name: Any, tier: Any, temperature: Any, *, pinned: Any = False, cold: Any = False) -> Any:
    return TierCase(name, Tier(tier), temperature, pinned, cold)


def test_over_the_hot_limit_the_coolest_become_warm_but_not_what_is_pinned() -> None:
    rows = [case("a", "HOT", 0.9), case("b", "HOT", 0.2), case("c", "HOT", 0.1, pinned=True), case("d", "HOT", 0.5)]
    found = place(rows, TierRules(hot_limit=2))
    assert found.tiers == {"a": Tier.HOT, "b": Tier.WARM, "c": Tier.HOT, "d": Tier.WARM}
    assert place([case(str(i), "HOT", 1, pinned=True) for i in range(3)], TierRules(hot_limit=2)).over_hot == 1


def test_over_the_warm_limit_only_cold_cards_move_and_the_rest_is_said() -> None:
    rows = [
        case("a", "WARM", 0.1),
        case("b", "HOT", 0.2, cold=True),
        case("c", "WARM", 0.5),
        case("d", "COLD", 0.1, cold=True),
    ]
    found = place(rows, TierRules(hot_limit=0, warm_limit=1))
    assert found.tiers == {"a": Tier.WARM, "b": Tier.COLD, "c": Tier.WARM, "d": Tier.COLD}
    assert found.over_warm == 1
    assert place(rows, TierRules(hot_limit=0, warm_limit=2)).over_warm == 0


@given(
    st.lists(
        st.builds(case, st.uuids().map(str), st.sampled_from(["HOT", "WARM"]), st.floats(0, 1)),
        max_size=12,
        unique_by=lambda c: c.id,
    ),
    st.integers(0, 5),
)
@settings(max_examples=50)
def test_placing_is_total_deterministic_and_within_the_limit(rows: Any, limit: Any) -> None:
    rules = TierRules(hot_limit=limit)
    found = place(rows, rules)
    assert found.tiers.keys() == {row.id for row in rows}
    hot = [row.temperature for row in rows if found.tiers[row.id] is Tier.HOT]
    assert len(hot) <= limit
    left = [row.temperature for row in rows if row.tier is Tier.HOT and found.tiers[row.id] is not Tier.HOT]
    assert not left or not hot or max(left) <= min(hot)
    assert found == place(rows[::-1], rules)


# forgetting

DEAD = card(900, importance=0.1, standing=Standing.PERIPHERAL)


def test_what_may_be_forgotten() -> None:
    assert may_forget(DEAD, NEW, Tier.COLD, NOW, depended_on=False)


@pytest.mark.parametrize(
    ("one", "vitals", "tier", "depended_on"),
    [
        (DEAD, NEW, Tier.WARM, False),
        (DEAD, NEW, Tier.COLD, True),
        (replace(DEAD, pinned=True), NEW, Tier.COLD, False),
        (replace(DEAD, importance=0.8), NEW, Tier.COLD, False),
        (DEAD, used(3, 800), Tier.COLD, False),
        (card(89, importance=0.0, standing=Standing.PERIPHERAL), NEW, Tier.COLD, False),
        (card(91, importance=0.7), NEW, Tier.COLD, False),
    ],
)
def test_what_keeps_a_card(one: Any, vitals: Any, tier: Any, depended_on: Any) -> None:
    assert not may_forget(one, vitals, tier, NOW, depended_on=depended_on)


def test_a_model_that_scores_all_alike_protects_none() -> None:
    assert is_protected(card(importance=0.8, importance_by="human"), 2.0)
    assert is_protected(card(importance=0.8, importance_by="rules"), 2.0)
    assert not is_protected(card(importance=0.9, importance_by="llm"), top_fifth([0.9] * 50))
    assert is_protected(card(importance=0.9, importance_by="llm"), top_fifth([0.9] + [0.5] * 9))
    assert not is_protected(card(importance=0.7, importance_by="human"))
    assert top_fifth([]) == 2.0
    assert top_fifth([0.1, 0.2, 0.3, 0.4, 0.5]) == 0.5
    assert top_fifth([0.9, 0.8, 0.8, 0.8, 0.8, 0.1, 0.1, 0.1, 0.1, 0.1]) == 0.9
