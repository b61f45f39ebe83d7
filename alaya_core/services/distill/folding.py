"""One card for what was said twice: by the same words, or by an assistant that says back what it was told."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from alaya_core.models.card_types import CardType
from alaya_core.services.distill import forms_en, forms_zh
from alaya_core.services.distill.acknowledge import is_echo, is_heard, is_noted
from alaya_core.services.distill.classify import REMEMBERED
from alaya_core.services.distill.cues import listed
from alaya_core.services.distill.entities import verbal
from alaya_core.services.distill.subjects import leans, speaks_of_self
from alaya_core.services.distill.units import Unit

_SAME = 0.8  # share of words from which two statements of a session are one
_BACK = 0.25  # share of the shorter one's words from which an acknowledgement says a statement back
_ECHO = 0.4  # the same for an answer that does not call itself one
_COVERED = 0.35  # share of a statement that another has to hold to stand for it
_FULLER = 1.4  # how much more another has to say to be the better of two that both read alone

_TOKEN = re.compile(r"[a-z0-9_.]+|[\u3400-\u9fff]")
_GIST = re.compile(r"[a-z][a-z'’_-]*|\d+|[\u3400-\u9fff]+")
_TO_YOU = re.compile(r"\b(?:you|your)\b|[你您]|(?:记下|记住|记好|存好)了", re.IGNORECASE)
_CLAUSES = re.compile(r"(?<=[，,；;。.!！])\s*")
_EMPTY = listed(
    """a an the and or but so of to in on at for with by from as is are was were be been am i i'm i've i'd my me we our
    us you your it its this that these those not no do does did don't will would can could should must have has had he
    she they his her their there here then than very also just please remember note noted"""
)


def folded(units: Sequence[Unit]) -> tuple[list[tuple[Unit, bool]], int]:
    """The units with those that say the same made one, each with whether it was repeated; and how many fell away.

    One that was folded keeps the turns of all, and the words that read best alone.
    """
    kept: list[tuple[Unit, bool, frozenset[str]]] = []
    by_token: dict[str, list[int]] = {}
    by_turn: dict[int, list[int]] = {}
    fell = 0
    for unit in units:
        said = [index for index in by_turn.get(unit.answers, ()) if kept[index][0].person]
        into = [] if unit.person else _said_back(unit, [kept[index][0] for index in said])
        if into:
            fell += _fold_back(kept, [said[index] for index in into], unit)
            continue
        if is_echo(unit.verdict):
            continue
        words = frozenset(_TOKEN.findall(" ".join(unit.parts).casefold()))
        near = Counter(index for word in words for index in by_token.get(word, ())[-50:])
        twin = next(
            (index for index, shared in near.most_common(5) if shared >= _SAME * len(words | kept[index][2])), -1
        )
        if twin < 0:
            for word in words:
                by_token.setdefault(word, []).append(len(kept))
            for turn in unit.turns:
                by_turn.setdefault(turn, []).append(len(kept))
            if is_heard(unit.verdict) and unit.answers >= 0:
                unit = replace(unit, turns=tuple(sorted({unit.answers, *unit.turns})))
            kept.append((unit, False, words))
            continue
        first, repeated, old = kept[twin]
        merged = _merged(unit if unit.verdict.strength > first.verdict.strength else first, first, unit)
        kept[twin] = (merged, repeated or len(merged.turns) > len(first.turns), old)
        fell += 1
    return [(unit, repeated) for unit, repeated, _ in kept if unit.parts], fell


def _said_back(unit: Unit, said: Sequence[Unit]) -> list[int]:
    """Which statements of the turn it answers a unit says back."""
    theirs = gist(unit)
    if is_noted(unit.verdict) and len(said) == 1:
        return [0]  # who was told one thing acknowledges that one
    if unit.verdict.type in (CardType.GOTCHA, CardType.CASE):
        return []  # what was found out says more than what was asked about
    need = _BACK if is_heard(unit.verdict) else _ECHO
    return [
        index
        for index, one in enumerate(said)
        if (shared := len(theirs & gist(one))) >= 2 and shared >= need * min(len(theirs), len(gist(one)))
    ]


def _fold_back(kept: list[tuple[Unit, bool, frozenset[str]]], into: Sequence[int], back: Unit) -> int:
    """Folds what was said back into the statements it says back; they become one if it stands for all of them."""
    fell = 1
    stands = [index for index in into if _stands_for(back, kept[index][0], alone=len(into) == 1)]
    for index in into:
        first, repeated, words = kept[index]
        if index not in stands:
            kept[index] = (_merged(first, first, back), repeated, words)
    if not stands:
        return fell
    first, repeated, words = kept[stands[0]]
    whole = _merged(back, first, back)
    for index in stands[1:]:
        other, _, _ = kept[index]
        whole = _merged(whole, whole, other)
        kept[index] = (replace(other, parts=()), False, frozenset())
        fell += 1
    kept[stands[0]] = (replace(whole, person=False, name=first.name), repeated, words)
    return fell


def _merged(words: Unit, first: Unit, second: Unit) -> Unit:
    """The words of one of two units with what both weigh."""
    asked = REMEMBERED in (*first.verdict.cues, *second.verdict.cues)
    surer = max((first, second), key=lambda unit: unit.verdict.strength - 0.2 * is_heard(unit.verdict))
    verdict = replace(
        surer.verdict,
        intrinsic=max(first.verdict.intrinsic, second.verdict.intrinsic),
        signal=max(first.verdict.signal, second.verdict.signal),
        cues=surer.verdict.cues if not asked else tuple(dict.fromkeys((REMEMBERED, *surer.verdict.cues))),
    )
    return replace(words, turns=tuple(sorted({*first.turns, *second.turns})), verdict=verdict)


def _stands_for(back: Unit, said: Unit, *, alone: bool) -> bool:
    """Whether what was said back can stand for what was said: it holds as much and reads alone better.

    Args:
        alone: Whether it says back only this one.
    """
    mine, theirs = gist(said), gist(back)
    told, head = " ".join(said.parts), back.head
    if leans(head) or not mine or _TO_YOU.search(head):
        return False
    if alone and leans(told):
        return True
    if {word for word in mine if word.isdigit()} - theirs or not (
        speaks_of_self(told) or len(theirs) >= _FULLER * len(mine)
    ):
        return False
    english = head.isascii()
    if english and not verbal(head):
        return False
    shared = len(mine & theirs)
    return shared >= (0.5 if english or not alone else _COVERED) * len(mine) and len(theirs) >= 0.4 * len(mine)


def gist(unit: Unit) -> frozenset[str]:
    """What a unit says, as pairs of Chinese characters, words that mean something, and numbers."""
    found: set[str] = set()
    for clause in _CLAUSES.split(" ".join(unit.parts)):
        if any(table.REMEMBER.search(clause) for table in (forms_en, forms_zh)) and len(clause) < 12:
            continue
        for word in _GIST.findall(clause.casefold()):
            if word[0] >= "\u3400":
                found.update(word[at : at + 2] for at in range(max(1, len(word) - 1)))
            elif word not in _EMPTY:
                found.add(word[:6])
    return frozenset(found)


__all__ = ["folded", "gist"]
