"""Ingest: sessions come in whole and once, grow, are repaired, and never overwrite each other."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from alaya_core.errors import UsageError
from alaya_core.memory import Memory
from alaya_core.models.answers import IngestReport, SessionOutcome
from alaya_core.progress import CancelledError, CancelToken, silent
from alaya_core.services.ingest import ingest
from alaya_core.stores.sessions import SessionFiles
from tests.conftest import OpenMemory
from tests.core.homes import START, TALK, kinds, ledger_lines, session, write

CLAUDE = [
    {"type": "user", "sessionId": "cc", "uuid": f"u{n}", "timestamp": f"2026-11-18T10:00:{n:02d}.000Z",
     "message": {"role": "user", "content": f"line number {n}"}}
    for n in range(10)
]  # fmt: skip


def jsonl(path: Path, rows: list[dict[str, Any]], tail: bytes = b"") -> Path:
    path.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows) + tail)
    return path


def take(memory: Memory, *paths: Path | str, **options: Any) -> IngestReport:
    """Into L3 and the ledger only; the index is another test's business."""
    chosen: dict[str, Any] = {"format": None, "stdin": None, "progress": silent, "cancel": None}
    return ingest(memory._work, paths, **(chosen | options))


def one(report: IngestReport) -> SessionOutcome:
    [outcome] = report.sessions
    return outcome


def texts(memory: Memory, outcome: SessionOutcome) -> list[str]:
    files = SessionFiles(memory.home, memory.home / "raw/sessions")
    return [turn.content for turn in files.turns(outcome.path)]


def test_a_session_comes_in_whole(memory: Memory, tmp_path: Path) -> None:
    outcome = one(take(memory, write(tmp_path / "s.json", session("s1"))))
    assert (outcome.session_id, outcome.status, outcome.turns, outcome.new_turns) == ("s1", "new", 8, 8)
    assert (outcome.channel, outcome.agent, outcome.timestamp) == ("cli", "main", START)
    assert outcome.path == "raw/sessions/2026-11/s1.json"
    assert texts(memory, outcome) == list(TALK)
    readable = (memory.home / "raw/sessions/2026-11/s1.md").read_text(encoding="utf-8")
    assert all(text in readable for text in TALK)
    [line] = ledger_lines(memory.home)
    assert [event["kind"] for event in line["events"]] == ["session.ingested"]
    assert memory.status().raw.turns == 8


def test_the_bytes_as_they_came_are_kept(memory: Memory, tmp_path: Path) -> None:
    path = write(tmp_path / "s.json", session("s1"))
    take(memory, path)
    import zstandard

    [kept] = (memory.home / "raw/sources").iterdir()
    assert zstandard.ZstdDecompressor().stream_reader(kept.open("rb")).read() == path.read_bytes()


def test_sources_are_not_kept_where_the_config_says_so(home: Path, open_memory: OpenMemory, tmp_path: Path) -> None:
    open_memory().close()
    write(home / "config.json", {"raw": {"keep_source": False}})
    memory = open_memory()
    take(memory, write(tmp_path / "s.json", session("s1")))
    assert list((home / "raw/sources").iterdir()) == []
    assert one(take(memory, tmp_path / "s.json")).status == "unchanged"


@pytest.mark.parametrize("change", ["same file", "same turns in other bytes"])
def test_a_second_time_changes_nothing(memory: Memory, tmp_path: Path, change: str) -> None:
    path = write(tmp_path / "s.json", session("s1"))
    take(memory, path)
    before = ledger_lines(memory.home)
    if change != "same file":
        path.write_text(json.dumps(session("s1"), indent=3), encoding="utf-8")
    outcome = one(take(memory, path))
    assert (outcome.status, outcome.turns, outcome.new_turns) == ("unchanged", 8, 0)
    assert ledger_lines(memory.home) == before


