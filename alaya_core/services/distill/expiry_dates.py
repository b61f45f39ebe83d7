"""The days that a sentence names, counted from the day it was said: `next Friday`, `March 14`, `下周三`, `6月底`."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta

_FARTHEST = 30  # years ahead; more is a number that only looks like a year


@dataclass(frozen=True, slots=True)
class Named:
    """A day; of a week, a month or a year its last one.

    Attributes:
        ahead: Whether its words can only mean a day to come (`tomorrow`, not `March 14`).
    """

    day: date
    ahead: bool


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY = r"(mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_YEAR = r"(20\d\d)"
_COUNT = r"(\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten)"
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}
_COUNTS |= {"eight": 8, "nine": 9, "ten": 10}
_END = r"(?:the\ )?(?:end|close)\ of\ (?:the\ )?"
_TO = r"(?:until|till|through|by|before|to|to\ the|end\ of|end\ of\ the|valid\ to)\ (?:the\ )?(?:end\ of\ )?(?:the\ )?"
_ZH_DAYS = "一二三四五六日天"
_ZH_NUMBER = r"(\d{1,2}|[一二三四五六七八九十两]{1,3})"
_ZH_YEAR = r"(?:(20\d\d|今|明)\ ?年)?"
_ZH_WEEK = r"(?:周|星期|礼拜)"


def _after(said: date, days: int) -> date:
    return said + timedelta(days=days)


def _week_end(said: date, weeks: int = 0) -> date:
    return said + timedelta(days=6 - said.weekday() + 7 * weeks)


def _month_end(year: int, month: int) -> date:
    return date(year, month, monthrange(year, month)[1])


def _months_on(said: date, months: int) -> tuple[int, int]:
    years, month = divmod(said.month - 1 + months, 12)
    return said.year + years, month + 1


def _coming(said: date, weekday: int) -> date:
    """The next such day, never the very day itself: whoever means it says `today`."""
    return said + timedelta(days=(weekday - said.weekday() - 1) % 7 + 1)


def _of_week(said: date, weekday: int, weeks: int) -> date:
    return said + timedelta(days=weekday - said.weekday() + 7 * weeks)


def _month_of(word: str) -> int:
    return _MONTHS.index(word[:3]) + 1


def _weekday_of(word: str) -> int:
    return _WEEKDAYS.index(word[:3])


def _dated(said: date, year: str | None, month: int, day: int) -> date:
    """A day of the calendar; without a year the next one."""
    if year:
        return date(_year_of(said, year), month, day)
    for ahead in range(9):  # a leap day may be eight years off
        try:
            found = date(said.year + ahead, month, day)
        except ValueError:
            continue
        if found >= said:
            return found
    raise ValueError(day)


def _end_of_month(said: date, year: str | None, month: int) -> date:
    if year:
        return _month_end(_year_of(said, year), month)
    return _month_end(said.year + (month < said.month), month)


def _year_of(said: date, year: str) -> int:
    return said.year + ("今", "明").index(year) if year in ("今", "明") else int(year)


def _day_of_month(said: date, day: int) -> date:
    for months in range(3):
        try:
            found = date(*_months_on(said, months), day)
        except ValueError:
            continue
        if found >= said:
            return found
    raise ValueError(day)


def _number(word: str) -> int:
    if word.isdigit():
        return int(word)
    if word in _COUNTS:
        return _COUNTS[word]
    digits: dict[str, int] = {char: value for value, char in enumerate("一二三四五六七八九", 1)} | {"两": 2}
    tens, _, ones = word.partition("十")
    if "十" not in word:
        return digits[word] if len(word) == 1 else 0
    return (digits[tens] if tens else 1) * 10 + (digits[ones] if ones else 0)


_Found = Callable[[date, "re.Match[str]"], date]


def _row(pattern: str, found: _Found, *, ahead: bool = True) -> tuple[re.Pattern[str], _Found, bool]:
    return re.compile(pattern, re.VERBOSE), found, ahead


_FORMS: tuple[tuple[re.Pattern[str], _Found, bool], ...] = (
    _row(r"\b(?:today|tonight|this\ (?:morning|afternoon|evening))\b", lambda said, m: said, ahead=False),
    _row(r"(?<!day\ after\ )\btomorrow\b", lambda said, m: _after(said, 1)),
    _row(r"\bday\ after\ tomorrow\b", lambda said, m: _after(said, 2)),
    _row(rf"\b(?:this\ week(?:end)?|{_END}(?:this\ )?week|the\ weekend)\b", lambda said, m: _week_end(said)),
    _row(r"\bnext\ week(?:end)?\b", lambda said, m: _week_end(said, 1)),
    _row(rf"\b(?:this\ month|{_END}(?:this\ )?month)\b", lambda said, m: _month_end(said.year, said.month)),
    _row(r"\bnext\ month\b", lambda said, m: _month_end(*_months_on(said, 1))),
    _row(rf"\b(?:this\ year|{_END}(?:this\ )?year|year's\ end)\b", lambda said, m: date(said.year, 12, 31)),
    _row(r"\bnext\ year\b", lambda said, m: date(said.year + 1, 12, 31)),
    _row(rf"\bthis\ {_WEEKDAY}\b", lambda said, m: _of_week(said, _weekday_of(m[1]), 0)),
    _row(rf"\bnext\ {_WEEKDAY}\b", lambda said, m: _of_week(said, _weekday_of(m[1]), 1)),
    _row(
        rf"\b(?:on|by|until|till|through|before|due|for|to|is|coming)\ (?:coming\ )?{_WEEKDAY}\b(?!\ last)",
        lambda said, m: _coming(said, _weekday_of(m[1])), ahead=False,
    ),
    _row(rf"\bin\ {_COUNT}\ days?(?:'\ time)?\b(?!\ of)", lambda said, m: _after(said, _number(m[1]))),
    _row(rf"\bin\ {_COUNT}\ weeks?\b", lambda said, m: _after(said, 7 * _number(m[1]))),
    _row(rf"\bin\ {_COUNT}\ months?\b", lambda said, m: _month_end(*_months_on(said, _number(m[1])))),
    _row(
        rf"(?<![\w.]){_MONTH}\.?\ (\d{{1,2}})(?:st|nd|rd|th)?(?:,?\ {_YEAR})?(?![\w:%]|\.\d)",
        lambda said, m: _dated(said, m[3], _month_of(m[1]), int(m[2])), ahead=False,
    ),
    _row(
        rf"(?<![\w.])(\d{{1,2}})(?:st|nd|rd|th)?\ (?:of\ )?{_MONTH}\b\.?(?:,?\ {_YEAR})?",
        lambda said, m: _dated(said, m[3], _month_of(m[2]), int(m[1])), ahead=False,
    ),
    _row(
        rf"\b{_TO}{_MONTH}\b(?!\.?\ \d{{1,2}}(?!\d))(?:,?\ {_YEAR})?",
        lambda said, m: _end_of_month(said, m[2], _month_of(m[1])), ahead=False,
    ),
    _row(rf"\bin\ {_MONTH}\ {_YEAR}\b", lambda said, m: _end_of_month(said, m[2], _month_of(m[1])), ahead=False),
    _row(rf"\b{_TO}{_YEAR}\b(?![-/.\d])", lambda said, m: date(int(m[1]), 12, 31), ahead=False),
    _row(
        r"(?<![\w./-])(20\d\d)[-/.](\d{1,2})[-/.](\d{1,2})(?![\w/-]|\.\w)",
        lambda said, m: date(int(m[1]), int(m[2]), int(m[3])), ahead=False,
    ),
    _row(r"今[天日晚早]|今儿", lambda said, m: said, ahead=False),
    _row(r"明[天日晚早]|明儿", lambda said, m: _after(said, 1)),
    _row(r"(?<!大)后天", lambda said, m: _after(said, 2)),
    _row(r"大后天", lambda said, m: _after(said, 3)),
    _row(rf"(?:[这本]个?{_ZH_WEEK}(?![{_ZH_DAYS}])"
         r"|(?<![下上每])周末(?=[我们咱大家]*(?:要|去|打算|准备|将|一起|有)))", lambda said, m: _week_end(said)),
    _row(rf"(?<!下)下个?{_ZH_WEEK}(?![{_ZH_DAYS[:6]}天]|日(?!程))", lambda said, m: _week_end(said, 1)),
    _row(rf"[这本]个?{_ZH_WEEK}([{_ZH_DAYS}])", lambda said, m: _of_week(said, min(6, _ZH_DAYS.index(m[1])), 0)),
    _row(
        rf"(?<!下)下个?{_ZH_WEEK}([{_ZH_DAYS}])", lambda said, m: _of_week(said, min(6, _ZH_DAYS.index(m[1])), 1)
    ),
    _row(rf"下下个?{_ZH_WEEK}(?:[{_ZH_DAYS}])?", lambda said, m: _week_end(said, 2)),
    _row(
        rf"(?<![上下这本每个逢]){_ZH_WEEK}([{_ZH_DAYS}])(?!每)",
        lambda said, m: _coming(said, min(6, _ZH_DAYS.index(m[1]))), ahead=False,
    ),
    _row(r"[这本]个?月(?!\d)|(?<![\d一二三四五六七八九十下个上每])月底",
         lambda said, m: _month_end(said.year, said.month)),
    _row(rf"下个?月(?!{_ZH_NUMBER}\ ?[日号]|\ {_ZH_NUMBER}\ ?[日号])",
         lambda said, m: _month_end(*_months_on(said, 1))),
    _row(rf"下个?月\ ?{_ZH_NUMBER}\ ?[日号]", lambda said, m: date(*_months_on(said, 1), _number(m[1]))),
    _row(
        rf"{_ZH_YEAR}\ ?{_ZH_NUMBER}\ ?月\ ?{_ZH_NUMBER}\ ?[日号]",
        lambda said, m: _dated(said, m[1], _number(m[2]), _number(m[3])), ahead=False,
    ),
    _row(rf"{_ZH_YEAR}\ ?{_ZH_NUMBER}\ ?月(?:底|末)", lambda said, m: _end_of_month(said, m[1], _number(m[2]))),
    _row(
        rf"[到至]\ ?{_ZH_YEAR}\ ?{_ZH_NUMBER}\ ?月(?:份|为止|之前|以前)?(?!\ ?{_ZH_NUMBER}\ ?[日号])",
        lambda said, m: _end_of_month(said, m[1], _number(m[2])), ahead=False,
    ),
    _row(rf"(?<![月\d一二三四五六七八九十])\ ?{_ZH_NUMBER}\ ?号(?![楼线院机店码门房服])",
         lambda said, m: _day_of_month(said, _number(m[1])), ahead=False),
    _row(r"年底|今年(?!\ ?[\d一二三四五六七八九十])", lambda said, m: date(said.year, 12, 31), ahead=False),
    _row(r"明年(?!\ ?[\d一二三四五六七八九十])", lambda said, m: date(said.year + 1, 12, 31)),
    _row(rf"{_ZH_NUMBER}\ ?天(?:之|以)?后", lambda said, m: _after(said, _number(m[1]))),
    _row(rf"{_ZH_NUMBER}\ ?个?(?:周|星期|礼拜)(?:之|以)?后", lambda said, m: _after(said, 7 * _number(m[1]))),
    _row(rf"{_ZH_NUMBER}\ ?个月(?:之|以)?后", lambda said, m: _month_end(*_months_on(said, _number(m[1])))),
)  # fmt: skip


def named_days(text: str, said: date) -> Iterator[Named]:
    """The days in a sentence, in the order of their forms; what is no day of the calendar is passed over.

    Args:
        text: Folded by NFKC, in small letters.
        said: The day on which it was said.
    """
    for pattern, found, ahead in _FORMS:
        for match in pattern.finditer(text):
            try:
                day = found(said, match)
            except (ValueError, KeyError, OverflowError):
                continue
            if day.year - said.year <= _FARTHEST:
                yield Named(day, ahead)


__all__ = ["Named", "named_days"]
