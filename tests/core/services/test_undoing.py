"""Whatever is undone and redone, in whatever order: a redo leads back, and so does an undo; on a memory of paper."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from alaya_core.errors import ConflictError
from alaya_core.models.card import Card, CardState, Link, Relation, Standing
from alaya_core.models.card_types import CardType
from alaya_core.models.commit import (
    Commit,
    Event,
    card_changed,
    card_created,
    commits_redone,
    commits_undone,
    link_created,
    link_removed,
    proposal_judged,
    proposal_made,
)
from alaya_core.services.merging import merged_cards, moved_links
from alaya_core.services.priors import priors_of
from alaya_core.services.taking_back import Present, done_again, taken_back
from alaya_core.services.undoing import Choice, choose, meets, newest_standing
from alaya_core.stores.folding import LinkKey, fold, link_key


class Paper:
    """A ledger and what it says, without a file."""

    def __init__(self) -> None:
        self.ledger: list[Commit] = []
        self.cards: dict[str, Card] = {}
        self.links: dict[LinkKey, Link] = {}

    def write(self, *events: Event) -> Commit:
        commit = Commit(len(self.ledger) + 1, "", 0, "human", "", "", events)
        self.ledger.append(commit)
        folded = fold([commit], self.cards, {})
        self.cards |= folded.cards
        self.cards = {key: card for key, card in self.cards.items() if key not in folded.removed}
        self.links |= folded.links
        self.links = {key: link for key, link in self.links.items() if key not in folded.unlinked}
        return commit

    def make(self, card_id: str) -> Commit:
        return self.write(card_created(a_card(card_id)))

    def change(self, card_id: str, verb: str = "edit", **fields: Any) -> Commit:
        card = self.cards[card_id]
        return self.write(card_changed(card, replace(card, rev=card.rev + 1, **fields), verb))

    def merge(self, keep: str, other: str) -> Commit:
        whole, alias = merged_cards(self.cards[keep], self.cards[other], now=0)
        gone, made = moved_links(keep, other, self.around(keep), self.around(other))
        changes = [card_changed(self.cards[other], alias, "merge"), card_changed(self.cards[keep], whole, "merge")]
        return self.write(*map(link_removed, gone), *changes, *map(link_created, made))

    def around(self, card_id: str) -> list[Link]:
        return [link for link in self.links.values() if card_id in (link.from_id, link.to_id)]

    def choose(self, seqs: Set[int], *, undone: bool) -> Choice:
        return choose(reversed(self.ledger), seqs, undone=undone)

    def undo(self, seqs: Set[int]) -> list[int]:
        """Undoes with all that is in the way."""
        return self.carry_out(self.choose(seqs, undone=False).both(), [])

    def redo(self, seqs: Set[int]) -> list[int]:
        """Redoes; the commits that had to be undone for it."""
        choice = self.choose(seqs, undone=True)
        self.carry_out(choice.later, choice.targets[::-1])
        return [commit.seq for commit in choice.later]

    def carry_out(self, back: Sequence[Commit], forth: Sequence[Commit]) -> list[int]:
        present = Present(0, dict(self.cards), dict(self.links))
        priors = priors_of(self.ledger, back)
        events = [event for commit in back for event in taken_back(commit, present, priors)]
        events += [event for commit in forth for event in done_again(commit, present)]
        undone = [commit.seq for commit in back]
        events += [commits_undone(undone)] if back else []
        events += [commits_redone([commit.seq for commit in forth])] if forth else []
        self.write(*events)
        return undone

    def look(self) -> tuple[list[str], list[str]]:
        """Cards and links, revisions and times of change aside."""
        cards = [repr(replace(card, rev=0, updated_at=0)) for card in self.cards.values()]
        return sorted(cards), sorted(map(repr, self.links.values()))


def a_card(card_id: str) -> Card:
    return Card(card_id, card_id, card_id, CardType.FACT, 0, 0, 0)


def a_link(from_id: str, to_id: str) -> Link:
    return Link(from_id, to_id, Relation.DEPENDS_ON, 0.5, "", "human", 0)


class OnPaper(RuleBasedStateMachine):
    """Changes, and undoes and redoes of any of them."""

    def __init__(self) -> None:
        super().__init__()
        self.paper = Paper()
        for card_id in ("a", "b", "c"):
            self.paper.make(card_id)

    def living(self) -> list[str]:
        return sorted(key for key, card in self.paper.cards.items() if card.state is not CardState.MERGED)

    @precondition(lambda self: self.living())
    @rule(data=st.data(), long=st.booleans(), name=st.sampled_from(["title", "content"]))
    def edit(self, data: st.DataObject, long: bool, name: str) -> None:
        text = f"{name} {len(self.paper.ledger)} " * (90 if long else 1)
        self.paper.change(data.draw(st.sampled_from(self.living())), **{name: text})

    @precondition(lambda self: len(self.living()) > 1)
    @rule(data=st.data(), merge=st.booleans())
    def join(self, data: st.DataObject, merge: bool) -> None:
        one, other = data.draw(st.permutations(self.living()))[:2]
        if merge:
            self.paper.merge(one, other)
        elif link_key(a_link(one, other)) not in self.paper.links:
            self.paper.write(link_created(a_link(one, other)))

    def some(self, data: st.DataObject) -> set[int]:
        real = [commit.seq for commit in self.paper.ledger if not is_mark(commit)]
        return data.draw(st.sets(st.sampled_from(real), min_size=1, max_size=3), label="commits")

    @rule(data=st.data(), for_good=st.booleans())
    def undo(self, data: st.DataObject, for_good: bool) -> None:
        before, seqs = self.paper.look(), self.some(data)
        if self.paper.choose(seqs, undone=False).targets:
            undone = self.paper.undo(seqs)
            if not for_good:
                assert self.paper.redo(set(undone)) == [], "nothing can be in the way of what was undone a moment ago"
                assert self.paper.look() == before

    @rule(data=st.data(), for_good=st.booleans())
    def redo(self, data: st.DataObject, for_good: bool) -> None:
        before, seqs = self.paper.look(), self.some(data)
        choice = self.paper.choose(seqs, undone=True)
        if choice.targets and not choice.missing:
            gone = self.paper.redo(seqs)
            done = {commit.seq for commit in choice.targets}
            if not for_good:
                assert len(self.paper.undo(done)) == len(done), "nothing can lie on what was redone a moment ago"
                if gone:
                    assert self.paper.redo(set(gone)) == []
                assert self.paper.look() == before

    def teardown(self) -> None:
        while last := newest_standing(reversed(self.paper.ledger), lambda _: True):
            seqs = {seq for event in last.events if event["kind"] == "commits.redone" for seq in event["seqs"]}
            assert not self.paper.choose(seqs or {last.seq}, undone=False).later, "the last change is never refused"
            self.paper.undo(seqs or {last.seq})
        assert self.paper.look() == ([], [])


def is_mark(commit: Commit) -> bool:
    return any(event["kind"] in ("commits.undone", "commits.redone") for event in commit.events)


TestOnPaper = OnPaper.TestCase
TestOnPaper.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)


def seqs_of(commits: Sequence[Commit]) -> list[int]:
    return [commit.seq for commit in commits]


@pytest.fixture
def paper() -> Paper:
    """A memory of the cards `a` and `b`."""
    made = Paper()
    made.make("a")
    made.make("b")
    return made


def test_what_stood_beside_it_is_not_in_the_way_of_a_redo(paper: Paper) -> None:
    older = paper.write(link_created(a_link("a", "b")))
    beside = paper.change("a", title="A")
    newer = paper.merge("b", "a")
    paper.undo({older.seq})
    choice = paper.choose({older.seq, newer.seq}, undone=True)
    assert (seqs_of(choice.targets), choice.later, choice.missing) == ([newer.seq, older.seq], [], [])
    assert beside.seq not in seqs_of(paper.choose({newer.seq}, undone=True).later)


def test_an_older_change_that_came_back_meanwhile_is_in_the_way(paper: Paper) -> None:
    older = paper.change("a", title="older")
    paper.undo({older.seq})
    newer = paper.change("a", title="newer")
    paper.undo({newer.seq})
    paper.redo({older.seq})
    assert seqs_of(paper.choose({newer.seq}, undone=True).later) == [older.seq]
    assert paper.redo({newer.seq}) == [older.seq]
    assert paper.cards["a"].title == "newer"


def test_what_it_was_made_on_top_of_must_be_redone_first(paper: Paper) -> None:
    under = paper.change("a", title="under")
    over = paper.change("a", title="over")
    paper.undo({under.seq})
    assert seqs_of(paper.choose({over.seq}, undone=True).missing) == [under.seq]
    assert paper.choose({under.seq}, undone=True).missing == []
    assert paper.choose({under.seq, over.seq}, undone=True).missing == []


def test_what_lies_between_two_changes_is_undone_between_them(paper: Paper) -> None:
    first = paper.change("a", title="first")
    between = paper.change("a", title="between", tags=("between",))
    last = paper.change("a", tags=("last",))
    assert paper.undo({first.seq, last.seq}) == [last.seq, between.seq, first.seq]
    assert paper.cards["a"] == replace(a_card("a"), rev=paper.cards["a"].rev)


@pytest.mark.parametrize("verb", ["cool", "reheat", "rise", "sink"])
def test_what_nobody_decided_stands_in_nobodys_way(paper: Paper, verb: str) -> None:
    edit = paper.change("a", title="mine")
    paper.change("a", verb, standing=Standing.PERIPHERAL)
    assert paper.choose({edit.seq}, undone=False).later == []
    paper.undo({edit.seq})
    paper.change("a", verb, standing=Standing.CORE)
    assert paper.redo({edit.seq}) == []
    assert (paper.cards["a"].title, paper.cards["a"].standing) == ("mine", Standing.CORE)


def test_proposals_are_taken_back_by_the_mark_alone(paper: Paper) -> None:
    made = paper.write(proposal_made("k1", "merge", ["a", "b"], score=0.9, why="alike"))
    judged = paper.write(proposal_judged("k1", "rejected", "human"))
    for seqs in ({judged.seq}, {made.seq}):
        assert paper.choose(seqs, undone=False).later == []
        paper.undo(seqs)
        assert [event["kind"] for event in paper.ledger[-1].events] == ["commits.undone"]
    assert paper.choose({judged.seq}, undone=True).missing == []
    paper.redo({judged.seq})
    assert [event["kind"] for event in paper.ledger[-1].events] == ["commits.redone"]


def test_a_text_that_is_gone_is_not_put_back_as_its_hash(paper: Paper) -> None:
    paper.change("a", content="long " * 100)
    edit = paper.change("a", content="short")
    with pytest.raises(ConflictError, match="gone for good"):
        taken_back(edit, Present(0, dict(paper.cards)), priors_of([edit], [edit]))


def test_whoever_was_quicker_is_noticed(paper: Paper) -> None:
    chosen = [paper.change("a", title="A")]
    assert not meets(chosen, [paper.change("b", title="B")])
    assert not meets(chosen, [paper.change("a", "rise", standing=Standing.CORE)])
    assert meets(chosen, [paper.change("a", content="theirs")])
    assert meets(chosen, [paper.write(commits_undone([chosen[0].seq]))])
    older = paper.change("a", tags=("t",))
    paper.undo({older.seq})
    assert meets(chosen, paper.ledger[-1:]), "an undo of something else that changed the same card"
