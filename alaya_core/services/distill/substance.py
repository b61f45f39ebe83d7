"""How much a plain statement says, for statements that no cue speaks for: points for and against."""

from __future__ import annotations

import re

from alaya_core.services.distill.entities import entities, is_specific

ENOUGH = 1
"""Points from which a statement is worth a card."""
MUCH = 2
"""Points from which it surely is."""

_CJK = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[A-Za-z0-9'’_.-]+|[\u3400-\u9fff]")
_LASTING = re.compile(
    r"\b(?:every|each|always|usually|normally|only|never|no\ longer|any\ ?more|instead|because|since|until"
    r"|unless|except|whenever|no\ more\ than|at\ (?:most|least)|max(?:imum)?|minimum|still|both|per|used\ to"
    r"|by\ default|belongs?|owns?|owned|means?|called|named)\b"
    r"|每|总是|通常|一般|只|从不|不再|因为|所以|除非|除了|直到|一直|都|负责|归|属于|默认|尽量|以前|以来|不用|还是|会",
    re.IGNORECASE | re.VERBOSE,
)
_SUBJECT = re.compile(
    r"^(?i:(?:the|our|my|all|every|each|any|most|both|no|in|on|at|an?)\ \w)|^(?:[iI]|[wW]e)(?:['’](?:ve|re|m"
    r"|d)|\ (?:have|had|can't"
    r"|cannot|never|was|were|am|are|keep|use|run|own|pay|need|want|tried|spend|\w+ed))\b"
    r"|^[A-Z][\w.-]+\ (?:and\ \w+\ )?(?:is|are|was|has|runs?|uses?|needs?|wants?|\w+s|\w+ed)\b|^`"
    r"|^(?:我|我们|咱们|我家|公司|团队|客户|用户|服务|系统|项目|医生|老师|老板)",
    re.VERBOSE,
)
_VERB = re.compile(
    r"\b(?!(?:times|days|weeks|hours|minutes|months|years|yes|this|its|plus|always|perhaps|lots|things"
    r"|thanks)\b)(?:is|are|was|were|be|been|has|have|had|do|does|did|can|can't|cannot|will|won't|would|could"
    r"|must|should"
    r"|go|goes|\w{3,}(?:ed|es)|[a-z]{3,}s|came|went|took|got|kept|made|put|set|cost|run|ran|live|work|use|need"
    r"|want|take|keep|pay|eat|get)\b"
)
_DEICTIC = re.compile(
    r"(?<!when\ )\b(?:this|that|these|those|here|there|it|them|above|below|again|now|same)\b"
    r"|[这那它](?!时|么|天|儿|边|里)"
    r"|上面|下面|刚才|再来",
    re.IGNORECASE)  # fmt: skip
_TO_YOU = re.compile(r"\b(?:you|your|u)\b|[你您]", re.IGNORECASE)
_SELF = re.compile(
    r"\b(?:for\ me|to\ me|my|mine|our)\b|^我(?!们?(?:来|先|去|看))|我(?:的|家|自己|这边|妈|爸)"
    r"|对我",
    re.IGNORECASE | re.VERBOSE,
)
_CORRECTS = re.compile(
    r"(?:no|nope|wrong|not\ (?:that|this|quite|what))\b[,.]?|不对|不是(?:这|那|的|啦)|错了"
    r"|不要这",
    re.IGNORECASE | re.VERBOSE,
)
# What somebody thinks of the draft before them.
_OF_WORK = re.compile(
    r"\b(?:sounds?|looks?|feels?|reads?)\ (?:a\ bit\ |a\ little\ |much\ |really\ |so\ |too\ )?(?:better|good"
    r"|fine|great|nice|right|wrong|off"
    r"|odd|weird|long|short)\b|\b(?:a\ bit|a\ little|too|way\ too)\ (?:long|short|formal|casual|dry|vague|wordy"
    r"|big|small|dark|bright)\b"
    r"|^too\ \w+|^(?:nah|meh)\b|^太[^，。]{1,4}了|来个|^not\ (?:bad|great|quite)\b|\bthe\ (?:first|second|third|last"
    r"|other)\ (?:option|one|version|draft"
    r"|paragraph|button)\b"
    r"|(?:听着|看着|读着|看起来|听上去|感觉)[^，。]{0,6}(?:好|不错|怪|长|短|对|行)|(?:好|长|短|大|小|快|慢|早|晚)一?点[。！]?$"
    r"|第[一二三四几]个?(?:方案|版|选项|段)",
    re.IGNORECASE | re.VERBOSE,
)
_WEAK_END = re.compile(r"\b(?:anyway|though|i\ guess|or\ so|somehow|whatever)[.!]*$", re.IGNORECASE | re.VERBOSE)
_ABUSE = re.compile(
    r"\b(?:fuck\w*|shit\w*|damn|wtf|idiot|stupid|dumb|crap|broken|lol|haha\w*|omg|ugh|wow|dude|hmm+)\b|烦|操|靠"
    r"|哈哈|嘻|呜|笑死|累死|气死|无语|服了",
    re.IGNORECASE)  # fmt: skip
_SOFT_END = re.compile(
    r"[吧啊呀哦哈啦嘛呗哇]+[。！!~～\s]*$|吧[，,]|(?:真|很|挺)?(?:不错|好玩|好看)[。！!]?$|!+$|\.{3}$|…$"
)
_PROGRESS = re.compile(
    r"\bi(?:'m|\ am|'ll|\ will|\ just|\ have\ just|'ve\ just)\ (?:looking|trying|going|wondering|thinking"
    r"|getting|seeing|checking|reading|testing|asking|talking|leaving|doing|gonna|back|here|done|going|look"
    r"|check|try|be|let|sure|not\ sure|confused|sorry|glad|happy|curious|wondering|hoping)\b|\bi\ (?:see|mean"
    r"|get|know|don't\ know|don't\ (?:understand|get|see)|can\ see|understand|hope|wonder|wish|tried|agree"
    r"|just)\b"
    r"|\b(?:works?|fixed|looks?|committed|pushed|reviewed|see|got)\ (?:now|it|fine|good|what)\b|\bstill\ (?:not"
    r"|broken|fails?|failing|the\ same|doesn't|does)\b"
    r"|^我(?:先|去|来|再|试|看|想想|知道|明白|同意|不懂|不明白|不太懂|刚|正在|有点|也|会去|会试)|还是(?:不行"
    r"|报错|一样|没)|请教|聊|[，,](?:再|然后)?给我(?:看|发|写|列|讲)|(?:贴|发|传|拍|拿)给?[你您]|谢谢|建议|听起来|好主意|没有了",
    re.IGNORECASE | re.VERBOSE,
)


def is_fragment(text: str) -> bool:
    """Whether an English sentence has no verb, so that it completes the one before it."""
    return not _CJK.search(text) and len(_WORD.findall(text)) < 12 and not _VERB.search(text)


def trails_off(text: str) -> bool:
    """Whether a sentence takes itself back at its end (`... anyway`)."""
    return bool(_WEAK_END.search(text))


def says(text: str) -> int:
    """How many points a person's statement has that no cue speaks for: is it about something that lasts, and named."""
    chinese = bool(_CJK.search(text))
    size = len(_WORD.findall(text))
    named = bool(entities(text)) or bool(re.search(r"\d", text))
    points = 2 * named + bool(_LASTING.search(text)) + bool(_SUBJECT.match(text)) + is_specific(text)
    points += (size >= (10 if chinese else 8)) + (size >= (18 if chinese else 13))
    points += chinese and len(re.findall(r"[，,；;]", text)) >= 1 and size >= 12
    points -= 2 * bool(_CORRECTS.match(text))
    points += bool(_SELF.search(text))
    points -= 2 * bool(_OF_WORK.search(text))
    points -= bool(_WEAK_END.search(text))
    points -= 2 * bool(_TO_YOU.search(text)) + 2 * bool(_ABUSE.search(text)) + 3 * bool(_PROGRESS.search(text))
    points -= min(2, len(_DEICTIC.findall(text))) + bool(_SOFT_END.search(text))
    points -= 2 * (not chinese and not _VERB.search(text))
    return points if size >= (8 if chinese else 5) else 0
