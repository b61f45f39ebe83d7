"""Summaries by rule: made, refreshed, and left alone."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from itertools import count
from typing import Any

from alaya_core.models.card import Card, CardState, Relation, SourceRef
from alaya_core.models.plan import Decision
from alaya_core.services.consolidate.summaries import plan_summaries
from tests.core.consolidate.helpers import NOW, after, card


def planned(cards: Iterable[Card], least: int = 3) -> list[Decision]:
    numbers = count()
    return plan_summaries(cards, now=NOW, new_card_id=lambda: f"card-made-{next(numbers)}", least=least)


def about(name: str, texts: Iterable[str], **fields: Any) -> list[Card]:
    return [
        card(f"{name}-{number}", text, entities=(name,), sources=(SourceRef("s", (number,)),), **fields)
        for number, text in enumerate(texts)
    ]


APOLLO = ("Apollo runs on db-7.", "Apollo ships in May.", "Lena leads Apollo.")


def test_three_facts_about_one_thing_make_a_summary() -> None:
    cards = about("Apollo", APOLLO)
    cards[1] = replace(cards[1], importance=0.9)
    (decision,) = planned(cards)
    (made,) = decision.made
    assert made.title == "Apollo: summary"
    assert made.content.splitlines() == ["- Apollo ships in May", "- Apollo runs on db-7", "- Lena leads Apollo"]
    assert (made.type, made.entities, made.origin, made.distilled_by) == (
        "summary",
        ("Apollo",),
        "rules",
        "rules/summary",
    )
    assert made.importance == 0.8
    assert made.sources == (SourceRef("s", (0, 1, 2)),)
    assert {end for link in decision.links for end in (link.from_id, link.to_id)} == {made.id, *(c.id for c in cards)}
    assert {link.relation for link in decision.links} == {Relation.RELATES_TO}


def test_a_chinese_summary_is_called_so() -> None:
    (decision,) = planned(about("支付模块", ("支付模块由李雷负责。", "支付模块端口是8080。", "支付模块用Go写。")))
    assert decision.made[0].title == "支付模块：摘要"


def test_too_few_cards_other_scopes_events_and_names_that_say_nothing() -> None:
    assert not planned(about("Apollo", APOLLO[:2]))
    split = about("Apollo", APOLLO)
    assert not planned([replace(split[0], scope="project:x"), *split[1:]])
    assert not planned(about("Apollo", APOLLO, kind="event"))
    assert not planned(about("42", APOLLO))
    assert not planned(about("of", APOLLO))


def test_a_name_in_most_cards_is_no_subject() -> None:
    everywhere = [replace(each, entities=("Acme", *each.entities)) for each in about("Apollo", APOLLO)]
    rest = [replace(each, entities=("Acme",)) for each in about("Other", ("One is red.", "Two is blue.", "Six."))]
    more = [replace(each, entities=("Zed",)) for each in about("Zed", ("Zed is in town.",))]
    names = {decision.made[0].entities[0] for decision in planned([*everywhere, *rest, *more])}
    assert names == {"Apollo"}


def test_it_is_refreshed_when_its_lines_change_and_left_when_not() -> None:
    cards = about("Apollo", APOLLO)
    kept = after(cards, planned(cards))
    assert not planned(kept)
    grown = [*kept, card("Apollo-9", "Apollo costs 9 euros.", entities=("apollo",), days=2)]
    (decision,) = planned(grown)
    assert not decision.made
    (changed,) = decision.changed
    assert changed.id == "card-made-0"
    assert "- Apollo costs 9 euros" in changed.content.splitlines()
    assert not planned(after(grown, [decision]))


def test_what_a_person_edited_judged_or_put_away_is_left() -> None:
    cards = about("Apollo", APOLLO)
    *_, made = after(cards, planned(cards))
    more = [*cards, card("Apollo-9", "Apollo costs 9 euros.", entities=("Apollo",))]
    for touched in (
        {"importance_by": "human"},
        {"content": "Apollo is what we live on.\n" + made.content},
        {"distilled_by": ""},
        {"state": CardState.FORGOTTEN},
    ):
        assert not planned([*more, replace(made, **touched)]), touched
    assert planned([*more, made])


def test_the_order_of_cards_does_not_matter() -> None:
    cards = [*about("Apollo", APOLLO), *about("Zeus", ("Zeus is big.", "Zeus is slow.", "Zeus is old."))]
    assert planned(random.Random(3).sample(cards, len(cards))) == planned(cards)
    assert len(planned(cards)) == 2
