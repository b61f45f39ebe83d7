"""Session files of any bytes: they are read or refused plainly, in time, and never touched."""

from __future__ import annotations

import contextlib
import json
import random
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alaya_core.errors import AlayaError
from alaya_core.models.session_json import turn_to_json
from alaya_core.readers import FORMATS, expand, hints_for, read_sessions
from alaya_core.samples import sample_root
from alaya_core.text import storable
from tests.conftest import OpenMemory
from tests.core.readers.test_real_files import DATA

LONGEST_S = 20.0
"""A file that takes longer hangs the reader; they are small."""
LARGEST = 200_000
HOME_OF = ("sessions", "invented")

INVENTED: dict[str, bytes] = {
    "rollout-2026-03-31T06-00-00-x.jsonl": b"\n".join(
        json.dumps({"timestamp": "2026-03-31T06:29:00Z", "type": kind, "payload": payload}).encode()
        for kind, payload in (
            ("session_meta", {"id": "x", "timestamp": "2026-03-31T06:29:00Z", "cwd": "/p"}),
            ("response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}),
            ("response_item", {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "1"}),
            ("response_item", {"type": "function_call_output", "call_id": "1", "output": "done"}),
            ("event_msg", {"type": "agent_message", "message": "there"}),
        )
    ),
    "talk.md": "# Talk\n\n**User:** 为什么?\n\n**Assistant:** because\n\nUser: again\nAssistant: yes\n".encode(),
    "talk.txt": b"User: hello\nAssistant: hello to you\n\nUser: bye\n",
    "array.json": b'[{"id":"a","timestamp":1,"turns":[{"role":"user","content":"x"}]},{"id":"b","turns":[]}]',
}


def real_files() -> list[tuple[str, bytes]]:
    """(name, bytes) of the example files that are small enough, those shipped as samples, and those invented here."""
    roots = [sample_root(), *(DATA / name for name in HOME_OF if (DATA / name).is_dir())]
    paths = [path for root in roots for path in sorted(root.rglob("*")) if path.is_file() and path.suffix != ".py"]
    found = [(path.name, path.read_bytes()) for path in paths if 0 < path.stat().st_size <= LARGEST]
    return [*found, *INVENTED.items()]


FILES = real_files()
TOKENS = [
    b'"', b"{", b"}", b"[", b"]", b",", b":", b"\\", b"\n", b"\r\n", b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80",
    b"null", b"true", b"1e999", b"-1", b"NaN", b"99999999999999999999999", b'"\\ud800"', b"\xef\xbb\xbf", b"{}", b"[]",
    b'"id":', b'"timestamp":', b'"content":', b'"role":', b'"type":', b'"message":', b"[" * 3_000, b'{"a":' * 3_000,
]  # fmt: skip


def mutated(data: bytes, seed: int, times: int) -> bytes:
    """A file after some accidents: bytes changed, pieces lost or doubled, lines swapped, values of another kind."""
    chance = random.Random(seed)
    for _ in range(times):
        at = chance.randrange(len(data) + 1)
        length = min(len(data) - at, int(chance.expovariate(1 / 40)))
        match chance.randrange(7):
            case 0:
                data = data[:at] + chance.randbytes(length + 1) + data[at + length :]
            case 1:
                data = data[:at] + data[at + length :]
            case 2:
                data = data[:at] + chance.choice(TOKENS) + data[at + length :]
            case 3:
                data = data[:at]
            case 4:
                lines = data.splitlines(keepends=True)
                chance.shuffle(lines)
                data = b"".join(lines)
            case 5:
                data = data[: at + length] + data[at:]
            case 6:
                data = odd_value(data, chance)
    return data


def odd_value(data: bytes, chance: random.Random) -> bytes:
    """A line of JSON with one value that is of another kind than anybody expects."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    at = chance.randrange(len(lines))
    try:
        value = json.loads(lines[at])
    except (ValueError, RecursionError):
        return data
    place: Any = value
    odd: Any = chance.choice([None, True, -1, 1e300, "", "\ud800", [], {}, [[]], {"type": 1}, ["x", None], "x" * 5_000])
    while isinstance(place, dict | list) and place:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        key = chance.choice(keys)
        if not isinstance(place[key], dict | list) or chance.random() < 0.3:
            place[key] = odd
            break
        place = place[key]
    lines[at] = json.dumps(value).encode() + b"\n"
    return b"".join(lines)


def read_all(path: Path, format: str | None) -> int:
    """Every turn of every session of a file; how many."""
    turns = 0
    with path.open("rb") as file:
        for stream in read_sessions(file, hints_for(path, walked=True), format, path=path):
            for turn in stream.turns:
                json.dumps(turn_to_json(turn), ensure_ascii=False).encode("utf-8", "surrogatepass")
                storable(turn.text).encode()
                turns += 1
            assert isinstance(stream.header.id, str)
            assert all(skipped.reason for skipped in stream.skipped)
    return turns


def reads_or_refuses(name: str, data: bytes, format: str | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        before = path.stat().st_mtime_ns
        started = time.monotonic()
        for use in (lambda: list(expand(path)), lambda: read_all(path, format)):
            with contextlib.suppress(AlayaError):
                use()
        assert time.monotonic() - started < LONGEST_S, "the reader hangs"
        assert path.read_bytes() == data
        assert path.stat().st_mtime_ns == before
        assert [other.name for other in Path(folder).iterdir()] == [name], "something was written beside it"


CASES = st.tuples(st.sampled_from(range(len(FILES))), st.integers(0, 1 << 32), st.integers(1, 6))
USUAL = settings(
    max_examples=300, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


@pytest.mark.slow
@given(case=CASES)
@USUAL
def test_a_damaged_file_is_read_or_refused(case: tuple[int, int, int]) -> None:
    name, data = FILES[case[0]]
    reads_or_refuses(name, mutated(data, case[1], case[2]), None)


@pytest.mark.slow
@given(case=CASES, format=st.sampled_from(sorted(FORMATS)))
@USUAL
def test_a_file_that_is_said_to_be_what_it_is_not(case: tuple[int, int, int], format: str) -> None:
    name, data = FILES[case[0]]
    reads_or_refuses(name, mutated(data, case[1], case[2] - 1), format)


@given(data=st.binary(max_size=300), name=st.sampled_from(["x.jsonl", "x.json", "x.md", "x.sqlite", "x"]))
@settings(USUAL, max_examples=200)
def test_any_bytes_at_all(data: bytes, name: str) -> None:
    reads_or_refuses(name, data, None)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@given(case=CASES, format=st.sampled_from([None, None, *sorted(FORMATS)]))
@settings(USUAL, max_examples=10_000)
def test_damaged_files_of_every_kind(case: tuple[int, int, int], format: str | None) -> None:
    name, data = FILES[case[0]]
    reads_or_refuses(name, mutated(data, case[1], case[2]), format)


@pytest.mark.slow
def test_a_folder_of_damaged_files_comes_in_without_a_fault(open_memory: OpenMemory, tmp_path: Path) -> None:
    """Through the whole of `ingest`: each file is kept or refused for a reason that is not a fault of ours."""
    folder = tmp_path / "logs"
    folder.mkdir()
    for number, (name, data) in enumerate(FILES):
        (folder / f"{number}-{name}").write_bytes(mutated(data, number, 3))
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
    memory = open_memory()
    report = memory.ingest([folder], distill=True)
    assert report.counts.get("new", 0) > 5
    faults = [outcome.reason for outcome in report.sessions if "Error" in outcome.reason]
    assert faults == []
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()} == before
    assert [finding for finding in memory.verify().findings if not finding.report] == []
