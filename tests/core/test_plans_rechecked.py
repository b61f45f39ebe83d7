"""What changed while a plan was being computed: the plan looks again under the pen, and the change survives."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from alaya_core.memory import Memory
from alaya_core.models.requests import CardChanges
from alaya_core.stores.locking import HomeLocks
from tests.conftest import OpenMemory
from tests.core.homes import TALK, ledger_lines, session, write

MORE = (*TALK, "Remember: the fallback host is db-9, port 6000.", "Noted, db-9 it is.")


class ComesFirst(HomeLocks):
    """Locks of a process that is slow: just before it takes the pen for something, another one has done its work."""

    def __init__(self, home: Path, verb: str, do: Callable[[], object]) -> None:
        super().__init__(home / "locks", 5.0)
        self._verb = verb
        self._left = [do]

    @contextlib.contextmanager
    def writing(self, verb: str, *, timeout_s: float | None = None) -> Iterator[None]:
        if verb == self._verb and self._left:
            self._left.pop()()
        with super().writing(verb, timeout_s=timeout_s):
            yield

    @property
    def happened(self) -> bool:
        return not self._left


@pytest.fixture
def other(memory: Memory, open_memory: OpenMemory) -> Memory:
    """The same home, as another process has it open."""
    return open_memory(ids=None)


def slow(memory: Memory, verb: str, do: Callable[[], object]) -> ComesFirst:
    locks = ComesFirst(memory.home, verb, do)
    memory._work.locks = locks
    return locks


def learnt(memory: Memory, tmp_path: Path) -> list[str]:
    report = memory.ingest([write(tmp_path / "talk.json", session("talk"))], distill=True).distilled
    assert report is not None
    return [card.card_id for outcome in report.sessions for card in outcome.cards]


def test_an_edit_made_while_a_session_is_distilled_again(memory: Memory, other: Memory, tmp_path: Path) -> None:
    cards = learnt(memory, tmp_path)
    changes = CardChanges(title="By hand", content="The staging database moved to db-8.")
    locks = slow(memory, "distill", lambda: other.edit(cards[0], changes))
    report = memory.distill(redo=True)
    assert locks.happened
    assert report.counts["cards"] == 0, "what it reads again is what the card said before the edit"
    shown = memory.show(cards[0]).card
    assert (shown.title, shown.content, shown.rev) == ("By hand", "The staging database moved to db-8.", 2)
    assert sorted(row.card_id for row in memory.list_cards(limit=100).cards) == sorted(cards)
    assert memory.verify().ok


def test_a_session_that_grows_while_it_is_distilled_is_read_again(
    memory: Memory, other: Memory, tmp_path: Path
) -> None:
    memory.ingest([write(tmp_path / "talk.json", session("talk"))])
    grown = write(tmp_path / "talk.json", session("talk", MORE))
    locks = slow(memory, "distill", lambda: other.ingest([grown]))
    [outcome] = memory.distill().sessions
    assert locks.happened
    assert (outcome.status, outcome.cards) == ("retry", [])
    assert "repeat" in outcome.reason
    [outcome] = memory.distill().sessions
    assert outcome.status == "done"
    assert any("db-9" in card.title for card in outcome.cards)
    assert memory.verify().ok


def test_a_session_that_another_process_took_in_first(memory: Memory, other: Memory, tmp_path: Path) -> None:
    path = write(tmp_path / "talk.json", session("talk"))
    slow(memory, "ingest", lambda: other.ingest([path]))
    [outcome] = memory.ingest([path]).sessions
    assert outcome.status == "unchanged"
    kinds = [event["kind"] for line in ledger_lines(memory.home) for event in line["events"]]
    assert kinds.count("session.ingested") == 1


def test_the_longer_of_two_that_come_at_once_stays(memory: Memory, other: Memory, tmp_path: Path) -> None:
    short = write(tmp_path / "short.json", session("talk"))
    long = write(tmp_path / "long.json", session("talk", MORE))
    slow(memory, "ingest", lambda: other.ingest([long]))
    [outcome] = memory.ingest([short]).sessions
    assert (outcome.status, outcome.reason) == ("failed", "another process changed it meanwhile; repeat")
    with memory._work.graph.reading() as reader:
        info = reader.session("talk")
    assert info is not None
    assert info.turns == len(MORE)
    turns = [turn.text for turn in memory._work.sessions.turns(info.path, 0, info.turns)]
    assert turns == list(MORE)
    [outcome] = memory.ingest([short]).sessions
    assert outcome.status == "unchanged"
    assert memory.verify().ok
