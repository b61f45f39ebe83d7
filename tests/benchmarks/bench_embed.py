"""The default embedder: texts a second in bulk, by length and language, what a query costs, and its first use."""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from typing import Any

from alaya_core.services.background_texts import CHINESE, ENGLISH
from tests.benchmarks.support import keep, median, p95, parser, peak_mb, say, seconds, table, times_ms


def main() -> None:
    """Runs it."""
    args = _arguments()
    from alaya_core.providers.bundled import BundledProvider

    provider = BundledProvider()
    load = seconds(provider.warm_up)
    say(f"loaded in {load:.2f} s")
    kinds = {
        "English, a sentence": _texts(ENGLISH, args.texts, 1),
        "English, a card of 3": _texts(ENGLISH, args.texts, 3),
        "Chinese, a sentence": _texts(CHINESE, args.texts, 1),
        "Chinese, a card of 3": _texts(CHINESE, args.texts, 3),
        "English, long (40)": _texts(ENGLISH, max(8, args.texts // 16), 40),
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
    queries = _texts(ENGLISH[:6] + CHINESE[:6], 40, 1)
    single = times_ms(lambda n: provider.embed_query(queries[n % 40]), 40, warm=3)
    table(
        "embedding",
        ("texts", "count", "characters", "texts/s", "texts a CPU second"),
        [(r["texts"], r["count"], r["characters"], r["per_s"], r["count"] / r["cpu_s"]) for r in rows],
    )
    table("one query", ("p50 ms", "p95 ms", "load s", "peak MB"), [(median(single), p95(single), load, peak_mb())])
    keep(args.out, {"load_s": load, "bulk": rows, "query_ms": {"p50": median(single), "p95": p95(single)}})


def _texts(sentences: Sequence[str], count: int, each: int) -> list[str]:
    """Different texts of real sentences: invented words fall into many more pieces."""
    draw = random.Random(each)
    return [f"{number}. " + " ".join(draw.choices(sentences, k=each)) for number in range(count)]


def _arguments() -> argparse.Namespace:
    made = parser("bench_embed", __doc__ or "")
    made.add_argument("--texts", type=int, default=512, help="texts of each kind (default: 512)")
    return made.parse_args()


if __name__ == "__main__":
    main()
