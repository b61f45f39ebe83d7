"""Text is laid out by terminal cells, whatever it holds."""

from __future__ import annotations

import io
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alaya_core.text import cells
from alaya_tui.headless import render_layout as layout
from alaya_tui.headless.render import Output
from alaya_tui.headless.render_layout import Page
from tests.tui.render_cases import DAY, ID, NOW

PIPE = Page(width=None, now=NOW)


@given(st.text(), st.integers(min_value=4, max_value=60))
def test_wrapped_lines_fit_and_lose_nothing_but_blanks(text, width):
    line = layout.one_line(text)
    pieces = layout.wrap(line, width)
    assert all(cells(piece) <= width for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(line.expandtabs(4).split())


def test_words_stay_whole_and_chinese_breaks_anywhere():
    assert layout.wrap("one two three four", 9) == ["one two", "three", "four"]
    assert layout.wrap("消息通知机制", 5) == ["消息", "通知", "机制"]


def test_a_combining_mark_stays_with_its_letter():
    pieces = layout.wrap("中e\u0301中e\u0301中e\u0301", 3)
    assert not any(piece.startswith("\u0301") for piece in pieces)


@given(st.text(max_size=300), st.integers(min_value=0, max_value=12))
def test_a_block_stays_inside_the_page(text, indent):
    page = Page(width=40, now=NOW)
    for line in [*page.block(text, indent, most=3), *page.preview(text, indent)]:
        assert cells(line) <= 40


def test_a_cut_block_says_so():
    assert Page(width=20).block("one\ntwo\nthree\nfour", most=2) == ["one", "two ..."]


def test_without_a_terminal_lines_stay_whole_and_plain():
    long = "word " * 100
    assert PIPE.block(long) == [long.rstrip()]
    assert PIPE.bold("x") == "x"


def test_an_item_hangs_under_its_own_start():
    assert Page(width=14).item("- ", "one two three four") == ["- one two", "  three four"]


@pytest.mark.parametrize(
    ("number", "told"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (42_000_000, "42 MB"), (42 * 10**9, "42.0 GB")]
)
def test_size(number, told):
    assert layout.size(number) == told


@pytest.mark.parametrize(
    ("back", "told"),
    [(-DAY, "now"), (0, "now"), (3_600_000, "1h"), (9 * DAY, "9d"), (400 * DAY, "400d"), (800 * DAY, "2y")],
)
def test_age(back, told):
    assert layout.age(NOW - back, NOW) == told


def test_never_and_just_now():
    assert layout.ago(None, NOW) == "never"
    assert layout.ago(NOW, NOW) == "just now"
    assert layout.ago(NOW - DAY, NOW) == "1d ago"


@pytest.mark.parametrize(("value", "told"), [(0.81, ".81"), (1.0, "1.0"), (0.0, ".00"), (0.999, "1.0")])
def test_ratio(value, told):
    assert layout.ratio(value) == told


def test_short_ids_are_prefixes_and_foreign_ids_stay_whole():
    assert layout.short(ID) == "card-1a2b3c4d"
    assert layout.short("card-O'Brien") == "card-O'Brien"
    assert layout.argument("card-O'Brien; rm -rf /") == "'card-O'\"'\"'Brien; rm -rf /'"


def test_spans():
    assert layout.spans([4, 3, 5, 9, 9]) == "3-5, 9"


def test_json_has_no_half_characters_and_no_nan():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    Output(stream).document({"a": "\ud800 中文", "b": math.nan, "c": [math.inf, 1.5]})
    raw = stream.buffer.getvalue()
    assert json.loads(raw.decode()) == {"a": "\ufffd 中文", "b": None, "c": [None, 1.5]}
    assert "中文".encode() in raw


def test_json_on_an_ascii_stream_is_still_json():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    Output(stream).document({"a": "中文 📥"})
    assert json.loads(stream.buffer.getvalue().decode("ascii")) == {"a": "中文 📥"}
