"""Wrong usage is told in one line, in the form that was asked for, with status 2; nothing is done."""

from __future__ import annotations

import pytest

from alaya_tui.cli import headless_main, main
from alaya_tui.headless.commands import MODULES, find
from alaya_tui.headless.parser import build_parser
from tests.contracts import cli_runner
from tests.contracts.cli_runner import alaya

WRONG = [
    [],
    ["no-such-command"],
    ["list", "--no-such-flag"],
    ["list", "--limit", "0"],
    ["list", "--limit", "many"],
    ["list", "--limit", "9" * 40],
    ["list", "--offset", "-1"],
    ["list", "--sort", "colour"],
    ["list", "--type", "poem"],
    ["list", "--tier", "LUKEWARM"],
    ["list", "--since", "the day before"],
    ["recall"],
    ["recall", "x", "-n", "0"],
    ["recall", "x", "--in", "dreams"],
    ["recall", "x", "--no-sessions", "--in", "passages"],
    ["recall", "x", "--format", "xml"],
    ["recall", "x", "--sess", "abbreviated"],
    ["capture"],
    ["capture", "x", "--importance", "2"],
    ["capture", "x", "--confidence", "nan"],
    ["edit", "card-12345678"],
    ["link", "only-one"],
    ["link", "a", "b", "--rel", "LIKES"],
    ["link", "a", "b", "--weight", "heavy"],
    ["rebuild", "l9"],
    ["trace", "card-12345678", "--reveal"],
    ["--home", "", "list"],
]


@pytest.mark.parametrize("words", WRONG, ids=lambda words: " ".join(words) or "nothing")
def test_wrong_usage_is_status_2_and_one_document(words, capsys):
    assert headless_main([*words, "--json"]) == 2
    done = cli_runner.Done(2, capsys.readouterr().out.encode(), "")
    assert done.error["code"] == "usage"
    assert done.error["message"]
    assert done.error["retryable"] is False


def test_without_json_the_error_is_on_stderr_with_a_hint():
    done = alaya("list", "--limit", "0")
    assert done.status == 2
    assert done.raw == b""
    assert done.told.startswith("alaya: argument --limit/-n: '0' is not a whole number")
    assert "hint: see: alaya list --help" in done.told


def test_a_mistyped_command_is_guessed():
    assert "did you mean: recall" in alaya("recal", "x").told


def test_json_that_contradicts_format(capsys):
    assert headless_main(["recall", "x", "--json", "--format", "text"]) == 2
    assert "contradicts" in capsys.readouterr().out


def test_an_error_message_cannot_act_on_the_terminal(capsys):
    assert headless_main(["list", "--sort", "\x1b]52;c;QUFB\x07"]) == 2
    assert "\x1b" not in capsys.readouterr().err


def test_every_command_is_done_by_somebody_and_every_option_explained():
    parser = build_parser()
    commands = next(
        action for action in parser._actions if hasattr(action, "choices") and action.dest == "command"
    ).choices
    assert commands
    for name, command in dict(commands).items():
        assert command.get_default("command") in MODULES, name
        for action in command._actions:
            assert action.help, (name, action.dest)
    for name in MODULES:
        assert callable(find(name))


def test_help_and_version():
    assert alaya("--version").text.startswith("alaya ")
    assert alaya("help", "recall").text == alaya("recall", "--help").text
    assert "exit status" in alaya("--help").text


def test_old_names_still_work():
    parser = build_parser()
    assert parser.parse(["search", "x"]).command == "recall"
    assert vars(parser.parse(["rebuild-l1"])) == vars(parser.parse(["rebuild", "l1"]))


def test_global_options_stand_before_or_after_the_command():
    parser = build_parser()
    before = parser.parse(["--home", "h", "--json", "--agent", "a", "list"])
    after = parser.parse(["list", "--home", "h", "--json", "--agent", "a"])
    assert vars(before) == vars(after)
    assert (before.home, before.json, before.agent) == ("h", True, "a")


def test_the_screen_needs_a_terminal(capsys):
    for words in ([], ["recall", "x"], ["show", "card-12345678"]):
        assert main(words) == 2
        assert "needs a terminal" in capsys.readouterr().err
    assert main(["list"]) == 2
    assert "--headless COMMAND" in capsys.readouterr().err
