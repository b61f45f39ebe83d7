"""Conversations written as plain text or Markdown: lines that name who speaks, or notes without speakers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from alaya_core.errors import SourceError
from alaya_core.models.session import SessionHeader, SessionStream, Turn, TurnKind
from alaya_core.readers.fields import text_of, to_ms, words
from alaya_core.readers.injected import read_assistant, read_user
from alaya_core.readers.jsonl import BOM, lines
from alaya_core.readers.sources import SourceHints

_SPEAKERS = {
    "user": words("user human you me 用户 我 你 问 人类"),
    "assistant": words("assistant ai bot claude chatgpt gpt gemini copilot 助手 助理 机器人 答"),
    "system": words("system 系统"),
    "tool": words("tool 工具"),
}
_ROLES = {name: role for role, names in _SPEAKERS.items() for name in names}
_NAME = "|".join(sorted(_ROLES, key=lambda name: (-len(name), name)))
_WHEN = r"(?:(?P<date{0}>\d{{4}}[-/]\d\d?[-/]\d\d?)[ T])?(?P<time{0}>\d\d?:\d\d(?::\d\d)?)"
_SPEECH = re.compile(
    rf"[ \t]{{0,3}}(?:[-*] )?(?:\[{_WHEN.format('')}\][ \t]*|{_WHEN.format('2')}[ \t]+)?"
    rf"(?P<bold>\*\*|__)?(?P<name>{_NAME})(?(bold)(?:\*\*|__)?)[ \t]*[:：](?(bold)(?:\*\*|__)?)[ \t]*(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_HEADING = re.compile(
    rf"(?:#{{1,6}}[ \t]+|(?P<bold>\*\*|__))(?P<name>{_NAME})(?(bold)(?:\*\*|__))[ \t]*[:：]?[ \t]*", re.IGNORECASE
)
_FENCE = re.compile(r"[ \t]{0,3}(?P<mark>`{3,}|~{3,})(?P<info>.*)")
_DATE = re.compile(r"(?<!\d)(20\d\d)-?(\d\d)-?(\d\d)(?!\d)(?:[T_-]?(\d\d)-?(\d\d)-?(\d\d)(?!\d))?")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?P<body>.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)
_FIELD = re.compile(r"(?P<key>[A-Za-z][\w ]*):[ \t]*(?P<value>\S.*)")


def read_plain(file: BinaryIO, hints: SourceHints, head: bytes) -> Iterator[SessionStream]:
    """The one session of a text file.

    Args:
        file: The file from its beginning.
        hints: What is known beside its bytes.
        head: Its first bytes, which tell whether anybody is named as speaking.

    Raises:
        SourceError: There is nothing in it; or nobody speaks in it and it was only met in a folder.
    """
    start = head.removeprefix(BOM).decode("utf-8", "replace").replace("\r\n", "\n")
    spoken = has_speakers(start)
    if not spoken and hints.walked:
        raise SourceError(
            f"{hints.name} is text in which nobody is named as speaking", "name the file to take it as notes"
        )
    stem = hints.name.rpartition(".")[0] or hints.name or "text"
    stream = SessionStream(SessionHeader(stem, agent=hints.agent or "main", format="text"), iter(()))
    header = stream.header
    front = _FRONT_MATTER.match(start)
    fields = _fields(front["body"]) if front else {}
    times = [to_ms(fields.get(key)) for key in ("date", "timestamp", "created")]
    header.timestamp = next((when for when in times if when is not None), _date_in(stem))
    if title := fields.get("title"):
        header.metadata["title"] = text_of(title)[:500]
    if not spoken:
        header.metadata["speakers"] = "none: each block between blank lines is taken as a turn of the user"
    written = _text_lines(file, stream, front["body"].count("\n") + 3 if front else 0)
    stream.turns = _spoken(written, header) if spoken else _blocks(written)
    yield stream


def _fields(front_matter: str) -> dict[str, str]:
    found = filter(None, map(_FIELD.match, front_matter.split("\n")))
    return {field["key"].strip().lower(): field["value"].strip(" '\"") for field in found}


def has_speakers(text: str) -> bool:
    """Whether lines of a text name who speaks: one `User:` is enough, headings must name both sides."""
    headings: set[str] = set()
    for line in text.split("\n"):
        if _SPEECH.fullmatch(line):
            return True
        if heading := _HEADING.fullmatch(line):
            headings.add(_ROLES[heading["name"].lower()])
    return {"user", "assistant"} <= headings


def _date_in(text: str) -> int | None:
    found = _DATE.search(text)
    if not found:
        return None
    year, month, day, hour, minute, second = found.groups(default="00")
    return to_ms(f"{year}-{month}-{day}T{hour}:{minute}:{second}")


def _text_lines(file: BinaryIO, stream: SessionStream, passed: int) -> Iterator[str]:
    for line in lines(file):
        if line.number <= passed:
            continue
        if line.data is None:
            stream.skip(line.number, "longer than 64 MB")
            continue
        data = line.data.removeprefix(BOM) if line.number == 1 else line.data
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            stream.skip(line.number, "invalid UTF-8: the bad bytes replaced, the rest kept")
            text = data.decode("utf-8", "replace")
        yield text_of(text.rstrip("\r"))


def _turn(role: str, held: list[str], when: int | None) -> Turn | None:
    content = "\n".join(held).strip("\n")
    if not content.strip():
        return None
    if role in ("user", "assistant"):
        reading = read_user(content) if role == "user" else read_assistant(content)
        text = content if reading.text == content.strip() else reading.text
        return Turn(role, content, when, reading.kind, text, thinking=reading.thinking, name=reading.name)
    if role == "tool":
        return Turn(role, content, when, TurnKind.TOOL, content)
    return Turn("system", content, when, TurnKind.INJECTED)


def _blocks(written: Iterator[str]) -> Iterator[Turn]:
    held: list[str] = []
    for line in written:
        if line.strip():
            held.append(line)
        elif held:
            if turn := _turn("user", held, None):
                yield turn
            held = []
    if turn := _turn("user", held, None):
        yield turn


def _spoken(written: Iterator[str], header: SessionHeader) -> Iterator[Turn]:
    """Turns from one speaker's line to the next; what stands before the first is kept as a turn of the system."""
    role, held, when = "system", list[str](), None
    fence = ""
    for line in written:
        # A heading or a bold name ends even a code fence, or one left open would swallow the rest.
        speech = None if fence else _SPEECH.fullmatch(line)
        heading = _HEADING.fullmatch(line)
        found = speech or heading
        if not found:
            fence = _fence_after(line, fence)
            held.append(line)
            continue
        if turn := _turn(role, held, when):
            yield turn
        fence = ""
        role = _ROLES[found["name"].lower()]
        when = _time_of(speech, header) if speech else None
        held = [speech["rest"]] if speech and speech["rest"] else []
    if turn := _turn(role, held, when):
        yield turn


def _fence_after(line: str, fence: str) -> str:
    found = _FENCE.fullmatch(line)
    if not found:
        return fence
    if not fence:
        return found["mark"]
    closes = found["mark"].startswith(fence) and not found["info"].strip()
    return "" if closes else fence


def _time_of(speech: re.Match[str], header: SessionHeader) -> int | None:
    """The time a line names; a time of day falls on the day of the session."""
    date, time = speech["date"] or speech["date2"], speech["time"] or speech["time2"]
    if not time:
        return None
    if date:
        year, month, day = re.split("[-/]", date)
        when = to_ms(f"{year}-{month:0>2}-{day:0>2}T{time:0>5}")
        if header.timestamp is None:
            header.timestamp = when
        return when
    if header.timestamp is None:
        return None
    hours, minutes, *seconds = (int(part) for part in time.split(":"))
    day_start = header.timestamp - header.timestamp % 86_400_000
    return day_start + ((hours * 60 + minutes) * 60 + sum(seconds)) * 1000
