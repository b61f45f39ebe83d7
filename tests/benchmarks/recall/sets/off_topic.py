"""Off-topic: is it said that nothing is relevant when nothing is, and only then?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.recall.asking import Found, Scores, nothing_came, shown, some
from tests.benchmarks.recall.homes import Built, built
from tests.benchmarks.recall.model import Question, Recipe
from tests.benchmarks.recall.run import STAGES, Plan, figures_table, other, print_worth
from tests.benchmarks.recall.score import mean
from tests.benchmarks.recall.sets import locomo, locomo_turns, memorybank, operations
from tests.benchmarks.support import say

FILE = Path(__file__).parents[1] / "data" / "off_topic.json"
TUNED = "tuned on the half called fit; the half called held is held out"
_SAMPLE = 300
_OFF, _REAL = "said to be nothing", "wrongly said"


@dataclass(frozen=True, slots=True)
class OffTopic:
    """Queries that nothing in a home answers, and real questions of the same home.

    Attributes:
        idle: The queries; their gold is empty.
        real: The questions.
    """

    name: str
    recipe: Recipe
    idle: tuple[Question, ...]
    real: tuple[Question, ...]


def experiments(data: Path) -> list[OffTopic]:
    """Over the cards of the operations set, and over the logs of LoCoMo and MemoryBank if these are there."""
    return [over_operations(), *([over_logs(data)] if _logs_are_there(data) else [])]


def over_operations() -> OffTopic:
    """Asked of cards."""
    asked = operations.experiments()[0]
    return OffTopic("off-topic, over cards", asked.recipe, _idle(), asked.questions)


def over_logs(data: Path) -> OffTopic:
    """Asked of passages; the real questions are asked without a scope too, as the others are."""
    talks, chats = locomo_turns.experiments(data)[0], memorybank.experiments(data)[0]
    both = Recipe("logs", sessions=chats.recipe.sessions, base=talks.recipe)
    return OffTopic("off-topic, over logs", both, _idle(), (*some(talks.questions, _SAMPLE), *chats.questions))


def _logs_are_there(data: Path) -> bool:
    files = [data / locomo.FILE, *(data / file for file in memorybank.FILES.values())]
    missing = [file for file in files if not file.exists()]
    if missing:
        say(f"off-topic, over logs: skipped, {missing[0]} is not there")
    return not missing


def _idle() -> tuple[Question, ...]:
    held = json.loads(FILE.read_text(encoding="utf-8"))
    return tuple(
        Question(q["id"], q["query"], frozenset(), part=q["half"], group=f"{q['kind']}, {q['language']}")
        for q in held["queries"]
    )


Silence = Mapping[str, tuple[bool, Sequence[Found]]]
"""By question, whether nothing came, and what came."""


def run(experiment: OffTopic, plan: Plan) -> dict[str, Any]:
    """Asks both kinds in all variants."""
    home = built(experiment.recipe, plan.work, plan.settings, fresh=plan.fresh)
    idle, real = some(experiment.idle, plan.sample), some(experiment.real, plan.sample)
    asked = {name: _ask(home, plan.settings, off, [*idle, *real]) for name, off in plan.variants.items()}
    by_part = {name: silence(one, idle, real) for name, one in asked.items()}
    rows = [
        (part, measure, *(by_part[name][part][measure] for name in by_part))
        for part, measures in by_part["ours"].items()
        for measure in measures
        if measures[measure] is not None
    ]
    title = f"{experiment.name}: {len(idle)} queries that nothing answers, {len(real)} real questions"
    figures_table(title, ("part", "measure", *by_part), rows)
    say(f"tuning: {TUNED}")
    kinds = sorted({question.group for question in idle})
    by_group = {
        kind: {name: mean(one[q.id][0] for q in idle if q.group == kind) for name, one in asked.items()}
        for kind in kinds
    }
    rows = [(kind, *by_group[kind].values()) for kind in kinds]
    figures_table(f"{experiment.name}, {_OFF} by kind", ("kind", *asked), rows)
    without: dict[str, Scores] = {}
    if plan.off_one:
        without = {
            stage: silence(_ask(home, plan.settings, other(stage), [*idle, *real]), idle, real) for stage in STAGES
        }
        print_worth(experiment.name, by_part["ours"], without)
    return {
        "name": experiment.name,
        "about": "queries that nothing in the home answers, and real questions of the same home, without a scope",
        "tuned": TUNED,
        "questions": len(idle) + len(real),
        "scores": by_part,
        "by_group": by_group,
        "stages": without,
        "failures": _failures(asked["ours"], idle, real, experiment.recipe),
    }


def silence(asked: Silence, idle: Sequence[Question], real: Sequence[Question]) -> Scores:
    """The share of each part for which nothing came: the more of the idle the better, the fewer of the real."""
    found: Scores = {}
    for name, questions in ((_OFF, idle), (_REAL, real)):
        for part in [*sorted({question.part for question in questions}), "all"]:
            inside = [question for question in questions if part in ("all", question.part)]
            found.setdefault(part, {})[name] = mean(asked[question.id][0] for question in inside)
    return {part: {name: values.get(name) for name in (_OFF, _REAL)} for part, values in found.items()}


def _ask(home: Built, settings: Mapping[str, Any], off: Sequence[str], questions: Sequence[Question]) -> Silence:
    with home.open(settings, off) as memory:
        memory.warm_up()
        return {question.id: nothing_came(memory, question.text, home.cards) for question in questions}


def _failures(
    asked: Silence, idle: Sequence[Question], real: Sequence[Question], recipe: Recipe
) -> list[dict[str, Any]]:
    documents = recipe.documents()
    wrong = [question for question in idle if not asked[question.id][0]]
    wrong += [question for question in real if asked[question.id][0]]
    return [
        {
            "id": question.id,
            "part": question.part,
            "group": question.group,
            "question": question.text,
            "gold": [{"id": gold, "text": documents[gold].text} for gold in sorted(question.gold)],
            "came": [shown(found) for found in asked[question.id][1][:3]],
        }
        for question in wrong
    ]
