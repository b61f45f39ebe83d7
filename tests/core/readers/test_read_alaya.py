"""Alaya's own sessions: what is written is read back the same; what others wrote is read as far as it goes."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alaya_core.errors import SourceError
from alaya_core.models.session import SessionHeader, SkippedLine, ToolCall, Turn, TurnKind
from alaya_core.models.session_json import header_to_json, turn_from_json, turn_to_json
from alaya_core.readers import SourceHints, read_sessions
from alaya_core.readers.alaya_stream import read_alaya

Read = list[tuple[SessionHeader, list[Turn], list[SkippedLine]]]


def read(data: bytes | str, *, small: int | None = None, name: str = "session-1.json") -> Read:
    raw = data.encode() if isinstance(data, str) else data
    hints = SourceHints(name)
    streams = (
        read_sessions(io.BytesIO(raw), hints, "alaya")
        if small is None
        else read_alaya(io.BytesIO(raw), hints, small=small)
    )
    return [(stream.header, list(stream.turns), stream.skipped) for stream in streams]


def contents(found: Read) -> list[list[str]]:
    return [[turn.content for turn in turns] for _, turns, _ in found]


words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
keys = words | st.sampled_from(["dia_id", "extra", "role", "text", "content", "is_error"])
turns_strategy = st.builds(
    Turn,
    role=st.sampled_from(["user", "assistant", "tool", "system"]),
    content=words | st.just("hello"),
    timestamp=st.none() | st.integers(-62_135_596_800_000, 99_999_999_999_999) | st.integers(0, 10),
    kind=st.sampled_from(TurnKind),
    text=words | st.sampled_from(["", "hello"]),
    tool_calls=st.lists(st.builds(ToolCall, id=words, name=words, arguments=values), max_size=2).map(tuple),
    thinking=words,
    name=words,
    key=words,
    extra=st.dictionaries(keys, values, max_size=3),
)


@given(turns_strategy)
def test_a_turn_and_its_json_are_each_others_inverse(turn: Turn) -> None:
    written = turn_to_json(turn)
    assert {"role", "content", "timestamp"} <= written.keys()
    assert turn_from_json(json.loads(json.dumps(written, ensure_ascii=False))) == turn
    assert turn_to_json(turn_from_json(written)) == written


def test_what_can_be_told_from_the_rest_is_left_out() -> None:
    assert turn_to_json(Turn("user", "hi", 1774938540000, text="hi")) == {
        "role": "user",
        "content": "hi",
        "timestamp": 1774938540000,
    }
    assert turn_to_json(Turn("tool", "out", None, TurnKind.TOOL, "out"))["kind"] == "tool"
    assert "text" not in turn_to_json(Turn("tool", "out", None, TurnKind.TOOL, "out"))
    assert "text" not in turn_to_json(Turn("system", "ctx", None, TurnKind.INJECTED, ""))
    assert turn_to_json(Turn("user", "[x] hi", text="hi"))["text"] == "hi"
    assert turn_to_json(Turn("user", "x", extra={"dia_id": "D1:1"}))["dia_id"] == "D1:1"


def own_file(header: SessionHeader, turns: list[Turn]) -> str:
    """A session as it is kept: one turn a line inside the JSON."""
    head = json.dumps(header_to_json(header), ensure_ascii=False)
    rows = ",\n".join(json.dumps(turn_to_json(turn), ensure_ascii=False) for turn in turns)
    return f'{head[:-1]}, "turns": [\n{rows}\n], "metadata": {json.dumps(header.metadata)}}}\n'


@given(st.lists(turns_strategy, max_size=4), st.dictionaries(words, values, max_size=3), st.integers(0, 1))
def test_own_files_read_back_identically(turns: list[Turn], metadata: dict[str, Any], streamed: int) -> None:
    header = SessionHeader("s", 1774938540000, "telegram", "main", "openclaw", metadata)
    [(found, read_back, skipped)] = read(own_file(header, turns), small=0 if streamed else None)
    assert (found, read_back, skipped) == (header, turns, [])


@pytest.mark.parametrize("small", [None, 0])
def test_injected_matter_in_own_files_is_not_judged_again(small: int | None) -> None:
    header = SessionHeader("s", 1774938540000, "c", "a", "codex")
    turn = Turn("user", "[Tue 2026-05-05 09:44 GMT] hi", text="[Tue 2026-05-05 09:44 GMT] hi")
    assert read(own_file(header, [turn]), small=small)[0][1] == [turn]


@pytest.mark.parametrize("small", [None, 0])
def test_turns_that_nobody_read_do_not_hide_the_next_session(small: int | None) -> None:
    data = f"[{TWO.replace(chr(10), ',')}]".encode()
    streams = read_alaya(io.BytesIO(data), SourceHints("x.json"), **({} if small is None else {"small": small}))
    assert [stream.header.id for stream in streams] == ["x", "y"]


@pytest.mark.parametrize("small", [None, 0])
def test_sessions_that_others_wrote(small: int | None) -> None:
    session = {
        "id": "s3",
        "timestamp": "2026-03-31T06:29:00Z",
        "channel": None,
        "title": "kept",
        "turns": [
            {"role": "human", "content": [{"type": "text", "text": "hi"}]},
            {"role": "user", "content": "<relevant-memories>tea</relevant-memories>\nhello", "timestamp": 1774938540},
            {"role": "tool", "content": None, "tool_call_id": "c1"},
            {"role": "system", "content": "be brief"},
            {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": '{"a":1}'}}]},
            {"role": "assistant", "content": "HEARTBEAT_OK"},
            {"role": "Ann", "content": "me", "n": 1.5},
            "stray",
        ],
        "metadata": None,
    }
    [(header, turns, skipped)] = read(json.dumps(session, indent=2), small=small)
    assert (header.id, header.timestamp, header.channel, header.agent) == ("s3", 1774938540000, "unknown", "main")
    assert (header.format, header.metadata["title"]) == ("alaya", "kept")
    assert [(turn.role, turn.text, turn.kind) for turn in turns] == [
        ("user", "hi", TurnKind.MESSAGE),
        ("user", "hello", TurnKind.MESSAGE),
        ("tool", "", TurnKind.TOOL),
        ("system", "", TurnKind.INJECTED),
        ("assistant", "", TurnKind.MESSAGE),
        ("assistant", "", TurnKind.HEARTBEAT),
        ("user", "me", TurnKind.MESSAGE),
    ]
    assert "tea" in turns[1].content
    assert turns[2].extra == {"tool_call_id": "c1"}
    assert turns[4].tool_calls == (ToolCall("1", "f", {"a": 1}),)
    assert (turns[6].name, turns[6].extra) == ("Ann", {"n": 1.5})
    assert [line.reason for line in skipped] == ["entry 7 of turns is not an object"]


@pytest.mark.parametrize("small", [None, 0])
@pytest.mark.parametrize("session", ['{"turns":[{"content":"a"}],"id":"late","timestamp":1774938540}', '{"id":"late"}'])
def test_fields_may_follow_the_turns_or_be_missing(session: str, small: int | None) -> None:
    [(header, _, _)] = read(session, small=small)
    assert header.id == "late"


@pytest.mark.parametrize("small", [None, 0])
def test_a_session_without_id_has_its_files_name(small: int | None) -> None:
    found = read('[{"turns":[]},{"id":null,"turns":[]}]', small=small)
    assert [header.id for header, _, _ in found] == ["session-1", "session-1-2"]


TWO = '{"id":"x","turns":[{"role":"user","content":"a"}]}\n{"id":"y","turns":[{"role":"user","content":"b"}]}'


@pytest.mark.parametrize("data", [f"[{TWO.replace(chr(10), ',')}]", TWO, f"\ufeff{TWO}\n\n", TWO.replace("\n", " ")])
def test_many_sessions_in_one_file(data: str) -> None:
    assert contents(read(data)) == [["a"], ["b"]]
    assert contents(read(data, small=0)) == [["a"], ["b"]]


def test_a_bad_line_among_sessions_costs_that_line() -> None:
    found = read(TWO.replace("\n", "\nBAD\n") + '\n{"id":"z","turns":[{"ro')
    assert contents(found) == [["a"], ["b"]]
    assert [(line.line, line.reason) for _, _, skipped in found for line in skipped] == [
        (2, "not JSON"),
        (4, "cut short at the end of the file"),
    ]


def test_a_file_cut_short_yields_what_comes_before_the_cut() -> None:
    whole = own_file(SessionHeader("s", 1774938540000), [Turn("user", word, text=word) for word in "abc"])
    for cut in range(len(whole) - 3):
        found = read(whole[:cut], small=0)
        assert [word for words in contents(found) for word in words] == list("abc")[
            : whole[:cut].count("}") - whole[:cut].count('"metadata": {}')
        ], cut
        reasons = [line.reason for _, _, skipped in found for line in skipped]
        assert cut == 0 or (len(reasons) == 1 and "cut short" in reasons[0]), cut
    assert read(whole[:-30])[0][2][0].reason.startswith("after turn 1:")


def test_an_array_cut_between_sessions_says_so() -> None:
    found = read(f"[{TWO.replace(chr(10), ',')},")
    assert contents(found) == [["a"], ["b"]]
    assert "cut short" in found[1][2][0].reason


def test_hostile_values_do_no_harm() -> None:
    deep = "[" * 5_000 + "]" * 5_000
    for small in (None, 0):
        data = f'{{"id":"s","turns":[{{"content":"a","x":{deep}}},{{"content":"b","x":"\\ud83d","n":{"9" * 400}}}]}}'
        found = read(data, small=small)
        assert contents(found)[0][-1:] == ["b"] or "not JSON" in found[0][2][0].reason
    [(header, turns, _)] = read(
        '{"id":"../../x","timestamp":-1,"turns":[{"content":"tab\there \\ud83d","timestamp":NaN}]}'
    )
    assert (header.id, header.timestamp, turns[0].timestamp) == ("../../x", -1000, None)
    turns[0].content.encode()


@pytest.mark.parametrize("small", [None, 0])
def test_bytes_that_are_no_utf8_are_replaced_and_told(small: int | None) -> None:
    data = b'{"id":"s","turns":[{"role":"user","content":"caf\xe9"}]}'
    [(_, [turn], skipped)] = read(data, small=small)
    assert (turn.content, len(skipped)) == ("caf\ufffd", 1)
    assert "invalid UTF-8" in skipped[0].reason
    assert not read(data.replace(b"\xe9", "\ufffd".encode()), small=small)[0][2]


def test_a_disk_that_fails_is_a_source_error() -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if size != 65_536:
                raise OSError(5, "Input/output error")
            return super().read(size)

    with pytest.raises(SourceError, match="Input/output error"):
        list(read_sessions(Broken(b'{"id":"s","turns":[]}' + b" " * 70_000), SourceHints("x.json"), "alaya"))


@pytest.mark.parametrize("small", [None, 0])
def test_small_numbers_are_milliseconds_in_own_files_only(small: int | None) -> None:
    own = '{"id":"s","timestamp":-1000,"format":"text","turns":[{"role":"user","content":"a","timestamp":5}]}'
    [(header, [turn], _)] = read(own, small=small)
    assert (header.timestamp, turn.timestamp) == (-1000, 5)
    [(header, [turn], _)] = read(own.replace('"format":"text",', ""), small=small)
    assert (header.timestamp, turn.timestamp) == (-1_000_000, 5_000)