def test_a_log_that_grew_brings_only_what_is_new(memory: Memory, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "cc.jsonl", CLAUDE[:4])
    assert one(take(memory, path)).turns == 4
    [old_source] = (memory.home / "raw/sources").iterdir()
    jsonl(path, CLAUDE[:7], b'{"type": "user", "mess')  # and is being written right now
    outcome = one(take(memory, path))
    assert (outcome.status, outcome.turns, outcome.new_turns, outcome.skipped_count) == ("grown", 7, 3, 1)
    assert ledger_lines(memory.home)[-1]["events"][0]["from_turn"] == 4
    assert len(texts(memory, outcome)) == 7
    assert not old_source.exists(), "the newer source begins with it"
    assert len(list((memory.home / "raw/sources").iterdir())) == 1
    assert kinds(memory.verify()) == set()


def test_an_older_copy_takes_nothing_away(memory: Memory, tmp_path: Path) -> None:
    take(memory, jsonl(tmp_path / "cc.jsonl", CLAUDE))
    outcome = one(take(memory, jsonl(tmp_path / "cc.jsonl", CLAUDE[:3])))
    assert outcome.status == "unchanged"
    assert "older copy" in outcome.reason
    assert memory.status().raw.turns == 10


def test_a_repaired_log_is_taken_from_where_it_differs(memory: Memory, tmp_path: Path) -> None:
    take(memory, jsonl(tmp_path / "cc.jsonl", CLAUDE))
    repaired = [*CLAUDE[:9], {**CLAUDE[9], "message": {"role": "user", "content": "mended"}}]
    outcome = one(take(memory, jsonl(tmp_path / "cc.jsonl", repaired)))
    assert (outcome.status, outcome.turns, outcome.new_turns) == ("grown", 10, 1)
    assert "repaired from turn 9" in outcome.reason
    assert texts(memory, outcome)[-1] == "mended"
    assert len(list((memory.home / "raw/sources").iterdir())) == 2, "both sources are kept"
    assert kinds(memory.verify()) == set()


def other(count: int) -> list[dict[str, Any]]:
    return [{**row, "message": {"role": "user", "content": f"other {n}"}} for n, row in enumerate(CLAUDE[:count])]


def test_another_session_of_the_same_id_stands_beside(memory: Memory, tmp_path: Path) -> None:
    first = one(take(memory, jsonl(tmp_path / "cc.jsonl", CLAUDE)))
    (tmp_path / "2").mkdir()
    path = jsonl(tmp_path / "2/cc.jsonl", other(4))
    second = one(take(memory, path))
    assert second.status == "conflict"
    assert second.session_id.startswith(f"{first.session_id}~")
    assert texts(memory, first) == [f"line number {n}" for n in range(10)]
    assert texts(memory, second) == [f"other {n}" for n in range(4)]
    assert one(take(memory, path)).status == "unchanged"
    assert memory.status().raw.sessions == 2
    grown = one(take(memory, jsonl(path, other(6))))
    assert (grown.session_id, grown.status, grown.new_turns) == (second.session_id, "grown", 2)
    assert memory.status().raw.sessions == 2
    assert kinds(memory.verify()) == set()


def test_bad_lines_cost_only_themselves_and_are_named(memory: Memory, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "cc.jsonl", CLAUDE[:2], b"not json\n[1]\n\xff\xfe\n" + json.dumps(CLAUDE[2]).encode())
    outcome = one(take(memory, path))
    assert (outcome.status, outcome.turns, outcome.skipped_count) == ("new", 3, 3)
    assert [line.line for line in outcome.skipped] == [3, 4, 5]
    assert all(line.reason for line in outcome.skipped)
    assert ledger_lines(memory.home)[0]["events"][0]["skipped"] == 3


