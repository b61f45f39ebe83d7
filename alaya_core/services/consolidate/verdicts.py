"""What is to become of two cards that are alike: judged by rules, each on its own. No I/O."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from alaya_core.clock import iso
from alaya_core.models.card import Card
from alaya_core.models.card_types import POLICIES, CardType, OnDuplicate
from alaya_core.services.consolidate.attributes import same_value, subject_key, surely_differ
from alaya_core.services.consolidate.preferences import replaces
from alaya_core.services.consolidate.reading import Reading
from alaya_core.services.consolidate.texts import Difference, difference, is_numbered, other_subject
from alaya_core.services.distill.cues import listed
from alaya_core.text import clip, safe_line

SURE = 0.9
"""Rescaled similarity from which two statements about the same thing are one."""
LONGEST_WHY = 160
_NOW_TRUE = (CardType.FACT, CardType.PROFILE, CardType.CONCEPT, CardType.ENTITY)
"""Types of cards that say how something is now, so that a newer one can contradict them."""


_HAS_ONE = listed(
    "is are takes take costs cost needs need weighs holds lasts listens runs starts ends expires has have"
    " am run cost hold last start end expire listen 是 为 占 花 需 有"
)
_UNSURE = re.compile(r"\b(?:was|were|had|did|will|would|if|when|or|and|\w+ed)\b|[了过]|曾|如果|时", re.IGNORECASE)


class Fate(StrEnum):
    """What is done with a pair."""

    MERGE = "merge"  # the second goes into the first
    CONTRADICT = "contradict"  # the first holds, the second held before
    SUPERSEDE = "supersede"  # the first takes the second's place
    CONFIRM = "confirm"  # the first, a belief, is a fact now, as the second is
    SIMILAR = "similar"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be done with a pair.

    Attributes:
        first, second: The two, in the order that the fate names.
        why: For people.
        review: Whether only a person (or a model) may decide it.
        exact: Whether the two are the same word for word.
    """

    fate: Fate
    first: Card
    second: Card
    why: str
    review: bool = False
    exact: bool = False


def judge(one: Reading, other: Reading, similarity: float, *, duplicate: float) -> Verdict:
    """What is to become of two active cards of one scope.

    Args:
        similarity: 0..1, rescaled; 0 where nobody measured it.
        duplicate: Similarity above which two texts that no rule settles are put before a person.
    """
    newer, older = (one, other) if by_time(one.card, other.card)[0] is one.card else (other, one)
    mergeable = _may_be_one(one.card, other.card)
    if mergeable and one.fingerprint == other.fingerprint:
        keep, gone = by_worth(one.card, other.card)
        return Verdict(Fate.MERGE, keep, gone, "the same text", exact=True)
    verdict = _by_type(newer, older, similarity, duplicate)
    if verdict is not None:
        return _guarded(verdict)
    if similarity > duplicate and mergeable and not _named_apart(one, other):
        keep, gone = by_worth(one.card, other.card)
        return Verdict(Fate.MERGE, keep, gone, f"may say the same: {_named(keep)} / {_named(gone)}", review=True)
    return Verdict(Fate.SIMILAR, newer.card, older.card, "")


def _by_type(newer: Reading, older: Reading, similarity: float, duplicate: float) -> Verdict | None:
    """What the rules for their types say; None if nothing."""
    types = (newer.card.type, older.card.type)
    if OnDuplicate.APPEND in (_policy(newer.card), _policy(older.card)):
        return None
    if CardType.SUMMARY in types:
        return _summaries(newer, older, similarity, duplicate)
    if types.count(CardType.BELIEF) == 1:
        belief, fact = (newer, older) if types[0] is CardType.BELIEF else (older, newer)
        return _belief(belief, fact, similarity, newer is belief) if fact.card.type in _NOW_TRUE else None
    stated = CardType.PREFERENCE in types and newer.preference is not None and older.preference is not None
    if stated or types == (CardType.PREFERENCE, CardType.PREFERENCE):
        return _preferences(newer, older, similarity, duplicate)
    return _statements(newer, older, similarity) if set(types) <= set(_NOW_TRUE) else None


