"""What becomes of cards that are alike: which are made one, which give way, which are linked. No I/O."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from itertools import pairwise

from alaya_core.models.card import Card, CardState, Link, Relation, ordered_ends
from alaya_core.models.card_types import POLICIES, CardType, OnDuplicate
from alaya_core.models.plan import Decision, Pair
from alaya_core.services.consolidate.reading import Reading
from alaya_core.services.consolidate.verdicts import Fate, Verdict, by_time, judge, may_be_one, safe_why, worth
from alaya_core.services.proposal_key import proposal_key

_MOST_ALIKE = 200
"""Cards that tell the same attribute of the same thing, above which the newest are compared only."""
_ORDER = (Fate.CONTRADICT, Fate.SUPERSEDE, Fate.CONFIRM, Fate.MERGE, Fate.SIMILAR)


@dataclass(frozen=True, slots=True)
class JudgingRules:
    """Thresholds, on the rescaled scale.

    Attributes:
        duplicate: Above it two texts that no rule settles are put before a person.
        related: From it on two cards are linked.
        similar_links: How many such links a card may have.
    """

    duplicate: float = 0.95
    related: float = 0.7
    similar_links: int = 5


def plan_pairs(
    cards: Mapping[str, Card],
    pairs: Iterable[Pair],
    linked: Set[tuple[str, str]],
    rejected: Set[str],
    *,
    now: int,
    rules: JudgingRules,
) -> list[Decision]:
    """What to do with cards that are alike; the same whatever the order of cards and pairs.

    A card changes, or is changed for, once a plan; what hangs on that is left to the next one. Only copies of one text
    all go into the same card at once.

    Args:
        cards: By id; those that are not active are passed over.
        pairs: Cards that are similar; what their words alone tell is added.
        linked: Ids of cards that have a link already, the smaller one first.
        rejected: Keys of decisions that are not to be made, because a person said so or has still to say.
        now: ms.
    """
    active = {card.id: card for card in cards.values() if card.state is CardState.ACTIVE}
    measured = {
        (pair.one, pair.other): pair.similarity
        for pair in pairs
        if pair.one in active and pair.other in active and active[pair.one].scope == active[pair.other].scope
    }
    readings = {card.id: Reading(card) for card in active.values()}
    told = dict.fromkeys(_told_alike(readings.values()), 0.0)
    verdicts = {
        ends: judge(readings[ends[0]], readings[ends[1]], similarity, duplicate=rules.duplicate)
        for ends, similarity in sorted({**told, **measured}.items())
    }
    plan = _Plan(measured, rejected, now)
    for keep, gone in _copies(readings.values()):
        plan.add(Verdict(Fate.MERGE, keep, gone, "the same text", exact=True))
    order = sorted(verdicts.items(), key=lambda item: _rank(item[0], item[1], measured))
    for _, verdict in order:
        if not verdict.review and not verdict.exact and verdict.fate is not Fate.SIMILAR:
            plan.add(verdict)
    for _, verdict in order:
        if verdict.review:
            plan.add(verdict)
    settled = plan.settled()
    alike = {
        ends: measured[ends]
        for ends, verdict in verdicts.items()
        if measured.get(ends, 0.0) >= rules.related and not settled & set(ends) and ends not in plan.proposed
    }
    return [*plan.decisions, *_similar(alike, active, linked, rejected, now=now, most=rules.similar_links)]


def attribute_pairs(cards: Mapping[str, Card]) -> list[Pair]:
    """Pairs of cards of one scope that tell the same attribute of the same thing, neighbours in time; similarity 0:
    nobody measured it."""
    return [Pair(one, other, 0.0) for one, other in _told_alike(Reading(card) for card in cards.values())]


def _told_alike(readings: Iterable[Reading]) -> list[tuple[str, str]]:
    groups: dict[tuple[str, ...], list[Card]] = defaultdict(list)
    for reading in readings:
        if POLICIES[reading.card.type].on_duplicate is OnDuplicate.APPEND:
            continue
        for key in _told_by(reading):
            groups[(reading.card.scope, *key)].append(reading.card)
    found: set[tuple[str, str]] = set()
    for alike in groups.values():
        alike.sort(key=lambda card: (card.created_at, card.added_at, card.id))
        recent = alike[-_MOST_ALIKE:]
        for older, newer in pairwise(recent):
            found.add((min(older.id, newer.id), max(older.id, newer.id)))
    return sorted(found)


def _told_by(reading: Reading) -> set[tuple[str, ...]]:
    if reading.card.type is CardType.PREFERENCE:
        liked = reading.preference
        return {("prefers", liked.who, *sorted(liked.things))} if liked else set()
    return {(attribute.name, attribute.subject) for attribute in reading.attributes if attribute.single}


class _Plan:
    """Decisions as they are made, each card in one that changes it."""

    def __init__(self, measured: Mapping[tuple[str, str], float], rejected: Set[str], now: int) -> None:
        self.decisions: list[Decision] = []
        self.proposed: set[tuple[str, str]] = set()
        self._measured = measured
        self._rejected = rejected
        self._now = now
        self._used: set[str] = set()
        self._keeping: set[str] = set()

    def add(self, verdict: Verdict) -> None:
        """Adds a decision unless one of its cards is in another already, or it was rejected."""
        ends = {verdict.first.id, verdict.second.id}
        again = verdict.exact and verdict.first.id in self._keeping and verdict.second.id not in self._used
        if ends & self._used and not again:
            return
        pair = (min(ends), max(ends))
        decision = _decision(verdict, self._measured.get(pair), self._now)
        if decision.key in self._rejected:
            return
        self.decisions.append(decision)
        if decision.review:
            self.proposed.add(pair)
            return
        self._used |= ends
        if verdict.exact:
            self._keeping.add(verdict.first.id)

    def settled(self) -> frozenset[str]:
        """Ids of the cards that something is done with."""
        return frozenset(self._used)


def _decision(verdict: Verdict, similarity: float | None, now: int) -> Decision:
    first, second = verdict.first, verdict.second
    changed: tuple[Card, ...] = ()
    links: tuple[Link, ...] = ()
    if verdict.review:
        pass
    elif verdict.fate in (Fate.CONTRADICT, Fate.SUPERSEDE):
        changed = (replace(second, state=CardState.SUPERSEDED, successor=first.id, updated_at=now),)
        if verdict.fate is Fate.CONTRADICT:
            links = (_link(first.id, second.id, Relation.CONTRADICTS, 1.0, safe_why(verdict.why), now),)
    elif verdict.fate is Fate.CONFIRM:
        surer = max(0.9, first.confidence, second.confidence)
        changed = (replace(first, type=CardType.FACT, confidence=surer, updated_at=now),)
        links = (_link(first.id, second.id, Relation.RELATES_TO, 0.9, "confirmed by", now),)
    return Decision(
        str(verdict.fate),
        (first, second),
        changed=changed,
        links=links,
        absorbed=second.id if verdict.fate is Fate.MERGE and not verdict.review else "",
        review=verdict.review,
        score=similarity,
        why=safe_why(verdict.why),
        key=proposal_key(str(verdict.fate), (first, second)),
    )


def _copies(readings: Iterable[Reading]) -> list[tuple[Card, Card]]:
    """Cards that are the same word for word: each with the one that stays."""
    groups: dict[tuple[object, ...], list[Card]] = defaultdict(list)
    for reading in readings:
        card = reading.card
        if may_be_one(card):
            groups[(card.scope, card.type is CardType.SUMMARY, *reading.fingerprint)].append(card)
    found = []
    for alike in groups.values():
        keep, *others = sorted(alike, key=worth)
        found += [(keep, other) for other in others]
    return sorted(found, key=lambda pair: (pair[0].id, pair[1].id))


def _rank(
    ends: tuple[str, str], verdict: Verdict, measured: Mapping[tuple[str, str], float]
) -> tuple[int, float, int, tuple[str, str]]:
    """Sorts what is settled first: contradictions before merges, the newest before what it replaced."""
    newer, _ = by_time(verdict.first, verdict.second)
    return _ORDER.index(verdict.fate), -measured.get(ends, 0.0), -newer.created_at, ends


def _similar(
    alike: Mapping[tuple[str, str], float],
    cards: Mapping[str, Card],
    linked: Set[tuple[str, str]],
    rejected: Set[str],
    *,
    now: int,
    most: int,
) -> list[Decision]:
    """Links between what is alike, the strongest first, a few a card; a link that is there takes one of the places."""
    taken = Counter(end for ends in alike if ends in linked for end in ends)
    found = []
    for ends, similarity in sorted(alike.items(), key=lambda item: (-item[1], item[0])):
        if ends in linked or any(taken[end] >= most for end in ends):
            continue
        seen = (cards[ends[0]], cards[ends[1]])
        key = proposal_key("similar", seen)
        if key in rejected:
            continue
        taken.update(ends)
        link = _link(*ends, Relation.SIMILAR_TO, round(min(1.0, similarity), 3), "similar texts", now)
        found.append(Decision("similar", seen, links=(link,), score=similarity, why=link.reason, key=key))
    return found


def _link(from_id: str, to_id: str, relation: Relation, weight: float, reason: str, now: int) -> Link:
    return Link(*ordered_ends(from_id, to_id, relation), relation, weight, reason, "rule", now)


__all__ = ["JudgingRules", "attribute_pairs", "plan_pairs"]
