"""The ledger: what is acknowledged is there, in order, for ever; what cannot be trusted is told."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alaya_core.errors import DamagedError, NewerHomeError
from alaya_core.models.card import Card, Link, Relation
from alaya_core.models.card_types import CardType
from alaya_core.models.commit import Commit, Event, card_changed, card_created, link_created, link_removed
from alaya_core.stores.folding import fold, link_key
from alaya_core.stores.ledger import Ledger, LedgerMark
from alaya_core.stores.ledger_lines import encode_line


def card(number: int, title: str = "a title") -> Card:
    return Card(f"card-{number:032x}", title, f"content {number}", CardType.FACT, 1, 1, 1)


def append(ledger: Ledger, *events: Event) -> Commit:
    return ledger.append(events, commit_id=f"c{ledger.last_seq() + 1}", at=5, actor="human")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


def filled(folder: Path, count: int, **options: Any) -> Ledger:
    ledger = Ledger(folder, **options)
    for number in range(count):
        append(ledger, card_created(card(number)))
    return ledger


def test_what_was_appended_is_read_back_in_order(folder: Path) -> None:
    ledger = Ledger(folder)
    made = append(ledger, card_created(card(1, "O'Brien \u2028 中文 \U0001f600")), card_created(card(2)))
    assert made.seq == 1
    ledger.append([card_created(card(3))], commit_id="x", at=9, actor="agent:a", run="run-1")
    first, second = Ledger(folder).commits()
    assert list(first.events) == json.loads(json.dumps(made.events))
    assert (second.seq, second.id, second.at, second.actor, second.run) == (2, "x", 9, "agent:a", "run-1")
    assert Ledger(folder).last_seq() == 2
    assert Ledger(folder).faults() == []


def test_an_empty_ledger_has_nothing(folder: Path) -> None:
    assert Ledger(folder).last_seq() == 0
    assert list(Ledger(folder).commits()) == []


def test_reading_goes_on_behind_a_mark(folder: Path) -> None:
    ledger = filled(folder, 6, segment_bytes=1_000)
    assert len(ledger.segments()) > 1
    commits = list(ledger.commits())
    for commit in commits:
        rest = [later.seq for later in ledger.commits(LedgerMark(commit.seq, commit.segment, commit.end))]
        assert rest == list(range(commit.seq + 1, 7))
        assert [later.seq for later in ledger.commits(commit.seq)] == rest
        wrong_place = LedgerMark(commit.seq, commit.segment, commit.end + 3)
        assert [later.seq for later in ledger.commits(wrong_place)] == rest


def test_only_lines_that_hold_an_id(folder: Path) -> None:
    ledger = filled(folder, 5)
    assert [commit.seq for commit in ledger.commits(holding=card(3).id)] == [4]


@pytest.mark.parametrize("torn", [b"{", b'{"v":1,"seq":4,"id":"c4"', b"\x00" * 70_000, b'{"v":1}'])
def test_a_torn_last_line_costs_only_itself(folder: Path, torn: bytes) -> None:
    ledger = filled(folder, 3)
    with ledger.segments()[-1].open("ab") as file:
        file.write(torn)
    assert ledger.last_seq() == 3
    assert [commit.seq for commit in ledger.commits()] == [1, 2, 3]
    assert [fault.kind for fault in ledger.faults()] == ["torn"]
    assert append(Ledger(folder), card_created(card(9))).seq == 4
    assert [path.read_bytes() for path in (folder / "torn").iterdir()] == [torn]
    assert ledger.faults() == []
    assert [commit.seq for commit in ledger.commits()] == [1, 2, 3, 4]


def test_a_torn_first_line_of_a_new_segment(folder: Path) -> None:
    ledger = filled(folder, 3, segment_bytes=1)
    (folder / "000000000004.jsonl").write_bytes(b'{"v":1,"se')
    assert ledger.last_seq() == 3
    assert append(Ledger(folder, segment_bytes=1), card_created(card(9))).seq == 4
    assert [commit.seq for commit in Ledger(folder).commits()] == [1, 2, 3, 4]


@pytest.mark.parametrize("line", [0, 1, 2])
def test_a_flipped_byte_stops_writing_and_is_named(folder: Path, line: int) -> None:
    ledger = filled(folder, 3)
    segment = ledger.segments()[0]
    data = bytearray(segment.read_bytes())
    starts = [0, *(at + 1 for at, byte in enumerate(data) if byte == 10)]
    data[starts[line] + 60] ^= 1
    segment.write_bytes(data)
    with pytest.raises(DamagedError):
        append(Ledger(folder), card_created(card(9)))
    with pytest.raises(DamagedError):
        ledger.append([card_created(card(9))], commit_id="x", at=1, actor="human")
    assert segment.read_bytes() == bytes(data)
    assert [(fault.kind, fault.line) for fault in ledger.faults()] == [("crc", line + 1)]
    assert ledger.last_seq() == 3
    seen: list[int] = []
    with pytest.raises(DamagedError):
        seen.extend(commit.seq for commit in ledger.commits())
    assert list(ledger.commits(LedgerMark(3, segment.name, len(data)))) == []


def test_a_line_that_is_gone_is_a_gap(folder: Path) -> None:
    ledger = filled(folder, 4)
    segment = ledger.segments()[0]
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join([lines[0], *lines[2:]]))
    assert [(fault.kind, fault.line) for fault in ledger.faults()] == [("gap", 2)]
    with pytest.raises(DamagedError, match="jumps"):
        list(ledger.commits())


def test_a_line_of_a_newer_version_is_refused_and_kept(folder: Path) -> None:
    ledger = filled(folder, 2)
    event = {"kind": "card.dreamt", "v": 1}
    body = {"v": 1, "seq": 3, "id": "n", "at": 1, "actor": "human", "run": "", "device": "", "events": [event]}
    with ledger.segments()[0].open("ab") as file:
        file.write(encode_line(body))
    with pytest.raises(NewerHomeError):
        list(ledger.commits())
    with pytest.raises(NewerHomeError):
        append(Ledger(folder), card_created(card(9)))
    assert Ledger(folder).last_seq() == 3
    assert json.loads(ledger.segments()[0].read_bytes().splitlines()[-1])["events"] == [event]


def test_whoever_expects_another_seq_is_refused(folder: Path) -> None:
    ledger = filled(folder, 2)
    with pytest.raises(DamagedError, match="moved"):
        ledger.append([card_created(card(9))], commit_id="x", at=1, actor="human", expect_seq=1)
    assert ledger.last_seq() == 2


def test_two_writers_that_take_turns(folder: Path) -> None:
    one, other = Ledger(folder), Ledger(folder)
    for number in range(6):
        append((one, other)[number % 2], card_created(card(number)))
    assert [commit.seq for commit in one.commits()] == [1, 2, 3, 4, 5, 6]


def test_its_files_are_for_the_owner_only(folder: Path, umask: Any) -> None:
    umask(0)
    ledger = filled(folder, 1)
    assert ledger.segments()[0].stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700


NUMBERS = st.integers(0, 5)
ENDS, RELATIONS = st.integers(0, 1), st.sampled_from([Relation.CAUSED_BY, Relation.RELATES_TO])
STEPS = st.one_of(
    st.tuples(st.just("create"), NUMBERS, st.text(max_size=30)),
    st.tuples(st.just("change"), NUMBERS, st.text(max_size=300)),
    st.tuples(st.just("link"), ENDS, ENDS, RELATIONS),
    st.tuples(st.just("unlink"), ENDS, ENDS, RELATIONS),
    st.tuples(st.just("reopen")),
    st.tuples(st.just("tear"), st.binary(min_size=1, max_size=40).filter(lambda part: b"\n" not in part)),
)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.lists(STEPS, max_size=4), max_size=10), st.sampled_from([1, 700, 1 << 20]))
def test_the_fold_of_any_history_is_what_happened(commits: list[list[tuple[Any, ...]]], segment_bytes: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder), segment_bytes=segment_bytes)
        cards: dict[str, Card] = {}
        links: dict[tuple[str, str, str], Link] = {}
        written = 0
        for steps in commits:
            events: list[Event] = []
            for step in steps:
                if step[0] == "reopen":
                    ledger = Ledger(Path(folder), segment_bytes=segment_bytes)
                elif step[0] == "tear":
                    for segment in ledger.segments()[-1:]:
                        with segment.open("ab") as file:
                            file.write(step[1])
                else:
                    events.extend(_happen(step, cards, links))
            if events:
                append(ledger, *events)
                written += 1
        again = Ledger(Path(folder))
        folded = fold(again.commits(), {}, {})
        assert folded.cards == cards
        assert folded.links == links
        assert again.last_seq() == written
        assert [commit.seq for commit in again.commits()] == list(range(1, written + 1))


def _happen(step: tuple[Any, ...], cards: dict[str, Card], links: dict[tuple[str, str, str], Link]) -> list[Event]:
    from dataclasses import replace

    if step[0] == "create":
        made = card(step[1], step[2])
        if made.id in cards:
            return []
        cards[made.id] = made
        return [card_created(made)]
    if step[0] == "change":
        before = cards.get(card(step[1]).id)
        if before is None:
            return []
        cards[before.id] = replace(before, content=step[2], rev=before.rev + 1, tags=(step[2][:3],))
        return [card_changed(before, cards[before.id], "edit")]
    link = Link(card(step[1]).id, card(step[2]).id, step[3], 0.5, "because", "human", 7)
    if step[0] == "link":
        links[link_key(link)] = link
        return [link_created(link)]
    return [link_removed(link)] if links.pop(link_key(link), None) else []
