"""The README tells the truth: its tables are those of the code, its commands exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contracts.readme_tables import config_table, key_table

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
MAKEFILE = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", [config_table, key_table])
def test_its_tables_are_those_of_the_code(table):
    assert table() in README, "run `python -m tests.contracts.readme_tables` and paste"


def test_every_make_target_it_names_exists():
    targets = set(re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z]+)\b", README, re.MULTILINE))
    assert named
    assert named <= targets


def test_every_command_it_names_exists():
    shown = subprocess.run([sys.executable, "-m", "alaya_tui", "--headless", "--help"], capture_output=True, text=True)
    known = set(re.findall(r"^    ([a-z][a-z-]+)", shown.stdout, re.MULTILINE))
    named = set(re.findall(r"^(?:\$ )?alaya ([a-z]+)\b", README, re.MULTILINE))
    assert named
    assert named <= known


def test_every_picture_it_shows_is_there():
    for path in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README):
        assert (Path(__file__).parents[2] / path).is_file(), path
