"""Whether a text that an agent was given needs memory at all; asked before `--auto` recalls anything."""

from __future__ import annotations

import re

from alaya_core import words
from alaya_core.services.recall.noise import LONGEST, noise_of, plain_words

_ALWAYS = re.compile(
    r"""
      \b(?: remember(?:ed|s)? | recall | remind\ me | last\ (?:time|week|month|year|night|session|conversation)
          | previous(?:ly)? | earlier | yesterday | the\ other\ day
          | (?:we|you|i)\ (?:discussed|talked|decided|agreed|said)
          | (?:did|have|had)\ (?:i|we|you)\ (?:\w+\ )?
            (?:tell|told|say|said|mention(?:ed)?|decided?|discuss(?:ed)?)
          | (?:as|like)\ (?:i|we)\ (?:said|mentioned|discussed) | my\ (?:usual|favou?rite|preferences?)
          | what\ (?:do\ you\ know|did\ (?:i|we)) | forget(?:\ that)? | forgot | memory | memories )\b
    | 记得 | 记住 | 记忆 | 记一下 | 回忆 | 想起 | 忘[了记] | 别忘 | 上[次回周月] | 上个(?:星期|礼拜|月)
    | 之前 | 以前 | 先前 | 昨天 | 前天 | 前几天 | 那次 | 当时 | 老样子 | 照旧 | 一直以来
    | (?:我|我们|你|咱们)(?:说|提|讲|聊|讨论|决定|约定|商量)[过好了]
    """,
    re.VERBOSE,
)
_HEARTBEAT = re.compile(
    r"heartbeat(?:[_ ]ok)?|no[_ ]reply|ping|pong|keep ?alive|read heartbeat\.?md\b.*|\[?cron\]?.*heartbeat.*"
)
_COMMAND = re.compile(r"[/!][A-Za-z][\w:.-]*(?:\s.*)?", re.DOTALL)
_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_CODE_LINE = re.compile(
    r"""
      ^\s* (?: [{}()\[\];]+ ,?
         | [#@]?(?:import|from|include|def|class|return|const|let|var|func|fn|public|private|static|void|async|await
           |export|package|using|namespace|elif|else|try|except|catch|finally|SELECT|INSERT|UPDATE)\b .*
         | (?:if|for|while|with|switch)\b .* [:{)] | // .* | /?\*+ .* | <!?/?[A-Za-z][^>]*> .* | \$\ .*
         | (?:Traceback\ | File\ "|at\ [\w.$<>]+\() .* | [\w.\[\]"'*&]+ \s* (?:[-+*/|&:]?=|:=|\+\+|--) .* ) \s*$
    | [;{}] \s* $ | ^\s*[\w.]+\(.*\)\s*$ | ^(?:diff\ --git|@@|[+-]{3}\ |index\ [0-9a-f]+\.\.) | ^\s*"[^"]*"\s*:\s*
    """,
    re.VERBOSE,
)
_NOISE = {
    "empty": "no words in it",
    "greeting": "only a greeting",
    "acknowledgement": "only an acknowledgement",
    "denial": "says nothing",
}
_CODE_SHARE = 0.8
_ENDS = 10_000  # characters


def needs_memory(text: str) -> tuple[bool, str]:
    """Whether to recall anything for a text, and why (or why not), in a few words.

    Words that point back ("remember", "last time", "上次", "还记得") always do, wherever they stand outside code.
    """
    stripped = text.strip()
    if len(stripped) > 2 * _ENDS:  # a question stands before or after what it pastes
        stripped = f"{stripped[:_ENDS]}\n{stripped[-_ENDS:]}"
    if not stripped:
        return False, "empty"
    if _COMMAND.fullmatch(stripped):
        return False, "a command"
    prose = _prose(stripped)
    folded = words.folded(prose)
    if _ALWAYS.search(folded):
        return True, "it points back"
    if len(stripped) <= LONGEST:
        if _HEARTBEAT.fullmatch(folded.strip(" .!*_`")):
            return False, "a heartbeat"
        noise = noise_of(stripped)
        if noise is not None:
            return False, _NOISE[noise]
    if not plain_words(prose):
        return False, "only code"
    if len(plain_words(prose)) < 2:
        return False, "too short"
    return True, "it may need memory"


def _prose(text: str) -> str:
    """What is left without fenced code; of text that is nearly all code, the lines at its ends that are none."""
    lines = [line for line in _FENCE.sub("\n", text).splitlines() if line.strip()]
    code = [_CODE_LINE.search(line) is not None for line in lines]
    if sum(code) >= 2 and sum(code) >= _CODE_SHARE * len(lines):
        lines = [lines[end] for end in (0, -1) if not code[end]]
    return "\n".join(lines)
