"""Which files are sessions, told by their names, and what their places say of them."""

from __future__ import annotations

import json
import os
from pathlib import Path, PurePosixPath

import pytest

from alaya_core.errors import SourceError
from alaya_core.readers import classify_name, expand, hints_for

ID = "11111111-2222-4333-8444-555555555555"


@pytest.mark.parametrize(
    "name",
    [
        f"{ID}.jsonl",
        f"{ID}-topic-42.jsonl",
        f"{ID}.jsonl.reset.2026-05-04T14-58-56.795Z",
        "agent-a0ad4f44468bdf20d.jsonl",
        "rollout-2026-03-31T06-00-00-019b-x.jsonl",
        "openclaw-agent.sqlite",
        "session-20260331-062900.json",
        "聊天 记录.md",
        "notes.txt",
        "sessions.jsonl",
    ],
)
def test_sessions_are_taken(name: str) -> None:
    assert classify_name(PurePosixPath("/x", name)).ingest


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (f"{ID}.jsonl.deleted.2026-05-04T14-58-56.795Z", "deleted"),
        (f"{ID}.jsonl.deleted.2026-05-04T14-58-56.795Z.zst", "compressed"),
        (f"{ID}.jsonl.reset.2026-05-04T14-58-56.795Z.zst", "compressed"),
        (f"{ID}.jsonl.bak-4242-1774937000000", "repair"),
        (f"{ID}.checkpoint.77777777-0000-4000-8000-000000000000.jsonl", "compaction"),
        (f"{ID}.trajectory.jsonl", "trace"),
        (f"{ID}.trajectory-path.json", "trace"),
        (f"{ID}.jsonl.lock", "lock"),
        ("sessions.json", "index"),
        (f"sessions.json.{ID}.tmp", "index"),
        ("sessions.json.telegram-1.json", "index"),
        (".usage-cost-cache.json", "cache"),
        ("agent-a0ad4f44468bdf20d.meta.json", "subagent"),
        ("half-written.md.tmp", "being written"),
        ("openclaw-agent.sqlite-wal", "database"),
        (".memexrc", "hidden"),
        ("photo.png", "not a kind"),
    ],
)
def test_others_are_refused_with_a_reason(name: str, why: str) -> None:
    verdict = classify_name(PurePosixPath("/x", name))
    assert not verdict.ingest
    assert why in verdict.reason


def test_deleted_sessions_and_memex_cards() -> None:
    assert classify_name(PurePosixPath(f"{ID}.jsonl.deleted.2026-05-04T14-58-56.795Z"), deleted=True).ingest
    assert "memex" in classify_name(PurePosixPath("/home/u/.memex/cards/a.md")).reason
    assert classify_name(PurePosixPath("/home/u/.memex/notes/a.md")).ingest


def test_a_folder_yields_every_file_in_order_once(tmp_path: Path) -> None:
    for name in ("b/two.jsonl", "a.jsonl", "b/x.lock", ".git/config.json", "c/photo.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    (tmp_path / "b" / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nothing")
    os.mkfifo(tmp_path / "pipe.jsonl")
    found = [(file.path.relative_to(tmp_path).as_posix(), file.verdict.reason) for file in expand(tmp_path)]
    assert found == [
        ("a.jsonl", ""),
        ("b/two.jsonl", ""),
        ("b/x.lock", "a lock of a running program"),
        ("c/photo.png", "not a kind of file that holds sessions"),
        ("gone.jsonl", "a link to nothing"),
        ("pipe.jsonl", "not a regular file"),
    ]
    assert all(file.walked for file in expand(tmp_path))


def test_a_named_file_is_judged_too(tmp_path: Path) -> None:
    trace = tmp_path / "x.trajectory.jsonl"
    trace.write_text("{}")
    [found] = expand(trace)
    assert not found.verdict.ingest
    assert not found.walked
    with pytest.raises(SourceError, match="No such file"):
        list(expand(tmp_path / "missing"))


def test_hints_come_from_the_place(tmp_path: Path) -> None:
    folder = tmp_path / "agents" / "work" / "sessions"
    folder.mkdir(parents=True)
    (folder / "sessions.json").write_text(json.dumps({"agent:work:main": {"sessionId": ID}}))
    hints = hints_for(folder / f"{ID}.jsonl")
    assert (hints.name, hints.agent) == (f"{ID}.jsonl", "work")
    assert hints.session_index == {"agent:work:main": {"sessionId": ID}}


@pytest.mark.parametrize("index", [b"", b"{", b"[1]", b"\xff\xfe\x00", b"[" * 100_000])
def test_a_broken_index_is_ignored(tmp_path: Path, index: bytes) -> None:
    (tmp_path / "sessions.json").write_bytes(index)
    hints = hints_for(tmp_path / "x.jsonl")
    assert (hints.session_index, hints.agent) == (None, None)
