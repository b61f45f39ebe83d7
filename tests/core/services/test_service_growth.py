"""Days of use: the home grows with what it holds, not with how often it was touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from alaya_core.services.upkeep import backlog
from tests.benchmarks.bench_growth import Day, Use


@pytest.mark.slow
def test_four_days_of_use(tmp_path: Path) -> None:
    use = Use(tmp_path, Day(sessions=2, turns=12, captures=8, recalls=20, edits=5, links=6, pins=2))
    versions = []
    for number in range(4):
        use.live(number)
        versions.append(backlog(use.memory._work)["table_versions"])
    seen = use.look()
    assert seen["times anew"] <= 1.2, seen
    assert seen["ledger bytes a card"] <= 1024, seen
    assert max(versions) <= 6
    assert seen["unfolded KB"] <= 1
    answer = use.memory.verify()
    assert answer.ok, answer.findings
    use.memory.close()
