"""The stores by themselves: new cards in bulk, opening, sizes, one change by hand, and a rebuild."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from alaya_core.memory import Memory
from alaya_core.models.card import Card
from alaya_core.models.commit import Event, card_created, link_created
from alaya_core.services.index import sync
from alaya_core.services.workspace import Workspace
from tests.benchmarks.homes import TopicEmbedding, Writer, append_all, cards, links, new_home, workspace_of
from tests.benchmarks.support import (
    clocked,
    folder_mb,
    keep,
    median,
    p95,
    parser,
    say,
    seconds,
    table,
    times_ms,
    workplace,
)


def main() -> None:
    """Runs it."""
    args = _arguments()
    results = []
    for count in args.sizes:
        with workplace(args.work) as folder:
            say(f"{count:,} cards, {2 * count:,} links ...")
            results.append(_one_size(folder / "home", count, args.repeats))
    counts = [f"{result['cards']:,}" for result in results]
    for title, key in (("bulk, a second", "bulk_per_s"), ("sizes, MB", "sizes_mb"), ("seconds", "seconds")):
        names = list(results[0][key])
        table(title, ("", *counts), [(name, *(result[key][name] for result in results)) for name in names])
    names = list(results[0]["ms"])
    table(
        "one call in a warm process, ms p50 (p95)",
        ("", *counts),
        [(name, *(f"{r['ms'][name]['p50']:.1f} ({r['ms'][name]['p95']:.0f})" for r in results)) for name in names],
    )
    keep(args.out, {"stores": results})


def _arguments() -> argparse.Namespace:
    made = parser("bench_stores", __doc__ or "")
    made.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000], help="numbers of cards")
    made.add_argument("--repeats", type=int, default=10, help="calls of what is measured singly")
    return made.parse_args()


def _one_size(path: Path, count: int, repeats: int) -> dict[str, Any]:
    memory = new_home(path)
    work = workspace_of(memory)
    bulk = _bulk(work, count)
    sizes = {
        "ledger": folder_mb(work.home.ledger),
        "graph": folder_mb(work.home.graphs),
        "vectors": folder_mb(work.home.vectors),
    }
    whole = seconds(lambda: memory.rebuild("all"))
    halves = {what: seconds(lambda what=what: memory.rebuild(what)) for what in ("l2", "l1")}  # type: ignore[misc]
    with work.graph.reading() as reader:
        ids = list(reader.card_seqs())
    after = {
        f"{name} after a rebuild": folder_mb(where)
        for name, where in (("graph", work.home.graphs), ("vectors", work.home.vectors))
    }
    calls = {name: times_ms(call, repeats, warm=1) for name, call in _calls(memory, path, ids).items()}
    memory.close()
    return {
        "cards": count,
        "bulk_per_s": bulk,
        "sizes_mb": {**sizes, **after},
        "seconds": {"rebuild all": whole, "rebuild l2": halves["l2"], "rebuild l1": halves["l1"]},
        "ms": {name: {"p50": median(values), "p95": p95(values)} for name, values in calls.items()},
    }


def _bulk(work: Workspace, count: int) -> dict[str, float]:
    """Cards and links into each store by itself, the vectors known; and cards through all three."""
    now = work.clock()
    made = list(cards(count, Writer(), now))
    embedding = TopicEmbedding(work.embedder)
    embedding.know([card.text_to_embed() for card, _ in made], [topic for _, topic in made])
    ids = [card.id for card, _ in made]
    joined = list(links(ids, 2 * count, now))

    def graph() -> None:
        with work.locks.writing("benchmark"):
            work.graph.catch_up()

    _import_engines()
    steps: dict[str, tuple[int, Callable[[], object]]] = {
        "cards: ledger": (count, lambda: append_all(work, _created([card for card, _ in made]))),
        "cards: graph": (count, graph),
        "cards: vectors and words": (count, lambda: sync(work, patient=True)),
        "links: ledger": (len(joined), lambda: append_all(work, (link_created(link) for link in joined))),
        "links: graph": (len(joined), graph),
    }
    took = {name: (number, *clocked(step)) for name, (number, step) in steps.items()}
    cards_s, cards_cpu = (sum(took[name][at] for name in took if name.startswith("cards")) for at in (1, 2))
    took["cards: all stores"] = (count, cards_s, cards_cpu)
    rates = {name: number / wall for name, (number, wall, _) in took.items()}
    return rates | {f"{name} (a CPU second)": number / cpu for name, (number, _, cpu) in took.items()}


def _import_engines() -> None:
    """What a process pays for once is not part of a store's speed."""
    import kuzu
    import lancedb.index
    import lancedb.query

    del kuzu, lancedb


def _created(made: list[Card]) -> Iterator[Event]:
    for card in made:
        yield card_created(card)


def _calls(memory: Memory, path: Path, ids: list[str]) -> dict[str, Callable[[int], object]]:
    """What one person or script does once. `opened` ones pay for opening the home as a new process would."""
    work = workspace_of(memory)

    def graph_open(_: int) -> object:
        with work.graph.reading() as reader:
            return reader.mark()

    def ledger_open(_: int) -> object:
        fresh = workspace_of(new_home(path))
        return fresh.ledger.last_seq()

    def vectors_open(_: int) -> object:
        fresh = workspace_of(new_home(path))
        return fresh.vectors.cards.count(), fresh.vectors.matrix()

    def home_open(_: int) -> object:
        fresh = workspace_of(new_home(path))
        with fresh.graph.reading() as reader:
            return fresh.ledger.last_seq(), reader.mark(), fresh.vectors.cards.count(), fresh.vectors.matrix()

    def capture_opened(number: int) -> object:
        return new_home(path).capture(f"A new process keeps fact {number} of the opened home.")

    return {
        "open: ledger": ledger_open,
        "open: graph": graph_open,
        "open: vectors and matrix": vectors_open,
        "open: the whole home": home_open,
        "capture, opened first": capture_opened,
        "capture": lambda n: memory.capture(f"Fact number {n} is kept by hand, at once."),
        "link": lambda n: memory.link(ids[n], ids[-1 - n], reason="they belong together"),
        "show": lambda n: memory.show(ids[n]),
        "list, a page": lambda n: memory.list_cards(offset=50 * n),
        "status": lambda _: memory.status(),
    }


if __name__ == "__main__":
    main()
