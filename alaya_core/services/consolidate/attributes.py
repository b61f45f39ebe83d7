"""Which attribute of which thing a statement tells, so that `the same of the same` can be told without a model.

It is read only out of short plain statements: what hedges, denies, asks, tells of the past or sets a condition gives
nothing, for a wrong reading would set one card against another. No I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from alaya_core.models.card import Card
from alaya_core.models.card_types import CardType
from alaya_core.services.consolidate.attribute_forms import COUNTRIES, FORMS, IN_A_LIST, MAY_TELL, SINGLE, Form
from alaya_core.services.consolidate.texts import folded, statements, told
from alaya_core.services.distill.cues import listed
from alaya_core.text import cells

_LONGEST = 110  # cells of a sentence; a longer one says more than one thing
_SENTENCES = 4
_USER = "user"
_UNSURE = re.compile(
    r"[?？]|\b(?:not|no|never|was|were|had|used\ to|previously|formerly|will|would|should|could|must|may|might|can|if"
    r"|whether|unless|except|only|when|while|during|until|sometimes|often|usually|mostly|either|or|temporarily)\b|n't\b"
    r"|不|没|曾|以前|之前|原来|原先|过去|如果|要是|除非|除了|只有|只在|时候|期间|有时|临时|暂时|直到|或者?|应该|必须|打算|准备|将",
    re.IGNORECASE | re.VERBOSE,
)
_HEDGE = re.compile(
    r"\b(?:probably|perhaps|maybe|possibly|apparently|presumably|likely|i\ (?:think|guess|believe|suspect)(?:\ that)?"
    r"|\w+\ (?:thinks|believes|suspects|guesses)(?:\ that)?|seems\ to|appears\ to)\b[,\ ]*"
    r"|可能|也许|大概|好像|似乎|估计|(?:用户|我)?(?:觉得|认为|猜测?|怀疑)",
    re.IGNORECASE | re.VERBOSE,
)
# What a clause may say beside the attribute without changing it.
_BESIDE = re.compile(
    r"^(?:not|instead\ of|up\ from|formerly|previously|since|as\ of|because|it\ was|the\ old)\b",
    re.IGNORECASE | re.VERBOSE,
)
_BESIDE_ZH = re.compile(r"^(?:而不是|不是|因为|原来|之前|别用|别再)")
_CUT = re.compile(
    r"\s*[,;，；、]\s*(?:and\s+|并且?|而且)?|\s+and\s+(?=(?:its\s+|the\s+)?(?:port|host|version|they|he|she|i)\b)|\s*[(（]|[)）]"
)
_SINCE = re.compile(
    r"\s+(?:since|as\ of)\b.*$|\s+(?:now|these\ days|at\ present)$|(?:了|啦)$", re.IGNORECASE | re.VERBOSE
)
_SEVERAL = re.compile(
    r"\b(?:and|or|in|on|for|at|with|during|from|by|as|but|so)\b|[和与及或、]|时|环境", re.IGNORECASE | re.VERBOSE
)
_EMPTY = listed(
    """the a an our my your his her their its this that of for to on in at current currently now new still own
      我们 我们的 咱们 目前 现在 当前 这个 那个 的"""
)
_ZH_EMPTY = re.compile(r"我们的?|咱们的?|目前|现在|当前|如今|这个|那个|该|的|[\s:：]")
_ALIKE = {"db": "database", "prod": "production", "postgresql": "postgres", "k8s": "kubernetes", "用户": _USER}
_VAGUE = listed(
    """it this that he she they we you i one there here everything service server app application system project team
      machine box host database tool thing meeting file page site port version user's assistant
      limit quota timeout deadline budget price name address url ip password status default value count number
      上限 超时 预算 端口 密码 地址 状态 版本 价格 数量
      服务 服务器 系统 项目 团队 机器 数据库 应用 工具 它 他 她 这 那 大家 会议"""
)
_AMOUNT = re.compile(r"\d")
_HAN = re.compile(r"[\u3400-\u9fff]")
_MOVED = re.compile(r"User(?:\ (?:has|have))?(?:\ (?:just|recently|finally))?\ (?:moved|relocated)\ to\ .{1,60}")
_PRONOUN = re.compile(r"^(?:they|he|she|i)\ (?=lives?\b|works?\b|is\b|are\b|moved\b|prefers?\b)", re.IGNORECASE)
_STEM = re.compile(r"(?<=[a-z]{3})'?s$")


@dataclass(frozen=True, slots=True)
class Attribute:
    """What a statement tells of a thing.

    Attributes:
        subject: Of what, normalised; `user` for the person the memory is about.
        name: Which attribute (`port`, `lives_in`, `likes` ...).
        value: Its value, normalised; shown: as it stands in the text.
        single: Whether a thing has only one such value at a time.
    """

    subject: str
    name: str
    value: str
    shown: str
    single: bool


def attributes(card: Card) -> tuple[Attribute, ...]:
    """What a card's text tells of things; empty when it is not sure.

    A belief is read as what it supposes.
    """
    return tuple(dict.fromkeys(found for each in _of_sentences(card) for found in each))


def tells_only(card: Card) -> bool:
    """Whether every sentence of a card tells attributes, all of one thing, and nothing else."""
    found = _of_sentences(card)
    subjects = {attribute.subject for each in found for attribute in each}
    return all(found) and len(subjects) == 1


def same_value(one: Attribute, other: Attribute) -> bool:
    """Whether two values are the same."""
    return one.value == other.value


def surely_differ(one: Attribute, other: Attribute) -> bool:
    """Whether two values cannot both hold: not where one says the other more exactly (`Berlin Mitte`, `3.12`)."""
    left, right = one.value, other.value
    if left == right or not left or not right:
        return False
    if bool(_HAN.search(left)) != bool(_HAN.search(right)):
        return False  # the same name in another script is no other value
    if left.startswith(right) or right.startswith(left) or left.endswith(right) or right.endswith(left):
        return _AMOUNT.search(left) is not None and left.isdigit() and right.isdigit()
    if one.name == "lives_in" and (left in COUNTRIES) != (right in COUNTRIES):
        return False
    if one.name == "deadline":
        return bool(_AMOUNT.search(left) and _AMOUNT.search(right))
    return not set(left.split()) <= set(right.split()) and not set(right.split()) <= set(left.split())


def _of_sentences(card: Card) -> list[tuple[Attribute, ...]]:
    who, parts = statements(card)
    guess = card.type is CardType.BELIEF
    if len(parts) > _SENTENCES or not parts:
        return [()]
    return [_of_sentence(part, who, guess) for part in parts]


@lru_cache(maxsize=65_536)
def _of_sentence(sentence: str, who: str, guess: bool) -> tuple[Attribute, ...]:
    """The attributes of one sentence.

    Args:
        sentence: As somebody said it.
        who: Who said so.
        guess: Whether it is known to be only supposed.
    """
    if cells(sentence) > _LONGEST or not MAY_TELL.search(sentence):
        return ()
    if _HEDGE.search(sentence):
        if not guess:
            return ()
        sentence = _HEDGE.sub("", sentence).strip()
    return tuple(_of_clauses([part for part in _CUT.split(told(sentence, who)) if part and part.strip()]))


def _of_clauses(clauses: list[str]) -> Iterator[Attribute]:
    """The attributes in the clauses of a sentence; nothing at all if one clause leaves doubt."""
    subject = ""
    found: list[Attribute] = []
    for index, clause in enumerate(clauses):
        if _MOVED.fullmatch(clause) and len(clauses) > 1:
            subject = _USER  # where to, the clause that says where somebody lives tells better
            continue
        if index and (_BESIDE.match(clause) or _BESIDE_ZH.match(clause)):
            continue
        if subject == _USER:
            clause = _PRONOUN.sub("User ", clause)
        if _UNSURE.search(clause):
            return
        attribute = _of_clause(_SINCE.sub("", clause), subject)
        if attribute is None:
            return
        subject = attribute.subject
        found.append(attribute)
    yield from found


def _of_clause(clause: str, subject: str) -> Attribute | None:
    """The attribute that a clause tells.

    Args:
        subject: What the clauses before it spoke of; empty if there is none.
    """
    if subject:
        match = IN_A_LIST.fullmatch(clause)
        if match:
            name = "port" if match["port"] else "host" if match["host"] else "version"
            value = match["port"] or match["host"] or match["version"]
            return Attribute(subject, name, folded(value), value, True)
    for form in FORMS:
        match = form.pattern.fullmatch(clause)
        if match:
            return _attribute(form, match)
    return None


def _attribute(form: Form, match: re.Match[str]) -> Attribute | None:
    subject, shown = subject_key(match["subject"]), match["value"].strip(" `'\"“”")
    value = _value(shown)
    name = form.name or form.names[match["name"].casefold()]
    if not subject or not value or len(value.split()) > 6 or (name in SINGLE and _SEVERAL.search(shown)):
        return None
    return Attribute(subject, name, value, shown, name in SINGLE)


def subject_key(text: str) -> str:
    """A thing's name without what may be said of it or not; empty if it could be anything."""
    plain = _ZH_EMPTY.sub("", folded(text)) if not text.isascii() else folded(text)
    words = [_STEM.sub("", _ALIKE.get(word, word)) for word in plain.split() if word not in _EMPTY]
    words = [_ALIKE.get(word, word) for word in words]
    if not words or (len(words) == 1 and words[0] in _VAGUE):
        return ""
    return " ".join(sorted(set(words)))


def _value(shown: str) -> str:
    words = [_ALIKE.get(word, word) for word in folded(shown).split() if word not in ("the", "a", "an")]
    value = " ".join(words)
    return value[:-1] if len(value) > 2 and value.endswith("市") else value


__all__ = ["Attribute", "attributes", "same_value", "subject_key", "surely_differ", "tells_only"]
