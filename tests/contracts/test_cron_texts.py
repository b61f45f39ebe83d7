"""The entries that `cron` prints: what a scheduler reads in them is the command that was meant."""

from __future__ import annotations

import json
import re
import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alaya_core.errors import UsageError
from alaya_core.schedule import read_schedule
from alaya_tui.headless.cron import calendars, entry

SCHEDULE = read_schedule("0 */4 * * *")
LETTERS = st.characters(categories=("L", "N", "P", "S"), include_characters=" %$\\'\"")
WORDS = st.lists(st.text(LETTERS, max_size=12), min_size=1, max_size=4)


def as_cron_runs_it(line: str) -> str:
    """What cron hands to a shell: everything behind five fields, up to a bare %."""
    command = line.split(" ", 5)[5]
    return re.split(r"(?<!\\)%", command)[0].replace("\\%", "%")


def as_systemd_reads_it(line: str) -> list[str]:
    """The words of an ExecStart, by the rules of its manual."""
    words = re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', line.removeprefix("ExecStart="))
    plain = [_once(re.sub(r"\\(.)", r"\1", quoted or bare), "%") for quoted, bare in words]
    return [plain[0], *(_once(word, "$") for word in plain[1:])]


def _once(text: str, sign: str) -> str:
    """A doubled sign is one; a lone one stands for something else."""
    return re.sub(f"{re.escape(sign)}{{1,2}}", lambda match: sign if len(match[0]) == 2 else "(expanded)", text)


@given(words=WORDS)
def test_cron_runs_the_words_that_were_meant(words):
    line = entry("crontab", SCHEDULE, ["/opt/a b/alaya", *words]).splitlines()[-1]
    assert line.startswith("0 */4 * * * ")
    command = as_cron_runs_it(line)
    assert command.endswith(" --quiet >/dev/null")
    assert shlex.split(command.removesuffix(" --quiet >/dev/null")) == ["/opt/a b/alaya", *words]


@given(words=WORDS)
def test_systemd_runs_the_words_that_were_meant(words):
    text = entry("systemd", SCHEDULE, ["/opt/a b/alaya", *words])
    [line] = [line for line in text.split("\n") if line.startswith("ExecStart=")]
    assert as_systemd_reads_it(line) == ["/opt/a b/alaya", *words, "--quiet"]


def test_signs_that_schedulers_expand():
    words = ["/opt/100%/alaya", "--home", "$HOME/50% `x` \\"]
    line = next(line for line in entry("systemd", SCHEDULE, words).split("\n") if line.startswith("ExecStart="))
    assert line == 'ExecStart=/opt/100%%/alaya --home "$$HOME/50%% `x` \\\\" --quiet'


@given(words=WORDS)
def test_openclaw_runs_the_words_that_were_meant(words):
    [job] = json.loads(entry("openclaw", SCHEDULE, ["/opt/alaya", *words]))["jobs"]
    assert shlex.split(job["command"]) == ["/opt/alaya", *words]
    assert (job["name"], job["schedule"], job["timeout"]) == ("alaya-introspect", "0 */4 * * *", 600_000)


@pytest.mark.parametrize("word", ["a\nb", "a\x1b[31m", "a\x00", "a\udcff", "a\x85b", "a\u2028b", "a\u202eb"])
@pytest.mark.parametrize("what", ["crontab", "systemd", "openclaw"])
def test_what_would_begin_a_line_of_its_own_is_refused(what, word):
    with pytest.raises(UsageError):
        entry(what, SCHEDULE, ["/opt/alaya", word])


@pytest.mark.parametrize(
    ("schedule", "lines"),
    [
        ("0 */4 * * *", ["*-*-* 00,04,08,12,16,20:00:00"]),
        ("30 3 * * 1-5", ["Mon,Tue,Wed,Thu,Fri *-*-* 03:30:00"]),
        ("0 0 * * 7", ["Sun *-*-* 00:00:00"]),
        ("*/20 * 1 jan,jul *", ["*-01,07-01 *:00,20,40:00"]),
        ("0 5 13 * fri", ["*-*-13 05:00:00", "Fri *-*-* 05:00:00"]),
    ],
)
def test_systemd_is_told_the_same_times(schedule, lines):
    assert calendars(read_schedule(schedule)) == lines


def test_systemd_itself_understands_them():
    lines = [line for text in ("*/7 9-17/2 */2 1-6 fri", "@daily", "59 23 31 12 sun") for line in
             calendars(read_schedule(text))]  # fmt: skip
    try:
        done = subprocess.run(["systemd-analyze", "calendar", *lines], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no systemd here")
    assert done.returncode == 0, done.stderr
