"""How long a memory takes to tidy itself: finding what is alike, a dry run, cool-down; and whether others wait."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from alaya_core.memory import Memory
from alaya_core.models.card import CardState
from alaya_core.models.requests import IntrospectOptions
from alaya_core.services.lifecycle.cooling import plan_cool_down
from alaya_core.services.similar_pairs import similar_pairs
from tests.benchmarks.homes import Writer, cards, fill, new_home, workspace_of
from tests.benchmarks.support import keep, median, p95, parser, peak_mb, say, seconds, table, workplace

SIZES = (5_000, 25_000)
COOLED = (25_000, 100_000)
_INTROSPECT = "from alaya_tui.cli import headless_main; import sys; sys.exit(headless_main())"


def main() -> None:
    """Runs it."""
    made = parser("bench_tidy", "A memory that tidies itself.")
    made.add_argument("--sizes", type=int, nargs="*", help=f"cards (default: {SIZES})")
    args = made.parse_args()
    results: dict[str, Any] = {"consolidate": [], "cool_down": [_cool_down(count) for count in COOLED]}
    table(
        "planning a cool-down of all cards, in memory",
        ("cards", "s", "decisions"),
        [(r["cards"], r["s"], r["decisions"]) for r in results["cool_down"]],
    )
    for count in args.sizes or SIZES:
        with workplace(args.work) as folder:
            results["consolidate"].append(_one_size(folder / "home", count))
    rows = results["consolidate"]
    table(
        "pairs that are alike; a dry run of every phase; a whole run, without a model",
        ("cards", "pairs s", "pairs", "dry run s", "run s", "changes", "second run s", "changes", "peak MB"),
        [
            (
                r["cards"],
                r["pairs_s"],
                r["pairs"],
                r["dry_s"],
                r["run_s"],
                r["changes"],
                r["again_s"],
                r["again"],
                r["peak_mb"],
            )
            for r in rows
        ],
    )
    table(
        "captures in another process while it runs, ms",
        ("cards", "captures", "p50", "p95", "longest", "failed"),
        [(r["cards"], *(r["captures"][name] for name in ("count", "p50", "p95", "longest", "failed"))) for r in rows],
    )
    keep(args.out, results)


def _cool_down(count: int) -> dict[str, Any]:
    with workplace(None) as folder, new_home(folder / "home") as memory:
        now = workspace_of(memory).now()
        some = [card for card, _ in cards(count, Writer(), now.at)]
        found = plan_cool_down(some, now)
        return {"cards": count, "s": seconds(lambda: plan_cool_down(some, now)), "decisions": len(found)}


def _one_size(home: Path, count: int) -> dict[str, Any]:
    memory = new_home(home)
    fill(memory, count, count * 2)
    with workspace_of(memory).graph.reading() as reader:
        active = [card for card in reader.all_cards() if card.state is CardState.ACTIVE]
    found: list[object] = []
    pairs_s = seconds(lambda: found.extend(similar_pairs(workspace_of(memory), active, least=0.7)))
    peak = peak_mb()
    dry_s = seconds(lambda: memory.introspect(IntrospectOptions(dry_run=True)))
    say(f"{count:,} cards: {len(found):,} pairs in {pairs_s:.1f} s, dry run {dry_s:.1f} s")
    run_s, captures = _beside_captures(memory, home)
    changes = sum(run.changes for run in memory.runs(limit=1).runs)
    again_s = seconds(lambda: memory.introspect())
    again = sum(run.changes for run in memory.runs(limit=1).runs)
    memory.close()
    return {
        "cards": count,
        "pairs_s": pairs_s,
        "pairs": len(found),
        "dry_s": dry_s,
        "run_s": run_s,
        "changes": changes,
        "again_s": again_s,
        "again": again,
        "peak_mb": max(peak, peak_mb()),
        "captures": captures,
    }


def _beside_captures(memory: Memory, home: Path) -> tuple[float, dict[str, Any]]:
    """A run in a process of its own, while this one captures card after card."""
    words = ["--home", str(home), "introspect", "--json", "--yes"]
    started = time.perf_counter()
    run = subprocess.Popen([sys.executable, "-c", _INTROSPECT, *words], stdout=subprocess.DEVNULL)
    took: list[float] = []
    failed = 0
    while run.poll() is None:
        try:
            number = len(took)
            took.append(1000 * seconds(lambda number=number: memory.capture(f"said while it tidies, {number}")))  # type: ignore[misc]
        except Exception as error:
            failed += 1
            say(f"capture failed: {error}")
        time.sleep(0.2)
    figures = {
        "count": len(took),
        "p50": median(took),
        "p95": p95(took),
        "longest": max(took, default=0.0),
        "failed": failed + (run.returncode != 0),
    }
    return time.perf_counter() - started, figures


if __name__ == "__main__":
    main()
