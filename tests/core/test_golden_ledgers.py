"""A ledger of every version there ever was can be read, changed and rebuilt for ever.

`golden/vN` holds the `raw/` of a home as version N of the events wrote it: never changed, never made anew.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from alaya_core.errors import NewerHomeError
from alaya_core.memory import Memory
from alaya_core.models.commit import EVENT_VERSIONS
from alaya_core.models.requests import CardChanges, Filters
from alaya_core.models.upcast import UPCASTS, upcast
from alaya_core.stores.files import close_to_others
from alaya_core.stores.ledger import Ledger
from alaya_core.stores.ledger_lines import encode_line
from tests.conftest import OpenMemory, counting_ids
from tests.core.homes import kinds, ledger_lines

GOLDEN = sorted((Path(__file__).parent / "golden").glob("v*"))


@pytest.fixture(params=GOLDEN, ids=lambda path: path.name)
def old(request: pytest.FixtureRequest, home: Path, open_memory: OpenMemory) -> Memory:
    """A home of an earlier version."""
    shutil.copytree(request.param, home / "raw")
    close_to_others(home)
    return open_memory(ids=counting_ids(100))


def test_there_is_one_of_this_version() -> None:
    newest = {
        (event["kind"], event["v"])
        for line in (GOLDEN[-1] / "ledger/000000000001.jsonl").read_text("utf-8").splitlines()
        for event in json.loads(line)["events"]
    }
    assert newest <= set(EVENT_VERSIONS.items())
    assert {kind for kind, _ in newest} == EVENT_VERSIONS.keys(), "a kind without an example"


def test_an_old_home_shows_what_it_knew(old: Memory) -> None:
    rows = old.list_cards(Filters(archived=True), sort="title").cards
    gateway = next(row.card_id for row in rows if row.title == "Gateway and plugins.allow")
    card = old.show(gateway)
    assert card.card.content.startswith("The gateway needs `plugins.allow` set before it starts")
    assert (card.card.tags, card.card.entities, card.card.rev) == (["net", "gateway"], ["Gateway"], 2)
    assert [(near.relation, near.direction) for near in card.related] == [("CAUSED_BY", "in")]
    backups = next(row.card_id for row in rows if "02:30" in row.title)
    [traced] = old.trace(backups).sessions
    assert [turn.content for turn in traced.turns] == ["Remember: backups run at 02:30 every night."]
    edited = old.history(gateway).commits[-3]
    assert {change.field for change in edited.changes} == {"content", "tags"}
    assert kinds(old.verify()) <= {"no_vectors"}


def test_it_lives_on(old: Memory) -> None:
    before = old.list_cards().total
    old.restore("card-00000003")
    old.undo()
    assert old.undo(run="#4").undone, "an edit that the old version made"
    assert old.show("card-00000001").card.content.startswith("The gateway needs `plugins.allow` before it starts.")
    old.edit("card-00000001", CardChanges(title="Renamed"))
    old.rebuild("l2")
    assert old.show("card-00000001").card.title == "Renamed"
    assert old.list_cards().total == before
    assert kinds(old.verify()) <= {"no_vectors"}


def test_its_lines_stay_as_they_are(old: Memory, home: Path) -> None:
    path = home / "raw/ledger/000000000001.jsonl"
    before = path.read_bytes()
    old.capture("new")
    old.rebuild()
    assert path.read_bytes().startswith(before)


def test_every_step_leads_to_the_next_version() -> None:
    for kind, version, _ in UPCASTS:
        assert version < EVENT_VERSIONS[kind]
        assert upcast({"kind": kind, "v": version})["v"] == EVENT_VERSIONS[kind]
    for kind, version in EVENT_VERSIONS.items():
        assert {step for name, step, _ in UPCASTS if name == kind} == set(range(1, version))
        assert upcast({"kind": kind, "v": version, "x": 1}) == {"kind": kind, "v": version, "x": 1}


@pytest.mark.parametrize("event", [{"kind": "card.changed", "v": 99}, {"kind": "card.dreamt", "v": 1}])
def test_a_newer_version_is_read_as_far_as_it_is_understood_and_not_written(
    memory: Memory, open_memory: OpenMemory, event: dict[str, object]
) -> None:
    card = memory.capture("known").card.card_id
    path = memory.home / "raw/ledger/000000000001.jsonl"
    last = ledger_lines(memory.home)[-1]
    newer = {key: value for key, value in last.items() if key != "crc"} | {"seq": 2, "id": "0" * 26, "events": [event]}
    path.write_bytes(path.read_bytes() + encode_line(newer))
    before = path.read_bytes()
    again = open_memory()
    assert again.show(card).card.content == "known"
    for change in (lambda: again.pin(card), lambda: again.capture("x"), again.undo, again.rebuild):
        with pytest.raises(NewerHomeError):
            change()
    with pytest.raises(NewerHomeError):
        list(Ledger(path.parent).commits())
    assert path.read_bytes() == before
