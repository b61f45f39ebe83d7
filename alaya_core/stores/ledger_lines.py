"""The bytes of the ledger: a commit as its line and back, and the lines of a segment forwards and backwards."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from alaya_core.errors import DamagedError, NewerHomeError
from alaya_core.models.commit import EVENT_VERSIONS, Commit, card_fields
from alaya_core.models.upcast import upcast
from alaya_core.safe_json import load_json
from alaya_core.stores.folding import fold

_HEAD = re.compile(rb'\{"v":[0-9]+,"seq":([0-9]+),')
_TYPES = {"seq": int, "id": str, "at": int, "actor": str, "run": str, "device": str, "events": list}
CRC = b',"crc":"'
"""What stands between a line's bytes and their checksum."""


def encode_line(body: dict[str, object]) -> bytes:
    """A commit as its line, checksum and newline included."""
    payload = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")[:-1]
    return payload + CRC + f"{zlib.crc32(payload):08x}".encode() + b'"}\n'


def is_sound(line: bytes) -> bool:
    """Whether a line's bytes match its checksum."""
    at = line.rfind(CRC)
    return at > 0 and line[at + len(CRC) :] == f'{zlib.crc32(line[:at]):08x}"}}\n'.encode()


def parse_line(line: bytes, segment: str, end: int) -> Commit:
    """A line as the commit it is.

    Args:
        segment: The name of its file; end: the offset behind it.

    Raises:
        DamagedError: It cannot be trusted. NewerHomeError: A newer version wrote it.
    """
    if not is_sound(line):
        raise DamagedError(
            f"the ledger is damaged: a line of {segment} does not match its checksum", "run `alaya verify`"
        )
    try:
        raw = load_json(line)
        if raw["v"] > 1 or any(event["v"] > EVENT_VERSIONS.get(event["kind"], 0) for event in raw["events"]):
            raise NewerHomeError("the ledger holds changes of a newer version of Alaya", "update alaya-tui")
        if any(not isinstance(raw[name], kind) for name, kind in _TYPES.items()):
            raise TypeError("a field is of another type")
        commit = Commit(
            seq=raw["seq"],
            id=raw["id"],
            at=raw["at"],
            actor=raw["actor"],
            run=raw["run"],
            device=raw["device"],
            events=tuple(upcast(event) for event in raw["events"]),
            v=raw["v"],
            segment=segment,
            end=end,
        )
        require_meaning(commit)
        return commit
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedError(
            f"the ledger is damaged: a line of {segment} makes no sense", "run `alaya verify`"
        ) from error


def require_meaning(commit: Commit) -> None:
    """Raises ValueError, KeyError, TypeError or AttributeError where an event is not what its kind says."""
    fold([commit], {}, {})
    for event in commit.events:
        if event["kind"] == "card.changed":
            card_fields(event["after"])


def seq_of(line: bytes, segment: str) -> int:
    """A line's number, whether or not the rest of it can be trusted or understood."""
    head = _HEAD.match(line)
    return int(head[1]) if head else parse_line(line, segment, 0).seq


def lines(segment: Path, start: int) -> Iterator[tuple[int, bytes, int]]:
    """(seq, line, offset behind it) of a segment's whole lines."""
    with segment.open("rb") as file:
        file.seek(start)
        offset = start
        for line in file:
            if not line.endswith(b"\n"):
                return
            offset += len(line)
            yield seq_of(line, segment.name), line, offset


def lines_backwards(segment: Path) -> Iterator[tuple[bytes, int]]:
    """(line, offset behind it) of a segment's whole lines, the last first."""
    end = whole_bytes(segment)
    with segment.open("rb") as file:
        tail, position = b"", end
        while position > 0:
            begin = max(0, position - (1 << 16))
            file.seek(begin)
            tail, position = file.read(position - begin) + tail, begin
            while (found := tail.rfind(b"\n", 0, len(tail) - 1)) >= 0:
                line, tail = tail[found + 1 :], tail[: found + 1]
                yield line, end
                end -= len(line)
        if tail:
            yield tail, end


def line_begins(segment: Path, offset: int) -> bool:
    """Whether a line begins at an offset."""
    if offset == 0:
        return True
    with segment.open("rb") as file:
        file.seek(offset - 1)
        return file.read(1) == b"\n"


def follows(segment: Path, offset: int, seq: int) -> bool:
    """Whether the line of a seq begins at an offset, or is due there: a segment may have been rewritten since."""
    if offset == 0 or not line_begins(segment, offset):
        return False
    with segment.open("rb") as file:
        file.seek(offset)
        head = _HEAD.match(file.read(64))
    if head is not None:
        return int(head[1]) == seq
    return whole_bytes(segment) == offset and seq_of(last_whole_line(segment), segment.name) == seq - 1


def ends_well(segment: Path) -> bool:
    """Whether the last line is whole."""
    size = segment.stat().st_size
    return size == 0 or line_begins(segment, size)


def whole_bytes(segment: Path) -> int:
    """Bytes up to and including the last newline."""
    size = segment.stat().st_size
    with segment.open("rb") as file:
        step = 1 << 16
        position = size
        while position > 0:
            begin = max(0, position - step)
            file.seek(begin)
            found = file.read(position - begin).rfind(b"\n")
            if found >= 0:
                return begin + found + 1
            position = begin
    return 0


def last_whole_line(segment: Path) -> bytes:
    """The last line that has an end; empty without one."""
    end = whole_bytes(segment)
    if end == 0:
        return b""
    with segment.open("rb") as file:
        tail, position = b"", end - 1
        while position > 0:
            begin = max(0, position - (1 << 16))
            file.seek(begin)
            tail = file.read(position - begin) + tail
            found = tail.rfind(b"\n")
            if found >= 0:
                return tail[found + 1 :] + b"\n"
            position = begin
        return tail + b"\n"
