"""Cards as answers: with their temperature, tier and use as of now. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from alaya_core.config import Config
from alaya_core.models.answers import CardRow, CardView, LinkView, Related
from alaya_core.models.card import LIVING, Card, Link, Tier, Vitals
from alaya_core.models.recall_parts import Neighbour as Found
from alaya_core.models.recall_parts import NeighbourLink
from alaya_core.services.lifecycle.temperature import MODELS, temperature_of
from alaya_core.services.lifecycle.tiers import Placement, TierRules, place, tier_case, tier_of
from alaya_core.services.lifecycle.vitals import merged
from alaya_core.services.recall.neighbours import (
    HOP_SHARE,
    leading_on,
    order_neighbours,
    under_hits,
    with_second_hops,
)
from alaya_core.stores.graph_read import Neighbour


@dataclass(frozen=True, slots=True)
class Now:
    """By what a card's life is judged at one moment.

    Attributes:
        at: ms, UTC.
        vitals: What use has done to each card.
    """

    at: int
    config: Config
    vitals: Mapping[str, Vitals]

    @property
    def rules(self) -> TierRules:
        """When a card is HOT or COLD."""
        return tier_rules(self.config)

    def of(self, card: Card) -> Vitals:
        """What use has done to one card, and to those it absorbed; nothing, if it was never used."""
        vitals = self.vitals.get(card.id, Vitals())
        for absorbed in card.merged_from:
            vitals = merged(vitals, self.vitals.get(absorbed, Vitals()))
        return vitals

    def temperature(self, card: Card) -> float:
        """0..1."""
        model = MODELS[self.config.lifecycle.model]
        return temperature_of(card, self.of(card), self.at, model)

    def tier(self, card: Card, temperature: float | None = None) -> Tier:
        """Where its vector lives: COLD once it was given up, else HOT or WARM by its use."""
        if card.vector_dropped:
            return Tier.COLD
        if card.is_session_summary and not card.pinned:
            return Tier.WARM
        warmth = self.temperature(card) if temperature is None else temperature
        tier = tier_of(card, self.of(card), warmth, self.at, self.rules)
        return Tier.HOT if tier is Tier.HOT else Tier.WARM

    def tiers(self, cards: Sequence[Card], warmth: Mapping[str, float] | None = None) -> dict[str, Tier]:
        """Where the vectors of all living cards are, the coolest HOT ones over the limit among the WARM."""
        placed = self.placement(cards, warmth).tiers
        kept = {card.id: Tier.HOT if placed[card.id] is Tier.HOT else Tier.WARM for card in cards}
        return {card.id: Tier.COLD if card.vector_dropped else kept[card.id] for card in cards}

    def placement(self, cards: Iterable[Card], warmth: Mapping[str, float] | None = None) -> Placement:
        """Where the rules would have every card now, within the limits.

        Args:
            warmth: Temperatures by card id, where they are known already.
        """
        rules = self.rules
        cases = (
            tier_case(
                card, self.of(card), self.temperature(card) if warmth is None else warmth[card.id], self.at, rules
            )
            for card in cards
        )
        return place(cases, rules)


def tier_rules(config: Config) -> TierRules:
    """The tier rules of a config."""
    own = config.temperature
    return TierRules(
        hot=own.hot_threshold,
        cold=own.cold_threshold,
        cold_days=own.cold_days,
        hot_limit=own.hot_limit,
        warm_limit=own.warm_limit,
    )


def card_view(card: Card, now: Now) -> CardView:
    """A card in full."""
    vitals = now.of(card)
    temperature = now.temperature(card)
    return CardView(
        card_id=card.id,
        title=card.title,
        overview=card.overview,
        content=card.content,
        type=str(card.type),
        tags=list(card.tags),
        entities=list(card.entities),
        importance=card.importance,
        importance_by=card.importance_by,
        confidence=card.confidence,
        scope=card.scope,
        origin=card.origin,
        state=str(card.state),
        pinned=card.pinned,
        rev=card.rev,
        created_at=card.created_at,
        added_at=card.added_at,
        updated_at=card.updated_at,
        expires_at=card.expires_at,
        successor=card.successor or None,
        distilled_by=card.distilled_by or None,
        source_sessions=[source.session_id for source in card.sources],
        standing=str(card.standing),
        tier=str(now.tier(card, temperature)),
        temperature=round(temperature, 4),
        access_count=vitals.access_count,
        last_access=vitals.last_access or None,
    )


def card_row(card: Card, now: Now, links: int) -> CardRow:
    """A card in a list."""
    temperature = now.temperature(card)
    return CardRow(
        card_id=card.id,
        title=card.title,
        type=str(card.type),
        tags=list(card.tags),
        tier=str(now.tier(card, temperature)),
        temperature=round(temperature, 4),
        standing=str(card.standing),
        importance=card.importance,
        origin=card.origin,
        scope=card.scope,
        state=str(card.state),
        pinned=card.pinned,
        created_at=card.created_at,
        added_at=card.added_at,
        updated_at=card.updated_at,
        access_count=now.of(card).access_count,
        links=links,
    )


def related(card_id: str, neighbours: Sequence[Neighbour], scopes: list[str] | None, limit: int) -> list[Related]:
    """The neighbours of a card that whoever asks may see, strongest first."""
    known = {neighbour.card_id: neighbour for neighbour in neighbours if shown(neighbour, scopes)}
    links = _links(card_id, neighbours, scopes)
    return [_related(found, known) for found in order_neighbours(links, limit).get(card_id, ())]


Look = Callable[[Sequence[str]], Mapping[str, Sequence[Neighbour]]]
"""Finds the cards one link away from each of some cards."""


def related_under(
    hits: Sequence[str], look: Look, scopes: list[str] | None, limit: int, depth: int
) -> dict[str, list[Related]]:
    """The neighbours that stand under the hits of one answer.

    Args:
        hits: Best first.
        look: Finds only cards that whoever asks may see: what is hidden connects nothing either.
        limit: Most under a hit.
        depth: 1, or 2 for the neighbours' neighbours too.
    """
    around = look(hits)
    known = _known(around, scopes)
    near = [link for hit in hits for link in _links(hit, around.get(hit, ()), scopes)]
    under = under_hits(hits, near, limit)
    if depth > 1 and (middles := leading_on(under)):
        beyond = look(middles)
        known |= _known(beyond, scopes)
        onward = [link for middle in middles for link in _links(middle, beyond.get(middle, ()), scopes)]
        others: dict[str, set[str]] = {}
        for link in near:
            others.setdefault(link.hit_id, set()).add(link.other_id)
        under = with_second_hops(hits, under, others, onward, limit)
    return {hit: [_related(found, known) for found in under.get(hit, ())] for hit in hits}


def _known(around: Mapping[str, Iterable[Neighbour]], scopes: list[str] | None) -> dict[str, Neighbour]:
    return {near.card_id: near for found in around.values() for near in found if shown(near, scopes)}


def _links(card_id: str, neighbours: Iterable[Neighbour], scopes: list[str] | None) -> list[NeighbourLink]:
    """The links to the neighbours that may be shown, as seen from the card."""
    return [
        NeighbourLink(
            hit_id=card_id,
            other_id=neighbour.card_id,
            relation=str(neighbour.link.relation),
            direction=direction(neighbour.link, card_id),
            weight=neighbour.link.weight,
            degree=neighbour.degree,
            reason=neighbour.link.reason,
        )
        for neighbour in neighbours
        if shown(neighbour, scopes)
    ]


def _related(found: Found, known: Mapping[str, Neighbour]) -> Related:
    end = known[found.link.other_id]
    return Related(
        card_id=end.card_id,
        title=end.title,
        relation=found.link.relation,
        direction=found.link.direction,
        score=round(found.link.weight * HOP_SHARE ** (found.link.hops - 1), 4),
        reason=found.link.reason,
        type=end.type,
        state=end.state,
    )


def shown(neighbour: Neighbour, scopes: list[str] | None) -> bool:
    """Whether a neighbour may be shown: it still stands, and whoever asks may see its scope."""
    return neighbour.state in LIVING and (scopes is None or neighbour.scope in scopes)


def direction(link: Link, card_id: str) -> str:
    """A link's direction as seen from one of its ends."""
    if link.relation.symmetric:
        return "both"
    return "out" if link.from_id == card_id else "in"


def link_view(link: Link, titles: Mapping[str, str]) -> LinkView:
    """A link with the titles of its ends."""
    return LinkView(
        from_id=link.from_id,
        to_id=link.to_id,
        from_title=titles.get(link.from_id, ""),
        to_title=titles.get(link.to_id, ""),
        relation=str(link.relation),
        weight=link.weight,
        reason=link.reason,
        origin=link.origin,
        created_at=link.created_at,
        both_ways=link.relation.symmetric,
    )
