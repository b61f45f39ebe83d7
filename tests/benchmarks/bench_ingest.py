"""Ingest of one large OpenClaw log: lines and megabytes a second, and the most memory the process held.

The log is mostly what tools printed, some messages between, and one line of 15 MB; it is written first and deleted
afterwards. The work is done in a process of its own, so that its memory is its own.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.homes import Writer, new_home, workspace_of
from tests.benchmarks.support import folder_mb, keep, parser, peak_mb, say, seconds, table, workplace

_GIANT_LINE = 15_000_000
_POOL = 400


def main() -> None:
    """Runs it."""
    args = _arguments()
    if args.measure:
        say(json.dumps(_measure(args.measure, args.measure.parent / "home", args.index)))
        return
    rows = []
    for size in args.sizes:
        with workplace(args.work) as folder:
            log = folder / "session.jsonl"
            say(f"writing a log of {size} MB ...")
            lines = write_log(log, size * 1_000_000)
            for index in (False, True) if args.index else (False,):
                command = [sys.executable, "-m", "tests.benchmarks.bench_ingest", "--measure", str(log)]
                done = subprocess.run([*command, *(["--index"] if index else [])], capture_output=True, text=True)
                if done.returncode:
                    raise SystemExit(done.stderr)
                rows.append({"mb": size, "lines": lines, "index": index, **json.loads(done.stdout.splitlines()[-1])})
                say(f"  {rows[-1]}")
    heads = (
        "MB",
        "lines",
        "passages too",
        "seconds",
        "lines/s",
        "MB/s",
        "peak MB",
        "of it imports",
        "home MB",
        "turns",
    )
    table(
        "ingest",
        heads,
        [
            (
                row["mb"],
                row["lines"],
                "yes" if row["index"] else "no",
                row["seconds"],
                row["lines"] / row["seconds"],
                row["mb"] / row["seconds"],
                row["peak_mb"],
                row["imports_mb"],
                row["home_mb"],
                row["turns"],
            )
            for row in rows
        ],
    )
    keep(args.out, {"ingest": rows})


def _arguments() -> argparse.Namespace:
    made = parser("bench_ingest", __doc__ or "")
    made.add_argument("--sizes", type=int, nargs="+", default=[50, 500], help="MB of the logs (default: 50 500)")
    made.add_argument("--index", action="store_true", help="measure the indexing of passages too")
    made.add_argument("--measure", type=Path, default=None, help=argparse.SUPPRESS)
    return made.parse_args()


def write_log(path: Path, size: int, giant: int = _GIANT_LINE) -> int:
    """Writes a transcript of about `size` bytes and says how many lines it has."""
    draw, writer = random.Random(31), Writer(37)
    said = [writer.text(draw.randrange(200), draw.randint(1, 6)) for _ in range(_POOL)]
    printed = [_tool_output(draw, writer) for _ in range(_POOL)]
    written = lines = 0
    parent: str | None = None
    with path.open("w", encoding="utf-8") as file:
        head = {"type": "session", "version": 3, "id": "bench", "timestamp": _when(0), "cwd": "/work"}
        written += file.write(json.dumps(head) + "\n")
        while written < size:
            role = draw.choices(("user", "assistant", "toolResult"), (1, 2, 5))[0]
            text = f"{lines} " + draw.choice(printed if role == "toolResult" else said)
            if giant and lines == 200 and size > 2 * giant:
                role, text = "toolResult", (printed[0] * (giant // len(printed[0]) + 1))[:giant]
            entry = _entry(lines, parent, role, text)
            parent = entry["id"]
            written += file.write(json.dumps(entry, ensure_ascii=False) + "\n")
            lines += 1
    return lines + 1


def _entry(number: int, parent: str | None, role: str, text: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": role, "content": [{"type": "text", "text": text}]}
    if role == "toolResult":
        message |= {"toolCallId": f"call_{number}", "toolName": "exec", "isError": False}
    elif role == "assistant":
        message["content"].append(
            {"type": "toolCall", "id": f"call_{number + 1}", "name": "exec", "arguments": {"command": "ls -la"}}
        )
        message |= {"model": "some-model", "usage": {"input": 1_200, "output": 80}, "stopReason": "toolUse"}
    return {
        "type": "message",
        "id": f"{number:08x}",
        "parentId": parent,
        "timestamp": _when(number),
        "message": message,
    }


def _tool_output(draw: random.Random, writer: Writer) -> str:
    """A build's output, a listing, a page of code or JSON: a few hundred bytes to some ten thousand."""
    lines = []
    for _ in range(draw.choice((5, 20, 60, 200))):
        kind = draw.randrange(4)
        if kind == 0:
            lines.append(
                f"2026-03-{draw.randint(1, 28):02d}T12:00:00.123Z INFO GET /api/{draw.randrange(9999)} 200 31ms"
            )
        elif kind == 1:
            lines.append(f"-rw-r--r-- 1 root root {draw.randrange(99999):6d} src/{draw.choice(writer.words)}/mod.py")
        elif kind == 2:
            lines.append(f'    "id": "{draw.getrandbits(64):016x}", "name": "{draw.choice(writer.words)}",')
        else:
            lines.append(f"    def {draw.choice(writer.words)}(self, value: int) -> str: return self._x[value]")
    return "\n".join(lines)


def _when(number: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(1_770_000_000 + number))


def _measure(log: Path, home: Path, index: bool) -> dict[str, Any]:
    from alaya_core.services.index import sync
    from alaya_core.services.ingest import ingest

    memory = new_home(home if not index else home.with_name("home-index"))
    work = workspace_of(memory)
    before = peak_mb()
    answer: list[Any] = []

    def run() -> None:
        from alaya_core.progress import silent

        answer.append(ingest(work, [log], format=None, stdin=None, progress=silent, cancel=None))
        if index:
            sync(work, patient=True)

    took = seconds(run)
    found = answer[0].sessions[0]
    assert found.status == "new", found
    return {
        "seconds": took,
        "peak_mb": peak_mb(),
        "imports_mb": before,
        "home_mb": folder_mb(memory.home),
        "turns": found.turns,
        "skipped": found.skipped_count,
    }


if __name__ == "__main__":
    main()
