"""Links inside one proposal, each with its reason; few, because a link that says nothing is noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, pairwise

from alaya_core.models.card import CardDraft, LinkDraft, Relation
from alaya_core.models.card_types import CardType

_HUB = 4  # a name in more cards than this links nothing: it is what the whole session is about
_TROUBLE = (CardType.GOTCHA,)
_ANSWER = (CardType.CASE, CardType.DECISION)
_GROUND = (CardType.FACT, CardType.CONCEPT, CardType.PATTERN)


def links(cards: Sequence[CardDraft]) -> tuple[LinkDraft, ...]:
    """Links between drafts, which stand in the order of their turns."""
    spread = Counter(name.casefold() for card in cards for name in card.entities)
    found: list[LinkDraft] = []
    for first, second in combinations(cards, 2):
        theirs = {name.casefold() for name in second.entities}
        shared = [name for name in first.entities if name.casefold() in theirs and spread[name.casefold()] <= _HUB]
        if shared:
            found.append(_link(first, second, shared))
    linked = {(link.from_key, link.to_key) for link in found} | {(link.to_key, link.from_key) for link in found}
    decisions = [card for card in cards if card.type is CardType.DECISION]
    for earlier, later in pairwise(decisions):
        if (earlier.key, later.key) not in linked:
            found.append(
                LinkDraft(earlier.key, later.key, Relation.TEMPORAL_NEXT, 0.3, "decided next in the same session")
            )
    found.sort(key=lambda link: -link.weight)
    return tuple(found[: max(1, len(cards) * 3 // 2)])


def _link(first: CardDraft, second: CardDraft, shared: list[str]) -> LinkDraft:
    names = ", ".join(shared[:3])
    weight = min(0.9, 0.4 + 0.1 * len(shared))
    if second.type in _ANSWER and first.type in _TROUBLE:
        return LinkDraft(
            second.key, first.key, Relation.CAUSED_BY, min(0.9, weight + 0.2), f"answers the trouble with {names}"
        )
    if first.type in _ANSWER and second.type in _TROUBLE:
        return LinkDraft(first.key, second.key, Relation.RELATES_TO, weight, f"both about {names}")
    if first.type is CardType.DECISION and second.type is CardType.DECISION:
        return LinkDraft(first.key, second.key, Relation.TEMPORAL_NEXT, weight, f"a later decision about {names}")
    if second.type is CardType.DECISION and first.type in _GROUND:
        return LinkDraft(
            second.key,
            first.key,
            Relation.DEPENDS_ON,
            weight + 0.1,
            f"decided on the ground of what is known of {names}",
        )
    return LinkDraft(first.key, second.key, Relation.RELATES_TO, weight, f"both about {names}")
