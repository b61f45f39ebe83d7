"""Titles: one line of at most 80 cells in the third person, no cut word, no markdown."""

from __future__ import annotations

import re

from alaya_core.services.distill.classify import plain, without_filler
from alaya_core.services.distill.subjects import third_person
from alaya_core.text import cells, char_cells, safe_line

WIDTH = 80
_SHORTEST = 24  # cells a title should keep when it is cut at a clause

_OPENING = re.compile(
    r"^(?:(?:please\ )?(?:remember|keep\ in\ mind|don'?t\ forget|note|bear\ in\ mind)(?:\ that|\ to|,|:)\s*"
    r"|(?:it\ )?turns\ out(?:\ that)?,?\s+|(?:please|just)\s+"
    r"|i\ (?:still\ |really\ )?(?:think|believe|feel\ like|guess|suspect)(?:\ that)?,?\s+(?=\S+\ \S+\ )"
    r"|(?:请|麻烦)?(?:记住|记得|记一下|别忘了?)(?:[，,：:\s]+|(?=[^，。]{6,}))|(?:我觉得|我认为|我感觉"
    r"|个人觉得)[，,]?(?=[^，。]{6,})|(?:坑|注意|警告)[：:]\s*|(?:以后|今后)?请(?=[^，。]{4,}))",
    re.IGNORECASE | re.VERBOSE,
)
_TAIL = re.compile(
    r"[,;.—–-]?\s+(?:so\ |and\ )?(?:please\b|keep\ (?:that|this)\ in\ mind|just\ so\ you\ know|don'?t\ forget"
    r"|if\ that\ helps|can't\ prove).*$"
    r"|[，,；;](?:以后|请|麻烦|记得|注意一下|你?记一下|记住|别忘了?|希望你|拜托"
    r"|谢谢)[^，。]{0,30}(?:[，,][^，。]{0,20})?$",
    re.IGNORECASE | re.VERBOSE,
)
_CLAUSE = re.compile(
    r"[,;:.!?](?=\s)|[，；：。！？…]|\s[—–-]+(?=\s)|——|\s(?=\()|(?=（)|\s(?=(?:because|so\ that|which|otherwise"
    r"|unless|although|whereas|until|while|since|but)\s)|(?=(?:因为|所以|但是|否则|不然|以及|并且|而且|从而"
    r"|而不是))"
)
_DANGLING = re.compile(
    r"(?:\s+(?:and|or|but|the|an?|to|of|in|on|at|for|with|by|from|that|which|who|because|so|as|is|are|was|were|be"
    r"|not|if|when|than|then|into|their|its|his|her|my|our|your|this|these|those|it|they|we|you|i|user's|has|have"
    r"|will|would|can|should|must|per|via|about|over|under|between|no|very|more|before|after|until|while))+$",
    re.IGNORECASE)  # fmt: skip
_PUNCTUATION = " \t,.;:!?—–-，。；：！？、…~～·/\\|&+=*_#>`"
_PAIRS = {"(": ")", "（": "）", "[": "]", "「": "」", "《": "》", "“": "”", "{": "}", "『": "』", "【": "】"}
_EMPHASIS = re.compile(r"(?<![\w*_])([*_])(?=\S)([^*_\n]{1,80}?)(?<=\S)\1(?![\w*_])")
_CJK = re.compile(r"[\u3400-\u9fff\u3000-\u303f\uff00-\uffef]")


def title(sentence: str, *, who: str, who_zh: str, personal: bool) -> str:
    """A title made of one sentence.

    Args:
        sentence: What was said, secrets masked.
        who: The speaker as an English title names them; who_zh: as a Chinese one does.
        personal: Whether the first person in it is the speaker to be named.
    """
    text = without_filler(safe_line(plain(sentence)))
    text = _without(_OPENING, text)
    text = without_filler(text)
    shorter = _TAIL.sub("", text)
    if cells(shorter) >= 10:
        text = shorter
    text = third_person(text, who, who_zh) if personal else text
    text = fit(_unmarked(text))
    return text[:1].upper() + text[1:] if re.match(r"[a-z][a-z']*(?:\s|$|,)", text) else text


def fit(text: str, width: int = WIDTH) -> str:
    """The longest beginning of a line within the width that ends where a clause or a word does; may be empty."""
    text = _trimmed(text)
    if cells(text) > width:
        text = _trimmed(" ".join(re.sub(r"\s\([^()]*\)|（[^（）]*）", "", text).split()))
    if cells(text) <= width:
        return text
    limit = _index_at(text, width)
    best = ""
    for match in _CLAUSE.finditer(text, 0, min(len(text), limit + 2)):
        if match.start() <= limit and cells(text[: match.start()]) >= _SHORTEST:
            best = _trimmed(text[: match.start()])
    if cells(best) >= _SHORTEST:
        return best
    for at in range(limit, 0, -1):
        if _is_boundary(text, at):
            cut = _trimmed(_DANGLING.sub("", text[:at].rstrip(_PUNCTUATION)))
            if cut:
                return cut
    return ""


def _without(pattern: re.Pattern[str], text: str) -> str:
    shorter = pattern.sub("", text, count=1)
    return shorter if cells(shorter) >= 10 else text


def _unmarked(text: str) -> str:
    text = re.sub(r"`+|\*\*+|~~", "", text)
    return " ".join(re.sub(r"^[#>\s]+(?=\s)|^[-+*]\s+", "", _EMPHASIS.sub(r"\2", text)).split())


def _trimmed(text: str) -> str:
    """Without hanging punctuation and without a bracket or quotation that never closes."""
    for opening, closing in _PAIRS.items():
        while (at := _unclosed(text, opening, closing)) >= 0:
            text = text[:at] if cells(text[:at].strip(_PUNCTUATION)) >= _SHORTEST else text[:at] + text[at + 1 :]
        while text.count(closing) > text.count(opening):
            at = text.rindex(closing)
            text = text[:at] + text[at + 1 :]
    if text.count('"') % 2:
        text = text.replace('"', "")
    kept = text.lstrip(" \t,.;:!?，。；：！？、…~～·*#>`|").rstrip(_PUNCTUATION)
    # names such as `--flag`, `/path`, `.env`, `C++`, `C#` live by their signs
    lead = re.search(r"(?:^|\s)(\.|/|#)$", text[: len(text) - len(text.lstrip(" .,/#"))])
    tail = re.match(r"(?:\+\+|#)(?!\w)", text[text.find(kept) + len(kept) :]) if kept else None
    return (lead[1] if lead and not kept.startswith(lead[1]) else "") + kept + (tail.group() if tail else "")


def _unclosed(text: str, opening: str, closing: str) -> int:
    """Where the last opening mark without its partner stands; -1 if all are closed."""
    open_at: list[int] = []
    for index, char in enumerate(text):
        if char == opening:
            open_at.append(index)
        elif char == closing and open_at:
            open_at.pop()
    return open_at[-1] if open_at else -1


def _index_at(text: str, width: int) -> int:
    taken = 0
    for index, char in enumerate(text):
        taken += char_cells(char)
        if taken > width:
            return index
    return len(text)


def _is_boundary(text: str, at: int) -> bool:
    """Whether a word ends before this place: a space, or a Chinese word's end as far as signs show it."""
    before, after = text[at - 1], text[at : at + 1]
    if not after or after.isspace() or before.isspace():
        return True
    if _CJK.match(before) and _CJK.match(after):
        return before in "的了，、；：。！？）」》”" or after in "，、；：。！？（「《“" or at <= len(text) // 3
    return bool(_CJK.match(before)) != bool(_CJK.match(after))
