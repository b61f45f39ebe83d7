"""Recall in a warm process, by number of cards, stage by stage, beside a plain LanceDB query over the same tables."""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from alaya_core import words
from alaya_core.memory import Memory
from alaya_core.models.requests import Filters, RecallOptions
from alaya_core.services.card_views import Now
from alaya_core.services.recall.legs import search_cards
from alaya_core.services.recall.passage_leg import search_passages
from tests.benchmarks.homes import TOPICS, TopicEmbedding, Writer, add_passages, fill, new_home, workspace_of
from tests.benchmarks.support import clocked, keep, median, p95, parser, say, seconds, table, times_ms, workplace

SIZES = (1_000, 10_000, 25_000)
LARGE = 100_000
_LIMIT = 60


def main() -> None:
    """Runs it."""
    args = _arguments()
    sizes = args.sizes or [*SIZES, *([LARGE] if args.large else [])]
    results = []
    for count in sizes:
        with workplace(args.work) as folder:
            results.append(_one_size(folder / "home", count, args))
    heads = ("cards", "passages", "p50 ms", "p95", "best", "CPU ms", "plain p50 ms", "ratio", "hits", "build s")
    table(
        "recall, warm, the query's vector known",
        heads,
        [
            (
                r["cards"],
                r["passages"],
                r["recall_ms"]["p50"],
                r["recall_ms"]["p95"],
                r["recall_ms"]["best"],
                r["recall_ms"]["cpu"],
                r["plain_ms"]["p50"],
                r["recall_ms"]["p50"] / r["plain_ms"]["p50"],
                r["hits"],
                r["build_s"],
            )
            for r in results
        ],
    )
    names = list(results[0]["stages_ms"])
    table(
        "stages, p50 ms",
        ("stage", *(f"{r['cards']:,}" for r in results)),
        [(name, *(r["stages_ms"][name] for r in results)) for name in names],
    )
    keep(args.out, {"recall": results})


def _arguments() -> argparse.Namespace:
    made = parser("bench_recall", __doc__ or "")
    made.add_argument("--sizes", type=int, nargs="+", help=f"numbers of cards (default: {SIZES})")
    made.add_argument("--large", action="store_true", help=f"also {LARGE:,} cards")
    made.add_argument("--passages", type=int, default=None, help="passages beside the cards (default: four a card)")
    made.add_argument("--queries", type=int, default=60, help="queries of each kind")
    made.add_argument("--home", type=Path, default=None, help="keep the home here and use it again next time")
    return made.parse_args()


def _one_size(path: Path, count: int, args: argparse.Namespace) -> dict[str, Any]:
    passages = count * 4 if args.passages is None else args.passages
    path = args.home / str(count) if args.home else path
    say(f"{count:,} cards, {passages:,} passages ...")
    known = (path / "config.json").exists()
    memory = new_home(path)
    writer = Writer()

    def build() -> None:
        if not known:
            _, embedding = fill(memory, count, 2 * count, writer)
            add_passages(memory, passages, writer, embedding)

    built = seconds(build)
    embedding = TopicEmbedding(workspace_of(memory).embedder)
    queries = _queries(memory, embedding, args.queries)
    found: list[int] = []

    def ask(number: int) -> None:
        answer = memory.recall(queries[number % len(queries)])
        found.append(len(answer.results))
        assert not answer.degraded, answer.degraded

    times_ms(ask, 0, warm=5)
    whole: list[float] = []
    _, cpu_s = clocked(lambda: whole.extend(times_ms(ask, args.queries, warm=0)))
    stages = {name: median(times_ms(work, args.queries, warm=3)) for name, work in _stages(memory, queries).items()}
    plain = times_ms(_plain(memory, queries), args.queries, warm=3)
    memory.close()
    return {
        "cards": count,
        "passages": passages,
        "build_s": built,
        "hits": median(found),
        "recall_ms": {"p50": median(whole), "p95": p95(whole), "best": min(whole), "cpu": 1000 * cpu_s / len(whole)},
        "plain_ms": {"p50": median(plain), "p95": p95(plain)},
        "stages_ms": stages,
    }


def _queries(memory: Memory, embedding: TopicEmbedding, count: int) -> list[str]:
    draw, writer = random.Random(23), Writer(29)
    made = []
    for _ in range(min(count, 200)):  # no more than the embedder remembers
        topic = draw.randrange(TOPICS)
        query = writer.query(topic)
        embedding.know_query(query, topic)
        made.append(query)
    return made


def _stages(memory: Memory, queries: list[str]) -> dict[str, Callable[[int], object]]:
    work = workspace_of(memory)
    store, options, anything = work.vectors, RecallOptions(), Filters()
    now = Now(work.clock(), work.config, work.vitals.all())
    ids = [[hit.card_id for hit in memory.recall(query).results] for query in queries]
    near = [[card for card, _ in store.matrix().nearest(work.embedder.query(query), _LIMIT)] for query in queries]

    def at(number: int) -> str:
        return queries[number % len(queries)]

    def neighbours(number: int) -> object:
        with work.graph.reading() as reader:
            return reader.neighbours(ids[number % len(ids)])

    def opening(number: int) -> object:
        with work.graph.reading() as reader:
            return reader

    return {
        "cards: both legs": lambda n: search_cards(work, at(n), options, now),
        "  words: match": lambda n: store.match_cards(words.match_query(at(n)), anything, None, _LIMIT),
        "  words: match, ids only": lambda n: store.cards.match(
            words.match_query(at(n)), "state IN ('active', 'superseded')", ["id"], _LIMIT
        ),
        "  vectors: matrix": lambda n: store.matrix().nearest(work.embedder.query(at(n)), _LIMIT),
        "  vectors: rows by id": lambda n: store.card_rows(near[n % len(near)]),
        "passages leg": lambda n: search_passages(work, at(n), options, 10),
        "graph: open": opening,
        "graph: open + neighbours": neighbours,
        "what the ledger holds": lambda _: work.ledger.last_seq(),
        "with --agent (scopes)": lambda n: store.allowed(anything, ["global", "agent:main"]),
    }


def _plain(memory: Memory, queries: list[str]) -> Callable[[int], object]:
    """What somebody would write without Alaya: a vector query and a words query on one LanceDB table."""
    import lancedb.query

    work = workspace_of(memory)
    make_match: Any = lancedb.query.MatchQuery
    opened: Any = lancedb.connect(str(work.vectors.path)).open_table("cards")

    def ask(number: int) -> object:
        query = queries[number % len(queries)]
        by_vector = opened.search(work.embedder.query(query), query_type="vector", vector_column_name="vector")
        near = by_vector.distance_type("cosine").limit(_LIMIT).select(["id", "content", "_distance"]).to_list()
        match = make_match(words.match_query(query), "words")
        return near, opened.search(match, query_type="fts").limit(_LIMIT).select(["id", "content", "_score"]).to_list()

    return ask


if __name__ == "__main__":
    main()
