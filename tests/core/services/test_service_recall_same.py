"""Cards that say the very same are cut at the same place in whatever order the matrix holds them; and a matrix that a
disk spoilt is not believed."""

from __future__ import annotations

import random
from pathlib import Path

from alaya_core.memory import Memory
from alaya_core.models.commit import card_created
from alaya_core.models.requests import RecallOptions
from tests.conftest import Clock, OpenMemory
from tests.core.homes import write
from tests.core.services.test_service_recall_degraded import garbled
from tests.core.stores.test_store_graph import card

ASKED = "singing sea animal at midday"


def found(home: Path) -> list[tuple[str, float]]:
    with Memory.open(home, clock=Clock(), environ={}) as memory:
        answer = memory.recall(ASKED, RecallOptions(typed=True, within="cards"))
    return [(hit.card_id, hit.score) for hit in answer.results]


def test_equal_cards_in_any_order_and_a_spoilt_matrix(open_memory: OpenMemory, home: Path) -> None:
    memory = open_memory()
    same = [card(n, title="walrus", content="The walrus sings at noon in the harbour.") for n in range(40)]
    memory._work.commit("test", lambda _: [card_created(each) for each in same])
    memory.rebuild("l1")
    write(home / "config.json", {"recall": {"candidates": 7, "max_results": 7}})
    answers = []
    for seed in (1, 2, 3):
        order = sorted(memory._work.vectors.vectors())
        random.Random(seed).shuffle(order)
        memory._work.vectors.save_matrix(order)
        answers.append(found(home))
    assert len(answers[0]) == 7
    assert answers[0] == answers[1] == answers[2]
    garbled("lancedb/gen-*/matrix-*.f32")(home)
    assert found(home) == answers[0]
