"""Random sequences of everything a person does by hand: undoing all of it leaves the empty memory, and a rebuild gives
the same cards, links and vitals at any time, without a model."""

from __future__ import annotations

import json
import socket
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from alaya_core.errors import AlayaError, ConflictError, NotFoundError, UsageError
from alaya_core.memory import Memory
from alaya_core.models.requests import CardChanges
from tests.conftest import Clock, counting_ids

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=300).filter(lambda t: t.strip())
RELATIONS = st.sampled_from(["RELATES_TO", "DEPENDS_ON", "CAUSED_BY"])


class HandWork(RuleBasedStateMachine):
    """A memory, and what it looked like before each change that stands."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.clock = Clock()
        self.model = socket.create_server(("127.0.0.1", 0))
        self.model.setblocking(False)
        home = Path(self.folder.name) / "home"
        Memory.init(home, environ={})
        service = {"provider": "ollama", "base_url": f"http://127.0.0.1:{self.model.getsockname()[1]}/v1"}
        (home / "config.json").write_text(json.dumps({"embedding": service}))
        self.memory = Memory.open(home, clock=self.clock, ids=counting_ids(), environ={}, create=True)
        self.stands: list[tuple[str, str]] = []
        self.in_order = True
        self.known = [self.memory.capture(text).card.card_id for text in ("one", "two", "three")]
        self.memory.link(self.known[0], self.known[1], relation="DEPENDS_ON")

    def look(self) -> str:
        """Cards and links, revisions and times of change aside."""
        with self.memory._work.graph.reading() as reader:
            cards = sorted(repr(replace(card, rev=0, updated_at=0)) for card in reader.all_cards())
            links = sorted(repr(link) for link in reader.all_links())
        return repr((cards, links))

    def do(self, change) -> None:
        """One change, which is one commit or none."""
        self.clock.advance(hours=1)
        before, seq = self.look(), self.memory.last_change()
        try:
            change()
        except (NotFoundError, UsageError):
            assert self.memory.last_change() == seq
            return
        if self.memory.last_change() > seq:
            self.stands.append((before, self.look()))

    def some_card(self, data: st.DataObject) -> str:
        """Mostly a living one, also one that was merged away, forgotten, or never there."""
        return data.draw(st.sampled_from([*self.known, "card-00000000"]), label="card")

    @rule(text=TEXTS, kind=st.sampled_from(["fact", "preference", "event"]))
    def capture(self, text: str, kind: str) -> None:
        self.do(lambda: self.known.append(self.memory.capture(text, type=kind, tags=["t"]).card.card_id))

    @rule(data=st.data(), title=TEXTS, content=st.none() | TEXTS, tags=st.lists(TEXTS, max_size=3))
    def edit(self, data: st.DataObject, title: str, content: str | None, tags: list[str]) -> None:
        card = self.some_card(data)
        self.do(lambda: self.memory.edit(card, CardChanges(title=title, content=content, tags=tuple(tags))))

    @rule(data=st.data(), relation=RELATIONS, weight=st.floats(0, 1), reason=TEXTS)
    def link(self, data: st.DataObject, relation: str, weight: float, reason: str) -> None:
        a, b = self.some_card(data), self.some_card(data)
        self.do(lambda: self.memory.link(a, b, relation=relation, weight=weight, reason=reason))

    @rule(data=st.data())
    def unlink(self, data: st.DataObject) -> None:
        with self.memory._work.graph.reading() as reader:
            pairs = sorted({(link.from_id, link.to_id) for link in reader.all_links()})
        if pairs:
            a, b = data.draw(st.sampled_from(pairs), label="linked")
            self.do(lambda: self.memory.unlink(a, b))

    @rule(data=st.data())
    def merge(self, data: st.DataObject) -> None:
        keep, other = self.some_card(data), self.some_card(data)
        self.do(lambda: self.memory.merge(keep, other, why="alike"))

    @rule(data=st.data(), verb=st.sampled_from(["archive", "forget", "restore", "pin", "unpin"]))
    def put(self, data: st.DataObject, verb: str) -> None:
        card = self.some_card(data)
        self.do(lambda: getattr(self.memory, verb)(card))

    @rule(data=st.data())
    def use(self, data: st.DataObject) -> None:
        self.clock.advance(hours=1)
        self.memory.opened(self.some_card(data), query="something")

    @rule()
    def undo(self) -> None:
        now = self.look()
        try:
            self.memory.undo()
        except NotFoundError:
            assert not (self.stands and self.in_order)
            return
        if self.stands and self.in_order:
            before, after = self.stands.pop()
            assert now == after
            assert self.look() == before

    @rule()
    def undo_and_redo(self) -> None:
        now = self.look()
        try:
            self.memory.undo()
        except NotFoundError:
            return
        self.memory.redo()
        assert self.look() == now

    @rule(back=st.integers(1, 6), cascade=st.booleans())
    def undo_an_older_one(self, back: int, cascade: bool) -> None:
        """Refused, or done together with all that hangs on it; either way a redo of all of it leads back."""
        seq = max(1, self.memory.last_change() - back)
        before = self.look()
        try:
            answer = self.memory.undo(run=f"#{seq}", cascade=cascade)
        except (ConflictError, NotFoundError):
            assert self.look() == before
            return
        assert answer.undone
        self.memory.redo(run=answer.run)
        assert self.look() == before
        self.in_order = False  # what was redone is the newest now

    @rule(back=st.integers(1, 8), cascade=st.booleans())
    def undo_an_older_one_for_good(self, back: int, cascade: bool) -> None:
        before = self.look()
        try:
            self.memory.undo(run=f"#{max(1, self.memory.last_change() - back)}", cascade=cascade)
        except (ConflictError, NotFoundError):
            assert self.look() == before
            return
        self.in_order = False

    @rule(back=st.integers(0, 8), cascade=st.booleans())
    def redo_an_older_one(self, back: int, cascade: bool) -> None:
        """Refused, or done; either way it can be taken back, and done again."""
        before = self.look()
        try:
            answer = self.memory.redo(run=f"#{max(1, self.memory.last_change() - back)}", cascade=cascade)
        except (ConflictError, NotFoundError):
            assert self.look() == before
            return
        self.in_order = False
        after = self.look()
        self.memory.undo(run=answer.run)
        if answer.undone:
            self.memory.redo(run=answer.run)
            assert self.look() == before
        else:
            assert self.look() == before
            self.memory.redo(run=answer.run)
            assert self.look() == after

    @rule()
    def rebuild(self) -> None:
        before = self.look(), self.shown()
        self.memory.rebuild("l2")
        assert (self.look(), self.shown()) == before

    def shown(self) -> list[str]:
        return [self.memory.show(row.card_id).model_dump_json() for row in self.memory.list_cards(limit=100).cards]

    def teardown(self) -> None:
        if not hasattr(self, "memory"):
            return
        try:
            self.empty_again()
            with pytest.raises(BlockingIOError):
                self.model.accept()  # nobody ever called
        finally:
            self.memory.close()
            self.model.close()
            self.folder.cleanup()

    def empty_again(self) -> None:
        for _ in range(200):
            try:
                self.memory.undo()
            except NotFoundError:
                break
            except AlayaError as error:
                raise AssertionError(f"{error.message}") from error
        with self.memory._work.graph.reading() as reader:
            assert reader.all_cards() == []
            assert reader.all_links() == []
        self.memory.rebuild("l2")
        assert self.memory.status().graph.cards == 0


TestHandWork = pytest.mark.slow(HandWork.TestCase)
HandWork.TestCase.settings = settings(
    max_examples=4, stateful_step_count=18, deadline=None, suppress_health_check=list(HealthCheck)
)
