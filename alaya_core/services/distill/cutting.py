"""Where a title may end: at a clause, else before a phrase, else after a word; never on a word that asks for more."""

from __future__ import annotations

import re

from alaya_core.services.distill.substance import is_fragment
from alaya_core.text import cells, char_cells

WIDTH = 80
_SHORTEST = 24  # cells a title should keep when it is cut at a clause
_TELLING = 30  # cells from which a clause is better than a longer phrase

_CLAUSE = re.compile(
    r"(?:[,;:!?]|(?<!Mr)(?<!Ms)(?<!Mrs)(?<!Dr)(?<!St)(?<!vs)(?<!etc)(?<!\be\.g)(?<!i\.e)(?<!\b[A-Z])\.)(?=\s)"
    r"|[，；：。！？…]|\s[—–-]+(?=\s)|——|\s(?=\()|(?=（)|\s(?=(?:because|so\ that|so|which|otherwise"
    r"|unless|although|whereas|until|while|since|but|when|if)\s)|(?=(?:因为|所以|但是|否则|不然|以及|并且|而且|从而"
    r"|而不是|导致|于是|如果))",
    re.VERBOSE,
)
# A phrase that begins with one of these may be left out.
_PHRASE = re.compile(
    r"\s(?=(?:of|in|on|at|for|with|from|by|as|to|into|onto|over|under|between|among|across|through|during"
    r"|without|within"
    r"|after|before|behind|against|about|around|via|per|than|where|that|who|whose|and|or|nor|instead|rather|inside"
    r"|outside|using)\s)|(?<=[\u3400-\u9fff])(?=(?:把|被|让|给|跟|并(?!且)|和(?!平|谐)|与|或者?|由(?!于)|从(?!来"
    r"|而))[\u3400-\u9fff]{2})"
    r"|(?<=了)(?=[\u3400-\u9fff])",
    re.VERBOSE,
)
_DANGLING = re.compile(
    r"(?:\s+(?:and|or|nor|but|the|an?|to|of|in|on|at|for|with|by|from|that|which|who|whose|where|because|so|as"
    r"|is|are|was|were"
    r"|be|been|being|am|not|if|when|than|then|into|onto|their|its|his|her|my|our|your|this|these|those|it|they"
    r"|we|you|he|she|i"
    r"|user's|has|have|had|do|does|did|don't|doesn't|didn't|will|would|can|could|should|must|may|might|won't"
    r"|can't|cannot"
    r"|shouldn't|needs?|wants?|gets?|makes?|takes?|uses?|treats?|means?|lets?|per|via|about|over|under|between"
    r"|among|through"
    r"|without|within|no|very|more|most|less|before|after|until|while|since|though|although|unless|all|any|some"
    r"|each|every|both|either"
    r"|neither|just|only|even|also|still|always|never|often|too|quite|rather|such|same|wrt|vs|etc|e\.g|i\.e"
    r"|instead|like"
    r"|against|across|during|because\ of|willing|able|unable|going|trying|planning|supposed|allowed|ready|based"
    r"|according|related|depending|compared|that['’]s|it['’]s|there['’]s|due|up|out|there|how|what|why|whether|one|some|kind|sort|part|couple"
    r"|\w{3,}ly))+$",
    re.IGNORECASE | re.VERBOSE,
)
_DANGLING_ZH = re.compile(
    r"(?<=[\u3400-\u9fff]{4})(?:的|地|得|和|与|在|把|被|从|对|给|跟|或|并|就|才|也|都|会|要"
    r"|是|再|还|很|更|最|不|而|但"
    r"|因为|所以|如果|以及)+$"
)
# A clause that leans on the one after it.
_HALF = re.compile(
    r"(?:if|when|while|although|though|even\ though|since|because|as\ soon\ as|after|before"
    r"|once|unless|until|whenever|given\ that)"
    r"\s[^,]*$|(?:如果|虽然|因为|由于|尽管|即使|要是|当)[^，]*$",
    re.IGNORECASE | re.VERBOSE,
)
_BEGUN = re.compile(r"\b(?:how|what|that|which|why|because|when|where|if|whether|so)\s+([^,;:]*)$", re.IGNORECASE)
_PUNCTUATION = " \t,.;:!?—–-，。；：！？、…~～·/\\|&+=*_#>`"
_PAIRS = {"(": ")", "（": "）", "[": "]", "「": "」", "《": "》", "“": "”", "{": "}", "『": "』", "【": "】"}
_CJK = re.compile(r"[\u3400-\u9fff\u3000-\u303f\uff00-\uffef]")


def fit(text: str, width: int = WIDTH) -> str:
    """The longest beginning of a line within the width that ends where a clause or a word does; may be empty."""
    text = trimmed(text)
    if cells(text) > width:
        text = trimmed(" ".join(re.sub(r"\s\([^()]*\)|（[^（）]*）", "", text).split()))
    if cells(text) <= width:
        return text
    limit = _index_at(text, width)
    clause = _cut(text, limit, _CLAUSE, _SHORTEST)
    if cells(clause) >= _TELLING:
        return clause
    phrase = _cut(text, limit, _PHRASE, _TELLING, whole=True) or clause or _cut(text, limit, _PHRASE, _TELLING)
    if phrase:
        return phrase
    for at in range(limit, 0, -1):
        if _is_boundary(text, at):
            cut = trimmed(_settled(text[:at]))
            if cut:
                return cut
    return ""


def _cut(text: str, limit: int, pattern: re.Pattern[str], least: int, *, whole: bool = False) -> str:
    """The longest beginning that ends before a match, within the limit, and asks for no more.

    Args:
        whole: Whether a clause that it began must have got its verb.
    """
    best = ""
    for match in pattern.finditer(text, 0, min(len(text), limit + 2)):
        if match.start() > limit:
            break
        piece = text[: match.start()].rstrip(_PUNCTUATION)
        ended = bool(match.group().strip()) or text[match.start() - 1] in _PUNCTUATION
        if _HALF.match(piece):
            continue
        begun = _BEGUN.search(piece) if whole else None
        if begun and is_fragment(begun[1]):
            continue
        if cells(piece) >= least and (ended or piece == _settled(piece)):
            best = trimmed(piece)
    return best


def _settled(text: str) -> str:
    """Without words at its end that ask for more."""
    text = _DANGLING.sub("", text.rstrip(_PUNCTUATION)).rstrip(_PUNCTUATION)
    return _DANGLING_ZH.sub("", text).rstrip(_PUNCTUATION)


def trimmed(text: str) -> str:
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
