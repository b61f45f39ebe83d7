"""Acknowledgements, leads, remarks: what is folded, what a title holds, what gives way."""

from __future__ import annotations

import pytest

from alaya_core.models.card_types import CardType
from alaya_core.services.distill.titles import fit
from tests.core.distill.helpers import distilled, said


@pytest.mark.parametrize(
    ("told", "back", "title", "kind"),
    [
        ("我对青霉素过敏，这个也存一下", "重要，已记下：林对青霉素过敏。", "林对青霉素过敏", CardType.PROFILE),
        (
            "小雨不吃黄瓜和芹菜，最喜欢三文鱼饭团",
            "好的，记下：不放黄瓜和芹菜。",
            "小雨不吃黄瓜和芹菜，最喜欢三文鱼饭团",
            CardType.PREFERENCE,
        ),
        ("记住：小雨对花生严重过敏", "记住了，这条很重要。", "小雨对花生严重过敏", CardType.PROFILE),
        (
            "阿静不吃生的，刺身不行",
            "阿静不吃生食也记下了，餐厅会避开只做刺身的。",
            "阿静不吃生的，刺身不行",
            CardType.PREFERENCE,
        ),
        (
            "I prefer aisle seats on every flight over three hours.",
            "Noted: aisle seats on flights over three hours.",
            "User prefers aisle seats on every flight over three hours",
            CardType.PREFERENCE,
        ),
        (
            "No meetings before ten, mornings are for deep work.",
            "Got it. I'll keep that in mind.",
            "No meetings before ten, mornings are for deep work",
            CardType.PREFERENCE,
        ),
    ],
)
def test_what_is_said_back_is_no_second_card(told: str, back: str, title: str, kind: CardType) -> None:
    (card,) = distilled(said(told), said(back, "assistant")).cards
    assert card.title == title
    assert card.type is kind
    assert card.sources[0].turns[0] == 0


def test_a_card_said_back_comes_from_both_turns() -> None:
    proposal = distilled(
        said("周老师回我了：医务室的校医姓郝，知道小雨过敏的事，秋游她也跟车。"),
        said("记下：青松小学的校医姓郝，知道小雨花生过敏，11 月 6 日秋游会随车。", "assistant"),
    )
    (card,) = proposal.cards
    assert card.sources[0].turns == (0, 1)
    assert card.content == "青松小学的校医姓郝，知道小雨花生过敏，11 月 6 日秋游会随车。"
    assert proposal.skipped == {"repeated": 1}


def test_an_assistants_noted_stresses_nothing() -> None:
    (card,) = distilled(
        said("The staging server listens on port 6543."),
        said("Remembered: the staging server listens on port 6543.", "assistant"),
    ).cards
    assert card.importance == 0.5


def test_what_was_found_out_is_not_folded_into_what_was_asked_about() -> None:
    proposal = distilled(
        said("The nightly export job hangs on files over 2 GB."),
        said("The export job hangs on files over 2 GB because `stat` overflows a 32-bit size.", "assistant"),
    )
    assert CardType.GOTCHA in [card.type for card in proposal.cards]


@pytest.mark.parametrize(
    "text",
    [
        "Noted! That is an important point.",
        "Remembered.",
        "Got it, thanks for letting me know!",
        "记住了，这一点很关键。",
        "好的，已经记下来了。",
    ],
)
def test_an_acknowledgement_without_content_gives_nothing(text: str) -> None:
    assert not distilled(said(text, "assistant")).cards


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The gotcha for the record: Postgres text columns reject NUL characters that SQLite happily stores.",
            "Postgres text columns reject NUL characters that SQLite happily stores",
        ),
        (
            "Conventions for this repo, please remember them: always run `ruff check` before every commit.",
            "Always run ruff check before every commit",
        ),
        (
            "OK so we change it: the catalogue will keep its vectors in pgvector instead of LanceDB from May on.",
            "The catalogue will keep its vectors in pgvector instead of LanceDB from May on",
        ),
        (
            "先说规矩：读书笔记每章只记三样，一句原话、一个反例、一个做法",
            "读书笔记每章只记三样，一句原话、一个反例、一个做法",
        ),
        (
            "I want tests against the real thing, so: tests run against Postgres in Docker.",
            "Tests run against Postgres in Docker",
        ),
        ("我决定只给三类笔记安排复习：原理、理由、踩过的坑", "用户决定只给三类笔记安排复习：原理、理由、踩过的坑"),
        (
            "Lost my passport in Hanoi, the embassy issues a new one on Monday.",
            "User lost their passport in Hanoi, the embassy issues a new one on Monday",
        ),
    ],
)
def test_titles_hold_the_substance(text: str, expected: str) -> None:
    (card,) = distilled(said(text)).cards
    assert card.title == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The default unicode61 tokenizer of FTS5 treats an unbroken run of Chinese characters as a single token",
            "The default unicode61 tokenizer of FTS5 treats an unbroken run",
        ),
        (
            "SQLite's WAL mode needs shared memory between all processes that use the database file on disk",
            "SQLite's WAL mode needs shared memory between all processes",
        ),
        (
            "Remembering a decision is not the same as carrying it out, so a memory has to lead back to its source",
            "Remembering a decision is not the same as carrying it out",
        ),
        (
            "线上的只读副本在每天凌晨两点会自动重启所以任何报表任务都不能安排在这个时间段里面运行",
            "线上的只读副本在每天凌晨两点会自动重启",
        ),
    ],
)
def test_a_title_is_cut_where_it_says_something(text: str, expected: str) -> None:
    assert fit(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Remember what happened to restic with 512 MB.",
        "怪不得过一会儿自己好。",
        "还好你记得。",
        "这个我喜欢。",
        "嗯，周五评审的时候讨论。",
        "Everybody is in GMT+8 anyway.",
        "顺便问一句，阿静的生日是不是快到了",
    ],
)
def test_remarks_are_no_cards(text: str) -> None:
    assert not distilled(said(text)).cards


def test_passing_facts_give_way_where_there_is_enough() -> None:
    turns = [said(f"The {word} shelf is next to the window.") for word in ("blue", "red", "green", "old", "new")]
    turns += [said("We decided to use Postgres instead of Mongo for billing."), said("I am allergic to penicillin.")]
    turns += [said(f"I prefer {word} over anything else.") for word in ("tea", "trains", "paper", "mornings")]
    proposal = distilled(*turns)
    assert len(proposal.cards) == 6
    assert all(card.type is not CardType.FACT for card in proposal.cards)
    assert proposal.skipped["passing"] == 5


def test_a_speaker_links_nothing() -> None:
    proposal = distilled(said("I prefer tea over coffee.", name="Lin"), said("I moved to Porto last week.", name="Lin"))
    assert len(proposal.cards) == 2
    assert not proposal.links
