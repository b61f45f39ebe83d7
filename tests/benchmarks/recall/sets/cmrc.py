"""CMRC 2018: Chinese passages as cards, and questions that one of them answers."""

from __future__ import annotations

import json
from pathlib import Path

from tests.benchmarks.recall.model import CardText, Experiment, Question, Recipe
from tests.benchmarks.recall.published import figures
from tests.benchmarks.recall.score import at, hit_at, reciprocal_rank

FILE = Path("cmrc2018") / "data_cmrc2018_trial.json"


def experiments(data: Path) -> list[Experiment]:
    """All of the trial part.

    Raises:
        FileNotFoundError: The file is not there.
    """
    contexts = json.loads((data / FILE).read_text(encoding="utf-8"))
    return [
        Experiment(
            name="cmrc",
            about="CMRC 2018 (trial), Chinese passages as cards, Chinese questions",
            tuned="not used for tuning",
            recipe=Recipe("cmrc", cards=tuple(CardText(c["context_id"], c["context_text"]) for c in contexts)),
            questions=tuple(
                Question(asked["query_id"], asked["query_text"], frozenset({context["context_id"]}))
                for context in contexts
                for asked in context["qas"]
            ),
            within="cards",
            limit=10,
            measures={
                "hit@1": at(hit_at, 1),
                "hit@5": at(hit_at, 5),
                "MRR (gold in the top 10)": at(reciprocal_rank, 10),
            },
            fails="hit@5",
            published=figures("cmrc"),
        )
    ]
