"""Cards for the tests of working memory, and a quick way to put them into a memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from alaya_core.clock import DAY_MS
from alaya_core.memory import Memory
from alaya_core.models.card import Card
from alaya_core.models.card_types import CardType
from alaya_core.models.commit import card_created
from tests.conftest import NOON


def a_card(number: int, **fields: Any) -> Card:
    """A fact of `number` days ago."""
    card = Card(
        id=f"card-{number:08x}{'0' * 24}",
        title="",
        content="",
        type=CardType.FACT,
        created_at=NOON - number * DAY_MS,
        added_at=NOON,
        updated_at=NOON,
    )
    return replace(card, **fields)


def put(memory: Memory, *cards: Card) -> list[str]:
    """Adds cards in one commit, and says their ids."""
    memory._work.commit("test", lambda _: [card_created(card) for card in cards])
    return [card.id for card in cards]
