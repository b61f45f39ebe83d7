"""LoCoMo, sessions: does the session that answers come, each ranked by its best passage?"""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.recall.model import Experiment, Question
from tests.benchmarks.recall.published import figures
from tests.benchmarks.recall.score import all_at, at, hit_at, recall_at, reciprocal_rank
from tests.benchmarks.recall.sets import locomo


def experiments(data: Path) -> list[Experiment]:
    """All questions, the unanswerable ones too: their sessions are named all the same."""
    chosen = locomo.conversations(data)
    return [
        Experiment(
            name="locomo-sessions",
            about="LoCoMo, all questions with an evidence session, sessions in the order of their first of 60 passages",
            tuned=locomo.TUNED,
            recipe=locomo.recipe(chosen),
            questions=tuple(
                Question(asked.id, asked.text, asked.sessions, c.scope, c.part, locomo.CATEGORIES[asked.category])
                for c in chosen
                for asked in c.questions
                if asked.sessions
            ),
            within="passages",
            limit=60,
            unit=locomo.session_of,
            measures={
                "any@5": at(hit_at, 5),
                "recall@10": at(recall_at, 10),
                "all of them in the first 10": at(all_at, 10),
                "MRR (first gold in the top 10)": at(reciprocal_rank, 10),
            },
            fails="any@5",
            published=figures("locomo-sessions"),
        )
    ]
