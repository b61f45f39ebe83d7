"""The ledger looked through line by line, whatever state it is in, and damaged lines replaced by sound ones."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from alaya_core.errors import DamagedError
from alaya_core.models.commit import Commit
from alaya_core.stores.files import replacing, write_file
from alaya_core.stores.ledger import Ledger
from alaya_core.stores.ledger_lines import CRC, encode_line, is_sound, parse_line, seq_of

Place = tuple[str, int]
"""A line: the name of its segment, and its number there, from 1."""

_POLYNOMIAL = 0xEDB88320
_REPEATED = "a line of the same number stands before it"
_WORSE = {"torn": "it has no end", "crc": "its bytes do not match its checksum", "json": "it makes no sense"}


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that cannot stay as it is.

    Attributes:
        kind: `torn` (the last, without an end), `crc`, `json` (the checksum is right, the rest makes no sense), or
            `repeated` (its seq stands before it).
        detail: What is wrong, for people.
        after: The last seq that could be read before it.
        whole: The commit that it was, where the checksum tells which byte of it is wrong.
    """

    kind: str
    place: Place
    detail: str
    after: int
    whole: Commit | None = None


@dataclass(slots=True)
class LedgerScan:
    """One pass over a ledger: yields every commit that can be read, in order, and remembers what could not.

    Attributes:
        bad: Lines that cannot stay.
        missing: Seqs that no line has, as (first, last).
        gaps: Per run of missing seqs, the line before which it is.
        last_seq: Of the last commit that was read.
    """

    ledger: Ledger
    bad: list[BadLine] = field(default_factory=list)
    missing: list[tuple[int, int]] = field(default_factory=list)
    gaps: list[Place] = field(default_factory=list)
    last_seq: int = 0
    _half: bytes = b""

    def commits(self) -> Iterator[tuple[Commit, Place]]:
        """Every commit that can be read, and where it lies.

        Raises:
            NewerHomeError: A line was written by a newer version.
        """
        segments = self.ledger.segments()
        for segment in segments:
            offset, self._half = 0, b""
            with segment.open("rb") as file:
                for number, line in enumerate(file, 1):
                    place = (segment.name, number)
                    offset += len(line)
                    commit = self._read(line, place, offset, last=segment == segments[-1])
                    if commit is None:
                        continue
                    if commit.seq <= self.last_seq:
                        self.bad.append(BadLine("repeated", place, _REPEATED, self.last_seq))
                        continue
                    if commit.seq > self.last_seq + 1:
                        self.missing.append((self.last_seq + 1, commit.seq - 1))
                        self.gaps.append(place)
                    self.last_seq = commit.seq
                    yield commit, place

    def _read(self, line: bytes, place: Place, end: int, *, last: bool) -> Commit | None:
        kind = "crc"
        if not line.endswith(b"\n"):
            kind = "torn" if last else "crc"
        elif is_sound(line):
            self._half = b""
            if (commit := _meaning(line, place, end)) is not None:
                return commit
            kind = "json"
        whole = self._as_it_was(line, place, end) if kind == "crc" else None
        if whole is None and kind == "crc" and self._half:  # the wrong byte may have become an end of line
            whole = self._as_it_was(self._half + line, place, end)
            if whole is not None:
                self.bad[-1] = replace(self.bad[-1], whole=whole)
        self._half = line if whole is None else b""
        self.bad.append(BadLine(kind, place, _WORSE[kind], self.last_seq, whole))
        return whole

    def _as_it_was(self, line: bytes, place: Place, end: int) -> Commit | None:
        found = [commit for made in repaired(line) if (commit := _meaning(made, place, end)) is not None]
        return found[0] if len(found) == 1 and found[0].seq > self.last_seq else None


def _meaning(line: bytes, place: Place, end: int) -> Commit | None:
    """The commit of a line whose checksum is right; None where it is none that could be applied."""
    try:
        return parse_line(line, place[0], end)
    except DamagedError:
        return None


