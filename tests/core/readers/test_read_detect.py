"""The format of a file is told by its content."""

from __future__ import annotations

import io
import json

import pytest

from alaya_core.errors import SourceError
from alaya_core.readers import SourceHints, detect, read_sessions

OPENCLAW = b'{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"hi"}}'
PI = b'{"type":"message","timestamp":"2025-12-08T22:41:05.306Z","message":{"role":"user","content":"hi"}}'
CLAUDE = b'{"parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","content":"hi"},"uuid":"u"}'
CODEX = b'{"timestamp":"2026-03-31T06:00:00Z","type":"response_item","payload":{"type":"message","role":"user"}}'
LEGACY = b'{"timestamp":"2025-09-10T10:00:00Z","role":"user","content":"hi"}'
TRACE = b'{"traceSchema":"openclaw-trajectory","type":"session.started","sessionId":"s"}'


@pytest.mark.parametrize(
    ("head", "name", "found"),
    [
        (OPENCLAW, "x.jsonl", "openclaw"),
        (PI, "x.jsonl", "openclaw"),
        (b'{"type":"session","version":3,"id":"x","timestamp":"2026-03-31T06:00:00.000Z"}', "x.jsonl", "openclaw"),
        (CLAUDE, "x.jsonl", "claude-code"),
        (b'{"type":"summary","summary":"s","leafUuid":"u"}\n' + CLAUDE, "x.jsonl", "claude-code"),
        (CODEX, "x.jsonl", "codex"),
        (LEGACY, "x.jsonl", "codex-legacy"),
        (b'{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}', "x", "codex-legacy"),
        (b'{"id": "s", "timestamp": 1, "turns": []}', "x.json", "alaya"),
        (b'{\n  "id": "s",\n  "timestamp": 1,\n  "channel": "c"\n}', "x.json", "alaya"),
        (b'[{"id": "s", "turns": [{"role": "user"', "x.json", "alaya"),
        (b"SQLite format 3\0...", "x.sqlite", "openclaw-sqlite"),
        (b"User: hi\n", "x.txt", "text"),
        ("用户：你好\n".encode(), "x", "text"),
        ("笔记\n".encode() * 30_000, "x.md", "text"),
        (TRACE, "x.jsonl", None),
        (b"", "x.jsonl", None),
        (b" \n \n", "x.txt", None),
        (b'{"name": "alaya", "version": 1}', "package.json", None),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, "x.txt", None),
        (bytes(range(128, 256)) * 20, "x.txt", None),
        (b"\xff\xfeU\0s\0e\0r\0:\0", "x.txt", None),
    ],
)
def test_formats(head: bytes, name: str, found: str | None) -> None:
    assert detect(head, name) == found
    assert detect(b"\xef\xbb\xbf" + head, name) == (found if found != "openclaw-sqlite" else None)


@pytest.mark.parametrize(("line", "found"), [(OPENCLAW, "openclaw"), (CLAUDE, "claude-code"), (CODEX, "codex")])
def test_bad_lines_and_line_ends_do_not_matter(line: bytes, found: str) -> None:
    assert detect(b"undefined\r\n42\r\n{\r\n\xff\r\n" + line + b"\r\n", "x") == found


@pytest.mark.parametrize(
    ("record", "found"),
    [
        ({"type": "message", "id": "a", "parentId": None, "message": {"content": "sessionId " * 20_000}}, "openclaw"),
        ({"parentUuid": None, "type": "user", "message": {"content": "parentId " * 20_000}}, "claude-code"),
        ({"timestamp": "t", "type": "session_meta", "payload": {"instructions": "x" * 200_000}}, "codex"),
        ({"traceSchema": "openclaw-trajectory", "type": "x", "data": "x" * 200_000}, None),
    ],
)
def test_a_first_line_longer_than_what_we_see(record: dict[str, object], found: str | None) -> None:
    assert detect(json.dumps(record).encode()[:65_536], "x.jsonl") == found


@pytest.mark.parametrize(
    ("data", "name", "says"),
    [
        (b"", "x.jsonl", "empty"),
        (b"\n\n", "x.txt", "empty"),
        (TRACE, "x.jsonl", "trace"),
        (b'{"a": 1}', "x.json", "no known format"),
        (b"SQLite format 3\0", "x.sqlite", "pipe"),
    ],
)
def test_what_is_no_session_is_refused_with_a_hint(data: bytes, name: str, says: str) -> None:
    with pytest.raises(SourceError, match=says) as refused:
        read_sessions(io.BytesIO(data), SourceHints(name))
    assert refused.value.hint


def test_an_unknown_format_by_name_is_refused() -> None:
    with pytest.raises(SourceError, match="word-perfect"):
        read_sessions(io.BytesIO(OPENCLAW), SourceHints("x"), "word-perfect")


class _Pipe(io.BytesIO):
    def seekable(self) -> bool:
        return False

    def seek(self, *_: object) -> int:
        raise OSError("a pipe")


def test_a_pipe_reads_like_a_file() -> None:
    data = b"\n".join([OPENCLAW] + [PI] * 3_000)
    [stream] = read_sessions(_Pipe(data), SourceHints("-"))
    assert sum(1 for _ in stream.turns) == 3_001


def test_a_file_that_cannot_be_read() -> None:
    class Broken(io.BytesIO):
        def read(self, *_: object) -> bytes:
            raise OSError(5, "Input/output error")

    with pytest.raises(SourceError, match="Input/output error"):
        read_sessions(Broken(), SourceHints("x.jsonl"))
