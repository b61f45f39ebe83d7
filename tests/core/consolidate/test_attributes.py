"""What a statement tells of a thing, and what is not sure enough to count."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alaya_core.services.consolidate.attributes import attributes, surely_differ, tells_only
from tests.core.consolidate.helpers import card


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("The gateway port is 8080.", ("gateway", "port", "8080")),
        ("Gateway port: 8080", ("gateway", "port", "8080")),
        ("The port of the gateway is now 8080.", ("gateway", "port", "8080")),
        ("The gateway port is 8080, not the default 5432.", ("gateway", "port", "8080")),
        ("Remember: the gateway listens on port 8080.", ("gateway", "port", "8080")),
        ('The user said: "I live in Berlin now."', ("user", "lives_in", "berlin")),
        ('Ann said: "I live in Berlin."', ("ann", "lives_in", "berlin")),
        ("My wife Anna works at Siemens.", ("anna user wife", "works_at", "siemens")),
        ("The audit is due on March 14.", ("audit", "deadline", "march 14")),
        ("The legacy API is deprecated.", ("api legacy", "status", "deprecated")),
        ("The gateway runs version 2.3.1", ("gateway", "version", "2.3.1")),
        ("网关的端口现在改成了8081。", ("网关", "port", "8081")),
        ("用户说：“我住在杭州市。”", ("user", "lives_in", "杭州")),
        ("支付模块由韩梅梅负责。", ("支付模块", "leader", "韩梅梅")),
        ("支付项目的截止日期是3月14日。", ("支付项目", "deadline", "3月14日")),
        ("旧接口已经停用。", ("旧接口", "status", "停用")),
    ],
)
def test_what_is_told(text: str, told: tuple[str, str, str]) -> None:
    (found,) = attributes(card("a", text))
    assert (found.subject, found.name, found.value) == told
    assert found.single
    assert tells_only(card("a", text))


@pytest.mark.parametrize(
    "text",
    [
        "The gateway port was 8080.",
        "The gateway port is not 8080.",
        "The gateway port must be 8080.",
        "If it fails, the gateway port is 8080.",
        "Maybe the gateway port is 8080.",
        "Is the gateway port 8080?",
        "The gateway port is 8080 in staging, 9090 in production.",
        "The gateway port is 8080 (staging).",
        "The gateway port is 8080 and the proxy port is 9090.",
        "The port is 8080.",
        "It listens on port 8080.",
        "网关端口不是8080。",
        "网关端口可能是8080。",
        "以前网关端口是8080。",
        "服务器端口是8080。",
        "The gateway port is 8080 " + "and so on " * 20,
    ],
)
def test_what_is_not_sure_tells_nothing(text: str) -> None:
    assert not [found for found in attributes(card("a", text)) if found.single]


def test_a_belief_is_read_as_what_it_supposes() -> None:
    text = "I think the gateway port is 8080."
    assert [found.value for found in attributes(card("a", text, "belief"))] == ["8080"]
    assert not attributes(card("a", text))


def test_several_attributes_of_one_thing() -> None:
    found = attributes(card("a", "The staging database runs on host db-7, port 5433."))
    assert {(each.subject, each.name, each.value) for each in found} == {
        ("database staging", "host", "db-7"),
        ("database staging", "port", "5433"),
    }


@pytest.mark.parametrize("text", ["I like tea.", "We use Postgres.", "I am allergic to nuts.", "我喜欢喝茶。"])
def test_of_some_things_there_are_many(text: str) -> None:
    assert not any(found.single for found in attributes(card("a", text)))


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("I live in Berlin.", "I live in Porto.", True),
        ("I live in Berlin.", "I live in Berlin Mitte.", False),
        ("The gateway version is 3.", "The gateway version is 3.12.", False),
        ("The gateway port is 80.", "The gateway port is 8080.", True),
        ("The audit is due on Friday.", "The audit is due on March 14.", False),
        ("The audit is due on March 13.", "The audit is due on March 14.", True),
    ],
)
def test_a_value_said_more_exactly_is_no_other(one: str, other: str, apart: bool) -> None:
    (mine,), (theirs,) = attributes(card("a", one)), attributes(card("b", other))
    assert surely_differ(mine, theirs) is surely_differ(theirs, mine) is apart


@settings(max_examples=100, deadline=None)
@given(
    st.text(max_size=120)
    | st.lists(st.sampled_from(list("的是在 ,.（)port8080名'用户说：“”\n")), max_size=60).map("".join)
)
def test_any_text(text: str) -> None:
    found = attributes(card("a", text))
    assert all(each.subject and each.value for each in found)
    assert found == attributes(card("b", text))
