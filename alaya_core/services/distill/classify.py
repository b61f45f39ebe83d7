"""What a sentence is: a statement worth keeping, a question, an instruction, small talk, or an agent's narration."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from alaya_core.models.card_types import CardType
from alaya_core.services.distill import cues_en, cues_zh, findings, forms_en, forms_zh
from alaya_core.services.distill.cues import GENERAL, PASSING, Cue
from alaya_core.services.distill.entities import is_specific, verbal
from alaya_core.services.distill.expiry import is_passing
from alaya_core.services.distill.substance import ENOUGH, MUCH, says, trails_off

REMEMBERED = "remember"
"""Name of the cue of what somebody asked to be remembered."""
KEEP = 0.5  # strength from which a sentence is worth a card
_CERTAIN = 0.85  # strength by which a conclusion is heard even inside narration
_PLAIN_ENOUGH = 0.8  # strength from which three words are enough: `I hate cilantro`


class Kind(StrEnum):
    """What somebody does with a sentence."""

    STATEMENT = "statement"
    QUESTION = "question"
    INSTRUCTION = "instruction"
    SMALL_TALK = "small talk"
    NARRATION = "narration"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a sentence was taken for.

    Attributes:
        strength: 0..1; from `KEEP` on it is worth a card.
        intrinsic: Importance of such knowledge by itself.
        signal: What the speaker's own emphasis adds to it, -.2 to .8.
        cues: Names of the cues heard, strongest first.
    """

    kind: Kind
    type: CardType = CardType.FACT
    strength: float = 0.0
    intrinsic: float = GENERAL
    signal: float = 0.0
    confidence: float = 0.7
    cues: tuple[str, ...] = ()

    @property
    def kept(self) -> bool:
        """Whether it is worth a card."""
        return self.kind is Kind.STATEMENT and self.strength >= KEEP


