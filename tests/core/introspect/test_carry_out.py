"""Decisions carried out: looked at again, all of it in the ledger, nothing lost in a merge."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alaya_core.memory import Memory
from alaya_core.models.card import Card, CardState, Link, Relation, ordered_ends
from alaya_core.models.plan import Decision
from alaya_core.models.requests import CardChanges
from alaya_core.progress import CancelledError, CancelToken
from alaya_core.services.carry_out import CarriedOut, carry_out
from alaya_core.services.workspace import Workspace
from tests.conftest import OpenMemory


def work(memory: Memory) -> Workspace:
    return memory._work


def do(memory: Memory, decisions: list[Decision], run: str = "run-1", **options: object) -> CarriedOut:
    return carry_out(work(memory), decisions, verb="test", run=run, actor="introspect", **options)  # type: ignore[arg-type]


def cards(memory: Memory, *ids: str) -> list[Card]:
    with work(memory).graph.reading() as reader:
        found = reader.cards(ids)
    return [found[key] for key in ids]


def captured(memory: Memory, *texts: str) -> list[Card]:
    return cards(memory, *(memory.capture(text, tags=[text[:3]], entities=[text[-3:]]).card.card_id for text in texts))


def look(memory: Memory) -> tuple[list[str], list[str]]:
    with work(memory).graph.reading() as reader:
        kept = sorted(repr(replace(card, rev=0, updated_at=0)) for card in reader.all_cards())
        return kept, sorted(repr(link) for link in reader.all_links())


def test_a_card_that_somebody_changed_meanwhile_is_left_and_the_others_are_done(memory: Memory) -> None:
    one, two = captured(memory, "the first of two", "and the second one")
    memory.edit(one.id, CardChanges(title="changed meanwhile"))
    decisions = [
        Decision("archive", (card,), changed=(replace(card, state=CardState.ARCHIVED),)) for card in (one, two)
    ]
    out = do(memory, decisions)
    assert [decision.seen[0].id for decision in out.done] == [two.id]
    assert [(decision.seen[0].id, bool(reason)) for decision, reason in out.skipped] == [(one.id, True)]
    assert [card.state for card in cards(memory, one.id, two.id)] == [CardState.ACTIVE, CardState.ARCHIVED]


def test_several_duplicates_go_into_one_and_a_later_text_change_of_it_is_not_overwritten(memory: Memory) -> None:
    keep, a, b = captured(memory, "docker needs memory", "docker wants memory", "docker has memory")
    decisions = [
        Decision("merge", (keep, a), absorbed=a.id),
        Decision("merge", (keep, b), absorbed=b.id),
        Decision("summarize", (keep,), changed=(replace(keep, content="lost"),)),
    ]
    out = do(memory, decisions)
    assert len(out.done) == 2
    assert len(out.skipped) == 1
    whole = memory.show(keep.id).card
    assert all(text in whole.content for text in (keep.content, a.content, b.content))
    assert memory.show(b.id).card.card_id == keep.id


def test_links_move_through_merges_of_both_their_ends(memory: Memory) -> None:
    a, b, c, d = captured(memory, "card aaa one", "card bbb two", "card ccc three", "card ddd four")
    memory.link(b.id, d.id, relation="DEPENDS_ON", reason="because")
    do(memory, [Decision("merge", (a, b), absorbed=b.id), Decision("merge", (c, d), absorbed=d.id)])
    with work(memory).graph.reading() as reader:
        (link,) = reader.all_links()
    assert (link.from_id, link.to_id, link.relation, link.reason) == (a.id, c.id, Relation.DEPENDS_ON, "because")


def test_a_link_that_is_there_is_left_as_a_person_made_it(memory: Memory) -> None:
    a, b = captured(memory, "card aaa one", "card bbb two")
    memory.link(a.id, b.id, relation="SIMILAR_TO", weight=0.9, reason="mine")
    ends = ordered_ends(a.id, b.id, Relation.SIMILAR_TO)
    do(memory, [Decision("similar", (a, b), links=(Link(*ends, Relation.SIMILAR_TO, 0.7, "rule", "rule", 1),))])
    with work(memory).graph.reading() as reader:
        (link,) = reader.all_links()
    assert (link.weight, link.reason) == (0.9, "mine")


def test_what_only_a_person_may_decide_changes_nothing(memory: Memory) -> None:
    a, b = captured(memory, "card aaa one", "card bbb two")
    before = look(memory)
    out = do(memory, [Decision("merge", (a, b), absorbed=b.id, review=True, key="k1", why="alike")])
    assert len(out.done) == 1
    assert look(memory) == before
    assert "proposed to merge" in memory.history(limit=1).commits[0].what[0]


@pytest.mark.parametrize("count", [450])
def test_many_are_done_in_several_commits_and_a_cancel_keeps_what_was_done(memory: Memory, count: int) -> None:
    (first,) = captured(memory, "a text to copy")
    copies = [replace(first, id=f"card-{number:032x}", title=f"copy {number}") for number in range(count)]
    token = CancelToken()
    with pytest.raises(CancelledError):
        do(
            memory,
            [Decision("make", (first,), made=(copy,)) for copy in copies],
            cancel=token,
            told=lambda out: token.cancel() if out.done else None,
        )
    there = memory.list_cards(limit=1).total
    assert 1 < there < count
    memory.undo(run="run-1")
    assert memory.list_cards(limit=5).total == 1


@given(st.data())
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_run_of_merges_keeps_every_link_tag_source_and_undoes_to_what_it_was(
    open_memory: OpenMemory, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    memory = open_memory(tmp_path_factory.mktemp("home") / "home")
    made = captured(memory, *(f"text {number} of some" for number in range(6)))
    for a, b in data.draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8)):
        if a != b:
            memory.link(made[a].id, made[b].id, relation=data.draw(st.sampled_from(["DEPENDS_ON", "RELATES_TO"])))
    before = look(memory)
    with work(memory).graph.reading() as reader:
        links = reader.all_links()
    pairs = data.draw(
        st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda p: p[0] != p[1]), max_size=5)
    )
    out = do(memory, [Decision("merge", (made[a], made[b]), absorbed=made[b].id) for a, b in pairs])
    home_of = {card.id: memory.show(card.id).card.card_id for card in made}
    with work(memory).graph.reading() as reader:
        now = {(link.from_id, link.to_id, link.relation) for link in reader.all_links()}
        kept = reader.cards(set(home_of.values()))
    for link in links:
        ends = home_of[link.from_id], home_of[link.to_id]
        assert ends[0] == ends[1] or (*ordered_ends(*ends, link.relation), link.relation) in now
    assert all(a != b for a, b, _ in now)
    for card in made:
        whole = kept[home_of[card.id]]
        assert set(card.tags) <= set(whole.tags)
        assert set(card.entities) <= set(whole.entities)
        assert card.content in whole.content
    if out.done:
        memory.undo(run="run-1")
    assert look(memory) == before
