"""The ledger: every change of the memory, one line each, before it is anything else.

A line is `{"v","seq","id","at","actor","run","device","events":[...],"crc":"xxxxxxxx"}`; the crc-32 is over the bytes
before `,"crc":`. Lines lie in segments named by the seq of their first line.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from alaya_core.errors import DamagedError
from alaya_core.models.commit import Commit, Event
from alaya_core.safe_json import load_json
from alaya_core.stores.files import append_bytes, make_directory, sync_directory, translated, write_file
from alaya_core.stores.ledger_lines import (
    encode_line,
    ends_well,
    follows,
    is_sound,
    last_whole_line,
    lines,
    lines_backwards,
    parse_line,
    seq_of,
    whole_bytes,
)

SEGMENT_BYTES = 64 << 20
_NEW_SEGMENT = "{:012d}.jsonl"


@dataclass(frozen=True, slots=True)
class LedgerFault:
    """A line that cannot be trusted: `torn` (the last, half-written), `crc`, `gap` in the numbers, or `json`."""

    kind: str
    segment: str
    line: int
    detail: str


@dataclass(frozen=True, slots=True)
class LedgerMark:
    """How far a view has read: the last seq it holds, and where the next line begins."""

    seq: int = 0
    segment: str = ""
    offset: int = 0


class Ledger:
    """Reads and appends commits. The caller holds the writer lock to append.

    Args:
        folder: `raw/ledger` of a home.
        segment_bytes: When a new segment begins.
    """

    def __init__(self, folder: Path, *, segment_bytes: int = SEGMENT_BYTES) -> None:
        self._folder = folder
        self._segment_bytes = segment_bytes
        self._verified: dict[str, tuple[int, int]] = {}

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return self._folder

    def segments(self) -> list[Path]:
        """The segment files, oldest first."""
        return sorted(path for path in self._folder.glob("*.jsonl") if path.stem.isdigit() and path.is_file())

    def last_seq(self) -> int:
        """The seq of the last whole line; 0 when there is none. Reads only the end of the last segment."""
        for segment in reversed(self.segments()):
            line = last_whole_line(segment)
            if line:
                return seq_of(line, segment.name)
        return 0

    def append(
        self,
        events: Sequence[Event],
        *,
        commit_id: str,
        at: int,
        actor: str,
        run: str = "",
        expect_seq: int | None = None,
    ) -> Commit:
        """Writes one commit and makes it durable.

        Args:
            events: What changed; not empty.
            at: Now, ms.
            expect_seq: The last seq the caller has seen; None = whatever is there.

        Raises:
            DamagedError: An earlier line cannot be trusted: nothing is written until `verify` has mended it.
            NewerHomeError: An earlier line was written by a newer version.
        """
        self.set_torn_tail_aside()
        self.require_sound()
        seq = self.last_seq() + 1
        if expect_seq is not None and seq != expect_seq + 1:
            raise DamagedError(f"the ledger moved to {seq - 1} while {expect_seq} was expected", "repeat the command")
        segments = self.segments()
        segment = segments[-1] if segments else self._folder / _NEW_SEGMENT.format(1)
        if segments and segment.stat().st_size >= self._segment_bytes:
            segment = self._folder / _NEW_SEGMENT.format(seq)
        device = platform.node()
        body = {"v": 1, "seq": seq, "id": commit_id, "at": at, "actor": actor, "run": run, "device": device}
        line = encode_line({**body, "events": list(events)})
        append_bytes(segment, line, durable=True)
        stat = segment.stat()
        self._verified[segment.name] = (stat.st_size, stat.st_mtime_ns)
        return Commit(seq, commit_id, at, actor, run, device, tuple(events), 1, segment.name, stat.st_size)

    def commits(self, after: LedgerMark | int = 0, *, holding: str = "") -> Iterator[Commit]:
        """Yields the commits behind a mark (or seq), in order; stops before a torn last line.

        Args:
            after: The mark or seq; lines before it are not parsed.
            holding: Only commits whose line holds this text (an id): the others are not parsed either.

        Raises:
            DamagedError: A line behind the mark cannot be trusted.
            NewerHomeError: A line was written by a newer version.
        """
        mark = after if isinstance(after, LedgerMark) else LedgerMark(after)
        segments = self.segments()
        expected = mark.seq + 1
        for index, segment in enumerate(segments):
            following = int(segments[index + 1].stem) if index + 1 < len(segments) else None
            if following is not None and following <= expected:
                continue
            start = mark.offset if segment.name == mark.segment else 0
            for seq, line, end in lines(segment, start if follows(segment, start, expected) else 0):
                if seq < expected:
                    continue
                if seq != expected:
                    raise DamagedError(f"the ledger jumps from {expected - 1} to {seq}", "run `alaya verify`")
                expected += 1
                if holding.encode() in line:
                    yield parse_line(line, segment.name, end)

    def commits_backwards(self) -> Iterator[Commit]:
        """Yields the commits newest first; a torn last line is passed over.

        Raises:
            DamagedError, NewerHomeError: As for `commits`.
        """
        for segment in reversed(self.segments()):
            for line, end in lines_backwards(segment):
                yield parse_line(line, segment.name, end)

    def faults(self) -> list[LedgerFault]:
        """Everything in the ledger that cannot be trusted, the torn last line included."""
        found: list[LedgerFault] = []
        expected = 1
        segments = self.segments()
        for segment in segments:
            with segment.open("rb") as file:
                for number, line in enumerate(file, 1):
                    if not line.endswith(b"\n"):
                        kind = "torn" if segment == segments[-1] else "crc"
                        found.append(LedgerFault(kind, segment.name, number, f"{len(line)} bytes without an end"))
                        continue
                    if not is_sound(line):
                        found.append(LedgerFault("crc", segment.name, number, "its bytes do not match its checksum"))
                        expected += 1
                        continue
                    try:
                        seq = int(load_json(line)["seq"])
                    except (ValueError, KeyError, TypeError):
                        found.append(LedgerFault("json", segment.name, number, "it is not what a line should be"))
                        expected += 1
                        continue
                    if seq != expected:
                        found.append(LedgerFault("gap", segment.name, number, f"seq {seq} where {expected} was due"))
                    expected = seq + 1
        return found

    def set_torn_tail_aside(self) -> Path | None:
        """Moves a half-written last line to `torn/`; the caller holds the writer lock.

        Returns:
            Where it lies now; None when the ledger ended well.
        """
        segments = self.segments()
        if not segments or ends_well(segments[-1]):
            return None
        segment = segments[-1]
        keep = whole_bytes(segment)
        with segment.open("rb") as file:
            file.seek(keep)
            torn = file.read()
        aside = self._folder / "torn" / f"{segment.stem}-{keep}.part"
        make_directory(aside.parent)
        write_file(aside, torn)
        with translated(segment):
            os.truncate(segment, keep)
            sync_directory(self._folder)
        return aside

    def require_sound(self) -> None:
        """Makes sure that every whole line can be trusted, as `append` does; what was looked at is not read again.

        Raises:
            DamagedError: One cannot. NewerHomeError: The last one was written by a newer version.
        """
        segments = self.segments()
        for segment in segments:
            stat = segment.stat()
            if self._verified.get(segment.name) == (stat.st_size, stat.st_mtime_ns):
                continue
            with segment.open("rb") as file:
                for number, line in enumerate(file, 1):
                    whole = line.endswith(b"\n") or segment != segments[-1]  # a torn last line costs only itself
                    if whole and not is_sound(line):
                        where = f"line {number} of {segment.name}"
                        raise DamagedError(
                            f"the ledger is damaged: {where} does not match its checksum",
                            "reading goes on, writing has stopped; run `alaya verify`",
                        )
            self._verified[segment.name] = (stat.st_size, stat.st_mtime_ns)
        if segments and (last := last_whole_line(segments[-1])):
            parse_line(last, segments[-1].name, 0)
