"""Cards and pairs for the tests of what is alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from alaya_core.models.card import Card
from alaya_core.models.card_types import CardType
from alaya_core.models.plan import Decision, Pair
from alaya_core.services.consolidate.judging import JudgingRules, plan_pairs
from alaya_core.services.merging import merged_cards

DAY = 86_400_000
NOW = 1_795_000_000_000  # 2026-11-18 UTC
RULES = JudgingRules(duplicate=0.95, related=0.7, similar_links=5)


def card(name: str, text: str, kind: str = "fact", *, days: int = 0, **fields: Any) -> Card:
    """A card that says one thing, true so many days after the first day of the tests."""
    at = NOW - 300 * DAY + days * DAY
    whole = {"title": text.rstrip(".。"), "content": text, "origin": "rules"} | fields
    return Card(id=f"card-{name}", type=CardType(kind), created_at=at, added_at=at, updated_at=at, **whole)


def pair(one: Card, other: Card, similarity: float) -> Pair:
    return Pair(min(one.id, other.id), max(one.id, other.id), similarity)


def planned(
    cards: Iterable[Card],
    pairs: Iterable[Pair] = (),
    *,
    linked: frozenset[tuple[str, str]] = frozenset(),
    rejected: frozenset[str] = frozenset(),
    rules: JudgingRules = RULES,
) -> list[Decision]:
    return plan_pairs({each.id: each for each in cards}, pairs, linked, rejected, now=NOW, rules=rules)


def changes(decision: Decision) -> bool:
    """Whether it does more than link or propose."""
    return not decision.review and decision.verb != "similar"


def after(cards: Iterable[Card], decisions: Iterable[Decision]) -> list[Card]:
    """The cards once decisions were carried out."""
    known = {each.id: each for each in cards}
    for decision in decisions:
        if decision.review:
            continue
        if decision.absorbed:
            keep, other = known[decision.seen[0].id], known[decision.absorbed]
            known[keep.id], known[other.id] = merged_cards(keep, other, now=NOW)
        for changed in decision.changed:
            known[changed.id] = replace(changed, rev=known[changed.id].rev + 1)
        for made in decision.made:
            known[made.id] = made
    return list(known.values())
