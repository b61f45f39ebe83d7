"""Cards at any point of their life, drawn at random."""

from __future__ import annotations

from hypothesis import strategies as st

from alaya_core.clock import DAY_MS
from alaya_core.config import Config
from alaya_core.config_sections import LifecycleConfig
from alaya_core.models.card import Card, CardState, Standing, Vitals
from alaya_core.models.card_types import CardType
from alaya_core.services.card_views import Now

NOW = 1_800_000_000_000
MODELS = ("weibull", "product", "halflife")


@st.composite
def cards(draw: st.DrawFn) -> tuple[Card, Vitals]:
    """A living card and what use has done to it."""
    added = NOW - draw(st.integers(0, 900)) * DAY_MS - draw(st.integers(0, DAY_MS))
    uses = draw(st.sampled_from([0.0, 0.0, 0.2, 1.0, 2.0, 3.0, 9.0, 11.0, 40.0]))
    last = draw(st.integers(min(added, NOW), NOW)) if uses else 0
    card = Card(
        id=f"card-{draw(st.integers(0, 10**9)):032x}",
        title="t",
        content="c",
        type=draw(st.sampled_from(list(CardType))),
        created_at=added,
        added_at=added,
        updated_at=added,
        importance=draw(st.sampled_from([0.0, 0.05, 0.2, 0.5, 0.79, 0.8, 0.95, 1.0])),
        importance_by=draw(st.sampled_from(["human", "rules", "llm"])),
        confidence=draw(st.sampled_from([0.0, 0.3, 0.7, 1.0])),
        state=draw(st.sampled_from([CardState.ACTIVE, CardState.ACTIVE, CardState.SUPERSEDED])),
        pinned=draw(st.sampled_from([False, False, False, True])),
        expires_at=draw(st.sampled_from([None, None, NOW + 20 * DAY_MS, NOW - 40 * DAY_MS])),
        standing=draw(st.sampled_from(list(Standing))),
        vector_dropped=draw(st.booleans()),
        distilled_by=draw(st.sampled_from(["", "", "", "session-summary"])),
    )
    similarities = tuple(draw(st.lists(st.sampled_from([0.2, 0.9]), max_size=3))) if uses else ()
    first = draw(st.integers(min(added, last), last)) if uses else 0
    return card, Vitals(uses, last, first, similarities)


def moment(model: str, vitals: dict[str, Vitals], day: int = 0) -> Now:
    """Some days from now, under a temperature model."""
    return Now(NOW + day * DAY_MS, replace_model(model), vitals)


def replace_model(model: str) -> Config:
    """The usual settings with another temperature model."""
    return Config(lifecycle=LifecycleConfig(model=model))
