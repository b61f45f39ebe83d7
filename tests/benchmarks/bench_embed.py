"""The default embedder: texts a second in bulk, by length and language, what a query costs, and its first use."""

from __future__ import annotations

import argparse
import time
from typing import Any

from tests.benchmarks.homes import Writer
from tests.benchmarks.support import keep, median, p95, parser, peak_mb, say, seconds, table, times_ms


def main() -> None:
    """Runs it."""
    args = _arguments()
    from alaya_core.providers.bundled import BundledProvider

    provider = BundledProvider()
    load = seconds(provider.warm_up)
    say(f"loaded in {load:.2f} s")
    writer = Writer()
    kinds = {
        "English, 1 sentence": [writer.text(4 * n, 1) for n in range(40)],
        "English, a card (4)": [writer.text(4 * n % 200, 4) for n in range(args.texts)],
        "Chinese, a card (4)": [writer.text((4 * n + 3) % 200, 4) for n in range(args.texts)],
        "English, long (40)": [writer.text(4 * n % 200, 40) for n in range(max(8, args.texts // 16))],
    }
    rows: list[dict[str, Any]] = []
    for name, texts in kinds.items():
        cpu = time.process_time()
        took = seconds(lambda texts=texts: provider.embed_passages(texts))  # type: ignore[misc]
        cpu = time.process_time() - cpu
        letters = sum(map(len, texts)) / len(texts)
        rows.append(
            {"texts": name, "count": len(texts), "characters": letters, "per_s": len(texts) / took, "cpu_s": cpu}
        )
    queries = [writer.query(n) for n in range(40)]
    single = times_ms(lambda n: provider.embed_query(queries[n % 40]), 40, warm=3)
    table(
        "embedding",
        ("texts", "count", "characters", "texts/s", "CPU s"),
        [(r["texts"], r["count"], r["characters"], r["per_s"], r["cpu_s"]) for r in rows],
    )
    table("one query", ("p50 ms", "p95 ms", "load s", "peak MB"), [(median(single), p95(single), load, peak_mb())])
    keep(args.out, {"load_s": load, "bulk": rows, "query_ms": {"p50": median(single), "p95": p95(single)}})


def _arguments() -> argparse.Namespace:
    made = parser("bench_embed", __doc__ or "")
    made.add_argument("--texts", type=int, default=512, help="texts of each kind (default: 512)")
    return made.parse_args()


if __name__ == "__main__":
    main()
