"""Stored text is harmless, literal, and as wide as it is said to be."""

from __future__ import annotations

import math
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from alaya_core.errors import BusyError
from alaya_tui import render_text
from alaya_tui.screens.card_rows import breadcrumbs
from alaya_tui.widgets.rows import Cell, Column, Row


@given(st.text())
def test_nothing_that_acts_on_a_terminal_is_left(text: str):
    for shown in (render_text.line(text), render_text.title(text), render_text.block(text)):
        acting = [char for char in shown if unicodedata.category(char) in ("Cc", "Cs") and char != "\n"]
        assert acting == []
        assert not set(shown) & set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u200e\u200f")
    assert "\n" not in render_text.line(text)
    assert render_text.title(text)


@given(st.text(), st.integers(0, 40), st.booleans())
def test_a_fitted_line_is_exactly_as_wide(text: str, width: int, right: bool):
    assert cell_len(render_text.fit(render_text.line(text), width, right=right)) == width


@given(st.lists(st.text(max_size=30), min_size=3, max_size=3), st.integers(1, 120))
def test_a_row_is_exactly_as_wide_as_its_list(texts: list[str], width: int):
    columns = (Column(3, right=True), Column(0), Column(8, from_width=30))
    row = Row("key", columns, [Cell(render_text.line(text)) for text in texts])
    assert sum(cell_len(text) for text, _ in row.laid_out(width)) == width


def test_markup_stays_as_it_is():
    assert render_text.line("[/red] [@click=app.quit]x[/] [$name]") == "[/red] [@click=app.quit]x[/] [$name]"
    assert render_text.line("a\n\tb\x1b[31m") == "a b\u241b[31m"


def test_joined_emoji_are_taken_apart_and_joined_letters_are_not():
    assert render_text.line("\U0001f468\u200d\U0001f469") == "\U0001f468\U0001f469"
    assert (
        render_text.line("\u0646\u200c\u0645 \u0915\u094d\u200d\u0937") == "\u0646\u200c\u0645 \u0915\u094d\u200d\u0937"
    )


def test_a_long_text_says_what_is_left_out():
    assert render_text.block("x" * 50, 20).endswith("... 30 more characters")


@pytest.mark.parametrize(
    ("value", "shown"), [(0.92, ".92"), (1.0, "1.0"), (0.999, "1.0"), (0.0, ".00"), (math.nan, " ? "), (-1, " ? ")]
)
def test_shares(value: float, shown: str):
    assert render_text.share(value) == shown


@pytest.mark.parametrize(
    ("passed", "shown"),
    [(-5, "now"), (59_000, "now"), (60_000, "1m"), (7_200_000, "2h"), (86_400_000 * 2, "2d"), (86_400_000 * 800, "2y")],
)
def test_ages(passed: int, shown: str):
    assert render_text.age(10**13 - passed, 10**13) == shown


@pytest.mark.parametrize(
    ("relation", "direction", "words"),
    [
        ("DEPENDS_ON", "out", "depends on"),
        ("DEPENDS_ON", "in", "needed by"),
        ("CAUSED_BY", "out", "caused by"),
        ("CAUSED_BY", "in", "causes"),
        ("TEMPORAL_NEXT", "out", "next"),
        ("TEMPORAL_NEXT", "in", "before"),
        ("SIMILAR_TO", "both", "similar"),
        ("CONTRADICTS", "both", "contradicts"),
        ("SOME_NEW_ONE", "out", "some new one"),
    ],
)
def test_relations_in_words(relation: str, direction: str, words: str):
    assert render_text.relation_words(relation, direction) == words


def test_turns_in_words():
    assert render_text.turns_words([4, 3, 9, 5]) == "turns 3-5, 9"
    assert render_text.turns_words([7]) == "turn 7"


def test_why_in_lines():
    why = {"words": 0.61, "life_cycle": {"standing": "core", "factor": 0.9}, "noise": False, "reranked": None}
    assert render_text.why_lines(why) == [
        ("words", "0.61"),
        ("life cycle", "standing core  factor 0.9"),
        ("noise", "no"),
    ]


def test_breadcrumbs_lose_their_oldest_first():
    names = ["first", "second", "third"]
    assert breadcrumbs(names, 80).plain == "Search > first > second > third"
    assert breadcrumbs(names, 32).plain == "Search > ... > second > third"
    assert breadcrumbs(names, 10).plain == "Search > ... > third"
    assert breadcrumbs([], 10).plain == "Search"


def test_errors_in_a_sentence():
    assert render_text.error_sentence(BusyError("the home\x1b[0m is busy", "wait")) == (
        "the home\u241b[0m is busy",
        "wait",
    )
    assert render_text.error_sentence(ValueError("[/red]")) == ("ValueError: [/red]", "")
