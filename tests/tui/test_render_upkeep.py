"""What `reembed`, `upkeep` and the upkeep part of `status` print."""

from __future__ import annotations

from typing import Any

from alaya_core.models.answers import ReembedAnswer, UpkeepAnswer
from alaya_tui.headless.render_keep import status_lines
from alaya_tui.headless.render_layout import Page
from alaya_tui.headless.render_upkeep import estimate, reembed_lines, upkeep_lines
from tests.tui.render_cases import status

PAGE = Page()


def reembedding(**fields: Any) -> ReembedAnswer:
    ordinary = {"done": False, "from_model": "USE", "from_dimensions": 512, "to_model": "bge-m3", "to_dimensions": 1024}
    more = {
        "texts": 2_000,
        "cached": 500,
        "tokens": 90_000,
        "requests": 47,
        "seconds": 130.0,
        "host": "a.example.org",
    }
    return ReembedAnswer(**{**ordinary, **more, **fields})


def test_the_estimate_says_how_much_where_to_and_for_how_much():
    said = estimate(reembedding(price=0.0018))
    for part in ("1,500 texts", "bge-m3", "500 known already", "90,000 tokens", "47 requests", "2 min", "0.0018"):
        assert part in said, part
    assert said.endswith("sent to a.example.org")
    assert "nothing leaves this machine" in estimate(reembedding(host=None))
    assert "nothing is embedded" in estimate(reembedding(cached=2_000))


def test_a_dry_run_a_finished_one_and_nothing_to_do():
    assert "nothing is changed yet" in "\n".join(reembed_lines(reembedding(), PAGE))
    assert "bge-m3 (1024 numbers) now" in "\n".join(reembed_lines(reembedding(done=True), PAGE))
    same = reembedding(done=True, from_model="bge-m3", from_dimensions=1024, note="the vectors are of bge-m3 already")
    assert list(reembed_lines(same, PAGE)) == ["= Nothing to do: the vectors are of bge-m3 already"]


def test_upkeep_says_what_it_did_and_what_is_left():
    answer = UpkeepAnswer(did=["folded it"], before={"kuzu": 9_000, "raw": 5}, after={"kuzu": 4_000, "raw": 5})
    lines = "\n".join(upkeep_lines(answer, PAGE))
    assert "✓ folded it" in lines
    assert "graph 4 kB (was 9 kB)" in lines.replace("4.0", "4").replace("9.0", "9")
    assert "Nothing to do" in "\n".join(upkeep_lines(UpkeepAnswer(did=[], before={}, after={}), PAGE))


def test_status_shows_what_waits():
    waiting = {"access_bytes_unfolded": 2_000, "table_versions": 7, "rows_unindexed": 3, "ledger_segments": 2}
    lines = "\n".join(status_lines(status(upkeep=waiting, ledger={"bytes": 10}), PAGE))
    for part in ("7 table versions", "3 rows to index", "2 segments"):
        assert part in lines, part
    assert "Upkeep" not in "\n".join(status_lines(status(), PAGE))
