"""What is noise, and what needs memory."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alaya_core.services.recall.guard import needs_memory
from alaya_core.services.recall.noise import noise_of

settings.register_profile("unhurried", deadline=None)  # the first call loads tables and the stemmer
settings.load_profile("unhurried")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Hi", "greeting"),
        ("Hello there!", "greeting"),
        ("hellooo", "greeting"),
        ("Good morning, everyone", "greeting"),
        ("你好", "greeting"),
        ("早上好！", "greeting"),
        ("您好，好久不見", "greeting"),
        ("ok thanks", "acknowledgement"),
        ("好的，谢谢", "acknowledgement"),
        ("嗯嗯", "acknowledgement"),
        ("哈哈哈哈哈", "acknowledgement"),
        ("👍", "empty"),
        ("", "empty"),
        ("I don't have any information about that.", "denial"),
        ("Sorry, I do not have any memory of this", "denial"),
        ("I don’t recall anything about your dog", "denial"),
        ("No relevant memories were found.", "denial"),
        ("我不记得了", "denial"),
        ("抱歉，没有找到与猫相关的记录", "denial"),
        ("没有找到相關的記憶", "denial"),
    ],
)
def test_noise(text: Any, kind: Any) -> None:
    assert noise_of(text) == kind


@pytest.mark.parametrize(
    "text",
    [
        "Hi, my name is Bob",
        "你好，我叫小明",
        "ok so the port is 8080",
        "I don't know how to swim",
        "I do not remember faces well",
        "不记得密码可以重置",
        "我没有猫",
        "我没有任何记录方面的经验，请教我",
        "okra",
        "nothing",
        "42",
        "C++",
        "no results found in staging",
        "हिन्दी में लिखो",
        "hi " * 60,
    ],
)
def test_no_noise(text: Any) -> None:
    assert noise_of(text) is None


def test_noise_is_judged_fast() -> None:
    start = time.process_time()
    for text in ("哈嗯哦" * 53, "haha" * 40 + "x", "no " * 53 + "x", "i do not have any " + "a " * 70):
        assert noise_of(text) in (None, "acknowledgement")
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("", False),
        ("  \n", False),
        ("hi", False),
        ("你好！", False),
        ("继续", False),
        ("yes please", False),
        ("👍👍", False),
        ("y", False),
        ("/help", False),
        ("/model opus", False),
        ("HEARTBEAT_OK", False),
        ("Read HEARTBEAT.md if it exists. Follow it strictly.", False),
        ("NO_REPLY", False),
        ("```py\nx = remember(1)\n```", False),
        ("import os\nimport sys\nos.memory = 1", False),
        ('{\n  "name": "x",\n  "memory": 3\n}', False),
        ("remember that I like tea", True),
        ("remember", True),
        ("上次", True),
        ("上次我们说到哪", True),
        ("你还记得我的猫吗", True),
        ("之前那个方案", True),
        ("你好！上次的bug修好了吗", True),
        ("還記得嗎", True),
        ("as we discussed", True),
        ("What did we do last time?", True),
        ("/home/u/x.py fails, why?", True),
        ("```py\nx=1\n```\nwhy does this fail?", True),
        ("why does it fail?\nimport os\nimport sys\nimport re\nimport io\nimport ast", True),
        ("What port do we use?", True),
        ("帮我写个函数", True),
        ("I am reading a book; it is long.\nAnd it is good.", True),
    ],
)
def test_what_needs_memory(text: Any, needs: Any) -> None:
    found, why = needs_memory(text)
    assert found is needs, why
    assert why


@pytest.mark.parametrize(
    "text", ["remember", "上次", "还记得吗", "LAST TIME", "之前", "我们说过的", "I don't recall that"]
)
def test_what_points_back_says_so(text: Any) -> None:
    assert needs_memory(text) == (True, "it points back")


@given(st.text(max_size=300))
def test_the_guard_judges_any_text(text: Any) -> None:
    assert needs_memory(text) == needs_memory(text)


def test_the_guard_looks_at_both_ends_of_a_giant_text() -> None:
    paste = "x = 1;\n" * 200_000
    start = time.process_time()
    assert needs_memory(paste)[0] is False
    assert needs_memory(paste + "\nas we discussed last time, please look at this one\n" * 2000)[0]
    assert time.process_time() - start < 5