def repaired(line: bytes) -> list[bytes]:
    """What a damaged line can have been if one byte of it is wrong: the checksum says which. Usually one or none."""
    body = line.removesuffix(b"\n")
    at = len(body) - len(CRC) - 10  # eight digits, a quote and a brace
    if at <= 0:
        return []
    payload, tail = body[:at], body[at:]
    right = CRC + f"{zlib.crc32(payload):08x}".encode() + b'"}'
    if sum(one != other for one, other in zip(tail, right, strict=True)) <= 1:
        return [payload + right + b"\n"]
    if not tail.startswith(CRC) or not tail.endswith(b'"}'):
        return []
    try:
        wanted = int(tail[len(CRC) : -2], 16)
    except ValueError:
        return []
    found = []
    for place, pattern in _wrong_bytes(len(payload), zlib.crc32(payload) ^ wanted):
        fixed = bytearray(payload)
        fixed[place] ^= pattern
        found.append(bytes(fixed) + tail + b"\n")
    return found


def _wrong_bytes(length: int, difference: int) -> Iterator[tuple[int, int]]:
    """Where a single wrong byte makes this difference to the crc-32 of so many bytes: its place, and what is wrong.

    The difference that a byte makes is shifted through the register by every byte behind it; undone step by step from
    the end, it must come out as the difference of a last byte.
    """
    table = [_entry(value) for value in range(256)]
    pattern_of = {entry: value for value, entry in enumerate(table)}
    by_top = {entry >> 24: value for value, entry in enumerate(table)}
    for place in range(length - 1, -1, -1):
        if difference in pattern_of:
            yield place, pattern_of[difference]
        value = by_top[difference >> 24]
        difference = ((difference ^ table[value]) << 8 | value) & 0xFFFFFFFF


def _entry(value: int) -> int:
    for _ in range(8):
        value = value >> 1 ^ _POLYNOMIAL if value & 1 else value >> 1
    return value


def line_of(commit: Commit) -> bytes:
    """A commit as its line."""
    head = {"v": 1, "seq": commit.seq, "id": commit.id, "at": commit.at, "actor": commit.actor}
    return encode_line({**head, "run": commit.run, "device": commit.device, "events": list(commit.events)})


def rewrite(ledger: Ledger, away: Iterable[Place], lines: Mapping[int, bytes]) -> None:
    """Takes lines out of the ledger and puts others in at their seqs; every segment is replaced whole.

    The lines that go are kept in `damaged/` first. The caller holds the writer lock, and the ledger ends well.

    Args:
        away: The lines that go.
        lines: What comes, by seq; these seqs are in no line that stays.
    """
    out: dict[str, set[int]] = {}
    for name, number in away:
        out.setdefault(name, set()).add(number)
    into: dict[str, dict[int, bytes]] = {}
    names = [segment.name for segment in ledger.segments()]
    for seq in sorted(lines):
        into.setdefault(_segment_for(seq, names), {})[seq] = lines[seq]
    for name in sorted({*out, *into}):
        _rewrite_segment(ledger.folder / name, out.get(name, set()), into.get(name, {}))


def _segment_for(seq: int, names: list[str]) -> str:
    before = [name for name in names if int(Path(name).stem) <= seq]
    if before:
        return max(before, key=lambda name: int(Path(name).stem))
    names.append(f"{seq:012d}.jsonl")
    return names[-1]


def _rewrite_segment(segment: Path, away: set[int], lines: Mapping[int, bytes]) -> None:
    waiting = sorted(lines)
    with replacing(segment) as file:
        for number, line in enumerate(_lines(segment), 1):
            if number in away:
                _keep(segment, number, line)
                continue
            if is_sound(line):
                seq = seq_of(line, segment.name)
                while waiting and waiting[0] < seq:
                    file.write(lines[waiting.pop(0)])
            file.write(line)
        for seq in waiting:
            file.write(lines[seq])


def _lines(segment: Path) -> Iterator[bytes]:
    if segment.exists():
        with segment.open("rb") as file:
            yield from file


def _keep(segment: Path, number: int, line: bytes) -> None:
    folder = segment.parent / "damaged"
    aside, count = folder / f"{segment.stem}-{number}.jsonl", 1
    while aside.exists():
        count += 1
        aside = folder / f"{segment.stem}-{number}-{count}.jsonl"
    write_file(aside, line)
