"""What a card says, made comparable: its bare statements, its words, and where two texts differ. No I/O."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from alaya_core.models.card import Card
from alaya_core.services.distill.cues import listed
from alaya_core.services.distill.titles import title

_LONGEST = 60  # tokens of texts whose differences are looked for one by one
_PUNCTUATION = re.compile(r"(?:(?<!\d):|:(?!\d)|[\s,!?;\"'‘’“”「」『』《》()\[\]{}*_`~、。，！？；：（）【】…—])+")
_TAIL = re.compile(r"[.]+(?=\s|$)")
_NEAR_CJK = re.compile(r"(?<=[\u3400-\u9fff])\s+|\s+(?=[\u3400-\u9fff])")
_TOKEN = re.compile(r"[\u3400-\u9fff]|[^\s\u3400-\u9fff]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*|\s*\n+\s*")
_SAID_EN = re.compile(r"^(?:The\ )?(?P<who>[^\n:\"]{1,40}) said: \"(?P<said>.*)\"\s*$", re.DOTALL)
_SAID_ZH = re.compile(r"^(?P<who>[^\n：“]{1,20})说：“(?P<said>.*)”\s*$", re.DOTALL)
_ITEM = re.compile(r"^(?:[-*+•]|\d{1,2}[.)、]|#{1,6})\s+")
_LEAD = re.compile(
    r"^(?:correction|update|corrected|confirmed|it\ is\ confirmed\ that|fyi|更正|更新|已?确认|已证实)(?:一下)?"
    r"\s*[:：,，]\s*",
    re.IGNORECASE | re.VERBOSE,
)
# Said of what holds at present, it says no more than the present tense does.
_NOWADAYS = re.compile(
    r"[,，]?\s*(?:these\ days|nowadays|at\ the\ moment|from\ now\ on|lately|最近|如今)$", re.I | re.VERBOSE
)
_VERB = re.compile(
    r"(?:is|are|am|was|has|have|runs?|listens?|uses?|lives?|works?|takes?|costs?|needs?|weighs?|holds?|keeps?|lasts?"
    r"|likes?|loves?|hates?|prefers?|wants?|speaks?|owns?|leads?|manages?|starts?|ends?|expires?|supports?|returns?"
    r"|stores?|sends?|must|should|can|always|never|reply|answer|write|use|call|keep|do|don't|does"
    r"|[是在有用为需占花跑归由住叫属支监喜吃喝])"
)
_NEGATIONS = listed(
    "not no never none cannot can't don't doesn't isn't aren't won't without neither 不 没 别 无 未 非 勿"
)
_OPPOSITES = _NEGATIONS | listed("always do does longer any anymore 要 都 再 准 许")


@lru_cache(maxsize=65_536)
def told(sentence: str, who: str) -> str:
    """A sentence told of who said it, without what people say before and after it.

    Args:
        who: As `statements` names them.
    """
    name = "" if who.casefold() in ("user", "the user", "用户") else who
    sentence = _LEAD.sub("", sentence)
    plain = title(sentence, who=name or "User", who_zh=name or "用户", personal=True).strip("。. ")
    return _NOWADAYS.sub("", plain)


@dataclass(frozen=True, slots=True)
class Difference:
    """The one place in which two texts of the same form differ.

    Attributes:
        one, other: The words that stand there; one of them may be empty.
        in_subject: Whether it stands before what is said, so that they speak of two things.
        frame: The words before it, which are the same.
    """

    one: tuple[str, ...]
    other: tuple[str, ...]
    in_subject: bool
    frame: tuple[str, ...]

    @property
    def numbers(self) -> bool:
        """Whether numbers, or names with a number, stand there in both."""
        return bool(self.one and self.other) and all(is_numbered(word) for word in (*self.one, *self.other))

    @property
    def polarity(self) -> bool:
        """Whether they differ in no more than that one denies what the other says."""
        words = {*self.one, *self.other}
        return bool(words & _NEGATIONS) and words <= _OPPOSITES


def folded(text: str) -> str:
    """A text without regard to case, width, spaces and punctuation."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'").casefold()
    text = re.sub(r"(?<=[a-z])'(?=[a-z])", "\u0001", text)
    text = _TAIL.sub(" ", _PUNCTUATION.sub(" ", text)).replace("\u0001", "'")
    return _NEAR_CJK.sub("", text).strip()


def fingerprint(card: Card) -> tuple[str, str]:
    """The same for two cards that say the same in the same words.

    The title counts too unless it only repeats the content: what a title adds is part of what is said.
    """
    title, content = folded(card.title), folded(card.content)
    adds = title not in content
    return (title if adds else "", content)


def tokens(text: str) -> list[str]:
    """The words of a text, each Chinese character by itself."""
    return _TOKEN.findall(folded(text))


def statements(card: Card) -> tuple[str, tuple[str, ...]]:
    """Who said what a card holds (empty: nobody in particular), and its sentences one by one, as they were said."""
    said, who = card.content.strip() or card.title, ""
    match = _SAID_EN.match(said) or _SAID_ZH.match(said)
    if match:
        said, who = match["said"], match["who"]
    parts = (_ITEM.sub("", part).strip() for part in _SENTENCE.split(said))
    return who, tuple(part for part in parts if part)


def difference(left: list[str], right: list[str]) -> Difference | None:
    """Where two sentences of the same form differ, given their words; None if in more than one place, or nowhere."""
    if left == right or not left or not right or max(len(left), len(right)) > _LONGEST:
        return None
    shorter = min(len(left), len(right))
    start = next((at for at in range(shorter) if left[at] != right[at]), shorter)
    end = next((at for at in range(shorter - start) if left[-1 - at] != right[-1 - at]), shorter - start)
    one, other = tuple(left[start : len(left) - end]), tuple(right[start : len(right) - end])
    if set(one) & set(other):
        return None
    frame = tuple(left[:start])
    return Difference(one, other, not any(map(_VERB.fullmatch, frame)), frame)


def subject_of(words: list[str]) -> list[str]:
    """The words of a sentence before it says something of what they name; none if it does not begin so."""
    at = next((index for index, word in enumerate(words) if _VERB.fullmatch(word)), 0)
    return words[:at]


def other_subject(left: list[str], right: list[str]) -> tuple[str, str] | None:
    """The one word by which two subjects are two things; None if that is not how they differ."""
    if len(left) != len(right) or left == right:
        return None
    apart = [(a, b) for a, b in zip(left, right, strict=True) if a != b]
    return apart[0] if len(apart) == 1 else None


def is_numbered(word: str) -> bool:
    """Whether a word is a number, or a name with one."""
    return any(char.isdigit() for char in word)


def numbers(text: str) -> frozenset[str]:
    """The numbers in a text, and the names that have some."""
    return frozenset(word for word in tokens(text) if is_numbered(word))


def denies(text: str) -> int:
    """How often a text says no."""
    return sum(word in _NEGATIONS for word in tokens(text))