_CUES: tuple[Cue, ...] = (*cues_en.CUES, *cues_zh.CUES)
_MARKDOWN = re.compile(r"\*\*|~~|^#+\s+|^>\s+")
_LINK = re.compile(r"!?\[([^\]\n]{0,200})\]\(([^)\s]{1,400})\)")
_FILLER = re.compile(
    r"^(?:(?:h(?:i|ey|ello)|yeah|wow|oh|thanks)\ (?-i:[A-Z])\w+[,!]\ *|(?:ok(?:ay)?|so+|wow|honestly"
    r"|and|but|also|alright|hey(?:\ there)?"
    r"|hi(?:\ there)?|hello|oh|hm+|plus|then|anyway|honestly|actually|sorry|please|yeah|yes|yep|right|cool|(?:ha)+h?"
    r"|great|thanks|btw|by\ the\ way|well|no|wait|one\ more\ thing"
    r"|(?:my\ )?(?:dude|man|bro|guys|team|folks)|iiuc|iirc|afaik|tbh|quick\ (?:intro|note|update)"
    r"|(?:very\ )?important|note|fyi|heads[\ -]up|reminder|update|background|context|for\ context"
    r"|for\ the\ record|just\ so\ you\ know|found\ it|root\ cause\ found)(?:[,:!.]\ *|\ (?=(?:so|and|but|i|we"
    r"|my|our|it|the)\b)))+"
    r"|^(?:(?:但是?(?=我|你|他)|不过|除此之外|你好呀?|您好|嗨|实际上|好的?|嗯+|对了|那|另外|还有|哦|噢|其实"
    r"|重要|非常重要|注意|啊|恩|呃|[是对][啊呀的]|当然(?:可以)?|哎呀?|哈+|唉|嘿|是的|没错|对|行|可以|嗯嗯"
    r"|提醒一下|结论|顺便(?:说一?下|提一?下|一提)?|补充(?:一下|说明)?(?:背景)?|背景|查清楚了|查到了|看完了"
    r"|找到了?|找到原因了|定位到了|更正一下)[，,：:！!。\s]+)+",
    re.IGNORECASE | re.VERBOSE,
)
# Session text that gives orders to whatever reads it later is no knowledge.
_INJECTION = re.compile(
    r"ignore\ (?:all\ |any\ |the\ )?(?:previous|prior|above|earlier)|disregard\ (?:all|any|the|your)"
    r"|^\s*(?:system|assistant|developer)\s*(?:prompt|message)?\s*[:：]|<\|?im_start|\[INST\]"
    r"|you\ are\ now\ (?:a|an|in|the)\b"
    r"|(?:delete|erase|forget|wipe|drop)\ (?:all|every|the)\ (?:of\ )?(?:your\ |the\ )?(?:cards?|memor"
    r"|instructions|rules)|(?:reveal|print|leak)\ (?:your|the)\ (?:system|hidden)|safety\ (?:rules"
    r"|guidelines)\ (?:no\ longer|do\ not)"
    r"|(?:忽略|无视|忘记|忘掉)(?:之前|以上|上面|先前|所有)[^，。]{0,8}(?:指令|指示|规则|提示|设定)|(?:删除|清空"
    r"|清除)(?:所有|全部|一切)[^，。]{0,4}(?:卡片|记忆)|系统(?:提示|指令|消息)\s*[：:]",
    re.IGNORECASE | re.VERBOSE,
)
_OFFER = re.compile(
    r"\b(?:would\ you\ like|want\ me\ to|do\ you\ want|let\ me\ know|shall\ i|should\ i|feel\ free|ready\ (?:to"
    r"|for)|if\ you(?:'d|\ would)?\ (?:like|want|prefer)|hope\ (?:this|that)|i\ recommend\ (?:talking"
    r"|consulting)|as\ an\ ai)\b"
    r"|需要我|要不要我|是否需要|作为\ ?(?:一个\ ?)?AI|希望.{0,6}(?:帮|有用)|如果(?:你|您)(?:想|需要|愿意)|祝你",
    re.IGNORECASE | re.VERBOSE,
)
# Names of cues that are orders by nature, so that an order's form does not speak against them.
_ORDERS = frozenset({"standing", "preference", "decision", "safety", "health", "name", REMEMBERED})
_FOUND_OUT = frozenset({"root-cause", "found", "why", "fix"})
_ADVICE = re.compile(r"\byou\b|[你您]", re.IGNORECASE)
# Said at what was heard, or on the way out: nothing in it is about the world.
_REACTION = re.compile(
    r"^(?:no\ wonder|(?:i'm\ |i\ am\ )?(?:so\ )?glad\b|good\ thing\ (?:you|that|we)|thank\ (?:god|goodness|heavens)"
    r"|(?:please\ )?(?:do\ you\ )?remember\ (?:what|how|when|why|who|where|whether|if)\b(?!\ to\b)"
    r"|everybody\ (?:tells|says|keeps)|everyone\ (?:tells|says|keeps)|people\ (?:say|keep\ saying|tell\ me)"
    r"|let'?s\ (?:take|have|continue|pause|stop|move|start|see|wait|talk|meet)\b|sorry\ (?:about|to\ hear)"
    r"|keep\ (?:up\ the|it\ up)|(?:don't\ forget\ to\ )?stay\ (?:positive|strong|safe|safe)"
    r"|if\ you(?:\ ever)?\ (?:have|get|find)\ (?:the\ |a\ |some\ )?(?:chance|time)|(?:that|it"
    r"|seeing)\b.{0,60}\bmust(?:'ve\ been|\ have\ been|\ be\ (?:so|really|very|great|hard|tough|nice))\b)"
    r"|^(?:怪不得|难怪|(?:还好|幸好|幸亏|亏得|多亏)(?:有?你|记得)|原来如此|说得对|说的对|就这么(?:办|做|定|记)|没想到你|(?:如果|要是)?[你您](?:如果)?(?:有机会|有空"
    r"|有时间|可以看|可以试|一定要来)|(?:我们|咱们)(?:可以|来|一起|再)*(?:聊|谈谈|说说)|(?:可是?|但是?)[^。]{0,40}明明"
    r"|(?:还)?记得(?:我们|咱们|那|上次)[^。]*[吗么])"
    r"|我(?:得)?(?:先|就先)(?:去)?(?:忙|睡|走|下线?|撤|闪|吃饭|开会)(?:了|啦)?[。！!~～]?$",
    re.IGNORECASE | re.VERBOSE,
)
_QUOTED = re.compile(r"^[\"“「『'].*[\"”」』'][。.!！]?$", re.DOTALL)
_SHOWS = re.compile(r"(?:here|there)(?:'s|’s|\ is|\ are)\b|look\ at\b|check\ (?:this|out)\b", re.IGNORECASE)
# A day on the calendar, once.
_DATED = re.compile(
    r"^(?!.*(?:\b(?:every|each|since|until|expires?|daily|weekly|monthly)\b|每|一直|以来|到期|过期"
    r"|截至))(?:.*?)(?:\b(?:tomorrow|tonight|next\ (?:week(?:end)?"
    r"|month|year|spring|summer|autumn|winter|\w+day)|(?:on\ )?(?:the\ )?\d{1,2}(?:st|nd|rd"
    r"|th)?\ (?:of\ )?(?:jan|feb|mar|apr|may|jun|jul|aug"
    r"|sep|oct|nov|dec)[a-z]*|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\ \d{1,2}(?!\d))\b"
    r"|明天|后天|明晚|下周|下个?月|\d{1,2}\ *月\ *\d{1,2}\ *[日号])",
    re.IGNORECASE | re.VERBOSE,
)
_CONCLUDED = (CardType.GOTCHA, CardType.CASE, CardType.DECISION, CardType.PATTERN)
_OWN = (CardType.PROFILE, CardType.PREFERENCE, CardType.DECISION, CardType.EVENT)
_WORD = re.compile(r"[A-Za-z0-9'’_.-]+|[\u3400-\u9fff]")


