"""What earlier memory systems called their commands works; and `cron` prints what a scheduler runs."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from alaya_core.memory import Memory
from alaya_core.models.requests import PHASES
from alaya_tui.cli import headless_main
from alaya_tui.headless.parser import build_parser
from alaya_tui.headless.parser_old import OLD_PHASES
from tests.contracts.cli_runner import Done, alaya, batch
from tests.contracts.test_cli_terminal import at_terminal
from tests.core.homes import session, write


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A home with one card, and one session that rules distilled."""
    with Memory.open(tmp_path / "small", create=True) as memory:
        memory.capture("Set plugins.allow before restarting the Gateway")
        memory.ingest([write(tmp_path / "session.json", session("session-1"))], distill=True)
    return tmp_path / "small"


def here(capsys: pytest.CaptureFixture[str], home: Path, *words: str) -> Done:
    """Runs a command in this process."""
    status = headless_main(["--home", str(home), *words])
    out, told = capsys.readouterr()
    return Done(status, out.encode(), told)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["delete", "card-12345678"], ["forget", "card-12345678"]),
        (["rebuild-index"], ["rebuild", "l1"]),
        (["validate"], ["verify"]),
        (["validate", "--fix", "--yes"], ["verify", "--fix", "--yes"]),
        (["search", "x", "-n", "3"], ["recall", "x", "-n", "3"]),
    ],
)
def test_another_name_for_the_same(old, new):
    parser = build_parser()
    assert vars(parser.parse(old)) == vars(parser.parse(new))


def test_old_names_are_not_listed():
    listed = build_parser().format_help()
    for name in ("consolidate", "stats", "validate", "delete-bulk", "upgrade", "rebuild-index"):
        assert f"  {name} " not in listed


def test_the_seven_phases_are_those_of_introspect():
    assert len(OLD_PHASES) == 7
    assert {phase for phases in OLD_PHASES.values() for phase in phases} == set(PHASES)


@pytest.mark.parametrize(
    ("named", "does"),
    [
        (["1"], ["distill"]),
        (["2"], ["distill"]),
        (["extract"], ["distill"]),
        (["4"], ["consolidate"]),
        (["5"], ["cool-down", "forget"]),
        (["weights"], ["cool-down", "forget"]),
        (["6"], ["index"]),
        (["7"], ["snapshot"]),
        (["7", "1", "3"], ["distill", "snapshot"]),
    ],
)
def test_an_old_phase_does_its_work(filled, capsys, named, does):
    words = [word for name in named for word in ("--phase", name)]
    report = here(capsys, filled.path, "consolidate", "--dry-run", *words, "--json").data
    assert [phase["phase"] for phase in report["phases"]] == does
    assert report["dry_run"]


