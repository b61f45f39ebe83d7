"""`alaya erase`: a preview unless told otherwise, a question only to a person, and one JSON document."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.contracts.cli_runner import alaya
from tests.contracts.conftest import Filled
from tests.contracts.test_cli_terminal import at_terminal


@pytest.fixture
def home(filled: Filled, tmp_path: Path) -> Path:
    """A copy that may be changed."""
    shutil.copytree(filled.path, tmp_path / "home")
    return tmp_path / "home"


def test_without_yes_it_only_says_what_would_go(filled: Filled, home: Path) -> None:
    done = alaya("erase", filled.plain, home=home)
    assert done.status == 0
    assert "This would erase the card" in done.text
    assert "--yes" in done.text
    assert alaya("show", filled.plain, home=home).status == 0
    answer = alaya("erase", filled.plain, "--json", home=home).data
    assert (answer["done"], answer["erased"]["what"], answer["erased"]["cards"]) == (False, "card", [filled.plain])


def test_what_goes_is_shown_with_its_title(filled: Filled, home: Path) -> None:
    answer = alaya("erase", filled.plain, "--json", home=home).data["erased"]
    [card] = answer["going"]
    assert (card["card_id"], card["note"]) == (filled.plain, "written by hand")
    text = alaya("erase", filled.plain, home=home).text
    assert f"  - {card['title']} ({filled.plain[:13]})\n    written by hand\n" in text


def test_an_agent_is_refused(filled: Filled, home: Path) -> None:
    for words in ((), ("--yes",)):
        done = alaya("--agent", "main", "erase", filled.plain, *words, "--json", home=home)
        assert (done.status, done.error["code"]) == (1, "conflict")
        assert "--agent" in done.error["hint"]
    assert alaya("show", filled.plain, home=home).status == 0


def test_an_erased_turn_shows_in_its_session(filled: Filled, home: Path) -> None:
    trace = alaya("trace", filled.distilled, "--full", "--json", home=home).data["sessions"][0]
    other = next(turn["turn"] for turn in trace["turns"] if not turn["relevant"])
    assert alaya("erase", trace["session_id"], "--turn", str(other), "--yes", home=home).status == 0
    shown = alaya("trace", filled.distilled, "--full", home=home).text
    line = next(line for line in shown.splitlines() if f"[Turn {other}]" in line)
    assert line.endswith(": (erased)")
    assert shown.count("(erased)") == 1


def test_with_yes_it_is_gone(filled: Filled, home: Path) -> None:
    answer = alaya("erase", filled.plain, "--yes", "--json", home=home)
    assert answer.status == 0
    assert set(answer.data) == {"schema_version", "done", "erased", "left", "took_ms"} or answer.data["done"]
    assert answer.data["done"]
    assert alaya("show", filled.plain, home=home).status == 3
    assert alaya("verify", home=home).status == 0
    assert alaya("erase", filled.plain, "--yes", "--json", home=home).error["code"] == "not_found"


def test_a_card_of_turns_names_them(filled: Filled, home: Path) -> None:
    done = alaya("erase", filled.distilled, "--yes", home=home)
    assert done.text.startswith("✓ Erased the card")
    assert "alaya erase" in done.text
    assert "--turn" in done.text


def test_turns_and_mistakes(filled: Filled, home: Path) -> None:
    session = alaya("show", filled.distilled, "--json", home=home).data["card"]["source_sessions"][0]
    done = alaya("erase", session, "--turn", "0", "--yes", home=home)
    assert done.status == 0, done.told
    assert done.text.startswith("✓ Erased the turn")
    for words, status in (
        (("erase", filled.plain, "--turn", "0"), 2),
        (("erase", session, "--turn", "99999"), 2),
        (("erase", session, "--turn", "-1"), 2),
        (("erase", "card-ffffffff"), 3),
        (("erase",), 2),
    ):
        assert alaya(*words, home=home).status == status
    assert alaya("erase", session, "--yes", home=home).status == 0
    assert alaya("verify", home=home).status == 0


def test_hostile_text_only_shows(filled: Filled, home: Path) -> None:
    for words in (("erase", filled.hostile), ("erase", filled.hostile, "--yes")):
        done = alaya(*words, home=home)
        assert done.status == 0
        assert not any(char in done.text for char in "\x1b\x07\x9b\u202e")


@pytest.mark.skipif(os.name != "posix", reason="needs pseudo terminals")
@pytest.mark.parametrize(("typed", "gone"), [(b"y\n", True), (b"n\n", False), (b"\n", False)])
def test_a_person_is_asked(filled: Filled, home: Path, typed: bytes, gone: bool) -> None:
    status, seen = at_terminal(["erase", filled.hostile], home, typed=typed, after=b"[y/N]")
    assert status == 0
    assert "for good?" in seen
    assert ("Erased the card" in seen) == gone
    assert "\x1b]52" not in seen
    assert (alaya("show", filled.hostile, home=home).status == 3) == gone
