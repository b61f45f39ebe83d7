"""All benchmarks, one after another, each as a process of its own: `python -m tests.benchmarks`."""

from __future__ import annotations

import subprocess
import sys

NAMES = (
    "bench_embed",
    "bench_stores",
    "bench_ingest",
    "bench_cold",
    "bench_recall",
    "bench_growth",
    "recall",
    "bench_tidy",
    "lifecycle",
)


def main() -> int:
    """Runs them; arguments go to each. The worst exit status of all."""
    statuses = []
    for name in NAMES:
        print(f"\n== {name}", flush=True)  # noqa: T201
        statuses.append(subprocess.call([sys.executable, "-m", f"tests.benchmarks.{name}", *sys.argv[1:]]))
    return max(statuses)


if __name__ == "__main__":
    sys.exit(main())
