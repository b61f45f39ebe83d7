"""What the tests of distillation share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from alaya_core.models.session import Turn, TurnKind
from alaya_core.services.distill.rules import Proposal, distill_by_rules
from alaya_core.services.distill.subjects import is_bare
from alaya_core.text import cells

HERE = Path(__file__).parent
START = 1_767_225_600_000


def said(
    text: str, role: str = "user", *, name: str = "", kind: TurnKind = TurnKind.MESSAGE, at: int | None = None
) -> Turn:
    return Turn(role, text, at, kind, text, name=name)


def distilled(*turns: Turn, max_cards: int = 10) -> Proposal:
    return distill_by_rules(list(enumerate(turns)), session_id="s", session_time=START, max_cards=max_cards)


def rows(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((HERE / f"{name}_turns.json").read_text(encoding="utf-8"))
    return found


def turn_of(row: dict[str, Any]) -> Turn:
    return said(row["text"], row["role"], name=row.get("name", ""), kind=TurnKind(row.get("kind", "message")))


def check_cards(proposal: Proposal) -> None:
    """What holds for any card."""
    keys = [card.key for card in proposal.cards]
    assert len(set(keys)) == len(keys)
    for card in proposal.cards:
        assert 0 < cells(card.title) <= 80, card.title
        assert "\n" not in card.title
        assert "`" not in card.title
        assert "**" not in card.title
        assert not is_bare(card.title), card.title
        assert card.content.strip()
        assert 0 < card.importance <= 1
        assert 0 < card.confidence <= 1
        assert len(card.tags) <= 5
        assert all(tag == tag.lower() for tag in card.tags)
        assert card.sources[0].turns
        assert card.importance_by == "rules"
    for link in proposal.links:
        assert {link.from_key, link.to_key} <= set(keys)
        assert link.from_key != link.to_key
        assert link.reason
