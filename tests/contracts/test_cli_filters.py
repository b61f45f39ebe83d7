"""Filters on the command line: mistyped values are guessed, empty answers explained, blocks kept to their budget."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from alaya_core.models.answers import CardList
from alaya_tui.cli import headless_main
from alaya_tui.headless.render_cards import list_lines
from alaya_tui.headless.render_layout import Page
from alaya_tui.headless.render_recall import filter_lines, recall_lines
from tests.contracts import cli_runner
from tests.contracts.cli_runner import batch
from tests.tui import render_cases as cases

PIPE = Page()


@pytest.mark.parametrize(
    ("words", "guess"),
    [
        (["list", "--type", "gotcah"], "did you mean: gotcha;"),
        (["list", "--tier", "hott"], "did you mean: HOT;"),
        (["list", "--standing", "cor"], "did you mean: core;"),
        (["list", "--origin", "rule"], "did you mean: rules;"),
        (["list", "--sort", "recnt"], "did you mean: recent;"),
        (["recall", "x", "--in", "card"], "did you mean: cards;"),
        (["recall", "x", "--in", "qqq"], "one of: cards, passages, both"),
        (["recall", "x", "--scope", "agnt:main"], "did you mean: agent:main"),
        (["recall", "x", "--scope", "Global"], "did you mean: global"),
        (["recall", "x", "--scope", "???"], "one of: global, agent:"),
        (["list", "--scope", "agent:"], "did you mean: agent:ID"),
        (["list", "--importance", "1.5"], "see: alaya list --help"),
        (["list", "--importance", "nan"], "see: alaya list --help"),
        (["recall", "x", "--budget", "9"], "--format context"),
        (["recall", "x", "--format", "context", "--budget", "0"], "see: alaya recall --help"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_value_that_cannot_be_is_wrong_usage_with_a_guess(words, guess, capsys):
    assert headless_main([*words, "--json"]) == 2
    error = cli_runner.Done(2, capsys.readouterr().out.encode(), "").error
    assert error["code"] == "usage"
    assert guess in error["hint"]


def test_filters_that_leave_nothing_say_what_there_is_without_them(filled):
    listed, text, recalled, shown, some = batch(
        [
            ["list", "--json", "--tag", "no-such-tag"],
            ["list", "--type", "gotcha", "--until", "1999-01-01", "--importance", ".2"],
            ["recall", "plugins.allow", "--json", "--tier", "cold"],
            ["recall", "plugins.allow", "--format", "text", "--tier", "cold"],
            ["list", "--json", "--importance", "0"],
        ],
        filled.path,
    )
    total = some.data["total"]
    assert set(some.data) == {"cards", "total", "sort"}
    assert listed.data["without"] == {"tag": total, "all": total}
    assert listed.data["notes"] == ["no card has tag 'no-such-tag'"]
    assert "nothing with --type gotcha --importance 0.2 --until 1999-01-01; " in text.text
    assert " without any filter\n" in text.text
    count = recalled.data["filtered"]["without"]["tier"]
    assert count > 0
    assert f"nothing with --tier COLD; {count} without it\n" in shown.text


def test_a_session_is_named_by_its_beginning(filled):
    sessions = batch([["show", filled.distilled, "--json"]], filled.path)[0].data["sources"]
    name = sessions[0]["session_id"]
    whole, short, none = batch(
        [
            ["list", "--json", "--session", name],
            ["list", "--json", "--session", name[:-1]],
            ["recall", "x", "--session", name + "x"],
        ],
        filled.path,
    )
    assert filled.distilled in whole.text
    assert short.status in (0, 3)
    if short.status == 0:
        assert short.data == whole.data
    else:
        assert short.error["code"] == "ambiguous"
        assert name in short.error["message"]
    assert (none.status, none.error["code"]) == (3, "not_found")
    assert name in none.error["hint"]


def test_a_block_keeps_to_the_budget_that_was_asked_for(filled):
    small, usual = batch(
        [
            ["recall", "plugins.allow", "--format", "context", "--budget", "120"],
            ["recall", "plugins.allow", "--format", "context"],
        ],
        filled.path,
    )
    assert small.text.count("\n- [") < usual.text.count("\n- [")
    assert "more did not fit)\n</alaya-memory id=" in small.text


def test_the_lines_about_filters():
    def told(without: dict[str, int], asked: dict[str, str] | None = None, notes: Sequence[str] = ()) -> list[str]:
        return list(filter_lines(without, notes, PIPE, asked or {}))

    assert told({}) == []
    assert told({"type": 4, "all": 4}, {"type": "--type gotcha"}) == ["nothing with --type gotcha; 4 without it"]
    assert told({"type": 0, "all": 0}) == ["nothing with --type; nothing without it either"]
    assert told({"type": 4, "without_origin": 0, "since": 2, "all": 9}, {"without_origin": "--no-memex"}) == [
        "nothing with --type --no-memex --since; 4 without --type, 2 without --since, 9 without any filter"
    ]
    assert told({}, notes=["no card has tag 'x'"]) == ["! no card has tag 'x'"]


def test_what_is_told_of_filters_cannot_act_on_the_terminal():
    answer = cases.recall(results=[], passages=[])
    answer.filtered.without, answer.filtered.notes = {"tag": 1, "all": 1}, [f"no card has tag '{cases.HOSTILE}'"]
    lines = [*recall_lines(answer, PIPE, asked={"tag": f"--tag {cases.HOSTILE}"})]
    lines += list_lines(CardList(cards=[], total=0, sort="recent"), PIPE, filtered=True, filters=tuple(lines))
    for line in lines:
        assert not set(line) & {"\x1b", "\x07", "\x9b", "\u202e", "\u2066"}, line
