"""Names of things: which spellings are one, and which a card says are one."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alaya_core.services.working_memory.names import things_of


@dataclass(frozen=True)
class Named:
    content: str
    entities: tuple[str, ...]
    title: str = ""
    created_at: int = 0


def names(*cards: Named) -> list[tuple[str, list[str], int]]:
    return sorted((thing.name, thing.aliases, thing.cards) for thing in things_of(cards).by_key.values())


def test_spellings_are_one_thing():
    cards = [Named("", (name,)) for name in ("notes-api", "notes_api", "Notes API", "ＮＯＴＥＳ－ＡＰＩ", "notes-api")]
    assert names(*cards) == [("notes-api", ["Notes API", "notes_api", "ＮＯＴＥＳ－ＡＰＩ"], 5)]


def test_other_names_stay_apart():
    assert names(Named("", ("C",)), Named("", ("C++",)), Named("", ("C#",))) == [
        ("C", [], 1),
        ("C#", [], 1),
        ("C++", [], 1),
    ]


@pytest.mark.parametrize(
    ("text", "one", "other"),
    [
        ("A Large Language Model (LLM) wrote it.", "Large Language Model", "LLM"),
        ("We run kubernetes (k8s) there.", "kubernetes", "k8s"),
        ("网关（Gateway）要重启", "网关", "Gateway"),
        ("Robert, also known as Bob, called.", "Robert", "Bob"),
        ("Robert (aka Bob) called.", "Robert", "Bob"),
        ("张三又名张小三。", "张三", "张小三"),
        ("人工智能简称 AI，很热门", "人工智能", "AI"),
        ("北京大学（简称北大）招生", "北京大学", "北大"),
    ],
)
def test_a_card_says_that_two_names_are_one(text, one, other):
    found = names(Named("", (one,)), Named("", (one,)), Named("", (other,)), Named(text, (one,)))
    assert found == [(one, [other], 4)]


@pytest.mark.parametrize(
    ("text", "one", "other"),
    [
        ("Alice (Paris) agreed.", "Alice", "Paris"),
        ("Alice met Bob (a friend).", "Alice", "Bob"),
        ("Redis replaced Memcached.", "Redis", "Memcached"),
        ("Postgres (see Docker) is up.", "Postgres", "Docker"),
    ],
)
def test_two_names_in_a_sentence_are_not_one(text, one, other):
    assert len(names(Named(text, (one, other)), Named("", (one,)))) == 2


def test_both_must_be_names_of_things():
    assert names(Named("The gateway, also known as everything you own, restarts.", ("gateway",))) == [
        ("gateway", [], 1)
    ]


def test_aliases_of_aliases_are_one_thing():
    cards = [Named("", ("Robert",)), Named("Robert, aka Bob", ("Bob",)), Named("Bob, aka Bobby", ("Bobby",))]
    assert len(names(*cards)) == 1


def test_a_card_counts_once_however_often_it_names_a_thing():
    assert names(Named("", ("API", "api", "A-P-I"))) == [("A-P-I", ["API", "api"], 1)]


@given(st.lists(st.tuples(st.text(max_size=40), st.lists(st.text(max_size=6), max_size=3)), max_size=8), st.randoms())
def test_the_order_of_cards_does_not_matter(raw, chance):
    cards = [Named(text, tuple(entities)) for text, entities in raw]
    mixed = list(cards)
    chance.shuffle(mixed)
    assert names(*cards) == names(*mixed)
