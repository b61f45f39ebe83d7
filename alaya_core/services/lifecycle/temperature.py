"""How alive a card is now, 0..1, by one of three models.

Every formula is written once, over numbers or whole columns of numbers alike: `Maths` is what differs. Scalars need no
numpy, so that showing one card does not import it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from alaya_core.clock import DAY_MS
from alaya_core.models.card import Standing, Vitals
from alaya_core.models.card_types import POLICIES, CardType

if TYPE_CHECKING:
    import numpy

Number = Any
"""A float, or a numpy column of floats."""

BETA = {Standing.CORE: 0.8, Standing.WORKING: 1.0, Standing.PERIPHERAL: 1.3}
"""Shape of the forgetting curve: below 1 its tail is long, above 1 it drops."""

_LONGEST_DAYS = 1e6
_LIGHTEST_USE = 0.2


class LivingCard(Protocol):
    """What the life of a card depends on, beside its use."""

    @property
    def type(self) -> CardType: ...
    @property
    def importance(self) -> float: ...
    @property
    def confidence(self) -> float: ...
    @property
    def added_at(self) -> int: ...
    @property
    def expires_at(self) -> int | None: ...
    @property
    def standing(self) -> Standing: ...
    @property
    def is_session_summary(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Maths:
    """The few functions that numbers and columns do not share."""

    exp: Callable[[Number], Number]
    least: Callable[[Number, Number], Number]
    most: Callable[[Number, Number], Number]
    choose: Callable[[Number, Number, Number], Number]


SCALAR = Maths(math.exp, min, max, lambda condition, yes, no: yes if condition else no)


@dataclass(frozen=True, slots=True)
class Life:
    """A card's life in numbers (or the lives of many, a column each).

    Attributes:
        unused: Days since the later of its entry and its last use.
        age: Days since it entered.
        uses: Weighted number of uses.
        gap: Mean days between uses.
        similarity: Mean of its recent recalls' similarities; 1 if none is known.
        importance, confidence: 0..1.
        beta: Shape of the forgetting curve, by standing.
        dated: Whether it holds information that expires (0 or 1).
        decay: Share of its score that a card of its type loses a day.
    """

    unused: Number
    age: Number
    uses: Number
    gap: Number
    similarity: Number
    importance: Number
    confidence: Number
    beta: Number
    dated: Number
    decay: Number


class TemperatureModel(Protocol):
    """A way for cards to cool.

    Attributes:
        forgets_below: What `fading` must be below before a card may be forgotten.
        sinks_below: What `fading` must be below for a working card to become peripheral.
        archives_below: What the temperature must be below for a card to be archived; None = this model never does.
    """

    @property
    def name(self) -> str: ...
    @property
    def forgets_below(self) -> float: ...
    @property
    def sinks_below(self) -> float: ...
    @property
    def archives_below(self) -> float | None: ...
    def temperature(self, life: Life, maths: Maths = SCALAR) -> Number:
        """0..1."""

    def fading(self, life: Life, maths: Maths = SCALAR) -> Number:
        """The part of the temperature that time takes away; importance alone does not hold it up."""


@dataclass(frozen=True, slots=True)
class Weibull:
    """Weibull forgetting curve (stretched exponential), plus frequency of use and what the card is worth in itself."""

    name: str = "weibull"
    forgets_below: float = 0.05
    sinks_below: float = 0.1
    archives_below: float | None = None

    def temperature(self, life: Life, maths: Maths = SCALAR) -> Number:
        """`0.4 recency + 0.3 frequency + 0.3 importance * confidence`."""
        return self.fading(life, maths) + 0.3 * life.importance * life.confidence

    def fading(self, life: Life, maths: Maths = SCALAR) -> Number:
        """`0.4 recency + 0.3 frequency`."""
        return 0.4 * self.recency(life, maths) + 0.3 * self.frequency(life, maths)

    def recency(self, life: Life, maths: Maths = SCALAR) -> Number:
        """`exp(-ln 2 / HL * days^beta)`, HL = `30 exp(1.5 importance)` days, a third of it for what expires."""
        half_life = 30.0 * maths.exp(1.5 * life.importance) * maths.choose(life.dated > 0, 1 / 3, 1.0)
        return maths.exp(-math.log(2) / half_life * life.unused**life.beta)

    def frequency(self, life: Life, maths: Maths = SCALAR) -> Number:
        """`(1 - exp(-n/5)) (0.5 + 0.5 exp(-gap/30))`, without the gap factor up to one use.

        One more use, even the lightest, never lowers it: it is at least what the uses before that one could have made.
        """
        reached = 1 - maths.exp(-life.uses / 5)
        spaced = reached * maths.choose(life.uses > 1, 0.5 + 0.5 * maths.exp(-life.gap / 30), 1.0)
        return maths.most(spaced, 1 - maths.exp(-maths.most(life.uses - _LIGHTEST_USE, 0.0) / 5))


@dataclass(frozen=True, slots=True)
class Product:
    """Recency times frequency times relevance: any of them at zero makes the whole zero."""

    name: str = "product"
    forgets_below: float = 0.1
    sinks_below: float = 0.15
    archives_below: float | None = None

    def temperature(self, life: Life, maths: Maths = SCALAR) -> Number:
        """`exp(-days since it entered / 30) * min(1, n/20) * mean similarity of recent recalls`."""
        return maths.exp(-life.age / 30) * maths.least(1.0, life.uses / 20) * life.similarity

    def fading(self, life: Life, maths: Maths = SCALAR) -> Number:
        """All of it fades."""
        return self.temperature(life, maths)


@dataclass(frozen=True, slots=True)
class HalfLife:
    """Exponential decay with a rate for each type of card, halved at most by its importance."""

    name: str = "halflife"
    forgets_below: float = 0.01
    sinks_below: float = 0.15
    archives_below: float | None = 0.05

    def temperature(self, life: Life, maths: Maths = SCALAR) -> Number:
        """`(1 - rate)^days unused`, rate = `decay (1 - importance/2)`; a card just used has 1."""
        return (1.0 - life.decay * (1 - life.importance / 2)) ** life.unused

    def fading(self, life: Life, maths: Maths = SCALAR) -> Number:
        """All of it fades."""
        return self.temperature(life, maths)


MODELS: Mapping[str, TemperatureModel] = {model.name: model for model in (Weibull(), Product(), HalfLife())}
DEFAULT_MODEL = MODELS["weibull"]


def life_of(card: LivingCard, vitals: Vitals, now: int, standing: Standing | None = None) -> Life:
    """A card's life in numbers at `now` (ms); ages are never negative, whatever the clocks said."""
    uses = max(0.0, vitals.access_count)
    span = max(0, vitals.last_access - vitals.first_access) if vitals.first_access > 0 else 0
    known = vitals.similarities
    return Life(
        unused=unused_days(card, vitals, now),
        age=days_between(card.added_at, now),
        uses=uses,
        gap=min(_LONGEST_DAYS, span / DAY_MS / max(1.0, uses - 1)),
        similarity=unit(sum(known) / len(known)) if known else 1.0,
        importance=unit(card.importance),
        confidence=unit(card.confidence),
        beta=BETA[standing or card.standing],
        dated=0.0 if card.expires_at is None else 1.0,
        decay=POLICIES[card.type].daily_decay,
    )


