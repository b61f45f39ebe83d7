"""Titles: one line of at most 80 cells in the third person, no cut word, no markdown."""

from __future__ import annotations

import re

from alaya_core.services.distill.classify import plain, without_filler
from alaya_core.services.distill.cutting import fit
from alaya_core.services.distill.leads import without_lead
from alaya_core.services.distill.subjects import third_person
from alaya_core.text import cells, safe_line

__all__ = ["fit", "title"]

_OPENING = re.compile(
    r"^(?:(?:please\ )?(?:remember|keep\ in\ mind|don'?t\ forget|note|bear\ in\ mind)(?:\ that|\ to|,|:)\s*"
    r"|(?:it\ )?turns\ out(?:\ that)?,?\s+|(?:please|just)\s+"
    r"|i\ (?:still\ |really\ )?(?:think|believe|feel\ like|guess|suspect)(?:\ that)?,?\s+(?=\S+\ \S+\ )"
    r"|(?:请|麻烦)?(?:记住|记得|记一下|别忘了?)(?:[，,：:\s]+|(?=[^，。]{6,}))|(?:我觉得|我认为|我感觉"
    r"|个人觉得)[，,]?(?=[^，。]{6,})|(?:坑|注意|警告)[：:]\s*|(?:以后|今后)?请(?=[^，。]{4,}))",
    re.IGNORECASE | re.VERBOSE,
)
_TAIL = re.compile(
    r"[,;.—–-]?\s+(?:so\ |and\ )?(?:please\b|keep\ (?:that|this)\ in\ mind|just\ so\ you\ know|don'?t\ forget"
    r"|if\ that\ helps|can't\ prove).*$"
    r"|,?\s+(?:and\s+)?(?:i'm\s+|i\ am\s+|it's\s+)?(?:really\s+|so\s+)?(?:nice|glad|happy|pleased"
    r"|great)\ to\ (?:meet|see|know)\ you.*$|[，,]很高兴(?:能)?认识你.*$|,?\s+(?:anyway|though|by\ the\ way|btw)[.!]*$"
    r"|[，,]我(?:也|已经?|都)?(?:写|记|放|加|存)[^，。]{0,10}了。?$|[，,；;](?:这[个点条件]?)?[你您]?(?:也|都|帮我|先|顺便)?(?:再)?(?:记到|记|存|写进"
    r"|写到|备注)[^，。]{0,12}$|[，,；;](?:以后|请|麻烦|记得|注意一下|你?记一下|记住|别忘了?|希望你|拜托"
    r"|谢谢)[^，。]{0,30}(?:[，,][^，。]{0,20})?$",
    re.IGNORECASE | re.VERBOSE,
)
_JOINER = re.compile(
    r"^(?:还有|而且|然后|顺便(?:说一?下|提一?下)?|可是|但是?|所以|不过|因此|总之)(?!是|说|呢|我)|^可(?=我们?|他|她)(?!是)[，,]?(?=[^，。]{4,})"
    r"|^[^，。\s]{1,4}呢，(?=我|要|不|想)"
    r"|^(?:and|but|so|also|plus|then|ok(?:ay)?)\s+(?=\S+\ \S+\ )",
    re.IGNORECASE | re.VERBOSE,
)
_EMPHASIS = re.compile(r"(?<![\w*_])([*_])(?=\S)([^*_\n]{1,80}?)(?<=\S)\1(?![\w*_])")


def title(sentence: str, *, who: str, who_zh: str, personal: bool) -> str:
    """A title made of one sentence.

    Args:
        sentence: What was said, secrets masked.
        who: The speaker as an English title names them; who_zh: as a Chinese one does.
        personal: Whether the first person in it is the speaker to be named.
    """
    text = without_filler(safe_line(plain(sentence)))
    text = _without(_OPENING, text)
    text = without_lead(without_filler(text))
    text = _without(_JOINER, _without(_OPENING, text))
    shorter = _TAIL.sub("", text)
    if cells(shorter) >= 10:
        text = shorter
    text = third_person(text, who, who_zh) if personal else text
    text = fit(_unmarked(text))
    return text[:1].upper() + text[1:] if re.match(r"[a-z][a-z']*(?:\s|$|,)", text) else text


def _without(pattern: re.Pattern[str], text: str) -> str:
    shorter = pattern.sub("", text, count=1)
    return shorter if cells(shorter) >= 10 else text


def _unmarked(text: str) -> str:
    text = re.sub(r"`+|\*\*+|~~", "", text)
    return " ".join(re.sub(r"^[#>\s]+(?=\s)|^[-+*]\s+", "", _EMPHASIS.sub(r"\2", text)).split())
