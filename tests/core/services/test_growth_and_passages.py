"""What a session that comes again is, and how a turn is cut: for any input, nothing is lost."""

from __future__ import annotations

import hashlib
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from alaya_core.models.session import Turn, TurnKind
from alaya_core.services.growth import HashBehind, judge_arrival
from alaya_core.services.passages import cut, estimated_tokens, passage_rows

SAID = st.lists(st.sampled_from("abc"), max_size=12)


def behind(said: list[str]) -> HashBehind:
    """The running hash as session files keep it."""
    marks = [b""]
    chain = b""
    for text in said:
        chain = hashlib.sha256(chain + text.encode()).digest()
        marks.append(chain[:8])
    return lambda count: marks[count]


@given(SAID | st.none(), SAID)
def test_what_a_session_that_comes_in_is(old: list[str] | None, new: list[str]) -> None:
    arrival = judge_arrival(None if old is None else len(old), behind(old or []), len(new), behind(new))
    if old is None:
        assert (arrival.status, arrival.from_turn) == ("new", 0)
        return
    common = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    if common == len(new):
        assert (arrival.status, arrival.from_turn) == ("unchanged", len(old))
        assert bool(arrival.reason) == (len(new) < len(old))
    elif common == len(old):
        assert (arrival.status, arrival.from_turn) == ("grown", len(old))
    elif len(new) >= len(old) and common >= max(1, 0.8 * len(old)):
        assert (arrival.status, arrival.from_turn) == ("grown", common)
        assert str(common) in arrival.reason
    else:
        assert (arrival.status, arrival.from_turn, arrival.shared) == ("conflict", 0, common)
        assert arrival.reason


WORDS = st.text("ab .!?\n\t中。！；\u3000\U0001f600é\u2028", max_size=400)


@settings(max_examples=300)
@given(WORDS | st.text(max_size=200), st.integers(1, 60))
def test_a_cut_loses_nothing_and_keeps_the_order(text: str, tokens: int) -> None:
    parts = cut(text, tokens)
    assert [*"".join("".join(parts).split())] == [*"".join(text.split())]
    assert all(part.strip() for part in parts if text.strip())
    assert all(estimated_tokens(part) <= tokens + 2 for part in parts)


def test_a_cut_prefers_the_ends_of_sentences() -> None:
    sentence = "This is a sentence of about ten tokens, more or less."
    parts = cut(" ".join([sentence] * 40), 50)
    assert len(parts) > 5
    assert all(part.endswith(".") for part in parts)
    long_word = "x" * 5_000
    assert "".join(cut(long_word)) == long_word
    words = cut("word " * 3_000)
    assert all(re.fullmatch(r"word( word)*", part) for part in words)


def test_a_very_long_line_is_cut_in_time_that_follows_its_length() -> None:
    """Half a million characters; with a look at the whole rest for every part this took minutes."""
    for text in ("中" * 500_000, "x" * 3_000_000):
        assert "".join(cut(text)) == text


def test_a_turn_becomes_rows_that_say_where_they_are() -> None:
    turn = Turn("user", "c", 7, text="First part. " * 200)
    rows = list(passage_rows("s'1", 3, turn, "agent:a", 100))
    assert [row["id"] for row in rows] == [f"s'1#3.{n}" for n in range(len(rows))]
    assert len(rows) > 1
    places = {(row["session_id"], row["turn"], row["scope"], row["timestamp"]) for row in rows}
    assert places == {("s'1", 3, "agent:a", 7)}
    assert list(passage_rows("s", 0, Turn("user", "kept", text=""), "g", 100)) == []


def test_of_tool_output_the_head_and_the_tail_are_searched() -> None:
    printed = "HEAD " + "middle " * 2_000 + "TAIL"
    turn = Turn("tool", printed, kind=TurnKind.TOOL, text=printed)
    text = " ".join(row["text"] for row in passage_rows("s", 0, turn, "g", 200))
    assert text.startswith("HEAD")
    assert text.endswith("TAIL")
    assert len(text) < 300
    assert list(passage_rows("s", 0, turn, "g", 0)) == []
    said = Turn("user", printed, text=printed)
    assert sum(len(row["text"]) for row in passage_rows("s", 0, said, "g", 200)) > 10_000


def test_secrets_and_escapes_are_not_searched() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    text = f"\x1b[31mtoken\x1b[0m {secret} \ud800\x00"
    [row] = passage_rows("s", 0, Turn("user", text, text=text), "g", 100)
    assert secret not in row["text"] + row["words"]
    assert "\x1b" not in row["text"]
    assert "\ud800" not in row["text"]
