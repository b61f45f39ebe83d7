"""How much what somebody said matters: by the two tables, in both languages, and what it keeps alive."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from alaya_core.models.card import CardDraft
from alaya_core.models.session import Turn
from alaya_core.services.distill.rules import Proposal, distill_by_rules
from tests.core.distill.helpers import START, distilled, said


def read(*turns: Turn, max_cards: int = 10, max_per_turn: int = 3, capture_assistant: bool = True) -> Proposal:
    return distill_by_rules(
        list(enumerate(turns)),
        session_id="s",
        session_time=START,
        max_cards=max_cards,
        max_per_turn=max_per_turn,
        capture_assistant=capture_assistant,
    )


@pytest.mark.parametrize(
    ("text", "importance"),
    [
        ("我对花生过敏", 1.0),
        ("我叫张三", 1.0),
        ("我讨厌香菜", 0.8),
        ("我换工作了", 0.8),
        ("我老婆在西门子上班", 0.8),
        ("我昨天去了北京", 0.5),
        ("网关端口是8080", 0.5),
        ("今天下午开会", 0.2),
        ("I'm allergic to peanuts", 1.0),
        ("My name is Zhang San", 1.0),
        ("In an emergency call the night desk, that is my emergency contact", 1.0),
        ("I hate cilantro", 0.8),
        ("I changed jobs", 0.8),
        ("My wife Anna works at Siemens", 0.8),
        ("I went to Beijing yesterday", 0.5),
        ("The gateway port is 8080", 0.5),
        ("The office is closed tomorrow", 0.2),
        ("The team meeting is at 5pm today", 0.2),
        # what the speaker adds to it
        ("记住：网关端口是8080", 1.0),
        ("以后都用中文回复我", 1.0),
        ("重要：网关端口是8080", 0.8),
        ("关键：网关端口是8080", 0.8),
        ("顺便说一下，网关端口是8080", 0.3),
        ("记住，今天下午三点开会", 0.7),
        ("Remember: the gateway port is 8080", 1.0),
        ("From now on, always answer in Chinese", 1.0),
        ("Important: the gateway port is 8080", 0.8),
        ("The key point: the gateway port is 8080", 0.8),
        ("By the way, the gateway port is 8080", 0.3),
        ("Remember the demo is tomorrow at 10am", 0.7),
    ],
)
def test_intrinsic_and_signal(text: str, importance: float) -> None:
    (card,) = distilled(said(text)).cards
    assert card.importance == pytest.approx(importance), card


@pytest.mark.parametrize("text", ["The gateway port is 8080.", "网关端口是8080。"])
def test_what_is_repeated_matters_more(text: str) -> None:
    (card,) = distilled(said(text), said("ok", "assistant"), said(text)).cards
    assert card.importance == pytest.approx(0.7)


def titles(cards: Sequence[CardDraft]) -> list[str]:
    return [card.title for card in cards]


def test_what_was_asked_to_be_remembered_survives_a_full_session() -> None:
    full = [said(f"I'm allergic to number {n} nuts, it is important.", name=f"Guest{n}") for n in range(9)]
    asked = [said("Remember that the red box is empty."), said("记住，明天下午三点开会。")]
    proposal = read(*asked, *full, max_cards=3)
    assert titles(proposal.cards)[:2] == ["The red box is empty", "明天下午三点开会"]
    assert len(proposal.cards) == 3
    everything = read(*[said(f"Remember: the box number {n} is empty.") for n in range(5)], max_cards=3)
    assert len(everything.cards) == 5


def test_a_turn_gives_only_so_many_cards() -> None:
    talk = said(" ".join(f"The service {name} listens on port {6000 + at}." for at, name in enumerate("abcdef")))
    proposal = read(talk)
    assert len(proposal.cards) == 3
    assert proposal.skipped["over limit of a turn"] == 3
    assert len(read(talk, max_per_turn=5).cards) == 5


def test_an_assistant_may_be_left_out() -> None:
    turns = (
        said("The gateway port is 8080."),
        said("Root cause found: the `telegram` plugin never loads because `plugins.allow` is empty.", "assistant"),
    )
    assert len(read(*turns).cards) == 2
    proposal = read(*turns, capture_assistant=False)
    assert [card.sources[0].turns for card in proposal.cards] == [(0,)]
    assert proposal.skipped["assistant"] == 1


@pytest.mark.parametrize(
    "ask", ["remember that", "Please remember this.", "Keep that in mind", "记住这个", "把这个记下来", "帮我记住"]
)
@pytest.mark.parametrize(
    "told", ["The parser keeps its grammar under `~/.cache/p`.", "解析器的语法缓存在 `~/.cache/p` 下面。"]
)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_remember_that_takes_what_was_said_before(ask: str, told: str, role: str) -> None:
    for between in ((), (said("ok", "assistant"),)):
        (card,) = read(said(told, role), *between, said(ask)).cards
        assert card.importance == 1.0
        assert card.sources[0].turns == (0, 1 + len(between))
        assert "~/.cache/p" in card.content


def test_a_person_may_have_an_assistants_words_remembered_though_it_is_left_out() -> None:
    told = said("The parser keeps its grammar under `~/.cache/p`.", "assistant")
    assert len(read(told, said("remember that"), capture_assistant=False).cards) == 1
