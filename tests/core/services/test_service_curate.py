"""What a person does by hand: each change once, on the card as it is, told truly, and only on what one may see."""

from __future__ import annotations

import pytest

from alaya_core.errors import AlayaError, AmbiguousIdError, NotFoundError, UsageError
from alaya_core.memory import Memory
from alaya_core.models.requests import CardChanges, Filters
from tests.conftest import Clock, OpenMemory
from tests.core.homes import found_ids, ledger_lines
from tests.core.services.conftest import AsAgent, Learned

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_a_captured_card_says_what_was_given(memory: Memory, clock: Clock) -> None:
    answer = memory.capture(
        " Some *text*\nwith lines ", title="A title", type="decision", importance=0.9, confidence=0.4,
        tags=["#go", "go", " x "], entities=["Docker"], scope="project:alaya",
    )  # fmt: skip
    card = answer.card
    assert answer.changed
    assert (card.title, card.content, card.type) == ("A title", "Some *text*\nwith lines", "decision")
    assert (card.importance, card.importance_by, card.confidence) == (0.9, "human", 0.4)
    assert (card.tags, card.entities, card.scope) == (["go", "x"], ["Docker"], "project:alaya")
    assert (card.origin, card.state, card.rev, card.standing, card.tier) == ("human", "active", 1, "working", "HOT")
    assert card.created_at == card.added_at == card.updated_at == clock.now
    assert memory.show(card.card_id).card == card


def test_a_title_is_made_where_none_is_given(memory: Memory) -> None:
    assert memory.capture("# Head line\n\nand a body").card.title == "Head line"
    assert memory.capture("第一句话。第二句话。").card.title == "第一句话"


def test_the_same_text_is_kept_once_in_a_scope(memory: Memory) -> None:
    first = memory.capture("the very same")
    again = memory.capture("  the very same  ", title="other title")
    assert (again.changed, again.card.card_id) == (False, first.card.card_id)
    assert again.note
    elsewhere = memory.capture("the very same", scope="project:x")
    assert elsewhere.changed
    assert elsewhere.card.card_id != first.card.card_id
    memory.forget(first.card.card_id)
    assert memory.capture("the very same").card.card_id != first.card.card_id


def test_secrets_are_masked_and_told(memory: Memory) -> None:
    answer = memory.capture(f"token {SECRET}", title=f"t {SECRET}")
    assert answer.note
    edited = memory.edit(answer.card.card_id, CardChanges(overview=f"o {SECRET}", content=f"c {SECRET}", title=SECRET))
    other = memory.capture("another")
    linked = memory.link(answer.card.card_id, other.card.card_id, reason=f"because {SECRET}")
    for said in (answer, edited, linked):
        assert SECRET not in said.model_dump_json()
    assert SECRET not in str(ledger_lines(memory.home))


BAD = [
    {"content": "  \n "}, {"content": "x" * 1_000_001}, {"type": "soup"}, {"importance": 1.5}, {"importance": -0.1},
    {"importance": float("nan")}, {"confidence": 2.0}, {"scope": "soup"}, {"scope": "agent:"}, {"scope": "agent:a b"},
    {"title": " \n"},
]  # fmt: skip