def plain(text: str) -> str:
    """A sentence without its markdown marks; inline code keeps its backticks."""
    return _MARKDOWN.sub("", _LINK.sub(r"\1", text)).strip()


def without_filler(text: str) -> str:
    """A sentence without what people say before they say it."""
    for _ in range(3):
        shorter = _FILLER.sub("", text, count=1)
        if shorter == text or not shorter:
            break
        text = shorter
    return text


def is_question(text: str) -> bool:
    """Whether a sentence asks."""
    bare = text.rstrip(" \"'”」)）")
    return bare.endswith(("?", "？")) or any(table.QUESTION.search(text) for table in (forms_en, forms_zh))


def classify(said: str, *, person: bool) -> Verdict:
    """What a sentence is, and how surely it is worth keeping.

    Args:
        said: One sentence.
        person: Whether a person said it, or an assistant, of whom only conclusions count.
    """
    text = plain(said)
    core = without_filler(text)
    size = len(_WORD.findall(core))
    if size < 3 or _small_talk(text) or _small_talk(core):
        return Verdict(Kind.SMALL_TALK)
    if _INJECTION.search(text):
        return Verdict(Kind.INSTRUCTION)
    if _REACTION.search(core):
        return Verdict(Kind.SMALL_TALK)
    if not person and _QUOTED.match(text):
        return Verdict(Kind.NARRATION)  # words written for somebody else to say
    if is_question(text) or is_question(core):
        return Verdict(Kind.QUESTION)
    heard = sorted(
        (one for one in _CUES if (person or not one.person) and (one.pattern.search(core) or one.pattern.search(text))),
        key=_by_strength,
    )
    if size < 4 and not (heard and heard[0].person and heard[0].strength >= _PLAIN_ENOUGH):
        return Verdict(Kind.SMALL_TALK)
    names = [one.name for one in heard]
    signal, remembered = _signal(text) if person else (0.0, False)  # an assistant's `noted` stresses nothing
    if remembered:
        names.insert(0, REMEMBERED)
    if not person:
        told = any(table.NARRATION.search(text) for table in (forms_en, forms_zh)) or _OFFER.search(text)
        if told and not (heard and heard[0].strength >= _CERTAIN and not _OFFER.search(text)):
            return Verdict(Kind.NARRATION)
    elif _orders(core, names, heard):
        return Verdict(Kind.INSTRUCTION)
    if core.endswith((":", "：")):
        return Verdict(Kind.NARRATION)  # it only announces what follows
    return _weigh(text, core, heard, names, signal, remembered=remembered and size >= 5, person=person)


def _by_strength(one: Cue) -> float:
    return -one.strength


