"""Lost and damaged lines of the ledger: healed by their checksum or from the graph, as long as either knows them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from alaya_core.errors import DamagedError
from alaya_core.memory import Memory
from alaya_core.models.card import Card, Link
from alaya_core.models.requests import CardChanges
from alaya_core.models.session import SessionInfo
from alaya_core.services.verify.ledger import look_at_ledger, mend_ledger
from alaya_core.stores.folding import Folded, LinkKey, fold
from alaya_core.stores.ledger import Ledger
from alaya_core.stores.ledger_lines import encode_line
from alaya_core.stores.ledger_mending import LedgerScan, repaired
from tests.conftest import Clock, OpenMemory, counting_ids
from tests.core.homes import TALK, kinds, ledger_lines, segments, session, write
from tests.core.services.verify_faults import SESSION, digest, garbled, lines, seen

LINES = 21
Content = tuple[dict[str, Card], dict[LinkKey, Link], dict[str, SessionInfo]]


@dataclass(frozen=True)
class Storied:
    """A home with a history: cards made, changed, linked, unlinked, undone and redone; a session that grew."""

    home: Path
    content: Content
    keeper: str


def content(truth: Folded) -> Content:
    return truth.cards, truth.links, truth.sessions


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Storied:
    root = tmp_path_factory.mktemp("storied")
    clock = Clock()
    with Memory.open(root / "home", clock=clock, ids=counting_ids(0xB0000001), environ={}, create=True) as memory:

        def capture(text: str) -> str:
            clock.advance(hours=1)
            return memory.capture(text).card.card_id

        first, second, third = (capture(f"The {word} fact of this home.") for word in ("first", "second", "third"))
        memory.link(first, second, relation="DEPENDS_ON", reason="it does")
        memory.edit(first, CardChanges(content="The first fact, better said. " + "It goes on and on. " * 20))
        memory.link(second, third)
        memory.ingest([write(root / "talk-1.json", session("talk-1", TALK[:4]))])
        memory.edit(first, CardChanges(title="The first of all"))
        memory.unlink(second, third)
        memory.distill()
        memory.ingest([write(root / "talk-1.json", session("talk-1", TALK))])
        gone = capture("A thought that is taken back.")
        memory.undo()
        memory.pin(second)
        memory.redo()
        memory.undo()
        memory.archive(third)
        memory.distill()
        capture("The last fact of this home.")
        memory.edit(second, CardChanges(tags=("kept",)))
        memory.link(first, third, relation="CAUSED_BY")
        assert gone not in [row.card_id for row in memory.list_cards().cards]
        memory.recall("fact")
        return Storied(root / "home", content(fold(memory._work.ledger.commits(), {}, {})), second)


@pytest.fixture
def copy(story: Storied, home: Path, open_memory: OpenMemory) -> Memory:
    shutil.copytree(story.home, home)
    return open_memory()


Damage = Callable[[list[bytes], int], list[bytes]]
DAMAGES: dict[str, Damage] = {
    "one byte flipped": lambda all_lines, at: _changed(all_lines, at, _flipped(all_lines[at])),
    "many bytes overwritten": lambda all_lines, at: _changed(all_lines, at, garbled(all_lines[at])),
    "line gone": lambda all_lines, at: [*all_lines[:at], *all_lines[at + 1 :]],
    "end of line gone": lambda all_lines, at: _changed(all_lines, at, all_lines[at][:-1]),
    "newline in the middle": lambda all_lines, at: _changed(all_lines, at, all_lines[at].replace(b",", b"\n", 1)),
}


def _changed(all_lines: list[bytes], at: int, line: bytes) -> list[bytes]:
    return [*all_lines[:at], line, *all_lines[at + 1 :]]


def _flipped(line: bytes) -> bytes:
    middle = len(line) // 2
    return line[:middle] + bytes([line[middle] ^ 4]) + line[middle + 1 :]


def test_the_story_is_long_enough(story: Storied) -> None:
    assert len(ledger_lines(story.home)) == LINES


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("at", range(LINES))
def test_any_line_is_healed(copy: Memory, story: Storied, damage: str, at: int) -> None:
    home, whole = copy.home, ledger_lines(copy.home)
    lines(lambda all_lines: DAMAGES[damage](all_lines, at))(home)
    look = look_at_ledger(copy._work)
    assert not look.sound
    assert look.whole, "the graph knows all of it"
    assert content(look.truth) == story.content
    assert mend_ledger(copy._work)
    healed = ledger_lines(home)
    assert [line["seq"] for line in healed] == list(range(1, LINES + 1))
    assert content(fold(copy._work.ledger.commits(), {}, {})) == story.content
    assert look_at_ledger(copy._work).sound
    others = [number for number in range(LINES) if number not in (at, at + 1)]
    assert [healed[number] for number in others] == [whole[number] for number in others], "the others stay as they are"
    if damage in ("one byte flipped", "newline in the middle"):
        assert healed == whole, "the checksum says what it was"
    if damage != "line gone":
        assert list((home / "raw/ledger").glob("*/*")), "what was there is kept"


@pytest.mark.parametrize(
    ("one", "two"), [(0, 1), (0, LINES - 1), (2, 5), (6, 10), (11, 12), (11, 15), (4, 7), (18, 20)]
)
@pytest.mark.parametrize("damage", ["many bytes overwritten", "line gone"])
def test_two_lines_are_healed_together(copy: Memory, story: Storied, damage: str, one: int, two: int) -> None:
    for at in (two, one):
        lines(lambda all_lines, at=at: DAMAGES[damage](all_lines, at))(copy.home)  # type: ignore[misc]
    mend_ledger(copy._work)
    assert [line["seq"] for line in ledger_lines(copy.home)] == list(range(1, LINES + 1))
    assert content(fold(copy._work.ledger.commits(), {}, {})) == story.content
    again = look_at_ledger(copy._work)
    assert again.sound
    assert not again.watch.made_twice
    assert not again.watch.strangers


@pytest.mark.slow
@pytest.mark.parametrize("at", [0, 4, 6, 12, LINES - 1])
def test_life_goes_on_after_healing(copy: Memory, story: Storied, open_memory: OpenMemory, at: int) -> None:
    before = seen(copy)
    lines(lambda all_lines: DAMAGES["line gone"](all_lines, at))(copy.home)
    assert copy.verify(fix=True, yes=True).ok
    memory = open_memory()
    assert seen(memory) == before
    made = memory.capture("something new").card.card_id
    memory.edit(story.keeper, CardChanges(title="Another title"))
    memory.undo()
    memory.undo()
    assert made not in [row.card_id for row in memory.list_cards().cards]
    assert memory.verify().ok
    memory.rebuild()
    assert memory.verify().ok
    assert [row.title for row in memory.list_cards().cards if row.card_id == story.keeper] != ["Another title"]


def without_graph(home: Path) -> None:
    for path in (home / "kuzu").iterdir():
        path.unlink()


@pytest.mark.parametrize("graph", ["gone", "cut"])
@pytest.mark.parametrize("damage", ["many bytes overwritten", "line gone"])
@pytest.mark.parametrize("at", [0, 4, 6, LINES - 2])
def test_it_goes_on_without_what_nobody_knows(
    copy: Memory, open_memory: OpenMemory, at: int, damage: str, graph: str
) -> None:
    copy.close()
    before, seq = ledger_lines(copy.home), at + 1
    [path] = (copy.home / "kuzu").glob("gen-*")
    path.unlink() if graph == "gone" else path.write_bytes(path.read_bytes()[:5000])
    lines(lambda all_lines: DAMAGES[damage](all_lines, at))(copy.home)
    untouched = digest(copy.home / "raw")
    told = open_memory().verify(fix=True)
    marked = f"{LINES - 1} sound commits are read again, #{seq} is marked as lost"
    assert marked in told.plan[0]
    assert any("nothing knows what" in finding.detail for finding in told.findings)
    assert all("restore raw/ledger from a backup" in one.fix for one in told.findings if "ledger" in one.kind)
    assert digest(copy.home / "raw") == untouched, "only told"
    answer = open_memory().verify(fix=True, yes=True)
    assert answer.ok, answer.findings
    after = ledger_lines(copy.home)
    assert after[:at] + after[at + 1 : LINES] == before[:at] + before[at + 1 :], "the others stay as they are"
    assert all(line["actor"] == "verify" for line in after[LINES:]), "links of a card that is lost are taken away"
    assert (after[at]["events"], after[at]["actor"]) == ([], "verify")
    assert bool(list((copy.home / "raw/ledger/damaged").glob("*"))) == (damage != "line gone")
    memory = open_memory()
    memory.capture("life goes on")
    memory.rebuild("l2")
    assert memory.verify().ok


def test_a_flipped_byte_is_healed_without_the_graph(copy: Memory, open_memory: OpenMemory) -> None:
    before = seen(copy)
    copy.close()
    without_graph(copy.home)
    lines(lambda all_lines: DAMAGES["one byte flipped"](all_lines, 4))(copy.home)
    assert open_memory().verify(fix=True, yes=True).ok
    assert seen(open_memory()) == before


def test_a_graph_that_is_behind_does_not_make_up_what_came_later(
    copy: Memory, home: Path, tmp_path: Path, open_memory: OpenMemory
) -> None:
    copy.close()
    shutil.copytree(home / "kuzu", tmp_path / "old")
    with open_memory() as memory:
        memory.capture("The graph of before does not know this.")
    shutil.rmtree(home / "kuzu")
    shutil.copytree(tmp_path / "old", home / "kuzu")
    lines(lambda all_lines: DAMAGES["many bytes overwritten"](all_lines, -1 % len(all_lines)))(home)
    told = open_memory().verify(fix=True)
    assert "the graph does not know" in next(one.fix for one in told.findings if one.kind == "ledger_checksum")
    assert open_memory().verify(fix=True, yes=True).ok
    last = ledger_lines(home)[-1]
    assert (last["seq"], last["events"]) == (LINES + 1, []), "its number is not given to another"


def test_the_plan_says_what_comes_back(copy: Memory) -> None:
    lines(lambda all_lines: DAMAGES["line gone"](all_lines, 3))(copy.home)
    [step] = copy.verify(fix=True).plan
    assert step == "line 4 of the ledger is written back from the graph: 1 link"
    answer = copy.verify(fix=True, yes=True)
    assert answer.fixed == [step]
    [line] = [line for line in ledger_lines(copy.home) if line["seq"] == 4]
    assert line["actor"] == "verify"
    assert line["at"] == ledger_lines(copy.home)[2]["at"]


def test_a_torn_line_that_the_graph_holds_was_acknowledged(copy: Memory) -> None:
    before = seen(copy)
    lines(lambda all_lines: [*all_lines[:-1], all_lines[-1][:50]])(copy.home)
    assert kinds(copy.verify()) == {"torn_line", "graph_ahead"}
    assert copy.verify(fix=True, yes=True).ok
    assert seen(copy) == before


def test_lines_of_several_segments_are_healed_where_they_belong(copy: Memory, story: Storied) -> None:
    [first] = segments(copy.home)
    all_lines = first.read_bytes().splitlines(keepends=True)
    first.write_bytes(b"".join(all_lines[:5]))
    first.with_name("000000000009.jsonl").write_bytes(b"".join(all_lines[9:12]))
    first.with_name("000000000015.jsonl").write_bytes(b"".join(all_lines[15:]))
    mend_ledger(copy._work)
    kept = {path.stem: [json.loads(line)["seq"] for line in path.open()] for path in segments(copy.home)}
    assert kept == {
        "000000000001": list(range(1, 9)),
        "000000000009": list(range(9, 15)),
        "000000000015": list(range(15, LINES + 1)),
    }
    assert content(fold(copy._work.ledger.commits(), {}, {})) == story.content
    for seq in range(LINES):
        assert [commit.seq for commit in copy._work.ledger.commits(seq)] == list(range(seq + 1, LINES + 1))


def test_a_first_segment_that_is_gone_is_made_anew(copy: Memory, story: Storied) -> None:
    [first] = segments(copy.home)
    all_lines = first.read_bytes().splitlines(keepends=True)
    first.with_name("000000000004.jsonl").write_bytes(b"".join(all_lines[3:]))
    first.unlink()
    mend_ledger(copy._work)
    assert [path.stem for path in segments(copy.home)] == ["000000000001", "000000000004"]
    assert content(fold(copy._work.ledger.commits(), {}, {})) == story.content


def test_a_checksum_says_which_byte_is_wrong() -> None:
    line = encode_line({"v": 1, "seq": 3, "id": "x", "events": ["é" * 300]})
    for at in range(len(line) - 1):
        if at < len(line) - 20 or at >= len(line) - 11:
            wrong = line[:at] + bytes([line[at] ^ 0x5A]) + line[at + 1 :]
            assert repaired(wrong) == [line], at
    twice = line[:10] + b"##" + line[12:]
    assert line not in repaired(twice)


def test_a_line_that_makes_no_sense_is_damage_and_no_traceback(home: Path, memory: Memory) -> None:
    memory.capture("something")
    memory.close()
    with segments(home)[0].open("ab") as file:
        file.write(encode_line({"v": 1, "seq": 2}))
    with pytest.raises(DamagedError):
        list(Ledger(home / "raw/ledger").commits())
    [bad] = _bad(home)
    assert bad == ("json", 2)


def _bad(home: Path) -> Iterator[tuple[str, int]]:
    scan = LedgerScan(Ledger(home / "raw/ledger"))
    list(scan.commits())
    return iter([(line.kind, line.place[1]) for line in scan.bad])


def test_an_index_that_lies_is_made_anew_in_passing(copy: Memory) -> None:
    path = (copy.home / SESSION).with_suffix(".idx")
    right = path.read_bytes()
    path.write_bytes(right[:20] + bytes(len(right) - 20))
    assert copy.verify().ok
    assert path.read_bytes() == right
