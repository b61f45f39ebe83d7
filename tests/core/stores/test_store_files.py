"""Homes, sources, contexts, accesses and generations: small files that are whole or not there, for their owner."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from alaya_core.errors import DamagedError, NewerHomeError, NotFoundError, UsageError
from alaya_core.memory import Memory
from alaya_core.models.card import Vitals
from alaya_core.models.session import Turn
from alaya_core.stores.accesses import AccessLine, AccessLog
from alaya_core.stores.contexts import ContextStore, context_turn
from alaya_core.stores.files import append_bytes, replacing
from alaya_core.stores.generations import Generations
from alaya_core.stores.sources import SourceStore, file_blocks, file_digests
from tests.conftest import NOON, OpenMemory
from tests.core.homes import TALK, session, write


def test_a_home_is_made_once(home: Path) -> None:
    assert Memory.init(home, environ={}).created
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*") if path.is_file()}
    assert Memory.init(home, environ={}).created == []
    assert before == {path: path.stat().st_mtime_ns for path in home.rglob("*") if path.is_file()}


def test_a_folder_with_other_things_is_refused(home: Path) -> None:
    home.mkdir()
    (home / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError):
        Memory.init(home, environ={})
    with pytest.raises(UsageError):
        Memory.open(home, environ={})
    assert [path.name for path in home.iterdir()] == ["thesis.txt"]


def test_where_there_is_no_home(home: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError) as error:
        Memory.open(home, environ={})
    assert "alaya init" in error.value.hint
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError):
        Memory.init(tmp_path / "file", environ={})


def test_the_environment_names_the_home_and_the_agent(home: Path) -> None:
    Memory.init(environ={"ALAYA_HOME": str(home)})
    with Memory.open(environ={"ALAYA_HOME": str(home), "ALAYA_AGENT": "helper"}) as memory:
        assert memory.home == home
        card = memory.capture("known by an agent").card
        assert memory.history(card.card_id).commits[0].actor == "agent:helper"


def test_a_newer_home_is_read_and_not_written(home: Path, open_memory: OpenMemory) -> None:
    card = open_memory().capture("from before").card
    (home / "raw/FORMAT").write_text("99\n")
    with Memory.open(home, environ={}) as memory:
        assert memory.read_only
        assert memory.show(card.card_id).card.content == "from before"
        with pytest.raises(NewerHomeError):
            memory.capture("from now")
    (home / "raw/FORMAT").write_text("soup\n")
    with pytest.raises(DamagedError):
        Memory.open(home, environ={})


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o277])
def test_nobody_else_can_read_a_home(
    home: Path, open_memory: OpenMemory, umask: Callable[[int], int], tmp_path: Path, mask: int
) -> None:
    source = write(tmp_path / "s.json", session("s1", TALK[:2]))
    umask(mask)
    with open_memory() as memory:
        memory.ingest([source], distill=True)
        memory.recall("staging database")
        memory.cool_down()
        memory.rebuild("l2")
        memory.capture("one more")
    modes = {path: path.stat().st_mode & 0o777 for path in (home, *home.rglob("*"))}
    wrong = {str(path): oct(mode) for path, mode in modes.items() if mode != (0o700 if path.is_dir() else 0o600)}
    assert wrong == {}


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with contextlib.suppress(ZeroDivisionError), replacing(path) as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_appended_lines_of_many_threads_never_mingle(tmp_path: Path) -> None:
    path = tmp_path / "log"

    def append(who: int) -> None:
        for number in range(50):
            append_bytes(path, f"{who}-{number}-{'x' * 500}\n".encode(), durable=False)

    threads = [threading.Thread(target=append, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = path.read_text().splitlines()
    assert len(lines) == 200
    assert {line.rpartition("-")[2] for line in lines} == {"x" * 500}


def test_sources_come_back_byte_for_byte(tmp_path: Path) -> None:
    store = SourceStore(tmp_path)
    data = os.urandom(3_000_000) + b"\r\n\xff\x00"
    digest = hashlib.sha256(data).hexdigest()
    assert file_digests(io.BytesIO(data)) == (digest, {}, len(data))
    store.keep(file_blocks(io.BytesIO(data)), digest)
    before = store.path(digest).stat().st_mtime_ns
    store.keep([b"never looked at"], digest)
    assert store.path(digest).stat().st_mtime_ns == before
    with store.open(digest) as file:
        assert file.read() == data
    store.keep([data, b"more"], "longer")
    store.keep([b"x", data[1:]], "other")
    assert store.begins_with("longer", digest)
    assert not store.begins_with(digest, "longer")
    assert not store.begins_with("other", digest)
    assert not store.begins_with("longer", "gone")
    store.drop(digest)
    with pytest.raises(FileNotFoundError):
        store.open(digest)


def test_prefix_digests(tmp_path: Path) -> None:
    data = b"0123456789" * 300_000
    _, found, _ = file_digests(io.BytesIO(data), [3, 2_000_000, 3_000_000, 9_999_999])
    assert found == {n: hashlib.sha256(data[:n]).hexdigest() for n in (3, 2_000_000, 3_000_000)}


def test_contexts_outlive_garbage(tmp_path: Path) -> None:
    store = ContextStore(tmp_path)
    turns = [context_turn("s", number, Turn("user", f"text \ud800 {number}", None), "masked") for number in range(3)]
    store.write("card-1", turns)
    assert store.read("card-1") == turns
    assert store.read("../../card-2") == []
    store.path("card-1").write_bytes(b"{")
    assert store.read("card-1") == []
    assert store.path("../../x").parent == tmp_path


def test_accesses_survive_torn_lines_and_folds(tmp_path: Path) -> None:
    log = AccessLog(tmp_path / "accesses", tmp_path / "vitals.jsonl")
    log.append(AccessLine(NOON, "a", "recall", (("card-1", 0.9),)))
    first = log.stamp()
    path = next((tmp_path / "accesses").iterdir())
    with path.open("ab") as file:
        file.write(b'{"at": 1, "cards": "soup"}\nnot json\n')
    log.append(AccessLine(NOON + 1, "", "open", (("card-2", 1.0),)))
    with path.open("ab") as file:
        file.write(b'{"at": 1')
    assert log.stamp() != first
    lines = [line for _, _, line in log.unfolded({})]
    assert [(line.at, line.kind, line.cards[0][0]) for line in lines] == [
        (NOON, "recall", "card-1"),
        (NOON + 1, "open", "card-2"),
    ]
    [*_, (name, end, _)] = log.unfolded({})
    log.write_fold({"card-1": Vitals(1.2, 5, 3, (0.5,))}, {name: end})
    assert log.folded() == ({"card-1": Vitals(1.2, 5, 3, (0.5,))}, {name: end})
    assert list(log.unfolded({name: end})) == []


def test_an_access_of_very_many_cards_is_one_short_line(tmp_path: Path) -> None:
    log = AccessLog(tmp_path / "accesses", tmp_path / "vitals.jsonl")
    log.append(AccessLine(NOON, "a" * 5000, "recall", tuple((f"card-{n:032x}", 0.5) for n in range(1000))))
    [line] = (tmp_path / "accesses/2026-11.jsonl").read_bytes().splitlines()
    assert len(line) < 4096
    assert json.loads(line)["cards"][0] == [f"card-{0:032x}", 0.5]


def test_generations(tmp_path: Path) -> None:
    generations = Generations(tmp_path, ".kuzu")
    assert generations.current.name == "gen-1.kuzu"
    for name in ("gen-1.kuzu", "gen-1.kuzu.wal", "gen-3.kuzu"):
        (tmp_path / name).write_text(name)
    fresh = generations.next()
    assert fresh.name == "gen-4.kuzu"
    fresh.write_text("new")
    generations.switch(fresh)
    assert Generations(tmp_path, ".kuzu").current == fresh
    generations.remove_others()
    assert sorted(path.name for path in tmp_path.glob("gen-*")) == ["gen-4.kuzu"]
    (tmp_path / "CURRENT").write_text("../../etc/passwd")
    assert generations.current.name == "gen-1.kuzu"
