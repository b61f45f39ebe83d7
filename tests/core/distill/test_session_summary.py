"""The last messages of a session as one card."""

from __future__ import annotations

from alaya_core.models.card_types import CardType
from alaya_core.models.session import Turn, TurnKind
from alaya_core.services.distill.session_summary import summary_draft
from alaya_core.text import cells
from tests.core.distill.helpers import START, said


def numbered(*turns: Turn) -> list[tuple[int, Turn]]:
    return list(enumerate(turns, 4))


def test_the_last_messages_a_line_each() -> None:
    turns = numbered(
        said("The first thing."),
        said("Where does the gateway listen?", at=START + 5),
        said("HEARTBEAT_OK", "assistant"),
        said("npm test printed this", "tool", kind=TurnKind.TOOL),
        said("On **port** 8080.\nSince May.", "assistant", at=START + 9),
    )
    draft = summary_draft(turns, "s", 2, START)
    assert draft is not None
    assert draft.content == "- User: Where does the gateway listen?\n- Assistant: On port 8080. Since May."
    assert draft.type is CardType.SUMMARY
    assert draft.sources[0].session_id == "s"
    assert draft.sources[0].turns == (5, 8)
    assert draft.created_at == START + 9
    assert "gateway" in draft.title


def test_long_messages_are_cut_and_secrets_masked_even_where_the_cut_is() -> None:
    word = "Winter" + "Moon!84"
    draft = summary_draft(numbered(said("many words " * 19 + f"password={word}" + " more" * 200)), "s", 5, START)
    assert draft is not None
    assert "Winter" not in draft.content
    assert cells(draft.content) < 260
    assert cells(draft.title) <= 80


def test_a_chinese_session_and_one_without_words() -> None:
    draft = summary_draft(numbered(said("网关监听哪个端口？"), said("8080 端口。", "assistant")), "s", 5, START)
    assert draft is not None
    assert draft.title.startswith("会话小结")
    assert draft.content.splitlines()[1] == "- 助手：8080 端口。"
    assert summary_draft(numbered(said("HEARTBEAT_OK", "assistant")), "s", 5, START) is None
    assert summary_draft(numbered(said("hello there")), "s", 0, START) is None
