"""Which cards belong into the working memory, in which of its parts, and in what order. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from alaya_core.models.card import Card, CardState
from alaya_core.models.card_types import CardType

WEIGHTY = 0.8
"""Importance from which on a warning binds, and something that happened may be core memory."""

_BINDING = 0.7  # importance from which on a plain statement with `never` in it is a rule
_LOOKED_AT = 600  # characters of a text
_RULE_TAGS = frozenset(
    {"instruction", "instructions", "rule", "rules", "constraint", "constraints", "policy", "convention", "boundary",
     "规则", "约束", "规范", "边界", "红线", "指令"}
)  # fmt: skip
_SELF_TAGS = frozenset({"identity", "persona", "assistant", "self", "身份", "人设"})
_RULE_TYPES = frozenset({CardType.DECISION, CardType.PREFERENCE, CardType.PATTERN, CardType.CONCEPT, CardType.FACT,
                         CardType.GOTCHA})  # fmt: skip
_RULES_BY_NATURE = frozenset({CardType.DECISION, CardType.PREFERENCE, CardType.PATTERN})
_HAPPENED = frozenset({CardType.EVENT, CardType.CASE})
_RULE = re.compile(
    r"\b(?:never|always|must|mustn't|do\ not|don't|under\ no\ circumstances)\b"
    r"|必须|务必|绝不|永不|永远|一律|不得|禁止|严禁|切勿|不要|不许|一定要|每次都",
    re.IGNORECASE | re.VERBOSE,
)
_OF_ASSISTANT = re.compile(
    r"\s*(?:you\ are\b|your\ (?:name|role|job|persona|character)\b|(?:the|this)\ (?:assistant|agent|bot)\b"
    r"|assistant(?:'s|’s|:|\ is\b)|你是|你叫|你的(?:名字|角色|身份|定位|人设)"
    r"|(?:本|该|这个)?(?:助手|助理|智能体|机器人))",
    re.IGNORECASE | re.VERBOSE,
)
_OF_USER = re.compile(r"\s*(?:the\ )?user\b|\s*(?:用户|主人)", re.IGNORECASE | re.VERBOSE)


@dataclass(frozen=True, slots=True)
class Choice:
    """The cards of each part, best first; `recent` may name cards of `core` too, for those that found no room there.

    Attributes:
        scores: Temperature times importance of each card, to two digits, by id.
        days: Of the recent ones: the day they were true, by id.
    """

    identity: Sequence[Card] = ()
    user: Sequence[Card] = ()
    constraints: Sequence[Card] = ()
    core: Sequence[Card] = ()
    recent: Sequence[Card] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    days: Mapping[str, str] = field(default_factory=dict)


def choose(
    cards: Iterable[Card], temperatures: Mapping[str, float], days: Mapping[str, str], today: int, top: int
) -> Choice:
    """Puts each card where it belongs: who the agent is, who the user is, what binds, what matters most, what is new.

    Args:
        cards: What the working memory may hold.
        temperatures: 0..1, by id.
        days: Of each card that is recent: the day it was true.
        today: When the day began, ms: what expired before then is no longer true.
        top: Most cards of the core memory.
    """
    living = [card for card in cards if card.state is CardState.ACTIVE and not _over(card, today)]
    scores = {card.id: round(round(temperatures.get(card.id, 0.0), 2) * card.importance, 2) for card in living}
    living.sort(key=lambda card: (-scores[card.id], -card.importance, -card.created_at, card.id))
    parts: dict[str, list[Card]] = {name: [] for name in ("identity", "constraints", "user", "others")}
    for card in living:
        parts[_part_of(card)].append(card)
    constraints = sorted(parts["constraints"], key=lambda card: -card.importance)
    user = sorted(parts["user"], key=lambda card: card.type is not CardType.PROFILE)
    core = [card for card in parts["others"] if not _is_passing(card, days)][:top]
    new = [card for card in parts["others"] if card.id in days]
    recent = sorted(new, key=lambda card: days[card.id], reverse=True)
    return Choice(parts["identity"], user, constraints, core, recent, scores, days)


def _part_of(card: Card) -> str:
    if is_of_assistant(card):
        return "identity"
    if is_rule(card):
        return "constraints"
    return "user" if card.type in (CardType.PROFILE, CardType.PREFERENCE) else "others"


def is_of_assistant(card: Card) -> bool:
    """Whether a card tells who the agent is."""
    if not _SELF_TAGS.isdisjoint(tag.casefold() for tag in card.tags):
        return True
    if card.type is not CardType.PROFILE:
        return False
    if _OF_ASSISTANT.match(card.content) or _OF_ASSISTANT.match(card.title):
        return True
    # Whoever writes a profile into an agent's own memory by hand means the agent, unless it says otherwise.
    own = card.origin == "human" and card.scope.startswith("agent:")
    return own and not (_OF_USER.match(card.content) or _OF_USER.match(card.title))


def is_rule(card: Card) -> bool:
    """Whether a card says what always or never is to be done."""
    if card.type not in _RULE_TYPES:
        return False
    if card.type is CardType.GOTCHA and card.importance >= WEIGHTY:
        return True
    if not _RULE_TAGS.isdisjoint(tag.casefold() for tag in card.tags):
        return True
    if card.type not in _RULES_BY_NATURE and card.importance < _BINDING:
        return False
    return bool(_RULE.search(card.content, 0, _LOOKED_AT) or _RULE.search(card.title, 0, _LOOKED_AT))


def _over(card: Card, today: int) -> bool:
    return card.expires_at is not None and card.expires_at < today


def _is_passing(card: Card, days: Mapping[str, str]) -> bool:
    """Whether a card is no core memory, however warm it is: the end of a session, or what just happened."""
    if card.is_session_summary:
        return True
    return card.type in _HAPPENED and card.importance < WEIGHTY and card.id in days
