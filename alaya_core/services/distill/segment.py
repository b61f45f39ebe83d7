"""A turn's text cut into sentences that somebody said: pasted code, logs and terminal output fall away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from alaya_core.safe_json import load_json

LONGEST_TEXT = 60_000
LONGEST_SENTENCE = 700


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of prose.

    Attributes:
        text: As it was said, on one line.
        block: Number of its paragraph or list item.
        lead: The line that introduced the list it stands in (`Why it failed:`), or its heading; may be empty.
        listed: Whether it is a list item.
    """

    text: str
    block: int
    lead: str = ""
    listed: bool = False


_FENCE = re.compile(r"^\s*(?:`{3,}|~{3,})")
_DIFF_START = re.compile(r"^(?:diff --git |--- [ab]/|Index: |@@ -\d)")
_DIFF_LINE = re.compile(r"^(?:[-+ @\\]|diff |index |new file|deleted file|similarity|rename |Binary )")
_TRACE_START = re.compile(
    r"^\s*(?:Traceback \(most recent|Exception in thread|Caused by: \S+|\w+(?:\.\w+)*(?:Error|Exception)\b:?"
    r"|panic: |thread '.*' panicked|"
    r"Uncaught \w|Unhandled \w|goroutine \d|Segmentation fault)"
)
_PROMPT = re.compile(
    r"^\s*(?:[➜❯λ]\s|\$ \S|% \S|>>> |\.\.\. |In \[\d+\]:|PS [A-Z]:\\"
    r"|[\w.-]{1,40}@[\w.-]{1,60}[:\s~][^ ]*\s?[$#%]|\([\w.-]+\) [$➜]|C:\\[^>]*>|sh-\d|bash-\d|# (?:cd|ls|apt"
    r"|yum|sudo|cat|docker)\s)"
)
_NOISE = re.compile(
    r"""
    ^\s*(?:
      at\ [\w$.<>\[\]\ ]+\( | at\ \S+:\d+ | File\ ".*",\ line\ \d+ | \^+\s*$ | \.{3}\s*\d+\ more
    | \[?(?:\d{4}[-/]\d\d[-/]\d\d[T\ ])?\d\d:\d\d:\d\d | \[?(?:\d{4}-\d\d-\d\d[T\ ]\d\d:\d\d)
    | (?:\[?(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\]?)[:\s]\s*[\[\d(\w] (?=.*(?:\d\d:\d\d|\[|\(|=|/
      |:\d)) | [\w./\\-]+\.\w{1,5}[:(]\d+[:,)]
    | npm\ (?:ERR|WARN|notice)! | error(?:\[E\d+\]|\ TS\d+): | \[\w+\]\ [A-Z] | [drwxlst-]{10}[@+.]?\s+\d
      | total\ \d+\s*$
    | [|+][-=+|:\s]{3,} | \|.*\|\s*$ | [-=_*]{3,}\s*$ | [─━═│┃┌┐└┘├┤┬┴┼╭╮╰╯█▓▒░]
    | </?\w[^>]*>\s*$ | <!-- | <\?xml | <[\w-]+[^>]*>.*</[\w-]+> | (?:https?://\S+|/\S+|[\w./\\-]+\.\w{1,5})\s*$
      | \d+\s*[|│] | \d+\s{2,}\S
    | (?:Error|ERROR|error|错误)(?:\ \d+)?[:：]\ .* | \d{3}\ \{ | [+-]?\d+\ +[-|+]\ .*
    | (?:FAILED|PASSED|ERROR|FAIL|PASS|XFAIL|SKIPPED|ok|not\ ok)\ +[\w./:\[\]-]+(?:::|\.\w|/)
      | (?:\S+\ ){0,3}[A-Za-z.]*(?:Error|Exception):\ (?=.*)
    | import\ [\w.{*]+ (?:\ from|\ as|;|,|\s*$) | from\ [\w.]+\ import | (?:export\ )?(?:const|let|var)\ [\w{\[]+.*=
      | (?:async\ )?(?:def|fn|func|function)\ \w+\ *[(<]
    | class\ \w+.*[:{(]\s*$ | return\b.*; | (?:if|for|while|switch|else\ if|elif)\ *\(.*\)\ *\{? \s*$ | \#include
      | \#!/ | // | /\* | \*/
    | (?:SELECT|INSERT\ INTO|UPDATE|DELETE\ FROM|CREATE\ TABLE|ALTER\ TABLE)\ .* | (?:sudo|npm|npx|yarn|pnpm|pip
      |pip3|brew|apt|apt-get|docker|kubectl|git|cd|curl|wget|ssh|scp|cargo|make
      |export)\ [\w./@:-]+(?:\ [\w./@:=-]+){0,8}\s*$
    | [\w.-]+\s*=\s*\S+\s*;?\s*$ | "[\w.-]+"\s*: | [}\])]+[;,]?\s*$ | @\w+\(
    | (?:HEARTBEAT_OK|NO_REPLY|MEDIA:|\[message_id: |\[media\ attached|\[cron: |\[Image\b|System:\ \[|Delivery:\ ) .*
    )
    """,
    re.VERBOSE,
)
_CODE_TAIL = re.compile(r"(?:[{};]|=>|\)\s*;|\}\s*,|\],)\s*$")
_SYMBOLS = frozenset("{}()[]<>=;|&$\\^~")
_ITEM = re.compile(
    r"^\s*(?:[-*+•·]|\d{1,3}[.)、]|[①-⑳]|[（(][一二三四五六七八九十\d]{1,3}[)）])\s+(?:\[[ xX]\]\s+)?"
    r"|^\s*[一二三四五六七八九十]、\s*"
)
_HEADING = re.compile(r"^\s*#{1,6}\s+|^\s*\*\*[^*]{2,60}\*\*:?\s*$")
_CJK = re.compile(r"[\u3400-\u9fff]")