@pytest.mark.parametrize("phase", ["0", "8", "digest", "-1", ""])
def test_a_phase_that_is_none(capsys, phase):
    assert headless_main(["consolidate", f"--phase={phase}", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "usage"


@pytest.mark.slow
def test_a_second_consolidation_is_skipped_unless_forced(small):
    first, second, forced = batch(
        [["consolidate", "--json"], ["consolidate"], ["consolidate", "--force", "--json"]], small
    )
    assert (first.status, first.data["status"]) == (0, "done")
    assert second.status == 0
    assert "a run ended" in second.text
    assert (forced.status, forced.data["status"]) == (0, "done")


def test_stats(filled, capsys):
    done = here(capsys, filled.path, "stats")
    lines = done.text.splitlines()
    assert lines[:2] == ["📊 Memory System Stats", "══════════════════════"]
    total = here(capsys, filled.path, "stats", "--json").data
    assert f"Total: {total['total']} memories" in lines
    assert f"Active: {total['active']} | Archive: 0" in lines
    assert f"  Facts: {total['by_type']['fact']} ({total['by_type']['fact'] / total['total']:.0%})" in lines
    assert f"  Critical (0.9-1.0): {total['by_importance']['critical']}" in lines
    assert "Last Consolidation: never" in lines
    assert any(line.startswith("Next Scheduled: 2") for line in lines)


def test_stats_of_an_agent(filled, capsys):
    seen = here(capsys, filled.path, "--agent", "nobody", "stats", "--json").data
    assert (seen["total"], seen["by_scope"]) == (3, {"global": 3})


def test_capture_as_it_was(small):
    made, belief, plain = batch(
        [
            ["capture", "用户对花生过敏", "--importance", "1.0", "--entities", "用户，花生", "--json"],
            ["capture", "The user may work in tech", "--type", "belief", "--confidence", "0.6", "--importance", "0.5",
             "--entity", "user", "--entities", "tech, Berlin", "--basis", "lives in Berlin,\n many meetings", "--json"],
            ["capture", "用户可能喜欢咖啡", "--basis", "每天早上都点咖啡", "--json"],
        ],
        small,
    )  # fmt: skip
    assert made.data["card"]["entities"] == ["用户", "花生"]
    card = belief.data["card"]
    assert card["content"] == "The user may work in tech\n\nBasis: lives in Berlin, many meetings"
    assert (card["confidence"], card["importance"], card["title"]) == (0.6, 0.5, "The user may work in tech")
    assert card["entities"] == ["user", "tech", "Berlin"]
    assert plain.data["card"]["content"].endswith("\n依据：每天早上都点咖啡")


def test_capture_without_a_text_has_no_use_for_a_basis(small):
    assert alaya("capture", " ", "--basis", "because", "--json", home=small).error["code"] == "usage"


def test_delete_bulk_previews_does_and_is_undone(small):
    batch([["capture", f"card {number}", "--scope", "project:old"] for number in range(3)], small)
    bare, preview, kept = batch(
        [["delete-bulk", "--yes", "--json"], ["delete-bulk", "--scope", "project:old"],
         ["list", "--scope", "project:old", "--json"]], small
    )  # fmt: skip
    assert bare.error["code"] == "usage"
    assert "This would forget 3 cards" in preview.text
    assert "--yes" in preview.text
    assert kept.data["total"] == 3
    done = alaya("delete-bulk", "--scope", "project:old", "--yes", home=small)
    assert "✓ Forgot 3 cards" in done.text
    [hint] = [line for line in done.text.splitlines() if "undo --run" in line]
    gone, undone, back = batch(
        [["list", "--scope", "project:old", "--json"], shlex.split(hint.split("alaya ", 1)[1])[-3:],
         ["list", "--scope", "project:old", "--json"]], small
    )  # fmt: skip
    assert (gone.data["total"], undone.status, back.data["total"]) == (0, 0, 3)


def test_delete_bulk_by_time_and_by_agent(filled, capsys):
    everything = here(capsys, filled.path, "list", "--json").data["total"]
    old = here(capsys, filled.path, "delete-bulk", "--before", "2001-01-01", "--json").data
    assert (old["done"], old["cards"]) == (False, [])
    assert len(here(capsys, filled.path, "delete-bulk", "--before", "2999-01-01", "--json").data["cards"]) == everything
    agent = here(capsys, filled.path, "--agent", "nobody", "delete-bulk", "--before", "2999-01-01", "--json").data
    assert filled.distilled not in agent["cards"]
    assert here(capsys, filled.path, "delete-bulk", "--before", "someday", "--json").error["code"] == "usage"
    assert here(capsys, filled.path, "delete-bulk", "--scope", "mine", "--json").error["code"] == "usage"
    twice = ("--scope", "global", "--scope", "project:x")
    assert "given twice" in here(capsys, filled.path, "delete-bulk", *twice, "--json").error["message"]


def test_what_delete_bulk_shows_cannot_act_on_the_terminal(filled, capsys):
    text = here(capsys, filled.path, "delete-bulk", "--scope", "global").text
    assert "ZEBRA" in text
    assert not any(char in text for char in "\x1b\x07\x9b\u202e")


@pytest.mark.skipif(os.name != "posix", reason="needs pseudo terminals")
@pytest.mark.parametrize(("answer", "left"), [(b"n\n", 1), (b"y\n", 0)])
def test_a_person_is_asked(small, answer, left):
    alaya("capture", "something", "--scope", "project:old", home=small)
    status, seen = at_terminal(["delete-bulk", "--scope", "project:old"], small, typed=answer, after=b"forget 1 card?")
    assert status == 0
    assert ("Forgot 1 card" in seen) == (not left)
    assert alaya("list", "--scope", "project:old", "--json", home=small).data["total"] == left


@pytest.mark.slow
def test_upgrade_by_rules_asks_no_model_and_makes_nothing_twice(small):
    before = alaya("list", "--json", home=small).data["total"]
    (small / "config.json").write_text(json.dumps({"distill": {"model": "m", "base_url": "http://127.0.0.1:9/v1"}}))
    done, after = batch([["upgrade", "--no-llm", "--json"], ["list", "--json"]], small)
    assert (done.status, {each["status"] for each in done.data["sessions"]}) == (0, {"done"})
    assert done.data["distiller"].startswith("rules")
    assert after.data["total"] == before


def test_upgrade_without_a_model_says_what_is_missing(small):
    error = alaya("upgrade", "--json", home=small).error
    assert error["code"] == "usage"
    assert "model" in error["message"] + error["hint"]


@pytest.mark.parametrize("what", ["crontab", "systemd", "openclaw"])
def test_cron_prints_what_runs_this_very_home(filled, capsys, what):
    text = here(capsys, filled.path, "cron", "--print", what).text
    assert str(filled.path) in text
    assert "introspect" in text
    answer = here(capsys, filled.path, "cron", "--print", what, "--json").data
    assert (answer["for"], answer["text"] + "\n") == (what, text)


def test_the_usual_home_is_not_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.delenv("ALAYA_HOME", raising=False)
    assert headless_main(["init", "--quiet"]) == 0
    capsys.readouterr()
    assert headless_main(["cron"]) == 0
    assert "--home" not in capsys.readouterr().out
    (tmp_path / "other").mkdir()
    monkeypatch.setenv("ALAYA_HOME", str(tmp_path / "other"))
    assert headless_main(["init"]) == 0
    capsys.readouterr()
    assert headless_main(["cron"]) == 0
    assert f"--home {tmp_path / 'other'}" in capsys.readouterr().out


def test_the_line_for_cron_runs(tmp_path):
    """A home whose name needs every kind of quoting, its entry run by a shell as cron would."""
    home = tmp_path / 'it\'s 100% "mine" $HOME'
    alaya("init", home=home)
    line = alaya("cron", home=home).text.splitlines()[-1]
    command = line.split(" ", 5)[5].replace("\\%", "%").replace(" introspect --quiet >/dev/null", " list --json")
    bare = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, env=bare, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["total"] == 0
    assert shlex.split(command)[0].startswith(str(Path(sys.executable).parent))


def test_a_schedule_that_cron_would_refuse(small, capsys):
    (small / "config.json").write_text('{"introspect": {"schedule": "every day"}}')
    done = here(capsys, small, "cron", "--json")
    assert (done.status, done.error["code"]) == (2, "config")
    assert "minute hour day" in done.error["hint"]
