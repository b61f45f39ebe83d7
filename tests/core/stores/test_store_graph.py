"""The graph: a view of the ledger that follows it whatever happens, and loses no link; the same with either engine."""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from alaya_core.errors import BusyError, DamagedError
from alaya_core.models.card import Card, CardState, Link, Relation, SourceRef
from alaya_core.models.card_types import CardType
from alaya_core.models.commit import (
    Commit,
    Event,
    card_changed,
    card_created,
    link_created,
    link_removed,
    session_distilled,
    session_ingested,
)
from alaya_core.models.requests import Filters
from alaya_core.models.session import SessionInfo
from alaya_core.stores.graph import GraphStore
from alaya_core.stores.graph_engine import open_graph
from alaya_core.stores.graph_probe import Trust
from alaya_core.stores.ledger import Ledger
from alaya_core.stores.locking import HomeLocks
from tests.core.graph_engines import ENGINE

HARD = "O'Brien \" \\ $x {y} `z` 中文 \U0001f600 \n ; MATCH (n) DETACH DELETE n"


def card(number: int, **fields: object) -> Card:
    made = Card(f"card-{number:032x}", f"title {number}", f"content {number}", CardType.FACT, 1, 1, number)
    return replace(made, **fields)  # type: ignore[arg-type]


def link(a: int, b: int, relation: Relation = Relation.DEPENDS_ON, weight: float = 0.5) -> Link:
    return Link(card(a).id, card(b).id, relation, weight, HARD, "human", 7)


INFO = SessionInfo("s/1", 5, "cli", "main", "alaya", 4, "raw/sessions/x.json", HARD, source="aa", chain="bb")