def sentences(text: str) -> list[Sentence]:
    """The sentences of a turn, in order."""
    out: list[Sentence] = []
    for block, (said, lead, listed) in enumerate(_blocks(text[:LONGEST_TEXT])):
        for part in _split(said):
            if len(part) <= LONGEST_SENTENCE:
                out.append(Sentence(part, block, lead, listed))
    return out


def _blocks(text: str) -> Iterator[tuple[str, str, bool]]:
    """Lines of prose: (line, what introduces it, whether it is a list item)."""
    lead = ""
    held = ""  # a hard-wrapped line waiting for its rest
    for line in _prose(text):
        stripped = line.strip()
        if held and (not stripped or _ITEM.match(line) or _HEADING.match(line)):
            yield held, "", False
            held = ""
        if not stripped:
            continue
        if _HEADING.match(line):
            lead = re.sub(r"^[#\s]+|[*]+|:\s*$", "", stripped).strip()
            continue
        item = _ITEM.match(line)
        if item:
            yield line[item.end() :].strip(), lead, True
            continue
        if held:
            stripped = f"{held} {stripped}"
            held = ""
        if stripped.endswith((":", "：")) and len(stripped) < 160:
            lead = stripped
            yield stripped, "", False
            continue
        if _wraps(line, stripped):
            held = stripped
            continue
        yield stripped, "", False
        lead = ""
    if held:
        yield held, "", False


def _wraps(line: str, stripped: str) -> bool:
    """Whether the sentence goes on in the next line (text wrapped by hand at 60 to 120 columns)."""
    return (
        60 <= len(line.rstrip()) <= 120
        and stripped[-1:].isalnum()
        and len(stripped) < 2_000
        and not _CJK.search(stripped[-1:])
    )


def _prose(text: str) -> Iterator[str]:
    """Lines without what was pasted; a pasted stretch leaves an empty line."""
    mode = ""
    for line in _without_json(text).replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if mode == "fence":
            mode = "" if _FENCE.match(line) else mode
            continue
        if _FENCE.match(line):
            # a fence that opens and closes in one line is just code
            mode = "" if line.strip().count("```") >= 2 else "fence"
            yield ""
            continue
        if mode == "diff" and (not line.strip() or _DIFF_LINE.match(line)):
            continue
        if mode == "output" and line.strip():
            continue
        mode = ""
        if _DIFF_START.match(line):
            mode = "diff"
        elif _PROMPT.match(line) or _TRACE_START.match(line):
            mode = "output"
        elif not (_NOISE.match(line[:2_000]) or line.startswith(">") or _is_code(line)):
            yield line[:4_000]
            continue
        yield ""


def _is_code(line: str) -> bool:
    bare = re.sub(r"`[^`]*`", "", line).strip()
    if not bare:
        return False
    if len(bare) > 300 and " " not in bare and not _CJK.search(bare):
        return True
    marks = sum(char in _SYMBOLS for char in bare)
    if _CODE_TAIL.search(bare) and (marks >= 2 or line[:1] in " \t"):
        return True
    if line.startswith(("    ", "\t")) and marks >= 2 and not _CJK.search(bare):
        return True
    return marks >= 4 and marks / len(bare) > 0.12


def _without_json(text: str) -> str:
    """Text without JSON documents that fill whole lines."""
    stripped = text.strip()
    if stripped[:1] in ("{", "["):
        try:
            load_json(stripped)
        except (ValueError, RecursionError):
            pass
        else:
            return ""
    return text if '{"' not in text else re.sub(r"(?m)^\s*[\[{]\s*[\"{\[].*$", "", text)


_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|mr|mrs|ms|dr|prof|st|vs|no|fig|approx|cf|inc|ltd|jr|sr|u\.s|a\.m|p\.m|v)|\b[A-Z]|^\d+)$",
    re.IGNORECASE,
)
_END = re.compile(r"[。！？!?]+[”」』\"')）]*|\.+[”\"')]*(?=\s|$)|…+|(?<=[\u3400-\u9fff])[~～]+")
_INLINE = re.compile(r"`[^`]*`|「[^」]*」|《[^》]*》|“[^”]*”|\([^()]{0,300}\)|（[^（）]{0,300}）|https?://\S+")


def _split(line: str) -> Iterator[str]:
    line = " ".join(line.split())
    held = [span.span() for span in _INLINE.finditer(line)]
    start = 0
    for end in _END.finditer(line):
        while held and held[0][1] <= end.start():
            held.pop(0)
        if held and held[0][0] <= end.start() < held[0][1] - 1:
            continue
        if end.group().startswith(".") and _ABBREVIATION.search(line[max(0, end.start() - 12, start) : end.start()]):
            continue
        if part := line[start : end.end()].strip():
            yield part
        start = end.end()
    if part := line[start:].strip():
        yield part
