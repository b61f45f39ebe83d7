"""How well recall finds must not get worse: a part of the recall benchmark that is quick enough for every run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from alaya_core.config_sections import RecallConfig
from tests.benchmarks.recall.__main__ import VARIABLE, data_folder
from tests.benchmarks.recall.asking import ask, found_in, scores, some
from tests.benchmarks.recall.homes import built
from tests.benchmarks.recall.model import CardText, Experiment, Recipe
from tests.benchmarks.recall.sets import cmrc, locomo, locomo_turns, operations

pytestmark = pytest.mark.slow

LOCOMO_RECALL_AT_10 = 0.78
LOCOMO_HIT_AT_10 = 0.85
CMRC_HIT_AT_1 = 0.95
CMRC_HIT_AT_5 = 0.97
OPERATIONS_HIT_AT_5 = 0.96
OPERATIONS_ACROSS_HIT_AT_5 = 0.9

CONVERSATIONS = (6, 7)
"""Held out: nobody looked at them while tuning."""


def test_turns_of_a_conversation(tmp_path: Path) -> None:
    chosen = locomo.conversations(_data(locomo.FILE), CONVERSATIONS)
    found = _measured(locomo_turns.experiment(chosen), tmp_path)
    assert found["evidence recall@10"] >= LOCOMO_RECALL_AT_10
    assert found["hit@10"] >= LOCOMO_HIT_AT_10


def test_chinese_passages_as_cards(tmp_path: Path) -> None:
    (experiment,) = cmrc.experiments(_data(cmrc.FILE))
    found = _measured(experiment, tmp_path, sample=100)
    assert found["hit@1"] >= CMRC_HIT_AT_1
    assert found["hit@5"] >= CMRC_HIT_AT_5


def test_cards_asked_for_in_other_words_and_in_another_language(tmp_path: Path) -> None:
    experiment = operations.experiments()[0]
    assert _measured(experiment, tmp_path, "in one language")["hit@5"] >= OPERATIONS_HIT_AT_5
    assert _measured(experiment, tmp_path, "across languages")["hit@5"] >= OPERATIONS_ACROSS_HIT_AT_5


def test_a_home_is_built_once_for_what_it_holds(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "The zebra crossed the river", "timestamp": 1_700_000_000_000}]
    talk = {"id": "talk", "timestamp": 1_700_000_000_000, "channel": "chat", "agent": "one", "turns": turns}
    first = Recipe("first", sessions=(talk,), cards=(CardText("zebra", "Zebras have stripes", scope="agent:one"),))
    home = built(first, tmp_path, {})
    assert set(home.cards.values()) == {"zebra"}
    assert built(first, tmp_path, {}).cards == home.cards
    with home.open({"recall.max_results": 3}, ["diversity"]) as memory:
        assert memory.config.recall.off == ("diversity",)
        assert memory.config.recall.max_results == 3
        found = {came.id for came in found_in(memory.recall("zebra"), home.cards)}
        assert found == {"zebra", "talk#0"} == set(first.documents())
    with home.open({}) as memory:  # what was set before is gone
        assert memory.config.recall.off == RecallConfig().off
    more = Recipe("more", cards=(CardText("heron", "Herons fish"),), base=first)
    assert set(built(more, tmp_path, {}).cards.values()) == {"zebra", "heron"}
    assert built(replace(first, cards=()), tmp_path, {}).cards == {}


def _data(file: str | Path) -> Path:
    folder = data_folder()
    if not (folder / file).exists():
        pytest.skip(f"{file} is not in {folder} ({VARIABLE} names another folder)")
    return folder


def _measured(experiment: Experiment, work: Path, part: str = "all", sample: int | None = None) -> dict[str, float]:
    """The measures of some of an experiment's questions, every stage on."""
    chosen = some([question for question in experiment.questions if part in ("all", question.part)], sample)
    asked = ask(experiment, built(experiment.recipe, work, {}), {}, (), chosen)
    assert not asked.degraded
    *_, whole = scores(experiment, chosen, asked.ids).values()  # the last is over all of them
    return {name: value for name, value in whole.items() if value is not None}
