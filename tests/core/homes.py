"""Sessions to take in, and damage to do: what the tests of the engine share."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from alaya_core.memory import Memory
from alaya_core.models.answers import VerifyAnswer

START = 1_795_000_000_000  # 2026-11-18 UTC

TALK = (
    "Remember: the staging database runs on host db-7, port 5433.",
    "Noted. I will use db-7 for staging from now on.",
    "I prefer tabs over spaces in Go files, please keep it that way.",
    "Understood, tabs in Go files.",
    "We decided to deploy with Kubernetes because the old scripts broke every Friday.",
    "Good, Kubernetes it is.",
    "请记住：网关重启之前一定要先设置 plugins.allow，否则收不到通知。",
    "好的，我会先设置 plugins.allow。",
)


def session(identifier: str, texts: Sequence[str] = TALK, **fields: Any) -> dict[str, Any]:
    """A session in Alaya's own format, user and assistant in turn."""
    turns = [
        {"role": "user" if number % 2 == 0 else "assistant", "content": text, "timestamp": START + number * 1000}
        for number, text in enumerate(texts)
    ]
    return {"id": identifier, "timestamp": START, "channel": "cli", "agent": "main", "turns": turns} | fields


def write(path: Path, value: Any) -> Path:
    """A JSON file."""
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def kinds(answer: VerifyAnswer) -> set[str]:
    """What `verify` found."""
    return {finding.kind for finding in answer.findings}


def found_ids(memory: Memory, query: str, **options: Any) -> list[str]:
    """The cards that a recall finds, best first."""
    from alaya_core.models.requests import RecallOptions

    return [hit.card_id for hit in memory.recall(query, RecallOptions(**options)).results]


def segments(home: Path) -> list[Path]:
    return sorted((home / "raw/ledger").glob("*.jsonl"))


def ledger_lines(home: Path) -> list[dict[str, Any]]:
    """Every whole line of the ledger, read without the code under test, its checksum checked."""
    found = []
    for segment in segments(home):
        for line in segment.read_bytes().splitlines(keepends=True):
            if not line.endswith(b"\n"):
                continue
            head, _, crc = line.rpartition(b',"crc":"')
            assert f"{zlib.crc32(head):08x}" == crc.decode()[:8]
            found.append(json.loads(line))
    return found


def flip_byte(path: Path, offset: int) -> None:
    """Changes one bit of a file."""
    data = bytearray(path.read_bytes())
    data[offset] ^= 0x01
    path.write_bytes(data)


def flip_in_line(home: Path, number: int) -> None:
    """Changes one bit inside a line of the first ledger segment (0 = the first, -1 = the last)."""
    segment = segments(home)[0]
    lines = segment.read_bytes().splitlines(keepends=True)
    at = sum(map(len, lines[: number % len(lines)])) + len(lines[number]) // 2
    flip_byte(segment, at)
