"""Runs an experiment under all choices of stages, prints what came of it and gives it back for the JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from alaya_core.config_sections import RecallConfig, RecallStage
from tests.benchmarks.recall.asking import VARIANTS, Scores, ask, failures, scores, some
from tests.benchmarks.recall.floor import Floor
from tests.benchmarks.recall.homes import built
from tests.benchmarks.recall.model import Experiment
from tests.benchmarks.support import say, table

STAGES: tuple[str, ...] = get_args(RecallStage)
USUAL: tuple[str, ...] = RecallConfig().off
FLOOR = "plain BM25"


@dataclass(frozen=True, slots=True)
class Plan:
    """How to run.

    Attributes:
        data: Where other people's data lie.
        work: Where homes are kept.
        settings: Of the homes, by dotted key.
        off_one: Whether to switch every stage off, one at a time.
        sample: How many questions of an experiment are asked; None = all.
        fresh: Whether to build the homes anew.
        variants: What is switched off in each choice of stages.
    """

    data: Path
    work: Path
    settings: Mapping[str, Any] = field(default_factory=dict)
    off_one: bool = False
    sample: int | None = None
    fresh: bool = False
    variants: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: VARIANTS)

    def describe(self) -> dict[str, Any]:
        """What differs from a usual run."""
        return {"settings": dict(self.settings), "sample": self.sample}


def run(experiment: Experiment, plan: Plan) -> dict[str, Any]:
    """Asks everything there is to ask."""
    home = built(experiment.recipe, plan.work, plan.settings, fresh=plan.fresh)
    questions = some(experiment.questions, plan.sample)
    asked = {name: ask(experiment, home, plan.settings, off, questions) for name, off in plan.variants.items()}
    documents = experiment.recipe.documents()
    floor = Floor(documents)
    by_part: dict[str, Scores] = {
        **{name: scores(experiment, questions, one.ids) for name, one in asked.items()},
        FLOOR: scores(experiment, questions, lambda question: floor.ranked(experiment, question)),
    }
    by_group = {
        name: scores(experiment, questions, one.ids, lambda question: question.group or "all")
        for name, one in asked.items()
    }
    texts = {identifier: document.text for identifier, document in documents.items()}
    result = {
        "name": experiment.name,
        "about": experiment.about,
        "tuned": experiment.tuned,
        "questions": len(questions),
        "scores": by_part,
        "by_group": by_group,
        "published": dict(experiment.published),
        "median_ms": {name: one.median_ms for name, one in asked.items()},
        "degraded": {name: dict(one.degraded) for name, one in asked.items()},
        "alike": len(asked) > 1 and all(one.answers() == asked["ours"].answers() for one in asked.values()),
        "coverage": dict(asked["ours"].coverage),
        "stages": {},
        "failures": failures(experiment, questions, asked, texts),
    }
    _print(experiment, result)
    if plan.off_one:
        without = {
            stage: scores(experiment, questions, ask(experiment, home, plan.settings, other(stage), questions).ids)
            for stage in STAGES
        }
        result["stages"] = without
        print_worth(experiment.name, by_part["ours"], without)
    return result


def other(stage: str) -> tuple[str, ...]:
    """The usual choice of stages, but for this one."""
    return tuple(one for one in USUAL if one != stage) if stage in USUAL else (*USUAL, stage)


def _print(experiment: Experiment, result: Mapping[str, Any]) -> None:
    by_part = result["scores"]
    heads = ("part", "measure", *by_part)
    rows = [
        (part, measure, *(_figure(by_part[name][part][measure]) for name in by_part))
        for part in by_part["ours"]
        for measure in experiment.measures
    ]
    table(f"{experiment.name}: {experiment.about} ({result['questions']:,} questions)", heads, rows)
    say(f"tuning: {experiment.tuned}; {len(result['failures'])} questions with {experiment.fails} = 0")
    for measure, figure in experiment.published.items():
        say(f"known, {measure}: {figure}")
    held = result["coverage"]
    if held["with_vectors"] < held["passages"]:
        say(f"only {held['with_vectors']:,} of {held['passages']:,} passages have vectors: the rest is words alone")
    if result["alike"]:
        say("all variants answered alike: the stages they switch off make no difference, or are not switched off")
    for name, notes in result["degraded"].items():
        for note, count in notes.items():
            say(f"degraded, {name}: {count} answers: {note}")
    _print_groups(experiment, result["by_group"])


def _print_groups(experiment: Experiment, by_group: Mapping[str, Scores]) -> None:
    groups = by_group["ours"]
    if len(groups) < 2:
        return
    judge = next(iter(experiment.measures))
    rows = [(group, *(_figure(by_group[name][group][judge]) for name in by_group)) for group in groups]
    table(f"{experiment.name}, {judge} by kind", ("kind", *by_group), rows)


def print_worth(name: str, whole: Scores, without: Mapping[str, Scores]) -> None:
    """What each stage adds, or would add if it were not off: always the same with it less the same without it."""
    columns = [(part, measure) for part, measures in whole.items() for measure in measures]
    rows = [
        (
            f"{stage} (off)" if stage in USUAL else stage,
            *(
                _difference(less[part][measure], whole[part][measure])
                if stage in USUAL
                else _difference(whole[part][measure], less[part][measure])
                for part, measure in columns
            ),
        )
        for stage, less in without.items()
    ]
    table(f"{name}: what each stage is worth", ("stage", *(f"{part}: {measure}" for part, measure in columns)), rows)


def _difference(whole: float | None, less: float | None) -> str:
    return "-" if whole is None or less is None else f"{whole - less:+.3f}"


def _figure(value: float | None) -> str:
    """Three places: the differences that matter are in the third."""
    return "-" if value is None else f"{value:.3f}"


def figures_table(title: str, heads: Sequence[str], rows: Sequence[Sequence[float | str | None]]) -> None:
    """A table of shares."""
    table(title, heads, [[value if isinstance(value, str) else _figure(value) for value in row] for row in rows])
