"""Whatever was done can be taken back and done again, unless something changed since: then that is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from alaya_core.errors import ConflictError, NotFoundError, ReadOnlyHomeError
from alaya_core.memory import Memory
from alaya_core.models.card import Standing
from alaya_core.models.commit import Event, card_changed, proposal_judged, proposal_made
from alaya_core.models.requests import CardChanges, Filters, RecallOptions
from alaya_core.stores.graph_read import GraphReader
from tests.conftest import Clock, OpenMemory
from tests.core.homes import TALK, found_ids, ledger_lines, session, write
from tests.core.services.conftest import AsAgent, Learned
from tests.core.services.test_service_verify import snapshot

LONG = "The gateway needs its plugins before it starts. " * 20


def everything(memory: Memory) -> str:
    """Cards of every state and links, revisions and times of change aside."""
    with memory._work.graph.reading() as reader:
        cards = [repr(replace(card, rev=0, updated_at=0)) for card in reader.all_cards()]
        links = [repr(link) for link in reader.all_links()]
        sessions = [(s.id, s.turns, s.chain, s.distilled_turns) for s in reader.sessions()]
    return repr((sorted(cards), sorted(links), sorted(sessions)))


CHANGES = {
    "edit": lambda m, k: m.edit(k.docker, CardChanges(content=LONG, title="Other", tags=("x",), importance=0.1)),
    "edit of a long text": lambda m, k: m.edit(k.docker, CardChanges(content="short")),
    "pin": lambda m, k: m.pin(k.docker),
    "archive": lambda m, k: m.archive(k.docker),
    "forget": lambda m, k: m.forget(k.docker),
    "supersede": lambda m, k: m.edit(k.docker, CardChanges(superseded_by=k.tabs)),
    "link": lambda m, k: m.link(k.docker, k.tabs, relation="CAUSED_BY", weight=0.9, reason="both 中文"),
    "heavier link": lambda m, k: m.link(k.gateway, k.docker, relation="DEPENDS_ON", weight=1.0),
    "unlink": lambda m, k: m.unlink(k.gateway, k.docker),
    "merge": lambda m, k: m.merge(k.gateway, k.docker, why="the same"),
    "capture": lambda m, k: m.capture("Entirely new."),
    "ingest": lambda m, k: m.ingest([write(m.home.parent / "n.json", session("new-1"))]),
    "growth": lambda m, k: m.ingest([write(k.source.parent / "g.json", session(k.talk, [*TALK, "One more.", "Yes."]))]),
    "distill again": lambda m, k: m.distill(session=k.talk, redo=True),
}


@pytest.mark.parametrize("name", CHANGES)
def test_every_change_is_taken_back_and_done_again(learned: Learned, name: str) -> None:
    memory = learned.memory
    if name == "edit of a long text":
        memory.edit(learned.docker, CardChanges(content=LONG, overview=LONG[::-1]))
    before = everything(memory)
    CHANGES[name](memory, learned)
    after = everything(memory)
    if name == "distill again":
        assert memory.history(limit=1).commits[0].actor == "rules"
        run = memory.history(limit=1).commits[0].run
    else:
        assert after != before
        run = None
    undone = memory.undo(run=run)
    assert everything(memory) == before
    assert undone.undone
    assert undone.undone[0].what
    assert memory.verify().ok
    again = memory.redo()
    assert everything(memory) == after
    assert [view.seq for view in again.redone] == [view.seq for view in undone.undone][::-1]
    memory.undo(run=run)
    assert everything(memory) == before
    memory.rebuild("l2")
    assert everything(memory) == before
    assert memory.verify().ok


def test_undo_goes_back_step_by_step_and_says_when_there_is_nothing(memory: Memory) -> None:
    card = memory.capture("first").card.card_id
    memory.edit(card, CardChanges(title="Second"))
    memory.pin(card)
    memory.undo()
    assert not memory.show(card).card.pinned
    memory.undo()
    assert memory.show(card).card.title == "first"
    memory.undo()
    with pytest.raises(NotFoundError):
        memory.show(card)
    with pytest.raises(NotFoundError, match="nothing to undo"):
        memory.undo()
    for _ in range(3):
        memory.redo()
    assert (memory.show(card).card.title, memory.show(card).card.pinned) == ("Second", True)
    with pytest.raises(NotFoundError, match="nothing to redo"):
        memory.redo()


def test_an_undo_after_a_redo_takes_back_what_was_redone(memory: Memory) -> None:
    first, second = (memory.capture(text).card.card_id for text in ("one", "two"))
    memory.undo()
    memory.undo()
    third = memory.capture("three").card.card_id
    memory.redo()
    assert memory.show(first)
    assert [view.cards for view in memory.undo().undone] == [[first]]
    assert memory.show(third)
    with pytest.raises(NotFoundError):
        memory.show(second)


def test_what_changed_since_is_not_overwritten(learned: Learned) -> None:
    memory = learned.memory
    memory.edit(learned.docker, CardChanges(content="mine"))
    seq = memory.last_change()
    memory.edit(learned.docker, CardChanges(content="theirs"))
    before = memory.last_change()
    with pytest.raises(ConflictError) as refused:
        memory.undo(run=f"#{seq}")
    assert f"#{before}" in refused.value.message
    assert "cascade" in refused.value.hint
    assert memory.last_change() == before, "a refusal changes nothing"
    assert memory.show(learned.docker).card.content == "theirs"
    undone = memory.undo(run=f"#{seq}", cascade=True)
    assert [view.seq for view in undone.undone] == [before, seq]
    assert memory.show(learned.docker).card.content.startswith("Start the container")


def test_a_card_that_others_hang_on_is_not_taken_away_under_them(memory: Memory) -> None:
    card, other = (memory.capture(text).card.card_id for text in ("one", "two"))
    memory.link(card, other)
    with pytest.raises(ConflictError, match="link"):
        memory.undo(run="#1")
    memory.unlink(card, other)
    with pytest.raises(ConflictError):
        memory.undo(run="#1")
    assert len(memory.undo(run="#1", cascade=True).undone) == 3
    assert [row.card_id for row in memory.list_cards().cards] == [other]


def test_what_the_tidying_did_stands_in_nobodys_way(learned: Learned, clock: Clock) -> None:
    memory = learned.memory
    memory.edit(learned.docker, CardChanges(title="Renamed"))
    clock.advance(days=400)
    assert memory.cool_down()[0] > 0
    memory.undo()
    card = memory.show(learned.docker).card
    assert (card.title, card.tier) == ("Docker memory limit", "COLD")


def test_a_run_is_undone_as_a_whole(learned: Learned) -> None:
    memory = learned.memory
    runs = {view.run for view in memory.history(limit=100).commits if view.actor == "rules"}
    [run] = runs
    assert run is not None
    undone = memory.undo(run=run)
    assert len(memory.list_cards().cards) == 4
    assert memory.status().raw.sessions == 0, "it came in and was distilled by one command"
    assert undone.run is not None
    assert found_ids(memory, "staging database host db-7", within="cards") != list(learned.distilled)
    with pytest.raises(NotFoundError, match="undone already"):
        memory.undo(run=run)
    assert memory.verify().ok
    memory.redo(run=run)
    assert len(memory.list_cards().cards) == 4 + len(learned.distilled)
    assert memory.trace(learned.distilled[0]).sessions[0].turns
    with pytest.raises(NotFoundError, match="itself an undo"):
        memory.undo(run=undone.run)


def test_an_undone_ingest_is_not_found_and_comes_back(learned: Learned, tmp_path: Path) -> None:
    memory = learned.memory
    memory.ingest([write(tmp_path / "s.json", session("zebra-1", ["The zebra crossing is closed.", "Noted."]))])

    def passages() -> list[str]:
        return [hit.session_id for hit in memory.recall("zebra crossing", RecallOptions(vectors=False)).passages]

    assert passages() == ["zebra-1"]
    memory.undo()
    assert passages() == []
    assert memory.verify().ok, "its file stays, and is no stray"
    memory.redo()
    assert passages() == ["zebra-1"]
    memory.undo()
    assert memory.ingest([tmp_path / "s.json"]).sessions[0].status == "new"
    assert passages() == ["zebra-1"]
    assert memory.verify().ok


def test_growth_taken_back_hides_the_new_turns_and_they_can_come_again(learned: Learned) -> None:
    memory = learned.memory
    grown = write(learned.source.parent / "talk-1.json", session("talk-1", [*TALK, "A walrus sang.", "It did."]))
    memory.ingest([grown])
    memory.undo()
    assert memory.recall("walrus", RecallOptions(vectors=False)).passages == []
    assert memory.trace(learned.distilled[0], full=True).sessions[0].total == len(TALK)
    assert len(memory.trace(learned.distilled[0], full=True).sessions[0].turns) == len(TALK)
    assert memory.verify().ok
    [outcome] = memory.ingest([grown]).sessions
    assert (outcome.status, outcome.new_turns) == ("grown", 2)
    assert memory.recall("walrus", RecallOptions(vectors=False)).passages
    write(grown, session("talk-1", TALK))


def test_an_ingest_that_cards_were_made_of_is_undone_only_with_them(memory: Memory, tmp_path: Path) -> None:
    memory.ingest([write(tmp_path / "s.json", session("s-1"))])
    memory.distill()
    with pytest.raises(ConflictError, match="#2 new card"):
        memory.undo()
    memory.undo(cascade=True)
    assert memory.list_cards(Filters(archived=True)).total == 0
    assert memory.status().raw.sessions == 0
    assert memory.verify().ok
    memory.redo()
    assert memory.status().raw.sessions == 1
    assert memory.list_cards().total > 0


def test_each_undoes_its_own(learned: Learned, as_agent: AsAgent) -> None:
    main = as_agent("main")
    mine = main.capture("what main noted", scope="agent:main").card.card_id
    owners = learned.memory.capture("what the owner noted").card.card_id
    assert [view.cards for view in main.undo().undone] == [[mine]]
    with pytest.raises(NotFoundError, match="nothing to undo"):
        main.undo()
    with pytest.raises(ConflictError, match="was made by"):
        main.undo(run=f"#{learned.memory.last_change() - 1}")
    assert learned.memory.show(owners).card.card_id == owners
    assert [view.cards for view in learned.memory.undo().undone] == [[owners]]


def test_the_ledger_only_grows(learned: Learned) -> None:
    memory = learned.memory
    path = memory.home / "raw/ledger/000000000001.jsonl"
    memory.pin(learned.tabs)
    before = path.read_bytes()
    memory.undo()
    memory.redo()
    assert path.read_bytes().startswith(before)
    lines = ledger_lines(memory.home)
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert lines[-2]["events"][-1]["kind"] == "commits.undone"
    assert lines[-1]["events"][-1]["kind"] == "commits.redone"


def test_no_run_of_that_name(memory: Memory) -> None:
    memory.capture("something")
    for run in ("run-nobody", "#99", "99", "0", "card-", "#", "\x00", "run"):
        for call in (memory.undo, memory.redo):
            with pytest.raises(NotFoundError):
                call(run=run)


def test_a_home_that_takes_no_changes(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.capture("something")
    monkeypatch.setattr(type(memory._work), "read_only", property(lambda _: True))
    with pytest.raises(ReadOnlyHomeError):
        memory.undo()


def test_a_process_killed_between_undo_and_views_loses_nothing(learned: Learned, open_memory: OpenMemory) -> None:
    memory = learned.memory
    memory.forget(learned.tabs)
    before = snapshot(memory)
    memory.undo()
    memory.redo()
    for path in (memory.home / "kuzu").glob("gen-*"):
        path.unlink()
    assert snapshot(open_memory()).count("Tabs in Go") == before.count("Tabs in Go") + 2  # in the history only


def test_an_erase_is_passed_over_and_keeps_nothing_from_being_undone(learned: Learned) -> None:
    memory = learned.memory
    memory.pin(learned.docker)
    memory.erase(learned.tabs, yes=True)
    memory.undo()
    assert not memory.show(learned.docker).card.pinned
    with pytest.raises(ConflictError, match="gone for good"):
        memory.undo(run=f"#{memory.last_change() - 1}")


def test_one_undo_takes_back_what_one_command_took_in(memory: Memory, tmp_path: Path) -> None:
    memory.ingest([write(tmp_path / "s.json", session("s-1"))], distill=True)
    assert memory.list_cards().total > 0
    memory.undo()
    assert (memory.list_cards().total, memory.status().raw.sessions) == (0, 0)
    memory.redo()
    assert memory.list_cards().total > 0


def test_after_a_redo_over_other_changes_undo_goes_on(memory: Memory) -> None:
    card = memory.capture("X").card.card_id
    memory.edit(card, CardChanges(content="X v2"))
    memory.undo()
    memory.edit(card, CardChanges(content="X branch"))
    with pytest.raises(ConflictError):
        memory.redo()
    memory.redo(cascade=True)
    assert memory.show(card).card.content == "X v2"
    memory.undo()
    assert memory.show(card).card.content == "X"
    memory.undo()
    with pytest.raises(NotFoundError):
        memory.show(card)


def test_the_hint_of_a_refusal_is_the_command_that_helps(memory: Memory) -> None:
    card = memory.capture("one").card.card_id
    memory.edit(card, CardChanges(content="two"))
    memory.edit(card, CardChanges(content="three"))
    with pytest.raises(ConflictError) as refused:
        memory.undo(run="#2")
    assert "undo --run 2 --cascade" in refused.value.hint
    assert memory.undo(run="2", cascade=True).undone


def test_what_an_erase_left_nothing_of_is_passed_over(memory: Memory) -> None:
    kept = memory.capture("stays").card.card_id
    memory.pin(kept)
    gone = memory.capture("goes").card.card_id
    memory.edit(gone, CardChanges(title="Goes"))
    memory.erase(gone, yes=True)
    assert [view.cards for view in memory.undo().undone] == [[kept]]
    assert not memory.show(kept).card.pinned


def test_a_cascaded_undo_over_merges_and_a_link_is_redone_as_it_was(memory: Memory) -> None:
    one, two, three = (memory.capture(text).card.card_id for text in ("one", "two", "three"))
    memory.link(one, two, relation="DEPENDS_ON")
    link = memory.last_change()
    memory.undo()
    memory.redo()
    memory.edit(three, CardChanges(title="x"))
    memory.merge(one, three, why="alike")
    memory.redo(run=memory.undo(run=f"#{link}").run)
    memory.merge(two, one, why="alike")
    newest = memory.last_change()
    memory.undo()
    memory.redo()
    before = everything(memory)
    with pytest.raises(ConflictError):
        memory.undo(run=f"#{link}")
    undone = memory.undo(run=f"#{link}", cascade=True)
    assert [view.seq for view in undone.undone] == [newest, link]
    again = memory.redo(run=undone.run)
    assert [view.seq for view in again.redone] == [link, newest]
    assert everything(memory) == before
    with pytest.raises(ConflictError, match=f"#{newest} "):
        memory.undo(run=f"#{link}")


def test_a_redo_says_what_must_be_redone_before_it(memory: Memory) -> None:
    card = memory.capture("X").card.card_id
    first = memory.last_change()
    memory.edit(card, CardChanges(content="X v2"))
    memory.undo(run=f"#{first}", cascade=True)
    with pytest.raises(ConflictError, match=f'rests on .*#{first} new card "X"') as refused:
        memory.redo(run=f"#{first + 1}", cascade=True)
    assert f"redo --run {first}`" in refused.value.hint
    memory.redo(run=str(first))
    memory.redo(run=f"#{first + 1}")
    assert memory.show(card).card.content == "X v2"


def test_an_undone_redo_is_redone_by_its_own_name(memory: Memory) -> None:
    card = memory.capture("X").card.card_id
    memory.undo()
    redone = memory.redo()
    memory.undo(run=redone.run)
    memory.redo(run=redone.run)
    assert memory.show(card)


def test_a_change_between_two_of_a_run_is_undone_between_them(memory: Memory) -> None:
    card = memory.capture("X").card.card_id
    before = everything(memory)
    for number, tags in enumerate((("first",), ("between",), ("last",))):
        _tag(memory, card, tags, run="" if number == 1 else "run-1")
    after = everything(memory)
    undone = memory.undo(run="run-1", cascade=True)
    assert [view.seq for view in undone.undone] == [4, 3, 2]
    assert everything(memory) == before
    memory.redo(run=undone.run)
    assert everything(memory) == after


def test_a_run_that_only_proposed_is_undone_and_redone(memory: Memory) -> None:
    one, two = (memory.capture(text).card.card_id for text in ("one", "two"))
    made = proposal_made("key-1", "merge", [one, two], score=0.9, why="alike")
    memory._work.commit("introspect", lambda _: [made], run="run-1", actor="introspect")
    memory._work.commit("judge", lambda _: [proposal_judged("key-1", "rejected", "human")])
    before = everything(memory)
    assert [view.seq for view in memory.undo().undone] == [4]
    assert [view.seq for view in memory.undo(run="run-1").undone] == [3]
    assert [memory.history(limit=9).commits[at].undone for at in (2, 3)] == [True, True]
    with pytest.raises(NotFoundError, match="undone already"):
        memory.undo(run="run-1")
    assert [view.seq for view in memory.redo(run="run-1").redone] == [3]
    assert [view.seq for view in memory.redo().redone] == [4]
    assert [view.seq for view in memory.history(limit=9).commits if view.undone] == []
    assert everything(memory) == before
    assert memory.verify().ok
    memory.rebuild("l2")
    assert everything(memory) == before


def test_undo_of_a_tidying_run_takes_back_standing_and_proposals_alike(memory: Memory) -> None:
    one, two = (memory.capture(text).card.card_id for text in ("one", "two"))
    before = everything(memory)

    def tidied(reader: GraphReader) -> list[Event]:
        card = reader.cards([one])[one]
        risen = card_changed(card, replace(card, standing=Standing.CORE, rev=card.rev + 1), "rise")
        return [risen, proposal_made("key-1", "merge", [one, two], score=0.9, why="alike")]

    memory._work.commit("introspect", tidied, run="run-1", actor="introspect")
    memory.undo(run="run-1")
    assert everything(memory) == before
    memory.undo()
    with pytest.raises(NotFoundError):
        memory.show(two)


def _tag(memory: Memory, card_id: str, tags: tuple[str, ...], *, run: str) -> None:
    def tagged(reader: GraphReader) -> list[Event]:
        card = reader.cards([card_id])[card_id]
        return [card_changed(card, replace(card, tags=tags, rev=card.rev + 1), "edit")]

    memory._work.commit("edit", tagged, run=run)
