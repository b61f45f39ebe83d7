"""The measures of the recall benchmark, worked out by hand, and the plain index it is compared with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.recall.asking import scores, some
from tests.benchmarks.recall.floor import Floor, PlainIndex, plain_words
from tests.benchmarks.recall.model import Document, Experiment, Question, Recipe
from tests.benchmarks.recall.score import all_at, at, distinct, first_place, hit_at, mean, recall_at, reciprocal_rank
from tests.benchmarks.recall.sets import locomo, off_topic

FOUND = ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("gold", "k", "share", "hit", "whole", "reciprocal"),
    [
        ({"a"}, 1, 1.0, 1.0, 1.0, 1.0),
        ({"b"}, 1, 0.0, 0.0, 0.0, 0.0),
        ({"b", "d"}, 3, 0.5, 1.0, 0.0, 1 / 2),
        ({"b", "d"}, 4, 1.0, 1.0, 1.0, 1 / 2),
        ({"c", "x", "y", "z"}, 4, 0.25, 1.0, 0.0, 1 / 3),
        ({"x"}, 4, 0.0, 0.0, 0.0, 0.0),
    ],
)
def test_measures(gold: set[str], k: int, share: float, hit: float, whole: float, reciprocal: float) -> None:
    assert recall_at(FOUND, gold, k) == share
    assert hit_at(FOUND, gold, k) == hit
    assert all_at(FOUND, gold, k) == whole
    assert reciprocal_rank(FOUND, gold, k) == reciprocal


def test_fewer_than_k_came() -> None:
    assert recall_at([], {"a"}, 10) == 0
    assert all_at(["a"], {"a"}, 10) == 1
    assert first_place([], {"a"}) is None


def test_the_first_of_a_unit_counts() -> None:
    assert distinct(["s2", "s1", "s2", "s3", "s1"]) == ["s2", "s1", "s3"]


def test_the_mean_of_nothing_is_not_zero() -> None:
    assert mean([]) is None
    assert mean([0.0, 1.0]) == 0.5


def test_parts_are_weighed_by_their_questions() -> None:
    asked = [
        Question("1", "one", {"a"}, part="tuned on"),
        Question("2", "two", {"a"}, part="held out"),
        Question("3", "three", {"x"}, part="held out"),
        Question("4", "four", {"x"}, part="held out"),
    ]
    whole = scores(_experiment(asked), asked, lambda _: ["a"])
    assert {part: values["hit"] for part, values in whole.items()} == {"tuned on": 1, "held out": 1 / 3, "all": 0.5}


def test_a_draw_is_the_same_each_time_and_in_order() -> None:
    asked = [Question(str(number), "", set()) for number in range(100)]
    drawn = [int(question.id) for question in some(asked, 10)]
    assert drawn == sorted(drawn)
    assert len(set(drawn)) == 10
    assert drawn == [int(question.id) for question in some(asked, 10)]
    assert len(some(asked, None)) == len(some(asked, 500)) == 100


def test_silence_counts_each_part_and_both_kinds() -> None:
    idle = [Question("i1", "", set(), part="fit"), Question("i2", "", set(), part="held")]
    real = [Question("r1", "", {"a"}), Question("r2", "", {"b"})]
    answers: Any = {"i1": (True, []), "i2": (False, []), "r1": (True, []), "r2": (False, [])}
    found = off_topic.silence(answers, idle, real)
    assert found["fit"] == {"said to be nothing": 1.0, "wrongly said": None}
    assert found["held"] == {"said to be nothing": 0.0, "wrongly said": None}
    assert found["all"] == {"said to be nothing": 0.5, "wrongly said": 0.5}


def test_plain_words() -> None:
    assert plain_words("Restart the API-gateway, 重启网关 好") == [
        "restart", "the", "api", "gateway", "重启", "启网", "网关", "好",
    ]  # fmt: skip


def test_the_plain_index_prefers_rare_words_and_short_texts() -> None:
    index = PlainIndex({"rare": "the zebra", "long": "the zebra " + "and more " * 20, "other": "the the the"})
    assert index.search("the zebra", 10) == ["rare", "long", "other"]
    assert index.search("zebra", 1) == ["rare"]
    assert index.search("unheard of", 10) == []


def test_the_floor_keeps_to_the_scope_and_ranks_units() -> None:
    floor = Floor(
        {
            "s1#0": Document("a red kite", "agent:one"),
            "s1#1": Document("the kite again", "agent:one"),
            "s2#0": Document("kite", "agent:two"),
        }
    )
    asked = Question("1", "kite", {"s1"}, scope="agent:one")
    ranked = floor.ranked(_experiment([asked], unit=locomo.session_of), asked)
    assert ranked == ["s1"]


def test_a_conversation_becomes_sessions_with_its_evidence(tmp_path: Path) -> None:
    told = {
        "speaker_a": "Ann",
        "speaker_b": "Bob",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Bob", "dia_id": "D1:1", "text": "Look", "blip_caption": "a photo of a dog"},
            {"speaker": "Ann", "dia_id": "D1:2", "text": "Nice"},
        ],
    }
    asked = {"question": "What?", "category": 1, "evidence": ["D1:02; D9:1", "D"]}
    watched = {"session_1_observation": {"Bob": [["Bob has a dog.", "D1:1"], ["Bob has a dog.", ["D1:2"]]]}}
    sample = {"sample_id": "x", "conversation": told, "qa": [asked], "observation": watched}
    (tmp_path / locomo.FILE).write_text(json.dumps([sample]), encoding="utf-8")
    (conversation,) = locomo.conversations(tmp_path)
    (session,) = conversation.sessions
    first, second = session["turns"]
    assert session["agent"] == "locomo-x"
    assert first == {
        "role": "assistant",
        "name": "Bob",
        "content": "Look [shares a photo: a photo of a dog]",
        "timestamp": 1_683_554_160_000,
    }
    assert (second["role"], second["timestamp"] - first["timestamp"]) == ("user", 60_000)
    (question,) = conversation.questions
    assert question.turns == {"locomo-x-01#1"}  # what does not exist is left out
    assert question.sessions == {"locomo-x-01"}
    (observation,) = conversation.observations
    assert observation.turns == {"locomo-x-01#0", "locomo-x-01#1"}


def _experiment(questions: list[Question], **options: Any) -> Experiment:
    return Experiment(
        name="invented",
        about="",
        tuned="",
        recipe=Recipe("invented"),
        questions=tuple(questions),
        within="passages",
        limit=10,
        measures={"hit": at(hit_at, 1)},
        fails="hit",
        **options,
    )