@pytest.mark.parametrize("wrong", BAD, ids=str)
def test_what_cannot_be_is_refused_and_nothing_is_written(memory: Memory, wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        memory.capture(**{"content": "some text", **wrong})  # type: ignore[arg-type]
    assert ledger_lines(memory.home) == []
    known = memory.capture("known").card.card_id
    with pytest.raises(UsageError):
        memory.edit(known, CardChanges(**wrong))  # type: ignore[arg-type]
    assert len(ledger_lines(memory.home)) == 1


def test_an_edit_changes_what_it_names_and_no_more(memory: Memory, clock: Clock) -> None:
    before = memory.capture("text", title="one", tags=["a"]).card
    clock.advance(hours=1)
    answer = memory.edit(before.card_id, CardChanges(title="two", importance=0.25))
    assert answer.changed
    expected = {"title": "two", "importance": 0.25, "importance_by": "human", "rev": 2, "updated_at": clock.now}
    after, was = answer.card.model_dump(), before.model_dump()
    assert {name for name in after if after[name] != was[name]} - {"temperature"} == set(expected)
    assert {name: after[name] for name in expected} == expected
    again = memory.edit(before.card_id, CardChanges(title="two"))
    assert (again.changed, again.card.rev) == (False, 2)
    assert memory.edit(before.card_id, CardChanges(tags=())).card.tags == []


def test_whoever_saw_another_revision_is_refused(memory: Memory) -> None:
    card = memory.capture("text").card
    memory.edit(card.card_id, CardChanges(title="by somebody else"), rev=1)
    with pytest.raises(AlayaError, match=r"revision 1.*at 2") as refused:
        memory.edit(card.card_id, CardChanges(title="mine"), rev=1)
    assert card.card_id in refused.value.hint
    assert memory.show(card.card_id).card.title == "by somebody else"
    assert memory.edit(card.card_id, CardChanges(title="mine"), rev=2).card.rev == 3


def test_a_card_that_another_supersedes(memory: Memory) -> None:
    old, new = memory.capture("old").card.card_id, memory.capture("new").card.card_id
    card = memory.edit(old, CardChanges(superseded_by=new)).card
    assert (card.state, card.successor) == ("superseded", new)
    with pytest.raises(UsageError):
        memory.edit(new, CardChanges(superseded_by=new))
    with pytest.raises(NotFoundError):
        memory.edit(new, CardChanges(superseded_by="card-none0000"))
    restored = memory.restore(old).card
    assert (restored.state, restored.successor) == ("active", None)


def test_every_state_is_left_and_entered_once(memory: Memory) -> None:
    card = memory.capture("text").card.card_id
    assert memory.archive(card).card.state == "archived"
    assert memory.archive(card).changed is False
    assert memory.list_cards().total == 0
    assert memory.list_cards(Filters(archived=True)).total == 1
    assert memory.restore(card).card.state == "active"
    assert memory.forget(card).card.state == "forgotten"
    assert memory.forget(card).changed is False
    assert memory.list_cards(Filters(archived=True)).total == 0
    for use in (memory.show, memory.pin, memory.archive, memory.trace):
        with pytest.raises(NotFoundError) as gone:
            use(card)
        assert "restore" in gone.value.hint
    assert len(memory.history(card).commits) == 4
    assert memory.restore(card).card.content == "text"
    assert memory.pin(card).card.pinned
    assert memory.pin(card).changed is False
    assert memory.unpin(card).card.pinned is False


def test_what_was_forgotten_or_archived_is_not_recalled(learned: Learned) -> None:
    memory = learned.memory
    assert learned.docker in found_ids(memory, "docker memory limit")
    memory.archive(learned.docker)
    assert learned.docker not in found_ids(memory, "docker memory limit")
    assert learned.docker in found_ids(memory, "docker memory limit", filters=Filters(archived=True))
    memory.restore(learned.docker)
    memory.forget(learned.docker)
    assert learned.docker not in found_ids(memory, "docker memory limit", filters=Filters(archived=True))
    memory.restore(learned.docker)
    assert learned.docker in found_ids(memory, "docker memory limit")


def test_links_are_made_weighed_anew_and_taken_away(memory: Memory) -> None:
    a, b = memory.capture("a").card.card_id, memory.capture("b").card.card_id
    made = memory.link(b, a, relation="depends-on", weight=0.7, reason="so\nit is")
    assert made.changed
    assert made.link is not None
    assert (made.link.from_id, made.link.to_id, made.link.relation) == (b, a, "DEPENDS_ON")
    assert (made.link.weight, made.link.reason, made.link.origin) == (0.7, "so it is", "human")
    assert not made.link.both_ways
    assert memory.link(b, a, relation="DEPENDS_ON", weight=0.7, reason="so it is").changed is False
    assert memory.link(b, a, relation="DEPENDS_ON", weight=0.2).changed
    assert memory.link(a, b, relation="CONTRADICTS").changed
    assert memory.link(b, a, relation="CONTRADICTS").changed is False, "it reads the same from both ends"
    seen = {(other.relation, other.direction, other.score) for other in memory.show(a).related}
    assert seen <= {("DEPENDS_ON", "in", 0.2), ("CONTRADICTS", "both", 0.5)}
    assert memory.status().graph.by_relation == {"DEPENDS_ON": 1, "CONTRADICTS": 1}
    gone = memory.unlink(a, b, relation="CONTRADICTS")
    assert [link.relation for link in gone.removed] == ["CONTRADICTS"]
    assert [link.relation for link in memory.unlink(a, b).removed] == ["DEPENDS_ON"]
    assert memory.unlink(a, b).changed is False
    assert memory.show(a).related == []


def test_links_that_cannot_be(memory: Memory) -> None:
    a, b = memory.capture("a").card.card_id, memory.capture("b").card.card_id
    for wrong in ({"relation": "soup"}, {"weight": 2.0}, {"weight": float("nan")}):
        with pytest.raises(UsageError):
            memory.link(a, b, **wrong)
    with pytest.raises(UsageError):
        memory.link(a, a)
    with pytest.raises(NotFoundError):
        memory.link(a, "card-99999999")
    assert memory.status().graph.links == 0


def test_the_beginning_of_an_id_is_enough(memory: Memory) -> None:
    first, second = (memory.capture(text).card.card_id for text in ("one", "two"))
    for reference in (first, first[:13], first[5:13], f" {first[:20]} "):
        assert memory.show(reference).card.card_id == first
    assert memory.link(first[:13], second[:13]).changed
    for reference in ("card-0000000", "0000000", "card-", "card-99999999", "%", "card-*", ""):
        with pytest.raises(NotFoundError):
            memory.show(reference)


def test_a_beginning_that_fits_several_is_refused_with_all_of_them(open_memory: OpenMemory) -> None:
    from itertools import count

    from alaya_core.clock import IdSource

    numbers = count(1)
    memory = open_memory(ids=IdSource(new_card=lambda: f"card-abcdabcd{next(numbers):024x}"))
    made = [memory.capture(str(n)).card.card_id for n in range(3)]
    with pytest.raises(AmbiguousIdError) as refused:
        memory.pin("card-abcdabcd")
    assert all(card in refused.value.message for card in made)
    assert memory.pin(made[1]).changed
    assert not memory.show(made[0]).card.pinned


def test_what_another_agent_knows_is_not_there(learned: Learned, as_agent: AsAgent) -> None:
    main, other = as_agent("main"), as_agent("other")
    assert other.show(learned.secret).card.scope == "agent:other"
    assert learned.distilled[0] in [row.card_id for row in main.list_cards(limit=500).cards]
    for use in (main.show, main.pin, main.forget, main.restore, main.trace, main.history, main.archive):
        with pytest.raises(NotFoundError):
            use(learned.secret)
    with pytest.raises(NotFoundError):
        main.link(learned.secret, learned.tabs)
    with pytest.raises(NotFoundError):
        main.edit(learned.tabs, CardChanges(superseded_by=learned.secret))
    assert learned.secret not in [row.card_id for row in main.list_cards(limit=500).cards]
    assert learned.secret not in [found.card_id for found in main.show(learned.gateway).related]
    assert main.show(learned.gateway).related_total == learned.memory.show(learned.gateway).related_total - 1
    assert "turquoise" not in main.history(limit=100).model_dump_json()
    assert learned.secret not in main.history(limit=100).model_dump_json()
    assert "talk-1" not in other.history(limit=100).model_dump_json()


def test_an_agent_writes_only_where_it_can_read(learned: Learned, as_agent: AsAgent) -> None:
    main = as_agent("main")
    assert main.capture("for all").card.scope == "global"
    assert main.capture("for me", scope="agent:main").card.scope == "agent:main"
    before = len(ledger_lines(main.home))
    with pytest.raises(UsageError):
        main.capture("for them", scope="agent:other")
    with pytest.raises(UsageError):
        main.edit(learned.tabs, CardChanges(scope="agent:other"))
    assert len(ledger_lines(main.home)) == before
    assert ledger_lines(main.home)[-1]["actor"] == "agent:main"
