"""Acknowledgements: what an assistant says back of what it was just told (`Noted: ...`, `记下：...`)."""

from __future__ import annotations

import re
from dataclasses import replace

from alaya_core.models.card_types import CardType
from alaya_core.services.distill.classify import REMEMBERED, Kind, Verdict, classify, plain, without_filler
from alaya_core.services.distill.segment import Sentence
from alaya_core.services.distill.subjects import is_bare

NOTED = "noted"
"""Name of the cue of a sentence that says back what a person said ..."""
HEARD = "heard"
"""... of one that opens as if it did (`ok, ...`) ..."""
ECHO = "echo"
"""... and of one that, besides, is worth nothing unless it says something back."""

_OPENER_EN = (
    r"(?:(?:ok(?:ay)?|sure|great|perfect|thanks?(?:\ you)?|alright|yes|right|good|done|important|of\ course"
    r"|absolutely|will\ do|got\ it|understood)[,.!;:—–-]*\ +)*"
)
_ABOUT = r"(?:\ (?:it|this|that|down|too|both|all|here|in\ (?:memory|mind|my\ notes)|(?:your|the|as)\ [\w-]+))*"
# Words that say that something was kept ...
_KEPT_EN = re.compile(
    rf"^{_OPENER_EN}(?:i(?:'ve|’ve|\ have|'ll|’ll|\ will)?\ (?:also\ |now\ )?)?(?:noted|remembered|recorded"
    rf"|saved|stored"
    rf"|written\ down|logged|memori[sz]ed|remember|note|keep(?:\ that)?\ in\ mind|made\ a\ note|make\ a\ note"
    rf"|wrote\ (?:it|that|this)\ down|noting){_ABOUT}(?:\ *[:,.!;—–]+\s*|\ (?:that|—|-)\ |$)",
    re.IGNORECASE | re.VERBOSE,
)
_KEPT_ZH = re.compile(
    r"^(?:(?:好的?|嗯+|行|对|是的|重要|明白了?|收到|了解了?|没问题|当然|谢谢|可以)[，,。！!\s]+)*[^，。：:「]{0,3}?"
    r"(?:已经?|都|也|我|会|帮你|给你|替你|为你)*(?:记下来?|记住|记好|记录|记着|记上|存好|存下来?|存进\S{1,6}|写进\S{0,3}记忆)"
    r"(?:了|好|下来|在\S{1,4})*(?:[你您]的|这[一]?[条点个项件]|一条)?[^，。：:「」]{0,5}?(?:[：:，,。！!\s]+|$)"
)
_KEPT_LAST_ZH = re.compile(
    r"^(?:好的?[，,])?([^。，,]{4,60}?)(?:[，,]?(?:我|都|也|已经?|帮你|给你)*)(?:记下来?|记住|记好|存好|存下来?)了(?=[，。！!]|$)"
)
# ... and words that may also open something else.
_HEARD = re.compile(
    r"^(?:(?:got\ it|understood|will\ do|ok(?:ay)?|sure|roger|copy\ that)[,.!:—–-]+\ +)+"
    r"|^(?:好的?|明白了?|收到|了解了?|没问题|知道了)[，,。！!：:\s]+",
    re.IGNORECASE | re.VERBOSE,
)
_PRAISE = re.compile(
    r"^(?:that|this|it)(?:'s|’s|\ is|\ sounds|\ matters)\b|^(?:very\ |really\ )?(?:important|good\ to\ know|useful"
    r"|makes\ sense)\b|^(?:and\ )?i(?:'ll|’ll|\ will|\ won't)\b|^(?:这|那|很|非常|挺|下次|以后我|随时|我会|不会忘)",
    re.IGNORECASE | re.VERBOSE,
)


def noted(text: str) -> str | None:
    """What an assistant says back in a sentence: empty if only that it was heard; None if it is no acknowledgement."""
    for pattern in (_KEPT_EN, _KEPT_ZH):
        match = pattern.match(text)
        if match:
            return text[match.end() :].strip()
    last = _KEPT_LAST_ZH.match(text)
    return last[1].strip() if last else None


def answered(sentence: Sentence, verdict: Verdict, *, after: bool) -> tuple[Sentence, Verdict]:
    """An assistant's sentence, known for an acknowledgement if it is one.

    Args:
        sentence: What was said.
        verdict: What it was taken for.
        after: Whether the sentence before it, of the same turn, was a bare acknowledgement.
    """
    text = plain(sentence.text)
    rest = noted(text)
    if rest is None and after and verdict.kind is Kind.STATEMENT:
        rest = text
    if rest is None:
        heard = _HEARD.match(text)
        if heard is None or verdict.type in (CardType.GOTCHA, CardType.CASE):
            return sentence, verdict
        rest = text[heard.end() :].strip()
        weak = True
    else:
        weak = False
    own = classify(rest, person=True)
    theirs = classify(rest, person=False)
    silent = theirs.kind is not Kind.STATEMENT or _PRAISE.match(rest) or is_bare(without_filler(rest))
    if silent or own.kind in (Kind.SMALL_TALK, Kind.QUESTION):
        kind = theirs.kind if theirs.kind is not Kind.STATEMENT else Kind.SMALL_TALK
        return sentence, Verdict(kind, cues=(NOTED,))
    if weak and not theirs.kept and not own.kept:
        return sentence, verdict
    if weak and not own.kept:
        return replace(sentence, text=rest), theirs
    strength = 0.55 if weak else 0.65
    cue = NOTED if not weak else HEARD if theirs.kept else ECHO
    type_ = own.type if own.strength >= 0.6 else CardType.FACT
    kept = replace(
        own,
        kind=Kind.STATEMENT,
        type=type_,
        strength=max(strength, theirs.strength, min(own.strength, 0.8)),
        signal=0.0,
        confidence=0.7,
        cues=tuple(dict.fromkeys((cue, *(name for name in own.cues if name != REMEMBERED)))),
    )
    return replace(sentence, text=rest), kept


def is_noted(verdict: Verdict) -> bool:
    """Whether a sentence says that it keeps what somebody said."""
    return NOTED in verdict.cues


def is_heard(verdict: Verdict) -> bool:
    """Whether a sentence acknowledges what somebody said, in any way."""
    return bool({NOTED, HEARD, ECHO} & set(verdict.cues))


def is_echo(verdict: Verdict) -> bool:
    """Whether a sentence is worth nothing unless it says something back."""
    return ECHO in verdict.cues


__all__ = ["answered", "is_echo", "is_heard", "is_noted", "noted"]
