"""Openings that only announce what follows (`The gotcha for the record: ...`, `先说规矩：...`)."""

from __future__ import annotations

import re

from alaya_core.services.distill.subjects import is_bare
from alaya_core.text import cells

_SHORTEST = 12  # cells that what follows must have to stand alone
_COLON = re.compile(r"[^:：\n]{1,70}?(?::\s+|：\s*)(?=\S)")
_META_EN = re.compile(
    r"^(?:(?:and|but|so|ok(?:ay)?|well|then)\ )*(?:(?:the|an?|one|my|our|your|some|another|two"
    r"|three)\ )?(?:[a-z-]+\ ){0,2}?"
    r"(?:conventions?|gotchas?|caveats?|message|rules?|notes?|decisions?|agreement|conclusions?|summary|reasons?"
    r"|fix|solution"
    r"|workaround|causes?|culprit|lessons?|plan|update|problems?|issues?|bug|trick|catch|things?|points?"
    r"|takeaway|verdict"
    r"|answer|background|context|facts?|reminder|warning|important|results?|findings?|news|requirements?|preferences?"
    r"|request|fyi"
    r"|heads[\ -]up|in\ short|basically)\b(?:,?\ (?:for|in|from|after|as|is|was|here|now|today|so|about|on"
    r"|please|again)\b.*)?$"
    r"|^(?:(?:and|but|so|ok(?:ay)?)\ )*(?:we|i|they)(?:'ve|’ve|\ have)?\ (?:also\ |finally\ |just\ )?(?:decided"
    r"|agreed|concluded"
    r"|settled|found|learn(?:ed|t)|measured|checked|tracked|figured)(?:\ (?:it|this|that|on|out|down))*$",
    re.IGNORECASE | re.VERBOSE,
)
_META_ZH = re.compile(
    r"^(?!.*[两三四五几\d只])[^，。]{0,12}?(?:规矩|约定|结论|决定|决策|决议|原因|根因|办法|方案|教训|坑|注意|背景|情况|说明"
    r"|偏好|要求|规则|原则|问题|重点|一句话|总结|清楚|查到|找到|找着|定位|发现|确认|对齐|提醒|通知|消息|记住|记下|补充|更正"
    r"|商量|讨论|定)(?:是|为|了|如下|一下|来了|出来|好|清楚|到|的|，|请记住)*$"
)
_POINTS = re.compile(
    r"^(?:(?:so|ok(?:ay)?|and|but|then|now)\ )*(?:we|i|they|you)?\ ?\w*\ ?(?:it|this|that)\b[^:]{0,20}$"
    r"|^[^，。]{0,6}[这那](?:样|么|个|点|些)?[^，。]{0,4}$",
    re.IGNORECASE | re.VERBOSE,
)
_OF_SOMETHING = re.compile(
    r"`|\d|(?<!^)(?<![.!?] )\b[A-Z][\w-]+|/|[「《“]|\b(?:for|of|about|on)\ (?!this"
    r"|the\ record|that|now|us|me|it)\w"
)
_SOON = re.compile(r"(?:\bso|\bthen|因此|所以|于是|就是|那么)\s*[:：]\s*$|,\s*(?:but|so)\s*:\s*$", re.IGNORECASE)
# `The root cause is that ...` says no more than the type of the card.
_IS_THAT = re.compile(
    r"^(?:(?:and|but|so)\ )?(?:the\ |our\ |one\ )?(?:(?:root|real|actual|underlying|main|true|only)\ )?(?:cause"
    r"|reason|gotcha|catch"
    r"|caveat|trick|problem|issue|conclusion|point|bug|upshot|lesson|rule|convention|decision|fix"
    r"|culprit)\ (?:is|was|here\ is)\ that\ +"
    r"|^(?:所以)?(?:根本|真正的?|最终|主要)?(?:原因|根因|问题)(?:是|在于|就是|出在)(?:因为)?(?=[^，。：:]{6,})"
    r"|^所以(?:我|我们)?的?结论是[：:，]?",
    re.IGNORECASE | re.VERBOSE,
)


def without_lead(text: str) -> str:
    """A sentence without an opening that only announces it; the sentence itself if the rest does not stand alone."""
    for _ in range(2):
        match = _COLON.match(text)
        if match is None or not _announces(match.group()):
            break
        rest = text[match.end() :]
        if not _stands(rest):
            break
        text = rest
    shorter = _IS_THAT.sub("", text, count=1)
    return shorter if shorter != text and _stands(shorter) else text


def _announces(lead: str) -> bool:
    said = lead.rstrip(":： ")
    if _SOON.search(lead):
        return True
    if _POINTS.search(said):
        return len(said) <= 40
    meta = _META_EN.search(said) or _META_ZH.search(said)
    return bool(meta) and len(said) <= (60 if said.isascii() else 18) and not _OF_SOMETHING.search(said)


def _stands(rest: str) -> bool:
    return cells(rest) >= _SHORTEST and not is_bare(rest)