def by_time(one: Card, other: Card) -> tuple[Card, Card]:
    """The newer and the older one: by when it was true, then by when it entered."""
    older, newer = sorted((one, other), key=lambda card: (card.created_at, card.added_at, card.id))
    return newer, older


def may_be_one(card: Card) -> bool:
    """Whether a card may ever become one with another: what happened may not, nor where a session ended."""
    return _policy(card) is not OnDuplicate.APPEND and not card.is_session_summary


def by_worth(one: Card, other: Card) -> tuple[Card, Card]:
    """The one that stays when they become one, and the one that goes."""
    keep, gone = sorted((one, other), key=worth)
    return keep, gone


def worth(card: Card) -> tuple[bool, bool, bool, float, int, int, str]:
    """Sorts what is to stay first: no belief, a person's, pinned, important, old."""
    person = card.origin == "human" or card.importance_by == "human"
    return (
        card.type is CardType.BELIEF,
        not person,
        not card.pinned,
        -card.importance,
        card.created_at,
        card.added_at,
        card.id,
    )


def _statements(newer: Reading, older: Reading, similarity: float) -> Verdict | None:
    """Two statements about how something is."""
    shared = list(newer.shared_with(older))
    for new, old in shared:
        if new.single and surely_differ(new, old):
            why = f"{_spoken(new.name)} {old.shown} -> {new.shown}, said {_day(newer.card)}"
            return Verdict(Fate.CONTRADICT, newer.card, older.card, why, review=not newer.tells_all_of(older))
    if similarity < SURE or (not shared and other_subject(newer.subject, older.subject)):
        return None
    profiles = newer.card.type is older.card.type is CardType.PROFILE
    if profiles and _same_subject(newer, older):
        if newer.words and older.words and newer.numbers != older.numbers:
            return _changed_value(newer, older)
        return _as_one(newer, older, "the same of one person")
    if newer.numbers == older.numbers and any(same_value(new, old) for new, old in shared):
        return _as_one(newer, older, f"the same {_spoken(shared[0][0].name)} of {shared[0][0].subject}")
    return _changed_value(newer, older)


def _changed_value(newer: Reading, older: Reading) -> Verdict | None:
    """Two statements of the same form that differ in one value of the same thing."""
    changed = difference(newer.words, older.words)
    if changed is None or changed.in_subject or not changed.numbers or not len(changed.one) == len(changed.other) == 1:
        return None
    why = f"{changed.other[0]} -> {changed.one[0]}, said {_day(newer.card)}: {_named(newer.card)}"
    return Verdict(Fate.CONTRADICT, newer.card, older.card, why, review=not _has_one_value(changed, older))


def _has_one_value(changed: Difference, older: Reading) -> bool:
    """Whether what differs is surely a value of which a known thing has one at a time, now."""
    text = older.parts[0]
    said = [word for word in changed.frame if word in _HAS_ONE]
    counted = changed.one[0].isdigit() and changed.other[0].isdigit()
    named = subject_key(("" if not text.isascii() else " ").join(older.subject))
    return bool(said and named) and not _UNSURE.search(text) and (counted or said[-1] not in ("has", "have", "有"))


def _preferences(newer: Reading, older: Reading, similarity: float, duplicate: float) -> Verdict | None:
    mine, theirs = newer.preference, older.preference
    if mine and theirs and mine.who == theirs.who and mine.things == theirs.things:
        if mine.liked != theirs.liked:
            return Verdict(Fate.SUPERSEDE, newer.card, older.card, _replaced(newer.card, older.card))
        if similarity >= SURE:
            return Verdict(Fate.SUPERSEDE, newer.card, older.card, f"said again: {_named(newer.card)}")
        return None
    if similarity < SURE:
        return None
    if newer.words and newer.words == older.words:
        return Verdict(Fate.SUPERSEDE, newer.card, older.card, f"said again: {_named(newer.card)}")
    changed = difference(newer.words, older.words)
    if changed is not None and replaces(changed, newer.parts[0]):
        return Verdict(Fate.SUPERSEDE, newer.card, older.card, _replaced(newer.card, older.card))
    return None