def temperature_of(
    card: LivingCard,
    vitals: Vitals,
    now: int,
    model: TemperatureModel = DEFAULT_MODEL,
    standing: Standing | None = None,
) -> float:
    """A card's temperature at `now` (ms), 0..1, with the standing given or its own."""
    return unit(float(model.temperature(life_of(card, vitals, now, standing))))


def columns(lives: Iterable[Life]) -> Life:
    """Many lives as one, a numpy column for each figure."""
    import numpy as np

    rows = [
        (
            life.unused,
            life.age,
            life.uses,
            life.gap,
            life.similarity,
            life.importance,
            life.confidence,
            life.beta,
            life.dated,
            life.decay,
        )
        for life in lives
    ]
    return Life(*np.array(rows, dtype=np.float64).reshape(-1, 10).T)


def temperatures(lives: Life, model: TemperatureModel = DEFAULT_MODEL) -> numpy.ndarray[Any, Any]:
    """The temperatures of many cards at once, by the same formulas."""
    import numpy as np

    column: numpy.ndarray[Any, Any] = np.clip(np.nan_to_num(model.temperature(lives, vector_maths())), 0.0, 1.0)
    return column


def vector_maths() -> Maths:
    """`Maths` over numpy columns."""
    import numpy as np

    return Maths(np.exp, np.minimum, np.maximum, np.where)


def unused_days(card: LivingCard, vitals: Vitals, now: int) -> float:
    """Days since the later of a card's entry and its last use."""
    return days_between(max(card.added_at, vitals.last_access), now)


def days_between(then: int, now: int) -> float:
    """Days from `then` to `now` (ms), never negative."""
    return min(_LONGEST_DAYS, max(0, now - then) / DAY_MS)


def unit(value: float) -> float:
    """A figure held within 0..1; what is no number is 0."""
    return min(1.0, max(0.0, value)) if math.isfinite(value) else 0.0
