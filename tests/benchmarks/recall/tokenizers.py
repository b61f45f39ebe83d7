"""The words of the index, cut by our own analyser and by the index's tokenizer: what each finds, on the same tables."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lancedb
import lancedb.query
import pyarrow as pa
from lancedb.index import FTS

from alaya_core import words
from tests.benchmarks.recall.model import Experiment
from tests.benchmarks.recall.score import mean
from tests.benchmarks.recall.sets import cmrc, locomo_turns, memorybank
from tests.benchmarks.support import say, table, workplace

_WAYS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "ours": (words.normalise, words.match_query, dict(words.INDEX_SETTINGS)),
    "icu/split, stemmed": (
        words.folded,
        words.folded,
        {**words.INDEX_SETTINGS, "stem": True, "ascii_folding": True},
    ),
}
"""How a text is indexed, how a query is asked, and the settings of the index."""


def main(data: Path) -> None:
    """Runs it."""
    with workplace(None) as folder:
        experiments = [*cmrc.experiments(data), *locomo_turns.experiments(data)[:1], *memorybank.experiments(data)]
        for experiment in experiments:
            heads = ("way", *experiment.measures)
            table(
                f"{experiment.name}: words alone, {len(experiment.questions):,} questions",
                heads,
                [(way, *_figures(experiment, way, folder)) for way in _WAYS],
            )


def _figures(experiment: Experiment, way: str, folder: Path) -> Sequence[str]:
    index, ask, settings = _WAYS[way]
    documents = experiment.recipe.documents()
    rows = [{"id": key, "scope": document.scope, "words": index(document.text)} for key, document in documents.items()]
    connection = lancedb.connect(str(folder / f"{experiment.name}-{way[:4]}"))
    made = connection.create_table("t", pa.Table.from_pylist(rows))
    made.create_index("words", config=FTS(**settings))
    opened: Any = made
    make: Any = lancedb.query.MatchQuery
    came: dict[str, list[str]] = {}
    for question in experiment.questions:
        asked = ask(question.text)
        query = opened.search(make(asked, "words"), query_type="fts") if asked.strip() else None
        if query is not None and question.scope:
            query = query.where("scope = '" + question.scope.replace("'", "''") + "'")
        came[question.id] = [row["id"] for row in query.limit(10).select(["id", "_score"]).to_list()] if query else []
    return [
        f"{mean([measure(came[one.id], one.gold) for one in experiment.questions]):.3f}"
        for measure in experiment.measures.values()
    ]


if __name__ == "__main__":
    parsed = argparse.ArgumentParser(prog="python -m tests.benchmarks.recall.tokenizers", description=__doc__)
    parsed.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    arguments = parsed.parse_args()
    if arguments.data.exists():
        main(arguments.data)
    else:
        say(f"skipped: there is no {arguments.data}")
