"""Conversations as plain text: who speaks is told by lines, or nobody is."""

from __future__ import annotations

import io

import pytest

from alaya_core.errors import SourceError
from alaya_core.models.session import SessionHeader, Turn, TurnKind
from alaya_core.readers import SourceHints, read_sessions


def read(text: str | bytes, name: str = "chat.md", *, walked: bool = False) -> tuple[SessionHeader, list[Turn]]:
    data = text.encode() if isinstance(text, str) else text
    [stream] = read_sessions(io.BytesIO(data), SourceHints(name, walked=walked))
    turns = list(stream.turns)
    return stream.header, turns


def spoken(text: str) -> list[tuple[str, str]]:
    return [(turn.role, turn.content) for turn in read(text)[1]]


@pytest.mark.parametrize(
    "text",
    [
        "User: hi\nAssistant: yo",
        "user：hi\nAI：yo",
        "**User**: hi\n**Assistant**: yo",
        "**User:** hi\n\n**Assistant:** yo\n",
        "## User\n\nhi\n\n## Assistant\n\nyo\n",
        "**User**\nhi\n**Claude**\nyo",
        "you: hi\nChatGPT: yo",
        "me: hi\nbot: yo",
        "用户：hi\n助手：yo",
        "我：hi\nAI：yo",
        "问：hi\n答：yo",
        "- User: hi\n- Assistant: yo",
        "\ufeffUser: hi\r\nAssistant: yo\r\n",
        "[2026-03-31 06:29] User: hi\n[2026-03-31 06:30] Assistant: yo",
        "06:29 User: hi\n06:30:10 Assistant: yo",
    ],
)
def test_speakers_of_every_spelling(text: str) -> None:
    assert spoken(text) == [("user", "hi"), ("assistant", "yo")]


def test_a_turn_runs_to_the_next_speaker() -> None:
    text = "# Title\n\nUser: one\n\ntwo\n```\nAssistant: in code\n```\nAssistant: yo\nSystem: x\nTool: y\n"
    _, turns = read(text)
    assert [(turn.role, turn.kind, turn.content) for turn in turns] == [
        ("system", TurnKind.INJECTED, "# Title"),
        ("user", TurnKind.MESSAGE, "one\n\ntwo\n```\nAssistant: in code\n```"),
        ("assistant", TurnKind.MESSAGE, "yo"),
        ("system", TurnKind.INJECTED, "x"),
        ("tool", TurnKind.TOOL, "y"),
    ]


@pytest.mark.parametrize(
    "line", ["username: root", "The user: a study", "AI is great", "## User guide", "## User", "air: cold"]
)
def test_lines_that_name_no_speaker(line: str) -> None:
    assert spoken(f"{line}\n\nmore") == [("user", line), ("user", "more")]


def test_times_of_lines_and_their_day() -> None:
    header, turns = read("[2026-03-31 06:29] User: hi\n6:30 Assistant: yo\nUser: ok")
    assert [turn.timestamp for turn in turns] == [1774938540000, 1774938600000, None]
    assert header.timestamp == 1774938540000
    assert read("06:29 User: hi")[1][0].timestamp is None


@pytest.mark.parametrize(
    ("text", "name", "when"),
    [
        ("---\ntitle: 'Tea'\ndate: 2026-03-31\n---\nUser: hi", "chat.md", 1774915200000),
        ("User: hi", "2026-03-31-chat.md", 1774915200000),
        ("User: hi", "session-20260331-062900.txt", 1774938540000),
        ("User: hi", "chat-1234567890.md", None),
        ("User: hi", "2026-13-45.md", None),
    ],
)
def test_the_day_comes_from_front_matter_or_name(text: str, name: str, when: int | None) -> None:
    header, turns = read(text, name)
    assert (header.id, header.timestamp) == (name.rpartition(".")[0], when)
    assert [turn.content for turn in turns] == ["hi"]
    assert header.metadata.get("title") == ("Tea" if "title" in text else None)


def test_notes_without_speakers_are_a_turn_a_block() -> None:
    header, turns = read("one\ntwo\n \n\nthree\n", "n.txt")
    assert [(turn.role, turn.text) for turn in turns] == [("user", "one\ntwo"), ("user", "three")]
    assert "none" in header.metadata["speakers"]
    assert header.format == "text"


def test_notes_met_in_a_folder_are_not_taken_for_sessions() -> None:
    with pytest.raises(SourceError, match="nobody is named") as refused:
        list(read_sessions(io.BytesIO(b"# SOUL\nBe brief."), SourceHints("SOUL.md", walked=True)))
    assert refused.value.hint
    assert read("User: hi", walked=True)[1]


def test_injected_matter_is_stripped_here_too() -> None:
    _, [turn] = read("User: <relevant-memories>tea</relevant-memories> hi")
    assert ("tea" in turn.content, turn.text) == (True, "hi")


def test_bytes_that_are_no_utf8_are_replaced_and_told() -> None:
    [stream] = read_sessions(io.BytesIO(b"User: caf\xe9 au lait, please\n"), SourceHints("a.txt"))
    assert [turn.content for turn in stream.turns] == ["caf\ufffd au lait, please"]
    assert [line.line for line in stream.skipped] == [1]
