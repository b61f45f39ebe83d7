"""Every file of the example data, read from end to end: what it gives was counted by eye and stands here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from alaya_core.errors import SourceError
from alaya_core.models.session import SessionStream, TurnKind
from alaya_core.models.session_json import turn_from_json, turn_to_json
from alaya_core.readers import expand, hints_for, read_sessions

DATA = Path(__file__).resolve().parents[3].parent / "shared" / "data"
UUID = "11111111-2222-4333-8444-555555555555"
NOT_SPOKEN = "nobody is named as speaking"

# folder -> file -> sessions as "format id turns skipped", or why there are none
EXPECTED: dict[str, dict[str, list[str] | str]] = {
    "invented/claude-code": {"-tmp-p/cc-1.jsonl": ["claude-code cc-1 10 0"]},
    "invented/codex": {"sessions/2026/03/31/rollout-2026-03-31T06-00-00-019b-x.jsonl": ["codex 019b-x 7 0"]},
    "invented/memex": {
        ".memexrc": "hidden",
        ".sync.json": "hidden",
        "archive/old-idea.md": NOT_SPOKEN,
        "cards/2026-03-18-记忆系统-设计.md": NOT_SPOKEN,
        "cards/bad-yaml.md": NOT_SPOKEN,
        "cards/blacklist-pattern.md": NOT_SPOKEN,
        "cards/conflict.md": NOT_SPOKEN,
        "cards/crlf-bom.md": NOT_SPOKEN,
        "cards/empty.md": "empty",
        "cards/half-written.md.tmp": "being written",
        "cards/index.md": NOT_SPOKEN,
        "cards/jwt-revocation.md": NOT_SPOKEN,
        "cards/no-frontmatter.md": NOT_SPOKEN,
        "cards/other/redis-store.md": NOT_SPOKEN,
        "cards/session/redis-store.md": NOT_SPOKEN,
        "cards/unterminated.md": NOT_SPOKEN,
        "cards/卡片 盒.md": NOT_SPOKEN,
    },
    "invented/openclaw/agents/main": {
        "agent/openclaw-agent.sqlite": [f"openclaw-sqlite {UUID} 17 0"],
        f"sessions/{UUID}.checkpoint.77777777-0000-4000-8000-000000000000.jsonl": "compaction",
        f"sessions/{UUID}.jsonl": [f"openclaw {UUID} 17 0"],
        f"sessions/{UUID}.jsonl.bak-4242-1774937000000": "repair",
        f"sessions/{UUID}.jsonl.lock": "lock",
        f"sessions/{UUID}.jsonl.reset.2026-03-30T06-00-00.000Z": [
            f"openclaw {UUID}.reset.2026-03-30T06-00-00.000Z 1 0"
        ],
        f"sessions/{UUID}.trajectory-path.json": "trace",
        f"sessions/{UUID}.trajectory.jsonl": "trace",
        "sessions/22222222-2222-4333-8444-555555555555.jsonl.deleted.2026-03-30T06-00-00.000Z": "deleted",
        "sessions/33333333-2222-4333-8444-555555555555-topic-42.jsonl": [
            "openclaw 33333333-2222-4333-8444-555555555555-topic-42 1 0"
        ],
        "sessions/44444444-2222-4333-8444-555555555555.jsonl": ["openclaw 44444444-2222-4333-8444-555555555555 1 0"],
        "sessions/55555555-2222-4333-8444-555555555555.jsonl": "empty",
        "sessions/66666666-2222-4333-8444-555555555555.jsonl": ["openclaw 66666666-2222-4333-8444-555555555555 30 11"],
        "sessions/sessions.json": "index",
    },
    "invented/seed": {
        "session-20260331-062900.json": ["alaya session-20260331-062900 2 0"],
        "session-array.json": ["alaya session-20260331-062900 2 0", "alaya session-20260331-062901 2 0"],
        "session-bad-id.json": ["alaya ../../etc/passwd 1 0"],
        "session-no-metadata.json": ["alaya s2 0 0"],
        "session-seconds.json": ["alaya s3 3 0"],
        "session-seed-example-timestamp-mismatch.json": ["alaya session-20260331-062900 2 0"],
        "session-truncated.json": ["alaya session-20260331-062900 1 1"],
    },
    "sessions/agent-sessions-fixtures": {
        "claude/large.jsonl": ["claude-code ses_stage0_large 10 0"],
        "claude/schema_drift.jsonl": ["claude-code ses_stage0_drift 5 0"],
        "claude/small.jsonl": ["claude-code ses_stage0_small 13 8"],
        "claude/subagent/0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f/subagents/agent-a0ad4f44468bdf20d.jsonl": [
            "claude-code agent-a0ad4f44468bdf20d 3 0"
        ],
        "claude/subagent/0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f/subagents/agent-a0ad4f44468bdf20d.meta.json": "subagent",
        "claude/subagent/0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f.jsonl": [
            "claude-code 0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f 2 0"
        ],
        "codex/large.jsonl": ["codex 019b2ea4-aaaa-bbbb-cccc-58208e1f0000 16 0"],
        "codex/schema_drift.jsonl": ["codex-legacy schema_drift 4 0"],
        "codex/small.jsonl": ["codex 019fc8be-3658-7ca3-9e29-000000000000 27 0"],
        "codex-legacy/codex_050_legacy.jsonl": ["codex test-legacy-session 0 0"],
        "codex-legacy/codex_051_usage.jsonl": ["codex test-usage-session 0 0"],
        "codex-legacy/codex_052_raw.jsonl": ["codex test-raw-session 0 0"],
        "codex-legacy/codex_053_rate_limit.jsonl": ["codex test-ratelimit-session 1 0"],
        "codex-legacy/session_branch.jsonl": ["codex-legacy session_branch 5 0"],
        "codex-legacy/session_simple.jsonl": ["codex-legacy session_simple 2 0"],
        "codex-legacy/session_toolcall.jsonl": ["codex-legacy session_toolcall 4 0"],
        "openclaw/large.jsonl": ["openclaw openclaw-stage0-large 7 0"],
        "openclaw/schema_drift.jsonl": ["openclaw openclaw-stage0-drift 4 1"],
        "openclaw/small.jsonl": ["openclaw openclaw-stage0-small 3 0"],
        "pi/small.jsonl": ["openclaw 019e19b4-eb48-746a-aa6b-8dfcfa37954b 6 0"],
    },
    "sessions/claude-code-log-fixtures": {
        "edge_cases.jsonl": ["claude-code edge_cases 12 6"],
        "representative_messages.jsonl": ["claude-code test_session 11 0"],
        "session_b.jsonl": ["claude-code session_b 3 0"],
        "todowrite_examples.jsonl": ["claude-code todowrite_session 11 0"],
    },
    "sessions/pi": {
        "before-compaction.jsonl": ["openclaw ffae836b-9420-4060-ac13-7745215f90ff 992 0"],
        "large-session.jsonl": ["openclaw d703a1a9-1b7b-4fb1-b512-c9738b1fe617 914 0"],
    },
}

# turns by kind, where a file has something of everything
KINDS = {
    "sessions/pi/before-compaction.jsonl": {"message": 524, "tool": 451, "failed": 15, "summary": 2},
    "sessions/pi/large-session.jsonl": {"message": 527, "tool": 373, "failed": 14},
    f"invented/openclaw/agents/main/sessions/{UUID}.jsonl": {
        "message": 8, "injected": 3, "tool": 1, "failed": 1, "heartbeat": 2, "summary": 2,
    },
    "invented/claude-code/-tmp-p/cc-1.jsonl": {"message": 3, "injected": 4, "tool": 1, "summary": 1, "failed": 1},
}  # fmt: skip

SKIPPED_66666666 = [
    (21, 'unknown type "compact"'),
    (24, "not JSON"),
    (25, "not a JSON object"),
    (26, "not a JSON object"),
    (27, "not a JSON object"),
    (28, "not a JSON object"),
    (29, "no type"),
    (30, "no type"),
    (33, "the message is not an object"),
    (37, "invalid UTF-8: the bad bytes replaced, the rest kept"),
    (42, "cut short at the end of the file"),
]


def need(folder: str) -> Path:
    if not (DATA / folder).is_dir():
        pytest.skip(f"the example data is not at {DATA / folder}")
    return DATA / folder


def read_file(path: Path, *, walked: bool = False) -> list[SessionStream]:
    streams = []
    with path.open("rb") as file:
        for stream in read_sessions(file, hints_for(path, walked=walked), path=path):
            stream.turns = iter(list(stream.turns))
            streams.append(stream)
    return streams


@pytest.mark.parametrize("folder", EXPECTED)
def test_every_file_gives_what_was_counted(folder: str) -> None:
    expected = dict(EXPECTED[folder])
    for found in expand(need(folder)):
        name = found.path.relative_to(DATA / folder).as_posix()
        outcome = expected.pop(name)
        if isinstance(outcome, str):
            reason = found.verdict.reason
            if found.verdict.ingest:
                with pytest.raises(SourceError) as refused:
                    read_file(found.path, walked=found.walked)
                reason = refused.value.message
            assert outcome in reason, name
            continue
        got = [
            f"{stream.header.format} {stream.header.id} {sum(1 for _ in stream.turns)} {stream.skipped_count}"
            for stream in read_file(found.path, walked=True)
        ]
        assert got == outcome, name
    assert not expected, "files that are gone"


@pytest.mark.parametrize("name", KINDS)
def test_turns_by_kind(name: str) -> None:
    need(name.split("/")[0])
    [stream] = read_file(DATA / name)
    kinds = [turn.kind for turn in stream.turns]
    assert {str(kind): kinds.count(kind) for kind in TurnKind if kind in kinds} == KINDS[name]


def test_every_turn_survives_its_json_and_only_messages_and_tools_have_text() -> None:
    for folder in EXPECTED:
        for found in expand(need(folder)):
            if not found.verdict.ingest or isinstance(
                EXPECTED[folder].get(found.path.relative_to(DATA / folder).as_posix()), str
            ):
                continue
            for stream in read_file(found.path):
                for turn in stream.turns:
                    assert turn_from_json(json.loads(json.dumps(turn_to_json(turn), ensure_ascii=False))) == turn
                    assert not turn.text or turn.kind in (TurnKind.MESSAGE, TurnKind.TOOL)
                    assert "base64" not in turn.content or len(turn.content) < 100_000


def test_the_example_with_every_damage() -> None:
    need("invented")
    [stream] = read_file(DATA / "invented/openclaw/agents/main/sessions/66666666-2222-4333-8444-555555555555.jsonl")
    turns = list(stream.turns)
    assert [(line.line, line.reason) for line in stream.skipped] == SKIPPED_66666666
    assert stream.header.metadata["abandoned"] == [[6, 6], [21, 21]]
    assert turns[18].content == "[image: image/png, 900 KB]"
    assert len(turns[19].content) == 2_000_000
    assert turns[23].content.startswith("U+2028 [\u2028] U+0085 [\x85] VT [\x0b]")
    assert [turn.timestamp for turn in turns[2:7]] == [
        1774937003000, 1774937004000, 1774936985000, 1774937006000, 1774937007000,
    ]  # fmt: skip


def test_the_example_with_every_record_type() -> None:
    need("invented")
    [stream] = read_file(DATA / f"invented/openclaw/agents/main/sessions/{UUID}.jsonl")
    turns = list(stream.turns)
    header = stream.header
    assert (header.channel, header.agent, header.timestamp) == ("telegram", "main", 1774936800000)
    assert header.metadata["abandoned"] == [[10, 11]]
    assert header.metadata["title"] == "Gateway notice bug"
    assert (turns[0].text, turns[0].name) == ("为什么没收到 Gateway 重启通知？", "Ann")
    assert turns[14].text == "好的，保持 telegram。"
    [same] = read_file(DATA / "invented/openclaw/agents/main/agent/openclaw-agent.sqlite")
    assert list(same.turns) == turns
