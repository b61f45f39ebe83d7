"""When dated or passing information stops being true: the end of the last day that a sentence names. No clock."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, date, datetime, timedelta

from alaya_core.services.distill.expiry_dates import Named, named_days

# What comes again, or holds whatever the day, has no end.
_STANDING = re.compile(
    r"\b(?:every|each|daily|weekly|monthly|quarterly|yearly|annual(?:ly)?|hourly|nightly|always|never|usually|normally"
    r"|all\ \w+s\ must|any\ \w+\ must|(?:mon|tues|wednes|thurs|fri|satur|sun)days|weekdays|weekends|birthdays?|born"
    r"|anniversar(?:y|ies)|stand-?ups?|by\ default|as\ a\ rule)\b"
    r"|每|一直|总是|通常|平时|一般|永远|凡是|一律|所有|默认|一概|只有|只能|任何|其他时间|生日|纪念日|出生|例会|早会|周会|周一(?:到|至)|节假日",
    re.IGNORECASE | re.VERBOSE,
)
# It begins to be true on that day, or has been true since.
_BEGINS = re.compile(
    r"\b(?:since|as\ of|effective|starting|beginning|after)\ |\bfrom\ [\w\ ,]{2,24}?\ (?:on|onwards?)\b"
    r"|从[^，。]{2,14}?(?:起|开始)|自[^，。]{2,14}?(?:起|以来)|(?:日|号|天|月|周[一二三四五六日天])(?:起|以后|之后|以来)",
    re.IGNORECASE | re.VERBOSE,
)
_ENDS = re.compile(
    r"\b(?:until|till|through|valid|expires?|expiring|lapses?|runs?\ out|ends?\ on|closes?\ on|due(?!\ to)|deadline"
    r"|no\ later\ than)\b|\bby\ (?:the\ end|mon|tue|wed|thu|fri|sat|sun|tomorrow|tonight|today|next|\d|jan|feb|mar|apr"
    r"|may|jun|jul|aug|sep|oct|nov|dec)"
    r"|有效|到期|过期|截止|截至|失效|为止|之前|以前|直到"
    r"|[到至]\ ?(?:\d|[一二三四五六七八九十]|下|本|这|周|明|年|月)",
    re.IGNORECASE | re.VERBOSE,
)
# What happened stays true. A participle behind a form of `be` tells no past.
_HAPPENED_EN = re.compile(
    r"\b(?:was|were|had|did|went|met|got|made|took|saw|ran|won|lost|bought|sold|built|began|broke|came|drove|ate|flew"
    r"|gave|knew|led|paid|said|sent|spent|spoke|taught|told|thought|wrote|quit|left|learnt|found|chose"
    r"|(?:have|has|'ve)\ (?:just\ |already\ )?\w+ed)\b"
    r"|(?<!is\ )(?<!are\ )(?<!be\ )(?<!been\ )(?<!being\ )(?<!not\ )(?<!'s\ )(?<!'re\ )(?<!get\ )(?<!stay\ )"
    r"(?<!report\ )\b(?!need|feed|speed|exceed|proceed|embed|bed|red|seed|breed|indeed|unlimited"
    r"|finished\ by)[a-z]{2,}ed\b",
    re.IGNORECASE | re.VERBOSE,
)
_HAPPENED_ZH = re.compile(
    r"了(?!解)|[^经难通]过(?![期敏来去滤渡程])|刚|已经?|昨|前天|上[个]?(?:周|月|星期)|去年|以前|曾"
)
_CLAUSE = re.compile(r"[，；;]|,(?!\s*20\d\d)")
_DECIDED = re.compile(r"\b(?:decided|agreed|promised)\b|决定|商定|定下来", re.IGNORECASE)

_PASSING = re.compile(
    r"\b(?:today|tonight|tomorrow|this\ (?:morning|afternoon|evening)|right\ now|at\ this\ (?:very\ )?moment)\b"
    r"|今[天晚日早]|明[天晚日早]|此刻|眼下|这会儿",
    re.IGNORECASE | re.VERBOSE,
)
_AT_THIS_MOMENT = re.compile(r"\b(?:right\ now|at\ this\ (?:very\ )?moment)\b|此刻|这会儿", re.IGNORECASE | re.VERBOSE)
_AN_HOUR_EN = re.compile(
    r"\b(?:the|our|my|a)\ (?:\w+\ ){0,3}(?:meeting|call|appointment|interview|demo|dinner|lunch|flight|train|talk"
    r"|session|exam)\ (?:is|starts|begins|leaves|will\ be)\ at\ (?:\d{1,2}(?::\d\d)?\ ?(?:[ap]\.?m\b)?|noon|midnight)",
    re.IGNORECASE | re.VERBOSE,
)
_AN_HOUR_ZH = re.compile(
    r"(?:[上下中]午|晚上|早上)?(?:\d{1,2}|[一二三四五六七八九十两]{1,2})点(?:半|\d{1,2}分?)?[^，。]{0,12}?"
    r"(?:开会|会议|面试|考试|答辩|起飞|出发)"
)


def expires_at(text: str, said_at: int, *, ends_only: bool = False) -> int | None:
    """When what a sentence says stops being true; None if nothing in it says so.

    It is the end of the last day it names, UTC. What comes again (`every Friday`), begins (`from June on`), has
    happened, or holds by nature (a birthday, a rule) has no end.

    Args:
        text: One sentence, Chinese or English.
        said_at: When it was said, ms since the epoch, UTC; `tomorrow` is the day after.
        ends_only: Whether only an end that it names as such counts (`until June`, `有效期至`), not any day.
    """
    text = _plain(text)
    ends = bool(_ENDS.search(text))
    if _STANDING.search(text) or (_BEGINS.search(text) and not ends):
        return None
    said = _day_of(said_at)
    if said is None or (ends_only and not ends):
        return None
    days = [found for part in _telling(text) for found in named_days(part, said) if found.day >= said]
    if not ends and _is_over(text, days):
        return None
    last = max((found.day for found in days), default=None)
    if last is None and not ends_only and (_AT_THIS_MOMENT.search(text) or _is_at_an_hour(text)):
        last = said
    return None if last is None else _end_of(last)


def _telling(text: str) -> list[str]:
    """The clauses whose day is that of the whole: the first, and those that speak of an end. What else is said of a day
    (`the new host is db-9, the old one goes on Friday`) does not end the rest."""
    first, *others = _CLAUSE.split(text)
    return [first, *(part for part in others if _ENDS.search(part))]


def is_passing(text: str) -> bool:
    """Whether a sentence is about today or tomorrow, and over then."""
    text = _plain(text)
    if _STANDING.search(text) or _BEGINS.search(text) or _DECIDED.search(text):
        return False
    if re.search(r"\btomorrow\b|明[天晚日早]", text):
        return True
    return bool(_PASSING.search(text)) and not _happened(text)


def _is_over(text: str, days: list[Named]) -> bool:
    """Whether it tells of the past, or of a decision, which stands when its day is over."""
    if _DECIDED.search(text):
        return True
    return not any(found.ahead for found in days) and _happened(text)


def _happened(text: str) -> bool:
    return bool(_HAPPENED_EN.search(text) or _HAPPENED_ZH.search(text))


def _is_at_an_hour(text: str) -> bool:
    return not _happened(text) and bool(_AN_HOUR_EN.search(text) or _AN_HOUR_ZH.search(text))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text[:1_000]).replace("’", "'").lower()


def _day_of(at: int) -> date | None:
    try:
        return datetime.fromtimestamp(at / 1000, UTC).date()
    except (OverflowError, ValueError, OSError):
        return None


def _end_of(day: date) -> int | None:
    """The last millisecond of a day."""
    try:
        after = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)
    except OverflowError:
        return None
    return int(after.timestamp()) * 1000 - 1


__all__ = ["expires_at", "is_passing"]
