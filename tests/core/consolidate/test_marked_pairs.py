"""Pairs of statements with what is to become of them, marked by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.core.consolidate.helpers import card, pair, planned

# `marked` was written before the rules were first run (47 of 48 were right then), `fresh` after that (27 of 33).
ROWS: list[dict[str, Any]] = [
    row
    for name in ("marked", "fresh")
    for row in json.loads((Path(__file__).parent / f"{name}_pairs.json").read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['older'][1]} / {row['newer'][1]}")
def test_marked_pair(row: dict[str, Any]) -> None:
    older = card("a-old", row["older"][1], row["older"][0])
    newer = card("b-new", row["newer"][1], row["newer"][0], days=30)
    decisions = planned([older, newer], [pair(older, newer, row["similarity"])] if row["similarity"] >= 0.7 else [])
    if row["verdict"] == "none":
        assert not decisions
        return
    (decision,) = decisions
    assert ("review" if decision.review else decision.verb) == row["verdict"], decision.why
    assert len(decision.why) <= 160
    if row["verdict"] in ("contradict", "supersede"):
        (changed,) = decision.changed
        assert (changed.id, changed.state, changed.successor) == (older.id, "superseded", newer.id)
