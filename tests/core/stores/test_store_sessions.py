"""Session files: any turn without the others, whatever is in it, and an index that can always be made again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alaya_core.errors import DamagedError, NotFoundError
from alaya_core.models.session import SessionHeader, ToolCall, Turn, TurnKind
from alaya_core.stores.home import safe_file_name
from alaya_core.stores.sessions import SessionFiles, Spool

HOSTILE = [
    "}, {", '"},\n{"role": 1', "\u2028\u2029\x85\x0b", "]\n], \"metadata\": {}}", "", "中文\U0001f600", "a\rb\r\nc",
]  # fmt: skip
MORE = {"title": '\n], "metadata": {"x": 1}}', "abandoned": [[1, 2]]}


@pytest.fixture
def files(tmp_path: Path) -> SessionFiles:
    return SessionFiles(tmp_path, tmp_path / "raw/sessions")


def turns(texts: list[str] = HOSTILE) -> list[Turn]:
    made = [Turn("user", text, 1000 + number, text=text) for number, text in enumerate(texts)]
    call = ToolCall("1", "ls", {"path": "/", "n": 1.5})
    return [*made, Turn("assistant", "x", None, TurnKind.FAILED, tool_calls=(call,), thinking="hm", extra={"k": [1]})]


def keep(files: SessionFiles, said: list[Turn], identifier: str = "s1", **metadata: Any) -> tuple[str, Spool]:
    spool = files.spool()
    for turn in said:
        spool.add(turn)
    path = files.path_for(identifier, 1_796_040_000_000)
    header = SessionHeader(identifier, 1_796_040_000_000, "cli", "main", "alaya", metadata or dict(MORE))
    files.publish(files.prepare(path, header, spool))
    return path, spool


def test_every_turn_comes_back_alone_and_together(files: SessionFiles) -> None:
    said = turns()
    path, _ = keep(files, said)
    assert list(files.turns(path)) == said
    for number, turn in enumerate(said):
        assert list(files.turns(path, number, number + 1)) == [turn]
    assert list(files.turns(path, 2, 4)) == said[2:4]
    assert list(files.turns(path, len(said))) == []
    assert list(files.turns(path, -5, 1)) == said[:1]
    assert files.count(path) == len(said)


def test_the_file_is_plain_json_under_its_month(files: SessionFiles, tmp_path: Path) -> None:
    path, _ = keep(files, turns())
    assert path == "raw/sessions/2026-11/s1.json"
    raw = json.loads((tmp_path / path).read_text(encoding="utf-8"))
    assert [turn["content"] for turn in raw["turns"]] == [*HOSTILE, "x"]
    assert raw["metadata"] == MORE
    assert (raw["id"], raw["timestamp"], raw["channel"], raw["agent"]) == ("s1", 1_796_040_000_000, "cli", "main")
    assert list(files.files()) == [path]


def test_the_header_is_read_without_the_turns(files: SessionFiles) -> None:
    path, _ = keep(files, turns())
    header = files.header(path)
    assert (header["id"], header["metadata"]) == ("s1", MORE)
    empty, _ = keep(files, [], "empty")
    assert files.header(empty)["metadata"] == MORE
    assert list(files.turns(empty)) == []


@pytest.mark.parametrize("damage", ["gone", "garbage", "stale", "cut"])
def test_the_index_is_made_again(files: SessionFiles, tmp_path: Path, damage: str) -> None:
    said = turns()
    path, spool = keep(files, said)
    index = (tmp_path / path).with_suffix(".idx")
    whole = index.read_bytes()
    if damage == "gone":
        index.unlink()
    elif damage == "garbage":
        index.write_bytes(b"\xff" * 200)
    elif damage == "cut":
        index.write_bytes(whole[:10])
    else:
        keep(files, turns(["another", "state"]))
        older = index.read_bytes()
        path, spool = keep(files, said)
        index.write_bytes(older)
    assert list(files.turns(path, 3, 5)) == said[3:5]
    assert index.read_bytes() == whole
    for number in range(len(said) + 1):
        assert files.hash_behind(path, number) == spool.hash_behind(number)


def test_a_home_that_cannot_be_written_needs_no_index(files: SessionFiles, tmp_path: Path) -> None:
    path, _ = keep(files, turns())
    index = (tmp_path / path).with_suffix(".idx")
    index.unlink()
    index.mkdir()  # nothing can be written there, whoever asks
    assert len(list(files.turns(path))) == len(turns())


def test_the_running_hash_tells_older_copies_from_others(files: SessionFiles) -> None:
    said = turns()
    path, _ = keep(files, said)
    _, shorter = keep(files, said[:3], "s2")
    _, other = keep(files, [replace(said[0], content="!"), *said[1:]], "s3")
    assert files.hash_behind(path, 3) == shorter.hash_behind(3) != b""
    assert files.hash_behind(path, 3) != other.hash_behind(3)
    assert files.hash_behind(path, 0) == files.hash_behind(path, 99) == b""


def test_what_is_gone_or_garbage_is_told(files: SessionFiles, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        list(files.turns("raw/sessions/2026-11/none.json"))
    path, _ = keep(files, turns())
    (tmp_path / path).write_bytes(b"\x00garbage")
    assert list(files.turns(path)) == []
    with pytest.raises(DamagedError):
        files.header(path)


def test_a_damaged_turn_is_told_by_its_number(files: SessionFiles, tmp_path: Path) -> None:
    path, _ = keep(files, turns(["one", "two", "three"]))
    whole = (tmp_path / path).read_bytes()
    (tmp_path / path).write_bytes(whole.replace(b'"content": "two"', b'"content": "tw""'))
    with pytest.raises(DamagedError, match="turn 1 of"):
        list(files.turns(path))


def test_what_is_not_published_leaves_nothing(files: SessionFiles, tmp_path: Path) -> None:
    spool = files.spool()
    spool.add(turns()[0])
    prepared = files.prepare(files.path_for("s9", 0), SessionHeader("s9", 0), spool)
    assert list(files.files()) == []
    prepared.discard()
    assert [path for path in (tmp_path / "raw").rglob("*") if path.is_file()] == []


NASTY = [
    "../../x", "..", ".", "", "/etc/passwd", "O'Brien", "x' OR 1=1 --", "é" * 150, "CON", "con.txt", "a\x00b", "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("identifier", NASTY)
def test_no_id_leaves_its_folder(files: SessionFiles, tmp_path: Path, identifier: str) -> None:
    path, _ = keep(files, turns(), identifier)
    folder = (tmp_path / path).parent
    assert folder == tmp_path / "raw/sessions/2026-11"
    assert (tmp_path / path).resolve().parent == folder.resolve()
    assert len(list(files.turns(path))) == len(turns())


IDS = st.text(max_size=40) | st.sampled_from(NASTY) | st.from_regex(r"[a-zA-Z0-9._~-]{1,30}", fullmatch=True)


@given(st.lists(IDS, max_size=6))
def test_file_names_are_unique_and_stay_in_their_folder(identifiers: list[str]) -> None:
    """Also against the names that other ids are given, and on a disk that does not tell cases apart."""
    wanted = set(identifiers) | {safe_file_name(identifier) for identifier in identifiers}
    names = {identifier: safe_file_name(identifier) for identifier in wanted}
    for name in names.values():
        assert 0 < len(name.encode()) <= 200
        assert name not in (".", "..")
        assert not set(name) & set('/\\:*?"<>|\0')
        assert name == name.strip(" .") == name.lower()
        assert name.isprintable()
        assert name.isascii()
    assert len(set(names.values())) == len(wanted)
