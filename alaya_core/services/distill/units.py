"""From a turn's sentences to units that read alone: joined with what names their subject, or dropped."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from alaya_core.models.card_types import CardType
from alaya_core.services.distill import forms_en, forms_zh
from alaya_core.services.distill.acknowledge import answered, is_noted
from alaya_core.services.distill.classify import KEEP, REMEMBERED, Kind, Verdict, classify, plain, without_filler
from alaya_core.services.distill.entities import entities
from alaya_core.services.distill.leads import without_lead
from alaya_core.services.distill.segment import Sentence
from alaya_core.services.distill.subjects import is_bare, named
from alaya_core.services.distill.substance import is_fragment

LONGEST = 900  # characters of a card


@dataclass(frozen=True, slots=True)
class Unit:
    """What one card will say.

    Attributes:
        parts: Its sentences; the first names the subject.
        head: The sentence a title is made of.
        verdict: The strongest of its sentences' verdicts.
        turns: Where the words stand.
        person: Whether a person said it.
        name: The speaker's name; may be empty.
        answers: The turn of a person that it follows; -1 if none.
    """

    parts: tuple[str, ...]
    head: str
    verdict: Verdict
    turns: tuple[int, ...]
    person: bool
    name: str = ""
    answers: int = -1


@dataclass(frozen=True, slots=True)
class Heard:
    """A sentence and what it was taken for."""

    sentence: Sentence
    verdict: Verdict

    @property
    def text(self) -> str:
        """What was said."""
        return self.sentence.text


# Sentences that only make sense after what they answer.
_ANSWERS = re.compile(
    r"^(?:the\ |a\ )?(?:fix|solution|workaround|cause|reason|remedy|answer|culprit)\b|^(?:fixed|solved"
    r"|resolved)\ |^(?:because|since|due\ to)\b|^otherwise\b|^(?:as\ a\ result|therefore|hence|thus|that's\ why"
    r"|this\ is\ why|which)\b"
    r"|^(?:解决|修复|处理|规避)(?:办法|方法|方案|方式)?|^(?:根本)?原因(?:是|在于|：|:)(?!.*(?:所以|导致|因此))"
    r"|^(?:因为|由于|所以|因此|否则|不然|于是)",
    re.IGNORECASE | re.VERBOSE,
)
_THEREFORE = ("所以", "因此", "于是")  # what follows is what it comes to: it makes the better title
_NOTHING = Verdict(Kind.STATEMENT)


def hear(found: list[Sentence], *, person: bool) -> list[Heard]:
    """Each sentence with its verdict."""
    out: list[Heard] = []
    bare = False  # whether the turn so far only acknowledges
    for one in found:
        verdict = classify(one.text, person=person)
        if not person:
            one, verdict = answered(one, verdict, after=bare)
            bare = is_noted(verdict) and not verdict.kept
        out.append(Heard(one, verdict))
    return out


def units(
    heard: list[Heard], turn: int, *, person: bool, name: str, asked: tuple[int, str] | None
) -> tuple[list[Unit], int]:
    """The units of a turn, and how many statements were dropped because nothing names their subject.

    Args:
        heard: The turn's sentences, judged.
        turn: Its number.
        person: Whether a person said it.
        name: Who.
        asked: The question this turn may answer, with its turn.
    """
    out: list[Unit] = []
    ends: list[int] = []  # index of each unit's last sentence
    dropped = 0
    for index, one in enumerate(heard):
        if not one.verdict.kept:
            continue
        core = without_lead(without_filler(plain(one.text)))
        bare, answer = is_bare(core), bool(_ANSWERS.search(core)) or is_fragment(core)
        if not bare and not answer:
            out.append(Unit((one.text,), one.text, one.verdict, (turn,), person, name))
            ends.append(index)
            continue
        if out and ends[-1] == index - 1 and _near(heard[index - 1], one) and _fits(out[-1].parts, one.text):
            out[-1] = _extended(out[-1], one, bare=bare or (answer and not _concludes(core, one, out[-1])))
            ends[-1] = index
            continue
        unit = _grounded(heard, index, turn, bare=bare, person=person, name=name, asked=asked)
        if unit is None:
            dropped += 1
        else:
            out.append(unit)
            ends.append(index)
    return out, dropped


def referred(heard: list[Heard], turn: int, *, person: bool, name: str) -> Unit | None:
    """What `remember that` refers to: the strongest sentence before it, else the last that states something."""
    able = [
        one
        for one in heard
        if one.verdict.kind in (Kind.STATEMENT, Kind.NARRATION)
        and len(one.text) >= 8
        and not is_bare(without_filler(plain(one.text)))
    ]
    if not able:
        return None
    best = max(able, key=lambda one: (one.verdict.strength, one.sentence.block))
    verdict = replace(
        best.verdict,
        kind=Kind.STATEMENT,
        strength=1.0,
        signal=best.verdict.signal + 0.5,
        confidence=0.9,
        cues=tuple(dict.fromkeys((REMEMBERED, *best.verdict.cues))),
    )
    return Unit((best.text,), best.text, verdict, (turn,), person, name)


def refers(text: str) -> bool:
    """Whether a sentence says `remember that` of something said before."""
    return any(table.REFER.search(text) for table in (forms_en, forms_zh))


def _grounded(
    heard: list[Heard], index: int, turn: int, *, bare: bool, person: bool, name: str, asked: tuple[int, str] | None
) -> Unit | None:
    one = heard[index]
    before = heard[index - 1] if index else None
    if before and _near(before, one) and _can_lead(before) and _fits((before.text,), one.text):
        head = before.text if bare else one.text
        return Unit((before.text, one.text), head, one.verdict, (turn,), person, name)
    if bare and before and _near(before, one):
        names = entities(before.text)
        put = (
            named(without_filler(plain(one.text)), f"`{names[0]}`" if f"`{names[0]}`" in before.text else names[0])
            if len(names) == 1
            else None
        )
        if put:
            return Unit((put,), put, one.verdict, (turn,), person, name)
    if asked and index == 0 and not person and _fits((asked[1],), one.text) and not bare:
        return Unit((asked[1], one.text), asked[1], one.verdict, (asked[0], turn), person, name)
    lead = one.sentence.lead
    if (
        lead
        and one.sentence.listed
        and bare
        and not is_bare(lead)
        and classify(lead, person=person).kind is not Kind.NARRATION
    ):
        return Unit((lead, one.text), lead, one.verdict, (turn,), person, name)
    return None if bare or one.text[:1].islower() else Unit((one.text,), one.text, one.verdict, (turn,), person, name)


def _concludes(core: str, one: Heard, unit: Unit) -> bool:
    """Whether a sentence is what the ones before it come to."""
    return core.startswith(_THEREFORE) and one.verdict.strength > unit.verdict.strength


def _near(before: Heard, one: Heard) -> bool:
    return one.sentence.block - before.sentence.block <= 1 and before.sentence.listed == one.sentence.listed


def _can_lead(before: Heard) -> bool:
    text = without_filler(plain(before.text))
    return before.verdict.kind is Kind.STATEMENT and not is_bare(text) and not is_fragment(text)


def _fits(parts: tuple[str, ...], text: str) -> bool:
    return sum(map(len, parts)) + len(text) <= LONGEST


def _extended(unit: Unit, one: Heard, *, bare: bool) -> Unit:
    stronger = one.verdict.strength > unit.verdict.strength
    own = unit.verdict if not stronger else one.verdict
    verdict = replace(
        own,
        type=CardType.GOTCHA if {unit.verdict.type, one.verdict.type} == {CardType.GOTCHA, CardType.CASE} else own.type,
        intrinsic=max(unit.verdict.intrinsic, one.verdict.intrinsic),
        signal=max(unit.verdict.signal, one.verdict.signal),
        cues=tuple(dict.fromkeys((*unit.verdict.cues, *one.verdict.cues))),
    )
    return replace(unit, parts=(*unit.parts, one.text), head=unit.head if bare else one.text, verdict=verdict)


__all__ = ["KEEP", "Heard", "Unit", "hear", "referred", "refers", "units"]
