"""What says nothing: greetings, acknowledgements, and an agent's own 'I remember nothing about that'."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from alaya_core import words
from alaya_core.models.recall_parts import Candidate

LONGEST = 160
"""Characters above which a text is never noise: whoever writes more says something."""

_GREETINGS = """
hi|hello|hey|yo|hiya|howdy|greetings|good morning|good afternoon|good evening|good night|good day|how are you
how are you doing|how are you today|nice to meet you|welcome|welcome back|goodbye|good bye|bye|see you|see ya
see you later|see you soon|see you tomorrow|hello world
你好|您好|大家好|你们好|哈喽|哈啰|嗨|早|早安|早上好|早啊|上午好|中午好|下午好|晚上好|晚安|再见|拜拜|回头见|在吗|在不在|好久不见
很高兴认识你|欢迎回来|欢迎
"""
_ACKNOWLEDGEMENTS = """
ok|okay|k|yes|yep|yeah|yup|no|nope|sure|sure thing|fine|great|cool|nice|perfect|awesome|good|good job|well done|got it
i see|understood|roger|right|correct|done|alright|all right|thanks|thank you|thanks a lot|thank you so much
thank you very much|thx|ty|cheers|you are welcome|youre welcome|no problem|np|lgtm|sounds good|go ahead|please
please continue|continue|proceed|go on|next|lol|haha|hahaha|hm|um|uh|wow|never mind|nevermind|no thanks|that is all
好|好的|好吧|好啊|好呀|好嘞|行|行吧|行啊|可以|可以的|嗯|嗯呢|哦|噢|是|是的|是啊|对|对的|对啊|不是|不用|不用了|没事|没问题
谢谢|谢谢你|谢谢您|谢谢啦|谢了|多谢|感谢|辛苦|辛苦了|不客气|收到|明白|明白了|知道了|了解|了解了|懂了|继续|继续吧|下一个|下一步
哈|呵|棒|太好了|太棒了|厉害|完美|搞定|搞定了|算了
"""
_FILLERS = "there|all|everyone|everybody|team|folks|friend|guys|again|then|now|啊|呀|哦|哟|啦|了|吧"
_ABOUT = r"(?:\ (?:about|of|on|regarding|for|from|to|in|matching|related|that|yet|right\ now|at\ this\ time)\b.*)?"
_DENIAL = re.compile(
    rf"""
    (?:(?:i\ am\ |im\ )?sorry\ (?:but\ )?|unfortunately\ )?
    (?: i\ (?:do\ not|dont|cannot|cant|could\ not|couldnt)\ (?:currently\ |actually\ )?
        (?: (?:have|find|see|recall)\ (?:any\ |a\ |anything\ )?(?:\w+\ ){{0,3}}
            (?:memory|memories|information|info|records?|recollection|conversations?|history|data){_ABOUT}
          | (?:recall|remember)\ (?:that|this|it|anything{_ABOUT}|any\ of\ (?:that|this)
              |(?:us|you)\ \w+ing\ .*|having\ .*))
      | i\ have\ no\ (?:\w+\ )?(?:memory|memories|information|info|records?|recollection|data){_ABOUT}
      | (?:there\ (?:are|is)\ )?no\ (?:(?:relevant|related|matching)\ )?
        (?:memory|memories)\ (?:were\ |was\ )?found{_ABOUT}
      | no\ (?:relevant|related|matching)\ results\ (?:were\ )?found
      | nothing\ (?:was\ |relevant\ )?found\ in\ (?:my\ |the\ )?memory )
  | (?:抱歉|对不起|不好意思)? 我? (?:目前|暂时)?
    (?: (?:没有?|未能?|无法)(?:找到|查到|检索到|搜索到|发现)(?:任何)?
        (?:与?.{{0,12}}(?:相关|有关))?的?(?:记忆|记录|信息|内容|结果)
      | 没有(?:任何)?(?:关于|有关).{{0,20}}的(?:记忆|记录|信息)
      | 没有(?:任何)?(?:相关|有关)的?(?:记忆|记录|信息)
      | 不记得(?:了|这件事|这个|[您你]?(?:说过|提过|提到过).{{0,12}})? )
    """,
    re.VERBOSE,
)
_AGAIN = re.compile(r"(.)\1+")


def noise_of(text: str) -> str | None:
    """Which noise a text is (`empty`, `greeting`, `acknowledgement`, `denial`), or None: it says something."""
    if len(text) > LONGEST:
        return None
    plain = plain_words(text)
    if not plain:
        return "empty"
    if _DENIAL.fullmatch(plain):
        return "denial"
    greetings, either = _phrases()
    for form in (plain, _AGAIN.sub(r"\1", plain)):  # as written, and with `hellooo` made `helo`
        if _made_of(form, greetings):
            return "greeting"
        if _made_of(form, either):
            return "acknowledgement"
    return None


def drop_noise(candidates: Sequence[Candidate]) -> tuple[tuple[Candidate, ...], int]:
    """Those that say something (in title or text), or that a person pinned; and how many were dropped."""
    kept = tuple(
        candidate
        for candidate in candidates
        if candidate.pinned or noise_of(candidate.text) is None or noise_of(candidate.title) is None
    )
    return kept, len(candidates) - len(kept)


def plain_words(text: str) -> str:
    """Folded letters and digits, Latin words a space apart: no punctuation, no emoji, no case."""
    folded = words.folded(text).replace("'", "")
    spaced = "".join(char if unicodedata.category(char)[0] in "LN" else " " for char in folded)
    return re.sub(r"(?<=[^\x00-\x7f]) | (?=[^\x00-\x7f])", "", " ".join(spaced.split()))


def _made_of(text: str, phrases: frozenset[str]) -> bool:
    """Whether a text is nothing but these phrases, one after another."""
    longest = _longest(phrases)
    reached = {0}
    for start in range(len(text)):
        if start not in reached:
            continue
        if text[start] == " ":
            reached.add(start + 1)
            continue
        for end in range(start + 1, min(len(text), start + longest) + 1):
            if text[start:end] in phrases and _ends_word(text, end):
                reached.add(end)
    return len(text) in reached


def _ends_word(text: str, end: int) -> bool:
    return end == len(text) or not (text[end].isalnum() and text[end].isascii() and text[end - 1].isascii())


@cache
def _longest(phrases: frozenset[str]) -> int:
    return max(map(len, phrases))


@cache
def _phrases() -> tuple[frozenset[str], frozenset[str]]:
    """What a greeting is made of, and what a greeting or an acknowledgement is made of."""
    sets = (re.split(r"[|\n]+", listed.strip()) for listed in (_GREETINGS, _ACKNOWLEDGEMENTS, _FILLERS))
    greetings, acknowledgements, fillers = (
        frozenset(form for phrase in one for form in (phrase, _AGAIN.sub(r"\1", phrase))) for one in sets
    )
    return greetings | fillers, greetings | acknowledgements | fillers
