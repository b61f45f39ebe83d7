"""How far an assistant's statement is a finding: a cause, a measured change, a limit, an outcome."""

from __future__ import annotations

import re

from alaya_core.models.card_types import CardType
from alaya_core.services.distill.entities import entities

ENOUGH = 2
"""Points from which an assistant's statement is a finding."""

_CAUSE = re.compile(
    r"\b(?:because|which\ is\ why|that\ is\ why|due\ to|as\ a\ result|therefore|hence|owing\ to|thanks\ to"
    r"|so\ that|(?:,|and)\ so"
    r"|since(?!\ (?:we|i|you|last|then|yesterday|\d))|while\ the)\b"
    r"|因为|由于|所以|因此|于是|导致|造成|引起|使得|原因|是[^，。]{1,14}(?:不同|不一致|不对|不够|太[大小多少长短旧]|的问题|冲突|缺失|过期)|[，,]是(?!不是"
    r"|的)[^，。]{4,30}(?:了|的)[。]?$",
    re.IGNORECASE | re.VERBOSE,
)
_CHANGE = re.compile(
    r"\b(?:halve[sd]|doubles?d?|tripled?)\b|\bfrom\ .{2,40}?\ (?:down\ |up\ )?to\ .{2,}|\b(?:cut|cuts|reduced?s?"
    r"|drop(?:s|ped)"
    r"|saves?d?|speeds?|sped)\b.{2,60}?\b(?:by|to"
    r"|half|times|percent|%)|从[^，。]{1,16}?(?:降|减|缩|提|升|涨|掉|变|调|增)[^，。]{0,3}(?:到|至|成|为)|(?:快|慢|少|多"
    r"|省)了?[^，。]{0,6}(?:倍|成|秒|分钟|%|元)",
    re.IGNORECASE | re.VERBOSE,
)
_LIMIT = re.compile(
    r"\b(?:at\ (?:most|least)|only|no\ more\ than|up\ to|without|never|always|must|cannot|can't|won't|does\ not"
    r"|doesn't|not\ until|unless"
    r"|instead\ of|rather\ than|except)\b|\b(?:whenever|once|as\ soon\ as)\b"
    r"|最多|至少|一旦|只要|只[^是要有]|不会|必须|不能|上限|下限"
    r"|不支持|不认|除非|而不是|仅",
    re.IGNORECASE | re.VERBOSE,
)
_OUTCOME = re.compile(
    r"^(?:so\ |in\ short,?\ )?(?:the\ |our\ |final\ )?(?:outcome|result|upshot|decision|conclusion|agreement"
    r"|consensus|plan)\b.{0,24}?(?:\ is|:|,)"
    r"|^(?:所以|综上|总之)?[，,]?(?:最终|最后|讨论|商量)?的?(?:结果|结论|决定|共识)(?:是|：|:)",
    re.IGNORECASE | re.VERBOSE,
)
_WARNS = re.compile(
    r"^(?:heads[\ -]up|note(?:\ that)?|mind|be\ aware|keep\ in\ mind|one\ catch|worth\ knowing|careful"
    r"|important)\b[,:\ ]|^(?:需要|要|请|务必)?"
    r"(?:留意|注意|小心|当心|提醒)[：:，,]|值得注意",
    re.IGNORECASE | re.VERBOSE,
)
_PROCESS = re.compile(
    r"\b(?:i|i'(?:m|ve|ll|d)|me|my|let's|let\ me)\b|\b(?:done|next\ step|step\ \d|moving\ on|for\ now|currently"
    r"|still)\b"
    r"|我|咱|正在|^(?:先|再)(?!前|生|进)|(?:跑|改|装|设|修|推|存|建|查|看|写|测)(?:完|好)了|接着|下一步|第[一二三四五\d]步|已(?:经)?(?:完成|修改|更新|添加|修复)",
    re.IGNORECASE | re.VERBOSE,
)
_TO_YOU = re.compile(r"\b(?:you|your|yours)\b|[你您]", re.IGNORECASE)
# What might help in general is advice.
_ADVICE = re.compile(
    r"\b(?:can|could|may|might|would|should|will|helps?|try|consider|important\ to|great|wonderful|good\ (?:way"
    r"|idea|choice)|recommend\w*"
    r"|suggest\w*)\b|可以|能够|能让|有助|应该|建议|尝试|不妨|推荐|适合|很棒|非常|值得|帮助|例如|比如",
    re.IGNORECASE | re.VERBOSE,
)
_POINTS_AT = re.compile(
    r"^(?:this|that|these|those|it|they|here|there)\b|^(?:这|那|它|他们|她们|以[上下]|上面|下面)", re.IGNORECASE
)
_TROUBLE = re.compile(
    r"\b(?:fail\w*|error\w*|wrong|ignore[sd]?|miss\w*|disagree\w*|slow\w*|hang\w*|crash\w*|lost|doubl\w*|stale"
    r"|empty|broke\w*|timed?\ out|block\w*"
    r"|never|not|no)\b|n't\b|没|错|失败|超时|不上|不同|不一致|丢|慢|缺|重复|冲突|空|漏|卡|挂|不",
    re.IGNORECASE | re.VERBOSE,
)
_CJK = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[A-Za-z0-9'’_.-]+|[\u3400-\u9fff]")


def finds(text: str) -> tuple[int, CardType]:
    """How many points a statement has as a finding, and the type of card that it would be."""
    cause, change = bool(_CAUSE.search(text)), bool(_CHANGE.search(text))
    outcome, warns = bool(_OUTCOME.search(text)), bool(_WARNS.search(text))
    limit = bool(_LIMIT.search(text))
    if not (cause or change or outcome or warns or limit):
        return 0, CardType.FACT  # a name and a length make no finding
    size = len(_WORD.findall(text))
    points = 2 * (cause + change + outcome + warns) + limit
    points += bool(re.search(r"\d|`", text) or entities(text)) + (size >= (18 if _CJK.search(text) else 10))
    points -= 2 * bool(_TO_YOU.search(text)) + 2 * bool(_ADVICE.search(text)) + 3 * bool(_PROCESS.search(text))
    points -= bool(_POINTS_AT.search(text)) + 2 * (size < 7)
    if outcome:
        return points, CardType.DECISION
    if change:
        return points, CardType.CASE
    return points, CardType.GOTCHA if warns or (cause and _TROUBLE.search(text)) else CardType.FACT
