"""How often the guard is right about what people type to an agent, on labelled utterances.

The guard's vocabulary was written with two parts of them ("fit", "held") in view. The third ("fresh") was written
before that vocabulary and looked at only after a first measurement of .983; it says more than the others of how the
guard does on new ones, but its author knew which kinds of small talk the guard was to learn.
Asking a memory in vain costs a little time, leaving it unasked costs the answer: hence what needs memory must never
be refused, while small talk that is not recognised is only counted.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from alaya_core.services.recall.guard import needs_memory

UTTERANCES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "benchmarks/recall/data/utterances.json").read_text(encoding="utf-8")
)["utterances"]


def right_share(chosen: list[dict[str, Any]]) -> float:
    return sum(needs_memory(one["text"])[0] is one["needs"] for one in chosen) / len(chosen)


@pytest.mark.parametrize("half", ["fit", "held", "fresh"])
def test_the_utterances_are_balanced(half: Any) -> None:
    for language in ("zh", "en"):
        for needs in (True, False):
            part = {"half": half, "language": language, "needs": needs}
            assert sum(part.items() <= one.items() for one in UTTERANCES) == 15


def test_no_utterance_stands_twice() -> None:
    assert len({one["text"] for one in UTTERANCES}) == len({one["id"] for one in UTTERANCES}) == len(UTTERANCES) == 180


def test_what_needs_memory_is_never_refused() -> None:
    asked = [one["text"] for one in UTTERANCES if one["needs"]]
    assert [text for text in asked if not needs_memory(text)[0]] == []


@pytest.mark.parametrize(
    ("halves", "least"), [("fit", 0.96), ("held", 0.96), ("fresh", 0.96), ("fit held fresh", 0.98)]
)
def test_the_guard_is_mostly_right(halves: Any, least: Any) -> None:
    assert right_share([one for one in UTTERANCES if one["half"] in halves.split()]) >= least


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("hey Max!", False),
        ("great work, keep it up", False),
        ("好的，开始吧", False),
        ("/笔记 今天", False),
        ("# a comment\nimport os\nx = 1", False),
        ("#include <stdio.h>\n#include <math.h>", False),
        ("[heartbeat] 12:00 idle", False),
        ("[heartbeat] remember that the port is 81", True),
        ("[heartbeat] why does it fail", True),
        ("[heartbeat] why do we reply HEARTBEAT_OK", True),
        ("[heartbeat] do not repeat earlier tasks, reply HEARTBEAT_OK", False),
        ("heey, good morning claude, how are you doing today?", False),
        ("hola, muchas gracias!", False),
        ("ありがとうございます！", False),
        ("sooo good, thanks a lot mate :D", False),
        ("keep working on it", False),
        ("keep working on the parser", True),
        ("+1, on to the next one", False),
        ("88", False),
        ("port 88", True),
        ("厉害了老铁，接着往下写吧", False),
        ("接着写登录页", True),
        ("回头聊，我先下了", False),
        ("is this right", True),
        ("is this right?", True),
        ("I am sick", True),
        ("我朋友很厉害", True),
        ("我太太很漂亮", True),
        ("666 太牛了", False),
        ("我的专业", True),
        ("copilot is great", True),
        ("thanks, keep it short", True),
        ("同意，跟之前一样", True),
        ("great, like I said", True),
        ("cron for the heartbeat fails, which host was it on", True),
        ("why did you reply HEARTBEAT_OK", True),
        ("ok, is it that?", True),
        ("is it that?", True),
        ("do we?", True),
        ("I am here", True),
        ("great work on the parser", True),
        ("no, do not do that", True),
        ("好，别这么做", True),
        ("好的，那个呢", True),
        ("我太太", True),
        ("最近怎么样", True),
        ("# does this fit our rules?\nimport os\nx = 1", True),
    ],
)
def test_small_talk_is_only_what_says_nothing_else(text: Any, needs: Any) -> None:
    assert needs_memory(text)[0] is needs


@pytest.mark.parametrize(
    "unit",
    [
        "好",
        "ok ",
        "\n",
        "请\n",
        "# ",
        "thanks ",
        "心跳",
        "reply with ",
        "do it, ",
        "在不",
        "继续写",
        "so very ",
        "haha",
        "it is so ",
        "666 ",
        "ok 大佬",
    ],
)
def test_any_text_is_judged_fast(unit: Any) -> None:
    needs_memory("x y")  # the first call loads tables
    start = time.process_time()
    for length in (158, 1_998, 20_000):
        needs_memory((unit * length)[:length] + "x")
    assert time.process_time() - start < 1
