"""One world lived through under one temperature model, by the functions that tidy a real memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from alaya_core.clock import DAY_MS, HOUR_MS
from alaya_core.config import Config
from alaya_core.config_sections import LifecycleConfig, TemperatureConfig
from alaya_core.models.card import LIVING, Card, CardState, Tier, Vitals
from alaya_core.models.plan import Decision
from alaya_core.services.card_views import Now
from alaya_core.services.lifecycle.cooling import plan_cool_down, plan_forget
from alaya_core.services.lifecycle.tiers import top_fifth
from alaya_core.services.lifecycle.vitals import Access, fold
from tests.benchmarks.lifecycle.world import START, Kind, World, day_of

PLACES_ONE_IN = 10
"""A narrow HOT tier has a place for one living card in so many."""

Where = Tier | CardState
"""The tier of a living card, else its state."""


@dataclass(slots=True)
class Outcome:
    """What a model made of a world.

    Attributes:
        recalls: By where their card was at that moment; one that was archived or forgotten is not found.
        needs: Of them, those after a long pause, by what the card is and where it was.
        narrow: Recalls whose card was among the HOT of last night if only one in ten may be HOT.
        hot_shares: Share of living cards that the rules alone made HOT, night by night.
        forgotten: Cards forgotten, night by night.
        asked: Nights that would have asked somebody before they forgot that many.
        cards: All cards in the end, by what they are and where.
    """

    model: str
    recalls: Counter[Where] = field(default_factory=Counter)
    needs: Counter[tuple[Kind, Where]] = field(default_factory=Counter)
    narrow: int = 0
    hot_shares: list[float] = field(default_factory=list)
    forgotten: list[int] = field(default_factory=list)
    asked: int = 0
    cards: Counter[tuple[Kind, Where]] = field(default_factory=Counter)

    def ended(self, where: Where | None = None, kind: Kind | None = None) -> int:
        """How many cards there are in the end, of a kind and in a place if they are named."""
        return _count(self.cards, where, kind)

    def needed(self, where: Where | None = None, kind: Kind | None = None) -> int:
        """How many recalls came after a long pause, of a kind of card and while it was in a place."""
        return _count(self.needs, where, kind)


def live_through(world: World, model: str, every: int = 1) -> Outcome:
    """What a model makes of a world.

    Args:
        every: Days from one night of tidying to the next.
    """
    simulation = _Simulation(world, model)
    days = {day: list(recalls) for day, recalls in groupby(world.recalls, lambda access: day_of(access.at))}
    arrivals = {day: list(cards) for day, cards in groupby(world.cards, lambda card: day_of(card.added_at))}
    for day in range(world.size.days):
        simulation.use(days.get(day, []))
        simulation.cards.update((card.id, card) for card in arrivals.get(day, []))
        if (day + 1) % every == 0:
            simulation.tidy(START + (day + 1) * DAY_MS)
    return simulation.end(START + world.size.days * DAY_MS)


class _Simulation:
    """Cards and their vitals in memory, and what is counted on the way."""

    def __init__(self, world: World, model: str) -> None:
        self.world = world
        self.config = Config(lifecycle=LifecycleConfig(model=model))
        self.cards: dict[str, Card] = {}
        self.vitals: dict[str, Vitals] = {}
        self.narrow: set[str] = set()
        self.outcome = Outcome(model)

    def use(self, recalls: Sequence[Access]) -> None:
        """What is asked for on a day, an hour at a time; what is not found does not count as used."""
        for _, hour in groupby(recalls, lambda access: access.at // HOUR_MS):
            found = [access for access in hour if self._found(access)]
            self.vitals.update(fold(self.vitals, found))

    def tidy(self, midnight: int) -> None:
        """Cool-down and forgetting, as an introspect does them when somebody agrees to whatever it asks."""
        now = self._now(midnight)
        self._apply(plan_cool_down(list(self.cards.values()), now))
        settings = now.config.introspect
        cards = list(self.cards.values())
        leaving = plan_forget(
            cards,
            now,
            frozenset(),
            model_line=top_fifth(card.importance for card in cards if card.importance_by == "llm"),
            days=settings.forget_days,
            threshold=settings.forget_threshold,
        )
        many = max(settings.forget_ask_above, settings.forget_ask_share * len(self._living()))
        self.outcome.asked += len(leaving) > many
        self.outcome.forgotten.append(len(leaving))
        self._apply(leaving)
        self._look_around(now)

    def end(self, at: int) -> Outcome:
        """What came of it all."""
        now = self._now(at)
        kinds = self.world.kinds
        self.outcome.cards.update((kinds[card.id], _where(card, now)) for card in self.cards.values())
        return self.outcome

    def _now(self, at: int) -> Now:
        return Now(at, self.config, self.vitals)

    def _living(self) -> list[Card]:
        return [card for card in self.cards.values() if card.state in LIVING]

    def _apply(self, decisions: Iterable[Decision]) -> None:
        for decision in decisions:
            for card in decision.changed:
                self.cards[card.id] = replace(card, rev=card.rev + 1)

    def _found(self, access: Access) -> bool:
        """Counts a recall; whether its card still lives."""
        card = self.cards[access.card_id]
        where = _where(card, self._now(access.at))
        self.outcome.recalls[where] += 1
        self.outcome.narrow += card.state in LIVING and card.id in self.narrow
        if access in self.world.needs:
            self.outcome.needs[self.world.kinds[card.id], where] += 1
        return card.state in LIVING

    def _look_around(self, now: Now) -> None:
        """Which cards are HOT tonight: how many by the rules alone, and who with few places."""
        living = self._living()
        warmth = {card.id: now.temperature(card) for card in living}
        hot = sum(now.tier(card, warmth[card.id]) is Tier.HOT for card in living)
        self.outcome.hot_shares.append(hot / max(1, len(living)))
        few = TemperatureConfig(hot_limit=len(living) // PLACES_ONE_IN)
        placed = replace(now, config=now.config.model_copy(update={"temperature": few})).placement(living, warmth)
        self.narrow = {card_id for card_id, tier in placed.tiers.items() if tier is Tier.HOT}


def _where(card: Card, now: Now) -> Where:
    return now.tier(card) if card.state in LIVING else card.state


def _count(counts: Counter[tuple[Kind, Where]], where: Where | None, kind: Kind | None) -> int:
    return sum(count for (what, place), count in counts.items() if where in (None, place) and kind in (None, what))
