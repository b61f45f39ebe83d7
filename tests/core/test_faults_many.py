"""Many processes at once: none fails, none loses, nothing is there twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from alaya_core.memory import Memory
from tests.core.fault_helpers import Acknowledged, Worker
from tests.core.homes import ledger_lines

SECONDS = 12.0


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_eight_processes_on_one_home(home: Path) -> None:
    Memory.init(home, environ={})
    (home / "config.json").write_text('{"home": {"busy_timeout_s": 60}}')
    with Memory.open(home, environ={}) as memory:
        for number in range(10):
            memory.capture(f"fact {number} that was there before")
        memory.recall("fact")
    jobs = ["read", "read", "read", "read", "write", "write", "link", "rebuild"]
    workers = [Worker(home, job, seed, SECONDS) for seed, job in enumerate(jobs)]
    for worker in workers:
        worker.wait_until_ready()
    for worker in workers:
        worker.start()
    results = [worker.result(SECONDS + 120) for worker in workers]
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
