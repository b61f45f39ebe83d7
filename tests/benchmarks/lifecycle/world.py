"""Some hundred days of use, fixed beforehand and the same for every model: which cards come, which are asked for."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from alaya_core.clock import DAY_MS, HOUR_MS
from alaya_core.models.card import Card
from alaya_core.models.card_types import CardType
from alaya_core.services.lifecycle.vitals import Access, AccessKind

START = 1_795_046_400_000  # 2026-11-19 00:00 UTC


class Kind(StrEnum):
    """What a card is to whoever uses it."""

    ORDINARY = "ordinary"  # importance .3 to .7, by rules
    PRAISED = "praised"  # a model gave it .8 to .95, as it gives to nearly all
    IMPORTANT = "important"  # a person or a rule gave .8 and more; nobody ever asks for it
    DATED = "dated"  # true until a day soon after it came, asked for no longer
    TRIFLE = "trifle"  # importance .1 to .2, hardly ever asked for


SHARES: Mapping[Kind, float] = {
    Kind.ORDINARY: 0.5,
    Kind.PRAISED: 0.2,
    Kind.IMPORTANT: 0.05,
    Kind.DATED: 0.1,
    Kind.TRIFLE: 0.15,
}
_WANTED: Mapping[Kind, float] = {
    Kind.ORDINARY: 1.0,
    Kind.PRAISED: 1.0,
    Kind.IMPORTANT: 0.0,
    Kind.DATED: 1.0,
    Kind.TRIFLE: 0.05,
}
"""How often a card is asked for beside an ordinary one of the same rank."""
_TYPES = {
    CardType.FACT: 35,
    CardType.CONCEPT: 15,
    CardType.DECISION: 10,
    CardType.PREFERENCE: 10,
    CardType.BELIEF: 10,
    CardType.GOTCHA: 8,
    CardType.EVENT: 8,
    CardType.SUMMARY: 4,
}
_RECENCY = 0.7
"""Power by which the odds of being asked for fall with the days since a card came or was asked for."""
_FRESH_DAYS = 14
"""Days after its entry in which a card that is needed later is still asked for as any other."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much happens.

    Attributes:
        holiday: The first day of it and the first day after; nothing comes and nobody asks.
        recalls: Recalls a day of use.
        needed_later: Share of the ordinary cards, praised ones and trifles that are needed once after a long pause.
        pause: Days without use before such a card is needed: at least, at most.
    """

    cards: int = 2_000
    days: int = 400
    holiday: tuple[int, int] = (180, 240)
    recalls: int = 30
    needed_later: float = 0.1
    pause: tuple[int, int] = (60, 250)

    def is_holiday(self, day: int) -> bool:
        """Whether nothing happens on a day (from 0)."""
        return self.holiday[0] <= day < self.holiday[1]

    @property
    def busy_days(self) -> list[int]:
        """The days on which something happens."""
        return [day for day in range(self.days) if not self.is_holiday(day)]


@dataclass(frozen=True, slots=True)
class World:
    """What happens, whichever way cards cool.

    Attributes:
        cards: By the time they enter.
        recalls: Every time a card is asked for, by time; one that is gone by then is not found.
        needs: Those of them that come after a long pause, one a card at most.
    """

    size: Size
    cards: tuple[Card, ...]
    kinds: Mapping[str, Kind]
    recalls: tuple[Access, ...]
    needs: frozenset[Access]


@dataclass(slots=True)
class _Wish:
    """How much a card is asked for.

    Attributes:
        until: The last day on which it is.
        touched: The day it came or was asked for last.
    """

    card: Card
    popularity: float
    until: int
    touched: int = field(default=0)

    def odds(self, day: int) -> float:
        """Beside those of all other cards."""
        return self.popularity / (1 + day - self.touched) ** _RECENCY if day <= self.until else 0.0


def make_world(seed: int, size: Size | None = None) -> World:
    """The same for the same seed."""
    size = size or Size()
    chance = random.Random(seed)
    kinds = _kinds(chance, size.cards)
    cards = [_card(chance, number, kind, added) for number, (kind, added) in enumerate(_entries(chance, kinds, size))]
    of = {card.id: kind for card, kind in zip(cards, kinds, strict=True)}
    needs = _needs(chance, cards, of, size)
    recalls = [*_recalls(chance, _wishes(chance, cards, of, {need.card_id for need in needs}, size), size), *needs]
    ordered = sorted(recalls, key=lambda access: (access.at, access.card_id))
    return World(size, tuple(cards), of, tuple(ordered), frozenset(needs))


def day_of(at: int) -> int:
    """The day (from 0) of a time in ms."""
    return (at - START) // DAY_MS


def _kinds(chance: random.Random, count: int) -> list[Kind]:
    kinds = [kind for kind, share in SHARES.items() for _ in range(round(share * count))]
    chance.shuffle(kinds)
    return kinds


def _entries(chance: random.Random, kinds: Sequence[Kind], size: Size) -> list[tuple[Kind, int]]:
    times = sorted(_moment(chance, chance.choice(size.busy_days)) for _ in kinds)
    return list(zip(kinds, times, strict=True))


def _moment(chance: random.Random, day: int) -> int:
    """A time (ms) in the working hours of a day."""
    return START + day * DAY_MS + chance.randrange(8 * HOUR_MS, 20 * HOUR_MS)


def _card(chance: random.Random, number: int, kind: Kind, added: int) -> Card:
    importance, by = {
        Kind.ORDINARY: (chance.uniform(0.3, 0.7), "rules"),
        Kind.PRAISED: (chance.uniform(0.8, 0.95), "llm"),
        Kind.IMPORTANT: (chance.uniform(0.8, 1.0), chance.choice(("human", "rules"))),
        Kind.DATED: (chance.uniform(0.2, 0.5), "rules"),
        Kind.TRIFLE: (chance.uniform(0.1, 0.2), "rules"),
    }[kind]
    (drawn,) = chance.choices(list(_TYPES), list(_TYPES.values()))
    return Card(
        id=f"card-{number:032x}",
        title=f"card {number}",
        content=f"what card {number} says",
        type=CardType.FACT if kind is Kind.DATED else drawn,
        created_at=added,
        added_at=added,
        updated_at=added,
        importance=round(importance, 2),
        importance_by=by,
        confidence=chance.choice((0.5, 0.7, 0.9)),
        expires_at=added + chance.randrange(3, 30) * DAY_MS if kind is Kind.DATED else None,
    )


def _needs(chance: random.Random, cards: Sequence[Card], kinds: Mapping[str, Kind], size: Size) -> list[Access]:
    """Single recalls after a long pause, of cards that come early enough for one; a holiday puts them off."""
    able = [card for card in cards if kinds[card.id] in (Kind.ORDINARY, Kind.PRAISED, Kind.TRIFLE)]
    found = []
    for card in chance.sample(able, round(size.needed_later * len(able))):
        day = day_of(card.added_at) + _FRESH_DAYS + chance.randint(*size.pause)
        if size.is_holiday(day):
            day = size.holiday[1] + chance.randrange(7)
        if day < size.days:
            found.append(_recall(chance, card, day))
    return found


def _wishes(
    chance: random.Random, cards: Sequence[Card], kinds: Mapping[str, Kind], needed: set[str], size: Size
) -> list[_Wish]:
    ranks = list(range(1, len(cards) + 1))
    chance.shuffle(ranks)
    wishes = []
    for card, rank in zip(cards, ranks, strict=True):
        came = day_of(card.added_at)
        until = size.days
        if card.expires_at is not None:
            until = day_of(card.expires_at)
        if card.id in needed:
            until = came + _FRESH_DAYS
        wishes.append(_Wish(card, _WANTED[kinds[card.id]] / rank, until, came))
    return wishes


def _recalls(chance: random.Random, wishes: Sequence[_Wish], size: Size) -> list[Access]:
    """The recalls of every day, of cards that came before it: Zipf's law, bent by how lately each was asked for."""
    found = []
    for day in size.busy_days:
        there = [wish for wish in wishes if day_of(wish.card.added_at) < day]
        odds = [wish.odds(day) for wish in there]
        if not math.fsum(odds):
            continue
        for wish in chance.choices(there, odds, k=size.recalls):
            found.append(_recall(chance, wish.card, day))
            wish.touched = day
    return found


def _recall(chance: random.Random, card: Card, day: int) -> Access:
    return Access(card.id, _moment(chance, day), AccessKind.RECALL, similarity=round(chance.uniform(0.4, 0.95), 2))
