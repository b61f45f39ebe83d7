"""A year of use under each temperature model: what matters is kept, trifles go, and a seed tells one story."""

from __future__ import annotations

from functools import cache

import pytest

from alaya_core.config import Config
from alaya_core.models.card import CardState
from tests.benchmarks.lifecycle.living import Outcome, live_through
from tests.benchmarks.lifecycle.world import Kind, Size, World, day_of, make_world
from tests.core.lifecycle.drawn import MODELS

SIZE = Size(cards=160, days=300, holiday=(120, 180), recalls=6)
GONE = (CardState.ARCHIVED, CardState.FORGOTTEN)


@cache
def world() -> World:
    return make_world(5, SIZE)


@cache
def lived(model: str) -> Outcome:
    return live_through(world(), model, every=3)


def test_the_world_has_what_is_to_be_tried() -> None:
    some = world()
    asked_for = {access.card_id for access in some.recalls}
    important = {card_id for card_id, kind in some.kinds.items() if kind is Kind.IMPORTANT}
    assert important
    assert not important & asked_for
    assert some.needs
    added = {card.id: card.added_at for card in some.cards}
    assert all(access.at > added[access.card_id] for access in some.recalls)
    assert not any(SIZE.is_holiday(day_of(access.at)) for access in some.recalls)
    for need in some.needs:
        before = [a.at for a in some.recalls if a.card_id == need.card_id and a.at < need.at]
        assert day_of(need.at) - day_of(max([added[need.card_id], *before])) >= SIZE.pause[0]


@pytest.mark.parametrize("model", MODELS)
def test_no_important_card_goes_though_nobody_ever_asked_for_it(model: str) -> None:
    outcome = lived(model)
    assert outcome.ended() == SIZE.cards
    assert sum(outcome.ended(state) for state in GONE) > 0
    assert [outcome.ended(state, Kind.IMPORTANT) for state in GONE] == [0, 0]


def test_by_default_trifles_are_forgotten_and_what_is_dated_is_put_away() -> None:
    outcome = lived(Config().lifecycle.model)
    assert outcome.ended(CardState.FORGOTTEN, Kind.TRIFLE) > 0
    assert outcome.ended(CardState.ARCHIVED, Kind.DATED) > 0
    assert outcome.recalls.total() == len(world().recalls)


def test_the_same_seed_tells_the_same_story_and_another_seed_another() -> None:
    assert make_world(5, SIZE) == world()
    assert make_world(6, SIZE) != world()
    few = Size(cards=60, days=150, holiday=(60, 70), recalls=4)
    once, again = (live_through(make_world(7, few), Config().lifecycle.model, every=3) for _ in range(2))
    assert once == again
