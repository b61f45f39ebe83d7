"""Operations: cards of a team that runs servers, and questions in other words, half of them in the other language."""

from __future__ import annotations

import json
from pathlib import Path

from tests.benchmarks.recall.model import CardText, Experiment, Question, Recipe
from tests.benchmarks.recall.published import figures
from tests.benchmarks.recall.score import at, hit_at, reciprocal_rank

FILE = Path(__file__).parents[1] / "data" / "operations.json"


def experiments(data: Path | None = None) -> list[Experiment]:
    """All questions; needs no data from outside."""
    held = json.loads(FILE.read_text(encoding="utf-8"))
    languages = {card["id"]: card["language"] for card in held["cards"]}
    return [
        Experiment(
            name=name,
            about=about,
            tuned="not used for tuning",
            recipe=Recipe(
                "operations",
                cards=tuple(CardText(c["id"], c["content"], c["title"], c["type"]) for c in held["cards"]),
            ),
            questions=tuple(
                Question(
                    asked["id"],
                    asked["query"],
                    frozenset(asked["gold"]),
                    group=f"{asked['language']} -> {languages[asked['gold'][0]]}",
                    part="across languages" if asked["across"] else "in one language",
                )
                for asked in held[key]
            ),
            within="cards",
            limit=10,
            measures={"hit@5": at(hit_at, 5), "MRR (first gold in the top 10)": at(reciprocal_rank, 10)},
            fails="hit@5",
            published=figures("operations"),
        )
        for name, key, about in (
            (
                "operations",
                "usual_queries",
                "cards of an operations team, asked as a colleague would, in either language",
            ),
            ("operations-hard", "queries", "the same cards, asked without one word that they have"),
        )
    ]
