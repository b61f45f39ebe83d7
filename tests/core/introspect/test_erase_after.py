"""What is erased is gone from all that tidying made of it, too."""

from __future__ import annotations

from alaya_core.memory import Memory
from alaya_core.models.requests import IntrospectOptions
from tests.conftest import Clock
from tests.core.erase_helpers import holding

MARK = "Zebrafinch"


def test_no_byte_of_a_card_stays_in_summaries_runs_or_the_working_memory(memory: Memory, clock: Clock) -> None:
    texts = (
        f"The Quillgate deploys through {MARK} runners on Mondays.",
        "The Quillgate keeps its logs for ninety days.",
        "The Quillgate is written in Rust by the platform group.",
        "The Quillgate has two replicas in every region.",
    )
    ids = [memory.capture(text, entities=["Quillgate"], importance=0.6).card.card_id for text in texts]
    report = memory.introspect()
    (summary,) = [row for row in memory.list_cards(limit=20).cards if row.type == "summary"]
    assert MARK in memory.show(summary.card_id).card.content
    assert len(holding(memory.home, MARK)) == 1

    answer = memory.erase(ids[0], yes=True)
    assert answer.left == []
    assert set(answer.erased.cards) == {ids[0], summary.card_id}
    assert holding(memory.home, MARK) == {}
    assert [memory.show(card).card.content for card in ids[1:]] == list(texts[1:])
    assert memory.verify().ok

    clock.advance(hours=1)
    memory.introspect(IntrospectOptions(phases=("consolidate", "snapshot")))
    (anew,) = [row for row in memory.list_cards(limit=20).cards if row.type == "summary"]
    assert anew.card_id != summary.card_id
    assert report.run in {run.run for run in memory.runs().runs}


def test_answers_of_a_model_and_what_it_taught_go_with_any_erase(memory: Memory) -> None:
    kept = [memory.home / "cache" / name for name in ("replies/0a.json", "noise/1b.npz")]
    for path in kept:
        path.parent.mkdir(parents=True)
        path.write_bytes(b"packed beyond reading")
    memory.erase(memory.capture("A short note").card.card_id, yes=True)
    assert not any(path.exists() for path in kept)
