"""Whether a text that an agent was given needs memory at all; asked before `--auto` recalls anything."""

from __future__ import annotations

import re

from alaya_core import words
from alaya_core.services.recall.noise import LONGEST, noise_of, plain_words
from alaya_core.services.recall.small_talk import small_talk

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
_TAGGED_HEARTBEAT = re.compile(  # a line of a scheduler: `[heartbeat] 12:00 idle`, `心跳检测：...`
    r"""
      \W* (?:(?:system|cron|scheduled|automatic|periodic|routine|internal|定时|系统|自动|例行)\W*){0,4}
      (?:heartbeat|心跳|keep-?alive) [ ]? (?:tick|check|poll|ping|event|检测|检查|任务|信号)?
      [ ]? (?: [\]】)\#:：|] | \n | \Z )
    """,
    re.VERBOSE,
)
_HEARTBEAT_PROMPT = re.compile(  # tells the agent which word to answer when there is nothing to do
    r"""
      (?: ^ | [.,;:!。，；：！\n] | \b(?:please|then|just|only) | [请就] | 直接 | 只需 ) \s{0,3}
      (?:reply|respond|answer|return|output|say|回复|回答|返回|输出) \W* (?:(?:with|only|just|exactly)\W+){0,2}
      (?:heartbeat[_ ]ok|no[_ ]reply)\b
    """,
    re.VERBOSE,
)
_ASKS = re.compile(r"[?？]|\b(?:why|how|what|when|which|who|where)\b|为什么|为何|怎么|什么|哪|谁|多少|吗")
_COMMAND = re.compile(r"[/!][^\W\d_][\w:.-]*(?:\s.*)?", re.DOTALL)
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
_COMMENT = re.compile(r"\s*(?:#|--|%|;)[^?？]*\Z")  # one that asks may be the user's own
_NOISE = {
    "empty": "no words in it",
    "greeting": "only a greeting",
    "acknowledgement": "only an acknowledgement",
    "denial": "says nothing",
}
_CODE_SHARE = 0.8
_ENDS = 10_000  # characters
_LONGEST_PROMPT = 2_000  # characters


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
    if len(stripped) <= _LONGEST_PROMPT and _is_heartbeat_prompt(words.folded(stripped)):
        return False, "a heartbeat"
    prose = _prose(stripped)
    folded = words.folded(prose)
    if _ALWAYS.search(folded):
        return True, "it points back"
    if len(stripped) <= LONGEST:
        if _HEARTBEAT.fullmatch(folded.strip(" .!*_`")) and _ASKS.search(folded) is None:
            return False, "a heartbeat"
        noise = noise_of(stripped) or small_talk(stripped)
        if noise is not None:
            return False, _NOISE[noise]
    if not plain_words(prose):
        return False, "only code"
    if len(plain_words(prose)) < 2:
        return False, "too short"
    return True, "it may need memory"


def _is_heartbeat_prompt(folded: str) -> bool:
    """Whether a scheduler woke the agent; who asks about heartbeats is no scheduler.

    A prompt that says which word to answer may name old tasks, and still asks for none of them.
    """
    told = _HEARTBEAT_PROMPT.search(folded) is not None
    if _TAGGED_HEARTBEAT.match(folded):
        return _ASKS.search(folded) is None and (told or _ALWAYS.search(folded) is None)
    return told and "?" not in folded and "？" not in folded


def _prose(text: str) -> str:
    """What is left without fenced code; of text that is nearly all code, the lines at its ends that are none."""
    lines = [line for line in _FENCE.sub("\n", text).splitlines() if line.strip()]
    code = [_CODE_LINE.search(line) is not None for line in lines]
    comment = [not is_code and _COMMENT.match(line) is not None for line, is_code in zip(lines, code, strict=True)]
    if sum(code) >= 2 and sum(code) >= _CODE_SHARE * (len(lines) - sum(comment)):
        lines = [lines[end] for end in (0, -1) if not code[end] and not comment[end]]
    return "\n".join(lines)