class Bench:
    """A ledger with the graph that follows it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.locks = HomeLocks(root / "locks", 0.3)
        self.ledger = Ledger(root / "ledger")
        self.graph = GraphStore(root / "kuzu", self.locks, self.ledger, ENGINE)

    def write(self, *events: Event) -> Commit:
        with self.locks.writing("test"):
            self.graph.catch_up()
            commit = self.ledger.append(events, commit_id=str(self.ledger.last_seq()), at=1, actor="human")
            self.graph.apply([commit])
        return commit

    def only_ledger(self, *events: Event) -> Commit:
        return self.ledger.append(events, commit_id="x", at=1, actor="human")

    def cards(self) -> dict[str, Card]:
        with self.graph.reading() as reader:
            return {found.id: found for found in reader.all_cards()}

    def links(self) -> dict[str, Link]:
        with self.graph.reading() as reader:
            every = reader.all_links()
        found = {one.id: one for one in every}
        assert len(found) == len(every), "a link twice"
        return found


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_every_field_comes_back(bench: Bench) -> None:
    full = card(
        1, title=HARD, content=HARD, overview=HARD, tags=(HARD, "b"), entities=("E", HARD), importance=0.123456789,
        scope="agent:x", sources=(SourceRef("s/1", (0, 3)), SourceRef("gone", ())), expires_at=99, pinned=True,
        state=CardState.SUPERSEDED, successor="card-x", distilled_by="rules/1", created_at=-5, added_at=1 << 45,
    )  # fmt: skip
    bench.write(session_ingested(INFO, from_turn=0, skipped=0), card_created(full), card_created(card(2)))
    assert bench.cards() == {full.id: full, card(2).id: card(2)}
    with bench.graph.reading() as reader:
        assert reader.session("s/1") == INFO
        assert reader.cards([full.id, "none"]) == {full.id: full}
        assert reader.find_ids("card-00000") == [full.id, card(2).id]
        assert reader.sessions_of_source("aa") == [INFO]
        assert reader.mentioning([HARD]) == {}
        assert reader.cards_with_content(["content 2", HARD]) == {"content 2": [card(2)]}


@pytest.mark.parametrize("count", [5, 60])
def test_few_and_many_at_once_give_the_same(bench: Bench, count: int) -> None:
    """Many rows go another way through the engine than few."""
    made = [
        card(n, sources=(SourceRef("s/1", (n,)),), entities=(f"entity {n % 3}", "all"), content=f"{HARD}{n}")
        for n in range(count)
    ]
    links = [link(a, b) for a in range(count) for b in (a + 1, a + 2) if b < count]
    links += [link(a, a + 1, Relation.RELATES_TO) for a in range(count - 1)]
    bench.write(session_ingested(INFO, from_turn=0, skipped=0), *map(card_created, made), *map(link_created, links))
    assert bench.cards() == {one.id: one for one in made}
    assert bench.links() == {one.id: one for one in links}
    with bench.graph.reading() as reader:
        assert sorted(reader.mentioning(["all"])["all"]) == [one.id for one in made]
        assert dict(reader.cards_from(["s/1"])["s/1"]) == {card(n).id: [n] for n in range(count)}
        degrees = reader.degrees()
        assert sum(degrees.values()) == 2 * len(links)
    changed = [replace(one, title="new", rev=2, entities=("other",)) for one in made]
    again = [replace(one, weight=0.9) for one in links]
    events = [card_changed(before, after, "edit") for before, after in zip(made, changed, strict=True)]
    bench.write(*events, *map(link_created, again))
    assert bench.cards() == {one.id: one for one in changed}
    assert bench.links() == {one.id: one for one in again}
    with bench.graph.reading() as reader:
        assert reader.mentioning(["all"]) == {}
        assert len(reader.mentioning(["other"])["other"]) == count


def test_links_of_one_card_to_many_are_all_kept(bench: Bench) -> None:
    bench.write(*(card_created(card(n)) for n in range(20)))
    wanted = {}
    for n in range(1, 20):
        for relation in (Relation.DEPENDS_ON, Relation.RELATES_TO):
            one = link(0, n, relation)
            wanted[one.id] = one
            bench.write(link_created(one)) if n % 5 else bench.only_ledger(link_created(one))
    assert bench.links() == wanted
    bench.write(*(link_removed(link(0, n)) for n in range(1, 20)))
    assert set(bench.links()) == {link(0, n, Relation.RELATES_TO).id for n in range(1, 20)}


def test_applying_again_changes_nothing(bench: Bench) -> None:
    one = bench.write(card_created(card(1)), card_created(card(2)))
    two = bench.write(link_created(link(1, 2)), card_changed(card(1), card(1, title="x", rev=2), "edit"))
    before = bench.cards(), bench.links()
    with bench.locks.writing("again"):
        bench.graph.apply([one, two])
        bench.graph.apply([two])
    assert (bench.cards(), bench.links()) == before


def test_what_the_ledger_holds_beyond_the_graph_is_seen(bench: Bench) -> None:
    bench.write(card_created(card(1)))
    bench.only_ledger(card_created(card(2)))
    bench.only_ledger(link_created(link(1, 2)))
    assert len(bench.cards()) == 2
    assert len(bench.links()) == 1
    with bench.graph.reading() as reader:
        assert not reader.stale
        assert reader.mark().seq == 3


def test_a_reader_does_not_wait_for_a_writer_and_says_so(bench: Bench) -> None:
    bench.write(card_created(card(1)))
    bench.only_ledger(card_created(card(2)))
    with bench.locks.writing("long work"), bench.graph.reading(timeout_s=0.1) as reader:
        assert reader.stale
        assert [found.id for found in reader.all_cards()] == [card(1).id]
    with bench.locks.graph_writing(), pytest.raises(BusyError), bench.graph.reading(timeout_s=0):
        pass


def test_a_transaction_that_fails_leaves_nothing(bench: Bench) -> None:
    bench.write(card_created(card(1)))
    with contextlib.suppress(ZeroDivisionError), open_graph(bench.graph.path, write=True) as graph:
        graph.run("MATCH (c:Card) SET c.title = $t", {"t": "half"})
        raise ZeroDivisionError
    assert bench.cards() == {card(1).id: card(1)}


def test_a_rebuilt_graph_is_the_same_and_alone(bench: Bench) -> None:
    bench.write(session_ingested(INFO, from_turn=0, skipped=0), *(card_created(card(n)) for n in range(30)))
    bench.write(session_distilled("s/1", turns=4, by="rules/1", status="done"), link_created(link(1, 2)))
    bench.write(link_removed(link(1, 2)), link_created(link(3, 4)))
    before = bench.cards(), bench.links()
    heard: list[int] = []
    bench.graph.rebuild(heard.append)
    assert (bench.cards(), bench.links()) == before
    assert heard == [3]
    assert [path.name for path in (bench.root / "kuzu").glob("gen-*")] == [f"gen-2.{ENGINE}"]
    with bench.graph.reading() as reader:
        session = reader.session("s/1")
    assert session is not None
    assert (session.distilled_turns, session.distilled_by) == (4, "rules/1")


def _empty_database(path: Path) -> None:
    path.unlink()
    with open_graph(path, write=True):
        pass


def _spoilt_pages(path: Path) -> None:
    """Read in this process they would end it."""
    data, chance = bytearray(path.read_bytes()), random.Random(3)
    for page in chance.sample(range(1, len(data) // 4096), 60):
        data[page * 4096 : (page + 1) * 4096] = chance.randbytes(4096)
    path.write_bytes(data)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "gone": lambda path: path.unlink(),
    "garbage": lambda path: path.write_bytes(b"garbage" * 5_000),
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:5_000]),
    "spoilt pages": _spoilt_pages,
    "never finished": _empty_database,
    "current lost": lambda path: (path.parent / "CURRENT").unlink(),
    "current garbage": lambda path: (path.parent / "CURRENT").write_bytes(b"\xff\xfe"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_graph_that_will_not_open_is_made_anew(bench: Bench, damage: str) -> None:
    bench.write(card_created(card(1)), card_created(card(2)), link_created(link(1, 2)))
    bench.graph.rebuild()
    DAMAGE[damage](bench.graph.path)
    again = Bench(bench.root)
    assert set(again.cards()) == {card(1).id, card(2).id}
    assert len(again.links()) == 1
    again.write(card_created(card(3)))
    assert len(Bench(bench.root).cards()) == 3
    aside = list((bench.root / "kuzu").glob("damaged-*"))
    if damage in ("garbage", "cut", "spoilt pages", "never finished"):
        assert len(aside) == 1
        assert aside[0].name in again.graph.notices[0]


def test_filters_are_values_never_statements(bench: Bench) -> None:
    bench.write(card_created(card(1, tags=(HARD,), scope="agent:x")), card_created(card(2, entities=(HARD,))))
    with bench.graph.reading() as reader:

        def found(scopes: list[str] | None = None, **filters: object) -> list[str]:
            return [one.id for one in reader.matching(Filters(**filters), scopes, "recent")]  # type: ignore[arg-type]

        assert found(tag=(HARD, "none")) == [card(1).id]
        assert found(entity=("none", HARD)) == [card(2).id]
        assert found(tag=("x' OR 1=1 --",)) == []
        assert found(scopes=["agent:x"]) == [card(1).id]
        assert found(scope=("agent:x",), scopes=["global"]) == []
        assert found() == [card(2).id, card(1).id]
        assert reader.page(Filters(), None, "recent", 1, 1)[0][0].id == card(1).id
        assert reader.page(Filters(), None, "title", 0, 0) == ([], 2)


def test_a_file_as_we_left_it_is_not_read_through_unless_it_is_doubted(bench: Bench) -> None:
    bench.write(card_created(card(1)))
    path = bench.graph.path
    stat = path.stat()
    path.write_bytes(b"#" * stat.st_size)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    trust = Trust(path.parent)
    trust.require(path)
    trust.doubt()
    with pytest.raises(DamagedError):
        trust.require(path)
    path.touch()
    with pytest.raises(DamagedError):
        Trust(path.parent).require(path)


def _lose_end(bench: Bench, count: int) -> None:
    [segment] = bench.ledger.segments()
    segment.write_bytes(b"".join(segment.read_bytes().splitlines(keepends=True)[:-count]))


@pytest.mark.parametrize("count", [1, 3])
def test_a_ledger_that_lost_its_end_stops_writers_and_takes_nothing_from_readers(bench: Bench, count: int) -> None:
    for number in range(3):
        bench.write(card_created(card(number)))
    _lose_end(bench, count)
    before = bench.graph.path.read_bytes()
    again = Bench(bench.root)
    said = f"the graph knows of {'1 change' if count == 1 else '3 changes'} that it does not hold"
    with again.graph.reading() as reader:
        assert reader.stale
        assert len(reader.all_cards()) == 3
    with again.locks.writing("test"), pytest.raises(DamagedError, match=said), again.graph.reading_to_write():
        pass
    with pytest.raises(DamagedError, match=said):
        again.graph.rebuild()
    assert bench.graph.path.read_bytes() == before
    assert [path.name for path in (bench.root / "kuzu").glob("*gen-*")] == [bench.graph.path.name]


def test_who_is_told_to_goes_on_without_the_end_and_keeps_the_graph_that_knows_it(bench: Bench) -> None:
    for number in range(3):
        bench.write(card_created(card(number)))
    _lose_end(bench, 2)
    said = bench.graph.rebuild(without_lost=True)
    assert (
        said
        == f"2 changes that the ledger does not hold are left out: kuzu/damaged-gen-1.{ENGINE} keeps what they made"
    )
    assert set(bench.cards()) == {card(0).id}
    with open_graph(bench.root / f"kuzu/damaged-gen-1.{ENGINE}", write=False) as graph:
        assert graph.run("MATCH (c:Card) RETURN count(c)") == [[3]]
    bench.write(card_created(card(7)))
    assert bench.graph.rebuild(without_lost=True) == ""


def test_a_graph_that_is_ahead_stays_when_no_other_can_be_built(bench: Bench) -> None:
    for number in range(3):
        bench.write(card_created(card(number)))
    _lose_end(bench, 1)
    [segment] = bench.ledger.segments()
    segment.write_bytes(segment.read_bytes().replace(b"content 0", b"content 9"))
    with pytest.raises(DamagedError, match="checksum"):
        bench.graph.rebuild(without_lost=True)
    with bench.graph.reading() as reader:
        assert len(reader.all_cards()) == 3