def test_a_file_that_cannot_be_read_costs_only_itself(memory: Memory, tmp_path: Path) -> None:
    write(tmp_path / "a.json", session("a"))
    (tmp_path / "b.json").write_bytes(b"")
    (tmp_path / "c.json").write_bytes(b"\x7fELF" + bytes(range(256)))
    write(tmp_path / "d.json", session("d"))
    report = take(memory, *(tmp_path / f"{name}.json" for name in "abcd"), tmp_path / "gone.json")
    by_name = {outcome.session_id: outcome.status for outcome in report.sessions}
    assert (by_name["a"], by_name["d"]) == ("new", "new")
    failed = [outcome for outcome in report.sessions if outcome.status == "failed"]
    assert len(failed) == 3
    assert all(outcome.reason and outcome.source for outcome in failed)
    assert report.counts["failed"] == 3


def test_a_folder_says_what_it_passed_over(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    write(folder / "a.json", session("a"))
    (folder / ".hidden.json").write_text("{}")
    (folder / "empty.jsonl").write_text("")
    report = take(memory, folder)
    assert report.counts["new"] == 1
    assert {Path(passed.path).name for passed in report.passed_over} == {".hidden.json", "empty.jsonl"}
    assert all(passed.reason for passed in report.passed_over)


def test_standard_input(memory: Memory) -> None:
    data = json.dumps(session("from-pipe")).encode()
    outcome = one(take(memory, "-", stdin=io.BytesIO(data)))
    assert (outcome.session_id, outcome.status) == ("from-pipe", "new")
    assert one(take(memory, "-", stdin=io.BytesIO(data))).status == "unchanged"
    assert one(take(memory, "-", stdin=io.BytesIO(b""))).status == "failed"


def test_an_array_of_sessions(memory: Memory, tmp_path: Path) -> None:
    path = write(tmp_path / "all.json", [session("a"), session("b"), session("a", [*TALK, "one more"])])
    report = take(memory, path)
    assert [(found.session_id, found.status, found.new_turns) for found in report.sessions] == [
        ("a", "new", 8),
        ("b", "new", 8),
        ("a", "grown", 1),
    ]
    assert {found.status for found in take(memory, path).sessions} == {"unchanged"}
    assert kinds(memory.verify()) == set()


class AfterFirstCommit(CancelToken):
    """Cancels when it is asked and the ledger has a line."""

    def __init__(self, home: Path) -> None:
        super().__init__()
        self._home = home

    def check(self) -> None:
        if ledger_lines(self._home):
            self.cancel()
        super().check()


def test_an_array_that_was_cut_off_is_taken_up_again(memory: Memory, tmp_path: Path) -> None:
    long = session("long", ["word"] * 600)
    path = write(tmp_path / "all.json", [*(session(f"s{n:03}", TALK[:1]) for n in range(80)), long])
    with pytest.raises(CancelledError):
        take(memory, path, cancel=AfterFirstCommit(memory.home))
    kept = memory.status().raw.sessions
    assert 0 < kept < 81
    assert take(memory, path).counts["unchanged"] == kept
    assert memory.status().raw.sessions == 81


def test_a_database_that_a_program_keeps(memory: Memory) -> None:
    data = Path(__file__).resolve().parents[4] / "shared/data/invented/openclaw/agents/main/agent/openclaw-agent.sqlite"
    if not data.exists():
        pytest.skip(f"the example data is not at {data}")
    outcome = one(take(memory, data))
    assert (outcome.status, outcome.turns, outcome.format) == ("new", 17, "openclaw-sqlite")
    assert one(take(memory, data)).status == "unchanged"
    import zstandard

    [kept] = (memory.home / "raw/sources").iterdir()
    raw = zstandard.ZstdDecompressor().stream_reader(kept.open("rb")).read()
    assert not raw.startswith(b"SQLite format 3"), "of a database only its transcript rows are kept"
    assert kinds(memory.verify()) == set()


def test_unknown_formats_are_refused(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="soup"):
        take(memory, write(tmp_path / "s.json", session("s")), format="soup")


def test_time_and_no_time(memory: Memory, tmp_path: Path) -> None:
    bare = {"id": "bare", "turns": [{"role": "user", "content": "hello there"}]}
    outcome = one(take(memory, write(tmp_path / "s.json", bare)))
    assert outcome.path == "raw/sessions/2026-11/bare.json"
    far = session("far", timestamp=-(10**15))
    assert one(take(memory, write(tmp_path / "t.json", far))).status == "new"
    assert memory.status().raw.sessions == 2


def test_surrogates_and_nul_survive_a_lost_index(memory: Memory, tmp_path: Path) -> None:
    odd = r'{"id": "odd", "turns": [{"role": "user", "content": "a\ud800b\u0000c"}, {"role": "user", "content": "d"}]}'
    (tmp_path / "s.json").write_text(odd)
    outcome = one(take(memory, tmp_path / "s.json"))
    assert outcome.turns == 2
    (memory.home / outcome.path).with_suffix(".idx").unlink()
    assert kinds(memory.verify()) == set()
    (tmp_path / "t.json").write_text(json.dumps(json.loads(odd), indent=1))
    assert one(take(memory, tmp_path / "t.json")).status == "unchanged"


def test_what_a_killed_ingest_left_unindexed_is_found_after_the_next(memory: Memory, tmp_path: Path) -> None:
    from alaya_core.progress import silent
    from alaya_core.services.ingest import ingest

    source = write(tmp_path / "talk.json", session("talk"))
    ingest(memory._work, [source], format=None, stdin=None, progress=silent, cancel=None)  # and killed before indexing
    assert memory.ingest([source]).counts["unchanged"] == 1
    assert memory.recall("staging database").passages
    assert memory.verify().ok


def test_a_lost_session_file_comes_back_with_its_log(memory: Memory, tmp_path: Path) -> None:
    source = write(tmp_path / "talk.json", session("talk"))
    kept = memory.ingest([source]).sessions[0]
    file = memory.home / kept.path
    before = file.read_bytes()
    file.unlink()
    assert memory.rebuild("l1").warnings
    again = memory.ingest([source]).sessions[0]
    assert (again.status, again.new_turns) == ("grown", 0)
    assert file.read_bytes() == before
    assert memory.rebuild("l1").warnings == []
    assert memory.verify().ok


def test_a_file_that_breaks_a_parser_costs_only_itself(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    big = '{"session_id": "b", "turns": [{"role": "user", "timestamp": ' + "9" * 5000 + "}]}"
    (folder / "big.json").write_text(big)
    (folder / "list.json").write_text('[1, null, {"session_id": "a", "turns": [{"role": "user", "content": "hi"}]}]')
    write(folder / "talk.json", session("talk"))
    report = memory.ingest([folder])
    assert "talk" in {outcome.session_id for outcome in report.sessions if outcome.status == "new"}


def test_a_source_that_is_gone_comes_back_with_its_log(memory: Memory, tmp_path: Path) -> None:
    path = write(tmp_path / "s.json", session("s-1"))
    take(memory, path)
    [source] = (memory.home / "raw/sources").iterdir()
    kept = source.read_bytes()
    source.unlink()
    assert [outcome.status for outcome in memory.ingest([path]).sessions] == ["unchanged"]
    assert source.read_bytes() == kept
    source.unlink()
    assert memory.verify(fix=True, yes=True).ok
    memory.ingest([path])
    assert source.exists()
    assert memory.verify().ok


def test_bytes_of_a_log_that_was_not_taken_in_do_not_stay(memory: Memory, tmp_path: Path) -> None:
    def refuse(*_: object) -> None:
        raise UsageError("not now")

    path = write(tmp_path / "s.json", session("s-1"))
    memory._work.sessions.publish = refuse  # type: ignore[method-assign, assignment]
    with pytest.raises(UsageError):
        memory.ingest([path])
    del memory._work.sessions.publish
    memory.capture("whoever takes the pen next removes what was left")
    assert list((memory.home / "raw/sources").iterdir()) == []
    take(memory, path)
    assert len(list((memory.home / "raw/sources").iterdir())) == 1
