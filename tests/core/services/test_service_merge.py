"""Two cards made one keep every text, link, source and use; the old id names the new card for ever."""

from __future__ import annotations

import pytest

from alaya_core.errors import ConflictError, UsageError
from alaya_core.memory import Memory
from alaya_core.models.requests import CardChanges
from tests.conftest import Clock
from tests.core.homes import found_ids
from tests.core.services.conftest import Learned


def test_the_kept_card_knows_what_both_knew(memory: Memory, clock: Clock) -> None:
    old = memory.capture("The server is db-7.", tags=["db"], entities=["db-7"], importance=0.9)
    clock.advance(days=1)
    new = memory.capture("Staging runs on db-7, port 5433.", tags=["staging", "db"], importance=0.4)
    memory.pin(old.card.card_id)
    card = memory.merge(new.card.card_id, old.card.card_id, why="one server").card
    assert card.content == "Staging runs on db-7, port 5433.\n\nThe server is db-7."
    assert (card.tags, card.entities, card.importance, card.pinned) == (["staging", "db"], ["db-7"], 0.9, True)
    assert card.created_at == old.card.created_at
    assert memory.show(old.card.card_id).card == card
    assert memory.show(old.card.card_id[:13]).card == card
    assert [row.card_id for row in memory.list_cards().cards] == [card.card_id]
    assert memory.history(card.card_id).commits[0].why == "one server"


@pytest.mark.parametrize("said", ["The server is db-7.", "the  SERVER is\ndb-7."])
def test_what_is_said_already_is_not_said_twice(memory: Memory, said: str) -> None:
    keep = memory.capture("Note: the server is db-7. It is fast.").card.card_id
    other = memory.capture(said).card.card_id
    assert memory.merge(keep, other).card.content == "Note: the server is db-7. It is fast."


def test_links_move_and_none_points_at_itself(memory: Memory) -> None:
    keep, other, third, fourth = (memory.capture(text).card.card_id for text in ("k", "o", "t", "f"))
    memory.link(keep, other, relation="DEPENDS_ON")
    memory.link(other, third, relation="CAUSED_BY", weight=0.9, reason="from other")
    memory.link(keep, third, relation="CAUSED_BY", weight=0.2, reason="from keep")
    memory.link(fourth, other, relation="TEMPORAL_NEXT", weight=0.3)
    memory.link(keep, fourth, relation="SIMILAR_TO", weight=0.8)
    memory.link(other, fourth, relation="SIMILAR_TO", weight=0.5, reason="lighter")
    assert {near.card_id for near in memory.merge(keep, other).related} == {third, fourth}
    with memory._work.graph.reading() as reader:
        links = {(link.from_id, link.to_id, str(link.relation), link.reason) for link in reader.all_links()}
    assert links == {
        (keep, third, "CAUSED_BY", "from other"),
        (fourth, keep, "TEMPORAL_NEXT", ""),
        (keep, fourth, "SIMILAR_TO", ""),
    }
    assert memory.show(third).related[0].card_id == keep
    assert memory.verify().ok


def test_use_follows_the_survivor_and_goes_back_with_an_undo(memory: Memory, clock: Clock) -> None:
    keep, other, last = (memory.capture(text).card.card_id for text in ("keep", "other", "last"))
    for card in (keep, other, other):
        clock.advance(hours=2)
        memory.opened(card, query="x")
    used = clock.now
    assert memory.merge(keep, other).card.access_count == 3
    assert memory.show(keep).card.last_access == used
    clock.advance(hours=2)
    memory.opened(other, query="y")
    assert memory.show(keep).card.access_count == 4
    assert memory.merge(last, keep).card.access_count == 4
    assert memory.show(other).card.card_id == last
    memory.cool_down()
    assert memory.show(last).card.access_count == 4
    memory.undo()
    memory.undo()
    assert memory.show(other).card.access_count == 3, "by whatever name it was opened, that keeps the use"
    assert memory.show(keep).card.access_count == 1


def test_chains_of_merges_end_at_the_last(memory: Memory) -> None:
    cards = [memory.capture(f"card {number}").card.card_id for number in range(4)]
    memory.merge(cards[1], cards[0])
    memory.merge(cards[2], cards[1])
    memory.merge(cards[3], cards[0])  # by an id that was merged away twice
    assert {memory.show(card).card.card_id for card in cards} == {cards[3]}
    memory.rebuild("l2")
    assert {memory.show(card).card.card_id for card in cards} == {cards[3]}
    assert memory.link(cards[0], memory.capture("another").card.card_id).link.from_id in cards  # type: ignore[union-attr]


def test_a_merged_card_is_traced_to_the_turns_of_both(learned: Learned) -> None:
    memory, (one, two, *_) = learned.memory, learned.distilled
    turns = {turn.turn for card in (one, two) for turn in memory.trace(card).sessions[0].turns}
    merged = memory.merge(one, two).card
    assert merged.source_sessions == ["talk-1"]
    assert {turn.turn for turn in memory.trace(merged.card_id).sessions[0].turns if turn.relevant} == turns
    assert memory.verify().ok


def test_a_merged_card_is_found_once_by_either_text(learned: Learned) -> None:
    memory = learned.memory
    memory.merge(learned.tabs, learned.docker)
    for query in ("gofmt tabs", "container memory 2g"):
        assert found_ids(memory, query).count(learned.tabs) == 1
        assert learned.docker not in found_ids(memory, query)


def test_what_cannot_be_merged(learned: Learned) -> None:
    memory = learned.memory
    for keep, other in ((learned.tabs, learned.tabs), (learned.tabs, learned.secret)):
        with pytest.raises(UsageError):
            memory.merge(keep, other)
    memory.merge(learned.tabs, learned.docker)
    with pytest.raises(UsageError, match="same card"):
        memory.merge(learned.tabs, learned.docker)


def test_a_merge_is_not_undone_over_a_later_change(learned: Learned) -> None:
    memory = learned.memory
    memory.merge(learned.tabs, learned.docker)
    memory.edit(learned.docker, CardChanges(title="Both"))
    with pytest.raises(ConflictError):
        memory.undo(run=f"#{memory.last_change() - 1}")
    memory.undo()
    memory.undo()
    assert memory.show(learned.docker).card.title == "Docker memory limit"
