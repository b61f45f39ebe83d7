"""Links inside one proposal, each with its reason; few, because a link that says nothing is noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import combinations, pairwise

from alaya_core.models.card import CardDraft, LinkDraft, Relation
from alaya_core.models.card_types import CardType

_HUB = 4  # a name in more cards than this links nothing: it is what the whole session is about
_TROUBLE = (CardType.GOTCHA,)
_ANSWER = (CardType.CASE, CardType.DECISION)
_GROUND = (CardType.FACT, CardType.CONCEPT, CardType.PATTERN)


def links(cards: Sequence[CardDraft], speakers: Collection[str] = ()) -> tuple[LinkDraft, ...]:
    """Links between drafts.

    Args:
        cards: In the order of their turns.
        speakers: Names of those who speak: they are in whatever they say, so they link nothing.
    """
    apart = {name.casefold() for name in speakers}
    names = [[name for name in card.entities if name.casefold() not in apart] for card in cards]
    spread = Counter(name.casefold() for found in names for name in found)
    found: list[LinkDraft] = []
    for first, second in combinations(range(len(cards)), 2):
        theirs = {name.casefold() for name in names[second]}
        shared = [name for name in names[first] if name.casefold() in theirs and spread[name.casefold()] <= _HUB]
        if shared:
            found.append(_link(cards[first], cards[second], shared))
    linked = {frozenset((link.from_key, link.to_key)) for link in found}
    decisions = [card for card in cards if card.type is CardType.DECISION]
    for earlier, later in pairwise(decisions):
        if frozenset((earlier.key, later.key)) not in linked:
            found.append(
                LinkDraft(earlier.key, later.key, Relation.TEMPORAL_NEXT, 0.3, "the next decision of the session")
            )
    found.sort(key=lambda link: -link.weight)
    return tuple(found[: max(1, len(cards) * 3 // 2)])


def _link(first: CardDraft, second: CardDraft, shared: list[str]) -> LinkDraft:
    names = ", ".join(shared[:3])
    weight = min(0.9, 0.4 + 0.1 * len(shared))
    if second.type in _ANSWER and first.type in _TROUBLE:
        done = "decided because of" if second.type is CardType.DECISION else "fixes"
        reason = f"{done} the trouble with {names}"
        return LinkDraft(second.key, first.key, Relation.CAUSED_BY, min(0.9, weight + 0.2), reason)
    if first.type is CardType.DECISION and second.type is CardType.DECISION:
        return LinkDraft(first.key, second.key, Relation.TEMPORAL_NEXT, weight, f"a later decision about {names}")
    if second.type is CardType.DECISION and first.type in _GROUND:
        return LinkDraft(second.key, first.key, Relation.DEPENDS_ON, weight + 0.1, f"rests on what was said of {names}")
    return LinkDraft(first.key, second.key, Relation.RELATES_TO, weight, f"both about {names}")
