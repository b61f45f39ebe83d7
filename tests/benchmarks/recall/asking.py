"""Asking an experiment's questions of its home, under one choice of stages, and what comes of it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from alaya_core.memory import Memory
from alaya_core.models.answers import RecallAnswer
from tests.benchmarks.recall.homes import Built
from tests.benchmarks.recall.model import Experiment, Question, turn_id
from tests.benchmarks.recall.score import first_place, mean
from tests.benchmarks.support import median

_CONTEXT = ("surroundings", "turn", "length")
VARIANTS: Mapping[str, tuple[str, ...]] = {
    "ours": (),
    "words alone": ("vectors", *_CONTEXT),
    "vectors alone": ("words", *_CONTEXT),
}
"""What is switched off in each; nothing named = what is off by default. A leg alone is the leg by itself: the words, or
the vector, of the very card or turn."""

Scores = dict[str, dict[str, float | None]]
"""By part (or kind) of the questions, then by measure."""


@dataclass(frozen=True, slots=True)
class Found:
    """Something that came.

    Attributes:
        id: Of the unit that is ranked; document: of the turn or card.
    """

    id: str
    document: str
    text: str
    score: float
    why: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """All questions, asked.

    Attributes:
        found: By question, each unit once, best first.
        degraded: What did not answer, and how often.
        coverage: How many passages the home has, and how many of them have vectors.
    """

    found: Mapping[str, Sequence[Found]]
    degraded: Mapping[str, int]
    median_ms: float
    coverage: Mapping[str, int]

    def answers(self) -> dict[str, list[str]]:
        """The units that came, by question."""
        return {question: [found.id for found in came] for question, came in self.found.items()}

    def ids(self, question: Question) -> list[str]:
        """The units that came."""
        return [found.id for found in self.found[question.id]]


def ask(
    experiment: Experiment,
    built: Built,
    settings: Mapping[str, Any],
    off: Sequence[str] = (),
    questions: Sequence[Question] | None = None,
) -> Asked:
    """Asks all questions, or some."""
    found: dict[str, Sequence[Found]] = {}
    degraded: Counter[str] = Counter()
    took: list[float] = []
    with built.open(settings, off) as memory:
        memory.warm_up()
        held = coverage(memory)
        for question in experiment.questions if questions is None else questions:
            answer = memory.recall(question.text, experiment.options(question))
            first: dict[str, Found] = {}
            for came in found_in(answer, built.cards, experiment.unit):
                first.setdefault(came.id, came)
            found[question.id] = tuple(first.values())
            degraded.update(answer.degraded)
            took.append(answer.took_ms)
    return Asked(found, dict(degraded), median(took), held)


def coverage(memory: Memory) -> dict[str, int]:
    """How much of a home can be found by its meaning: without vectors all variants are words alone."""
    layer = memory.status().vectors
    return {"passages": layer.passages, "with_vectors": getattr(layer, "passage_vectors", 0)}


def found_in(
    answer: RecallAnswer, cards: Mapping[str, str], unit: Callable[[str], str] = lambda document: document
) -> list[Found]:
    """What an answer holds, cards first."""
    found = [
        Found(unit(cards[hit.card_id]), cards[hit.card_id], hit.content, hit.score, hit.why) for hit in answer.results
    ]
    for passage in answer.passages:
        document = turn_id(passage.session_id, passage.turn)
        found.append(Found(unit(document), document, passage.text, passage.score, passage.why))
    return found


def some(questions: Sequence[Question], count: int | None, seed: int = 41) -> Sequence[Question]:
    """A fixed draw of questions in their order; all of them if no number is given."""
    if count is None or count >= len(questions):
        return questions
    chosen = sorted(random.Random(seed).sample(range(len(questions)), count))
    return [questions[place] for place in chosen]


def scores(
    experiment: Experiment,
    questions: Iterable[Question],
    ranked: Callable[[Question], Sequence[str]],
    by: Callable[[Question], str] = lambda question: question.part,
) -> Scores:
    """The mean of every measure, by part, and over all if there is more than one part."""
    kept = [(question, ranked(question)) for question in questions]
    parts = sorted({by(question) for question, _ in kept})
    whole: Scores = {}
    for part in [*parts, *(["all"] if len(parts) > 1 else [])]:
        inside = [(question, ids) for question, ids in kept if part in ("all", by(question))]
        whole[part] = {
            name: mean(measure(ids, question.gold) for question, ids in inside)
            for name, measure in experiment.measures.items()
        }
    return whole


def failures(
    experiment: Experiment, questions: Iterable[Question], asked: Mapping[str, Asked], texts: Mapping[str, str]
) -> list[dict[str, Any]]:
    """The questions that failed as recall stands, with what should have come and what came instead."""
    ours, judge = asked["ours"], experiment.measures[experiment.fails]
    return [
        {
            "id": question.id,
            "part": question.part,
            "group": question.group,
            "question": question.text,
            "gold": [{"id": gold, "text": texts.get(gold, "")} for gold in sorted(question.gold)],
            "came": [shown(found) for found in ours.found[question.id][:10]],
            "first_gold_at": {name: first_place(one.ids(question), question.gold) for name, one in asked.items()},
        }
        for question in questions
        if not judge(ours.ids(question), question.gold)
    ]


def shown(found: Found) -> dict[str, Any]:
    """Something that came, for the JSON."""
    return {"id": found.document, "score": found.score, "text": found.text, "why": dict(found.why)}


def nothing_came(memory: Memory, text: str, cards: Mapping[str, str]) -> tuple[bool, list[Found]]:
    """Whether a query is answered by nothing at all, and what it is answered by otherwise."""
    answer = memory.recall(text)
    return not answer.results and not answer.passages, found_in(answer, cards)
