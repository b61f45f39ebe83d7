"""Many processes at once: none fails, none loses, nothing is there twice, and nobody waits for long."""

from __future__ import annotations

import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from alaya_core.memory import Memory
from tests.core.fault_helpers import Acknowledged, Worker
from tests.core.homes import ledger_lines

SECONDS = 12.0
SOAK_SECONDS = 60.0
CROWD = ("read", "read", "read", "read", "write", "write", "link")
LONGEST_S = {"write": 1.0, "read": 0.5, "recall": 0.5}
"""What 95 of 100 operations may take on a machine with a core for every two processes."""
ALONE_S = 0.06
"""What a capture takes on such a machine while nobody else works."""


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("rebuild", ["rebuild", pytest.param("rebuild-all", marks=pytest.mark.soak)])
def test_eight_processes_on_one_home(home: Path, rebuild: str) -> None:
    crowd_on(home, [*CROWD, rebuild], SECONDS)


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("rebuild", ["rebuild", "rebuild-all"])
def test_eight_processes_on_one_home_for_a_minute(home: Path, rebuild: str) -> None:
    worst = crowd_on(home, [*CROWD, rebuild], SOAK_SECONDS)
    crowded = (len(CROWD) + 1) / 2 / (os.cpu_count() or 1)
    factor = max(1.0, crowded) * max(1.0, worst["alone"] / ALONE_S)
    assert {what for what in LONGEST_S if worst[what] > LONGEST_S[what] * factor} == set(), worst


def crowd_on(home: Path, jobs: list[str], seconds: float) -> dict[str, float]:
    """Lets a process work for each job, and checks all that they were told.

    Returns:
        By operation: seconds that 95 of 100 took at most; `alone`: what a capture took before there was a crowd.
    """
    Memory.init(home, environ={})
    (home / "config.json").write_text('{"home": {"busy_timeout_s": 60}}')
    with Memory.open(home, environ={}) as memory:
        alone = []
        for number in range(10):
            began = time.monotonic()
            memory.capture(f"fact {number} that was there before")
            alone.append(time.monotonic() - began)
        memory.recall("fact")
    workers = [Worker(home, job, seed, seconds) for seed, job in enumerate(jobs)]
    for worker in workers:
        worker.wait_until_ready()
    for worker in workers:
        worker.start()
    results = [worker.result(seconds + 120) for worker in workers]
    acknowledged = Acknowledged()
    for job, (lines, errors, status) in zip(jobs, results, strict=True):
        assert (status, errors) == (0, ""), f"{job}: {errors[-2000:]}"
        assert lines[-1] == "done"
        assert len(lines) > 1, f"{job} never got its turn"
        acknowledged.add(lines)
    with Memory.open(home, environ={}) as memory:
        acknowledged.check(memory)
        memory.distill()  # a patient sync
        answer = memory.verify()
        assert answer.ok, answer.findings
        assert answer.checked["cards"] == 10 + len(acknowledged.cards) == answer.checked["vectors"]
    seqs = [line["seq"] for line in ledger_lines(home)]
    assert seqs == list(range(1, len(seqs) + 1))
    assert len(list((home / "kuzu").glob("gen-*"))) == 1
    sys.stdout.write(f"\n{' '.join(jobs)}, {seconds:.0f} s; a capture alone: {sorted(alone)[5]:.3f} s\n")
    return told(line for lines, _, _ in results for line in lines) | {"alone": sorted(alone)[5]}


def told(lines: Iterable[str]) -> dict[str, float]:
    """Prints what each kind of operation took; gives what 95 of 100 took at most."""
    took: dict[str, list[float]] = defaultdict(list)
    for line in lines:
        if line.startswith("took "):
            what, seconds = line[5:].rsplit(" ", 1)
            took[what].append(float(seconds))
    worst = {}
    for what, every in sorted(took.items()):
        every.sort()
        worst[what] = every[int(len(every) * 0.95)]
        middle, most = every[len(every) // 2], every[-1]
        sys.stdout.write(f"{what}: {len(every)} times, p50 {middle:.3f} s, p95 {worst[what]:.3f}, max {most:.3f}\n")
    return worst
