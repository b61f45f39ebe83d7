"""LoCoMo, observations: sentences about the speakers as cards; does one come that was drawn from the evidence?"""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.recall.model import CardText, Experiment, Question, Recipe
from tests.benchmarks.recall.published import figures
from tests.benchmarks.recall.score import at, hit_at, reciprocal_rank
from tests.benchmarks.recall.sets import locomo


def experiments(data: Path) -> list[Experiment]:
    """Questions (of all categories) for which there is such a card."""
    cards: list[CardText] = []
    questions: list[Question] = []
    for c in locomo.conversations(data):
        name = c.scope.removeprefix("agent:")
        sources = {f"{name}/observation-{place}": said for place, said in enumerate(c.observations)}
        cards.extend(CardText(identifier, said.text, scope=c.scope) for identifier, said in sources.items())
        for asked in c.questions:
            gold = frozenset(identifier for identifier, said in sources.items() if said.turns & asked.turns)
            if gold:
                group = locomo.CATEGORIES[asked.category]
                questions.append(Question(asked.id, asked.text, gold, c.scope, c.part, group))
    return [
        Experiment(
            name="locomo-observations",
            about="LoCoMo, observations as cards, questions with a card from an evidence turn, in their conversation",
            tuned=locomo.TUNED,
            recipe=Recipe("locomo-observations", cards=tuple(cards)),
            questions=tuple(questions),
            within="cards",
            limit=10,
            measures={"hit@5": at(hit_at, 5), "MRR (first gold in the top 10)": at(reciprocal_rank, 10)},
            fails="hit@5",
            published=figures("locomo-observations"),
        )
    ]
