"""Whether two preferences are about the same thing, so that the newer one takes the place of the older. No I/O."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from alaya_core.models.card import Card
from alaya_core.services.consolidate.attributes import subject_key
from alaya_core.services.consolidate.texts import Difference, folded, statements, told
from alaya_core.text import cells

_LONGEST = 90  # cells
_WHO = r"(?P<who>\S.{0,40}?)"
_WHAT = r"(?P<what>\S.{0,40}?)"
_OVER = r"(?P<over>\S.{0,40}?)"
_MORE = r"(?:\ (?:really|also|now|still|always|much|strongly|absolutely|generally|usually))*"
_FOR = re.compile(
    rf"{_WHO}{_MORE}\ (?:prefers|likes|loves|enjoys|favou?rs){_MORE}\ {_WHAT}(?:,?\ (?:over|to|rather\ than|not"
    rf"|instead\ of)\ {_OVER})?"
    rf"|(?P<who2>\S.{{0,20}}?)(?:现在|一直|平时)?(?:还是|更|很|最|特别|非常|也)*(?:喜欢|偏好|偏爱|爱吃|爱喝)"
    rf"(?P<what2>[^，,]{{1,20}}?)(?:[，,]?(?:而不是|胜过|不要|不喜欢)(?P<over2>[^，,]{{1,20}}))?",
    re.IGNORECASE | re.VERBOSE,
)
_AGAINST = re.compile(
    rf"{_WHO}{_MORE}\ (?:hates|dislikes|loathes|avoids|can't\ stand|cannot\ stand"
    rf"|(?:doesn't|does\ not|never|no\ longer)\ (?:likes?|eats?|drinks?|wants?|loves?|enjoys?|uses?)){_MORE}"
    rf"\ {_WHAT}(?:\ (?:any\ ?more|at\ all))?"
    r"|(?P<who2>\S.{0,20}?)(?:现在|一直|平时|从来|已经)?(?:很|最|特别|非常|也|都)*"
    r"(?:讨厌|反感|受不了|(?:不再?|不太|不怎么)(?:喜欢|爱吃|爱喝|吃|喝))(?P<what2>[^，,]{1,20}?)了?",
    re.IGNORECASE | re.VERBOSE,
)
# Of what is said so there is one at a time; one may like many things.
_ONE_OF = re.compile(
    r"\b(?:prefers?|uses?|repl(?:y|ies)|answers?|responds?|writes?|speaks?|calls?|always|default|keep)\b"
    r"|更|偏好|用|回复|回答|称呼|叫|默认|一律|统一",
    re.IGNORECASE | re.VERBOSE,
)
_MANY = re.compile(r"\b(?:likes?|loves?|enjoys?|hates?|dislikes?|eats?|drinks?)\b|喜欢|爱|讨厌|吃|喝", re.IGNORECASE)
_MOST_WORDS = 3
_PLACED = frozenset({"in", "for", "on", "at", "with", "when", "during", "while", "to"})
_WHERE = re.compile(r"\ (?:in|for|on|at|with|when|during)\ .+$")


@dataclass(frozen=True, slots=True)
class Preference:
    """What somebody likes better or not.

    Attributes:
        who: Normalised.
        things: What it is about, whatever is thought of it.
        liked: The one that is liked; empty if it is disliked.
    """

    who: str
    things: frozenset[str]
    liked: str


def preference(card: Card) -> Preference | None:
    """The preference that a card holds; None if it is not sure which."""
    who, parts = statements(card)
    if len(parts) != 1 or cells(parts[0]) > _LONGEST:
        return None
    text = told(parts[0], who)
    for pattern, likes in ((_AGAINST, False), (_FOR, True)):
        match = pattern.fullmatch(text)
        if match:
            return _preference(match, likes=likes)
    return None


def replaces(changed: Difference, text: str) -> bool:
    """Whether a preference that differs from another only so takes its place.

    Args:
        text: What the newer one says.
    """
    if max(len(changed.one), len(changed.other)) > _MOST_WORDS:
        return False
    if changed.polarity:
        return True
    if changed.in_subject or _elsewhere(changed.frame):
        return False
    both = bool(changed.one and changed.other)
    return both and bool(_ONE_OF.search(text)) and (not _MANY.search(text) or "更" in text)


def _elsewhere(frame: Sequence[str]) -> bool:
    """Whether what differs is where or when something is preferred (`tabs in Go`), not what."""
    verb = max((at for at, word in enumerate(frame) if _ONE_OF.fullmatch(word)), default=None)
    return verb is not None and any(word in _PLACED for word in frame[verb + 2 :])


def _preference(match: re.Match[str], *, likes: bool) -> Preference | None:
    found = match.groupdict()
    who = subject_key(found["who"] or found["who2"] or "")
    what = _thing(found["what"] or found["what2"] or "")
    over = _thing(found.get("over") or found.get("over2") or "")
    if not who or not what:
        return None
    # `tabs over spaces in Go`: where it holds is part of both
    place = _WHERE.search(over)
    if place and not _WHERE.search(what):
        what += place[0]
    return Preference(who, frozenset({what, over} - {""}), what if likes else "")


def _thing(text: str) -> str:
    words = re.sub(r"^(?:吃|喝|用|看|玩)(?=.)", "", folded(text)).split()
    return " ".join(word for word in words if word not in ("the", "a", "an", "any", "all"))


__all__ = ["Preference", "preference", "replaces"]