def _belief(belief: Reading, fact: Reading, similarity: float, is_newer: bool) -> Verdict | None:
    """What somebody supposed, and what is known.

    Args:
        is_newer: Whether it was supposed later than it was known.
    """
    shared = list(belief.shared_with(fact))
    contradicted = next((pair for pair in shared if pair[0].single and surely_differ(*pair)), None)
    changed = difference(belief.words, fact.words) if similarity >= SURE else None
    denied = changed is not None and (changed.polarity or (changed.numbers and not changed.in_subject))
    if contradicted or denied:
        known = f"{_spoken(contradicted[1].name)} {contradicted[1].shown}" if contradicted else _named(fact.card)
        return Verdict(Fate.CONTRADICT, fact.card, belief.card, f"known by now: {known}", review=is_newer)
    if belief.numbers != fact.numbers:
        return None
    confirmed = any(same_value(guessed, known) for guessed, known in shared)
    alike = similarity >= SURE and not shared and not other_subject(belief.subject, fact.subject)
    if confirmed or (alike and belief.denies == fact.denies):
        return Verdict(Fate.CONFIRM, belief.card, fact.card, f"confirmed by: {_named(fact.card)}")
    return None


def _summaries(newer: Reading, older: Reading, similarity: float, duplicate: float) -> Verdict | None:
    new, old = newer.card, older.card
    if new.type is not old.type:
        return None
    if new.is_session_summary or old.is_session_summary:
        own = {source.session_id for source in new.sources} & {source.session_id for source in old.sources}
        if new.distilled_by != old.distilled_by or not own:
            return None
        return Verdict(Fate.SUPERSEDE, new, old, f"newer summary of the same session: {_named(new)}")
    same = bool(newer.names) and newer.names == older.names
    if similarity > duplicate or (same and similarity >= SURE):
        return Verdict(Fate.SUPERSEDE, new, old, f"newer summary: {_named(new)}")
    return None


def _guarded(verdict: Verdict) -> Verdict:
    """A card that a person pinned gives way only by a person's word."""
    takes_its_place = verdict.fate in (Fate.CONTRADICT, Fate.SUPERSEDE)
    review = verdict.review or (takes_its_place and verdict.second.pinned)
    return Verdict(verdict.fate, verdict.first, verdict.second, safe_why(verdict.why), review)


def safe_why(text: str) -> str:
    """A reason on one line, not too long."""
    return clip(safe_line(text), LONGEST_WHY)


def _as_one(newer: Reading, older: Reading, why: str) -> Verdict:
    keep, gone = by_worth(newer.card, older.card)
    return Verdict(Fate.MERGE, keep, gone, f"{why}: {_named(gone)}")


def _named_apart(one: Reading, other: Reading) -> bool:
    """Whether two texts of the same form surely speak of two things, by number or by name: `service 3`, `service 4`."""
    words = other_subject(one.subject, other.subject)
    if words is None:
        return False
    named = all(any(word in name for name in reading.names) for word, reading in zip(words, (one, other), strict=True))
    return named or all(map(is_numbered, words))


def _same_subject(one: Reading, other: Reading) -> bool:
    if one.names or other.names:
        return one.names == other.names
    mine, theirs = one.attributes, other.attributes
    return not mine or not theirs or mine[0].subject == theirs[0].subject


def _may_be_one(one: Card, other: Card) -> bool:
    summaries = (one.type is CardType.SUMMARY) + (other.type is CardType.SUMMARY)
    return may_be_one(one) and may_be_one(other) and summaries != 1


def _policy(card: Card) -> OnDuplicate:
    return POLICIES[card.type].on_duplicate


def _spoken(name: str) -> str:
    return name.replace("_", " ")


def _day(card: Card) -> str:
    return iso(card.created_at)[:10]


def _replaced(newer: Card, older: Card) -> str:
    return f"{_named(older)} -> {_named(newer)}, said {_day(newer)}"


def _named(card: Card) -> str:
    return clip(safe_line(card.title), 56)


__all__ = ["LONGEST_WHY", "SURE", "Fate", "Verdict", "by_time", "by_worth", "judge", "may_be_one", "safe_why", "worth"]
