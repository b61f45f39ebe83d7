"""LoCoMo, turns: does the turn that answers come?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.benchmarks.recall.model import Experiment, Question
from tests.benchmarks.recall.published import figures
from tests.benchmarks.recall.score import at, hit_at, recall_at, reciprocal_rank
from tests.benchmarks.recall.sets import locomo

MEASURES = {
    "evidence recall@10": at(recall_at, 10),
    "hit@10": at(hit_at, 10),
    "MRR (first gold in the top 10)": at(reciprocal_rank, 10),
}


def experiments(data: Path) -> list[Experiment]:
    """Within the conversation a question is about, and over all ten at once."""
    chosen = locomo.conversations(data)
    within = experiment(chosen)
    everywhere = replace(
        within,
        name="locomo-turns, all conversations at once",
        about="the same questions, asked of all ten conversations without a scope",
        questions=tuple(replace(question, scope="") for question in within.questions),
        published=figures("locomo-turns, all conversations at once"),
    )
    return [within, everywhere]


def experiment(chosen: Sequence[locomo.Conversation]) -> Experiment:
    """The questions of some conversations, each asked within its own."""
    return Experiment(
        name="locomo-turns",
        about="LoCoMo, questions of categories 1-4 with an evidence turn, asked within their conversation",
        tuned=locomo.TUNED,
        recipe=locomo.recipe(chosen),
        questions=tuple(
            Question(asked.id, asked.text, asked.turns, c.scope, c.part, locomo.CATEGORIES[asked.category])
            for c in chosen
            for asked in c.questions
            if asked.turns and asked.category != 5
        ),
        within="passages",
        limit=10,
        measures=MEASURES,
        fails="hit@10",
        published=figures("locomo-turns"),
    )