def _small_talk(text: str) -> bool:
    bare = text[:400]
    return len(text) < 400 and any(table.SMALL_TALK.fullmatch(bare) for table in (forms_en, forms_zh))


def _orders(text: str, names: list[str], heard: list[Cue]) -> bool:
    """Whether a person only tells the agent to do something now, or scolds it."""
    if _ORDERS & set(names):
        return False
    if any(table.REQUEST.search(text) or table.ADDRESSED.search(text) for table in (forms_en, forms_zh)):
        return True
    begins = any(table.INSTRUCTION.search(text) for table in (forms_en, forms_zh)) and not forms_en.NOUN_FIRST.match(
        text
    )
    return begins and not (heard and heard[0].strength >= 0.7)


def _signal(text: str) -> tuple[float, bool]:
    tables = (forms_en, forms_zh)
    remembered = any(table.REMEMBER.search(text) for table in tables) and (
        verbal(text) or not forms_en.REMEMBER_THING.search(text)
    )
    signal = 0.5 * (remembered or any(table.LASTING.search(text) for table in tables))
    signal += 0.3 * any(table.IMPORTANT.search(text) for table in tables)
    signal -= 0.2 * any(table.ASIDE.search(text) for table in tables)
    return signal, remembered


def emphasis(text: str) -> float:
    """What a speaker's own words add to the importance of what they say, -.2 to .8."""
    return _signal(text)[0]


def _weigh(
    said: str, core: str, heard: list[Cue], names: list[str], signal: float, *, remembered: bool, person: bool
) -> Verdict:
    best = heard[0] if heard else None
    strength = best.strength if best else 0.0
    kind_of = best.type if best else CardType.FACT
    intrinsic = max((one.intrinsic for one in heard if one.strength >= 0.6), default=GENERAL)
    if strength < KEEP and person and (points := says(core)) >= ENOUGH:
        strength = 0.55 if points >= MUCH else KEEP
    if strength < KEEP and not person:
        found, type_ = findings.finds(said)
        if found >= findings.ENOUGH:
            strength, kind_of = (0.55 if found > findings.ENOUGH else KEEP), type_
    if remembered or (signal >= 0.3 and person):
        strength = max(strength, 0.75 if remembered else 0.6)
    if kind_of is CardType.FACT and _DATED.search(core):
        kind_of = CardType.EVENT
    believed = any(one.type is CardType.BELIEF for one in heard)
    if believed and kind_of not in _OWN:
        kind_of = CardType.BELIEF
        if not (is_specific(core) or len(heard) > 1 or len(_WORD.findall(core)) >= 9):
            strength -= 0.2
    hedged = any(table.HEDGE.search(core) for table in (forms_en, forms_zh))
    strength -= _doubt(core, best, alone=len(heard) == 1, hedged=hedged, person=person)
    fleeting = any(table.FLEETING.search(core) for table in (forms_en, forms_zh))
    if intrinsic <= GENERAL and kind_of not in _CONCLUDED and (fleeting or is_passing(core)):
        intrinsic = PASSING
    if fleeting and kind_of not in _OWN and kind_of is not CardType.GOTCHA:
        strength -= 0.2
    confidence = (0.8 if person else 0.7) - 0.2 * hedged - 0.1 * (kind_of is CardType.BELIEF) + 0.1 * remembered
    return Verdict(Kind.STATEMENT, kind_of, strength, intrinsic, signal, round(confidence, 2), tuple(names))


def _doubt(core: str, best: Cue | None, *, alone: bool, hedged: bool, person: bool) -> float:
    """What speaks against a sentence though it has a cue."""
    doubt = 0.3 * bool(_SHOWS.match(core)) + 0.2 * trails_off(core)
    size = len(_WORD.findall(core))
    if best and best.name == "date" and alone and size < 10 and not is_specific(core) and not is_passing(core):
        doubt += 0.3  # `we discuss it on Friday`, without what
    if person:
        return doubt
    if _ADVICE.search(core) and "`" not in core:
        doubt += 0.3 if best and best.name in _FOUND_OUT else 0.45
    if best and best.type is CardType.GOTCHA and size < 8:
        doubt += 0.3
    return doubt + 0.3 * hedged  # an assistant's guesses are steps on the way, not conclusions
