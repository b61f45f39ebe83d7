"""A ledger of any bytes: every command answers or says plainly why not, in time, and rewrites nothing."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from alaya_core.errors import AlayaError
from alaya_core.memory import Memory
from alaya_core.models.requests import CardChanges, RecallOptions
from alaya_core.stores.ledger_lines import encode_line
from tests.conftest import Clock, counting_ids
from tests.core.homes import segments

LONGEST_S = 30.0
"""A command that takes longer hangs; they take far below a second each."""

Change = Callable[[bytes], bytes]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("ledger") / "home"
    with Memory.open(home, clock=Clock(), ids=counting_ids(), environ={}, create=True) as memory:
        cards = [memory.capture(f"fact number {n}", title=f"fact {n}").card.card_id for n in range(6)]
        memory.link(cards[0], cards[1])
        memory.edit(cards[2], CardChanges(title="another"))
        memory.forget(cards[3])
        memory.unlink(cards[0], cards[1])
    return home


def spliced(at: float, junk: bytes, over: int) -> Change:
    """Random bytes put in, over some that were there."""

    def change(data: bytes) -> bytes:
        start = int(at * len(data))
        return data[:start] + junk + data[start + over :]

    return change


def moved(a: int, b: int, how: str) -> Change:
    """Whole lines swapped, doubled or dropped."""

    def change(data: bytes) -> bytes:
        lines = data.splitlines(keepends=True)
        if not lines:
            return data
        one, other = a % len(lines), b % len(lines)
        if how == "swap":
            lines[one], lines[other] = lines[other], lines[one]
        elif how == "double":
            lines.insert(other, lines[one])
        else:
            del lines[one]
        return b"".join(lines)

    return change


def well_signed(at: int, path: tuple[str, ...], value: Any) -> Change:
    """A line that says something impossible, with a checksum that is right."""

    def change(data: bytes) -> bytes:
        lines = data.splitlines(keepends=True)
        if not lines:
            return data
        try:
            body = json.loads(lines[at % len(lines)])
        except ValueError:
            return data
        if not isinstance(body, dict):
            return data
        body.pop("crc", None)
        place: Any = body
        for key in path[:-1]:
            place = place[0] if isinstance(place, list) and place else place
            place = place.get(key) if isinstance(place, dict) else None
        place = place[0] if isinstance(place, list) and place else place
        if not isinstance(place, dict):
            return data
        if value is MISSING:
            place.pop(path[-1], None)
        else:
            place[path[-1]] = value
        lines[at % len(lines)] = encode_line(body)
        return b"".join(lines)

    return change


MISSING = object()
PATHS = [
    ("v",), ("seq",), ("id",), ("at",), ("actor",), ("run",), ("device",), ("events",), ("events", "kind"),
    ("events", "v"), ("events", "card"), ("events", "card", "id"), ("events", "card", "type"),
    ("events", "card", "state"), ("events", "card", "tags"), ("events", "card", "title"),
    ("events", "card", "created_at"), ("events", "link"), ("events", "link", "relation"), ("events", "link", "from_id"),
    ("events", "after"), ("events", "before"), ("events", "id"), ("events", "rev"), ("events", "verb"),
]  # fmt: skip
ODD = st.one_of(
    st.just(MISSING), st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
    st.lists(st.one_of(st.integers(), st.text(max_size=3), st.none()), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)  # fmt: skip
BYTES = st.one_of(
    st.builds(spliced, st.floats(0, 1), st.binary(max_size=40), st.integers(0, 400)),
    st.builds(lambda at: lambda data: data[: int(at * len(data))], st.floats(0, 1)),
    st.builds(moved, st.integers(0, 20), st.integers(0, 20), st.sampled_from(["swap", "double", "drop"])),
)
SIGNED = st.builds(well_signed, st.integers(0, 20), st.sampled_from(PATHS), ODD)

USES: dict[str, Callable[[Memory], object]] = {
    "list": lambda memory: memory.list_cards(),
    "history": lambda memory: memory.history(),
    "show": lambda memory: memory.show("card-00000001"),
    "recall": lambda memory: memory.recall("fact", RecallOptions(vectors=False)),
    "status": lambda memory: memory.status(),
    "verify": lambda memory: memory.verify(),
    "plan of a fix": lambda memory: memory.verify(fix=True),
}
CHANGES: dict[str, Callable[[Memory], object]] = {
    "capture": lambda memory: memory.capture("one more"),
    "link": lambda memory: memory.link("card-00000002", "card-00000005"),
    "undo": lambda memory: memory.undo(),
    "rebuild": lambda memory: memory.rebuild("l2"),
}


def tried(name: str, use: Callable[[Memory], object], memory: Memory) -> None:
    """It answers, or fails plainly, and in time."""
    started = time.monotonic()
    try:
        use(memory)
    except AlayaError:
        pass  # it said why not
    except Exception as error:
        error.add_note(f"in {name}")
        raise
    assert time.monotonic() - started < LONGEST_S, name


def survives(template: Path, changes: list[Change]) -> None:
    """A home with a ledger so changed is read without a fault, and nothing of it is rewritten."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        shutil.copytree(template, home)
        [segment] = segments(home)
        data = segment.read_bytes()
        for change in changes:
            data = change(data)
        segment.write_bytes(data)
        with Memory.open(home, clock=Clock(), ids=counting_ids(100), environ={}) as memory:
            for name, use in USES.items():
                tried(name, use, memory)
                assert segment.read_bytes() == data, f"{name} rewrote the ledger"
            for name, use in CHANGES.items():
                tried(name, use, memory)
            kept = segment.read_bytes()
            whole = data[: data.rfind(b"\n") + 1]
            torn = b"".join(path.read_bytes() for path in (home / "raw/ledger").rglob("torn/*"))
            assert kept.startswith(data) or (kept.startswith(whole) and torn == data[len(whole) :]), "a line is lost"


USUAL = settings(
    max_examples=8, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
LONG = settings(USUAL, max_examples=600)


@pytest.mark.slow
@given(changes=st.lists(BYTES, min_size=1, max_size=3))
@USUAL
def test_a_ledger_of_broken_bytes(template: Path, changes: list[Change]) -> None:
    survives(template, changes)


@pytest.mark.slow
@given(change=SIGNED)
@example(change=well_signed(0, ("events",), None))
@example(change=well_signed(1, ("events", "kind"), MISSING))
@example(change=well_signed(2, ("seq",), "three"))
@USUAL
def test_a_ledger_that_says_what_cannot_be(template: Path, change: Change) -> None:
    survives(template, [change])


@pytest.mark.soak
@pytest.mark.timeout(3600)
@given(changes=st.lists(st.one_of(BYTES, SIGNED), min_size=1, max_size=4))
@LONG
def test_ledgers_of_every_kind(template: Path, changes: list[Change]) -> None:
    survives(template, changes)
