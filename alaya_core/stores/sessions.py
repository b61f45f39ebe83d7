"""Session files of the raw layer: one turn a line inside one JSON object, an index of offsets beside it.

    {"id": ..., "timestamp": ..., "channel": ..., "agent": ..., "turns": [
    {"role": ..., "content": ..., "timestamp": ...},
    {"role": ..., "content": ..., "timestamp": ...}
    ], "metadata": {...}}

The index (`<id>.idx`, derived) holds per turn its offset and the first 8 bytes of the running hash over all turns so
far, so that any turn is read without the others, and a copy that is older is told from one that differs.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import struct
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from alaya_core.clock import month_of
from alaya_core.errors import AlayaError, DamagedError, NotFoundError
from alaya_core.models.session import SessionHeader, Turn
from alaya_core.models.session_json import header_to_json, turn_from_json, turn_to_json
from alaya_core.safe_json import load_json
from alaya_core.stores.files import FILE_MODE, make_directory, replacing, sync_directory, translated, write_file
from alaya_core.stores.home import safe_file_name

_ENTRY = struct.Struct("<Q8s")
_HEAD = struct.Struct("<8sQ")
_MAGIC = b"ALAYAIX1"


@dataclass(slots=True)
class Spool:
    """Turns of a session on their way in, on disk, not yet under its name.

    Attributes:
        count: Turns so far.
        chain: Running hash over them.
        index: Per turn, where it begins in the body and the first 8 bytes of the running hash behind it.
        size: Bytes of the body.
        first_time: The earliest time a turn gives, ms; last_time: the latest.
    """

    body: BinaryIO
    count: int = 0
    chain: bytes = b""
    first_time: int | None = None
    last_time: int | None = None
    index: bytearray = field(default_factory=bytearray)
    size: int = 0

    def add(self, turn: Turn) -> None:
        """Takes one more turn."""
        line = dump_line(turn_to_json(turn))
        self.chain = hashlib.sha256(self.chain + turn.digest()).digest()
        self.index += _ENTRY.pack(self.size + (2 if self.count else 0), self.chain[:8])
        if self.count:
            self.size += self.body.write(b",\n")
        self.size += self.body.write(line)
        self.count += 1
        if turn.timestamp is not None:
            self.first_time = turn.timestamp if self.first_time is None else min(self.first_time, turn.timestamp)
            self.last_time = turn.timestamp if self.last_time is None else max(self.last_time, turn.timestamp)

    def turns(self) -> Iterator[Turn]:
        """Every turn so far."""
        self.body.seek(0)
        for line in self.body:
            yield turn_from_json(load_json(line.removesuffix(b"\n").removesuffix(b",")))

    def hash_behind(self, turn: int) -> bytes:
        """First 8 bytes of the running hash behind the first `turn` turns."""
        return bytes(self.index[(turn - 1) * _ENTRY.size + 8 : turn * _ENTRY.size]) if turn else b""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A session written whole, waiting for its name.

    Attributes:
        path: Where it belongs, relative to the home; temporary: where it lies now.
        index: Its index file.
    """

    path: str
    temporary: Path
    index: bytes

    def discard(self) -> None:
        """Removes it, if it was not published."""
        self.temporary.unlink(missing_ok=True)


class SessionFiles:
    """Reads and writes session files.

    Args:
        home: The home's root; `folder`: its `raw/sessions`.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self._root = root
        self._folder = folder

    def spool(self) -> Spool:
        """An empty spool on the same disk."""
        make_directory(self._folder)
        return Spool(body=tempfile.TemporaryFile(dir=self._folder))

    def path_for(self, session_id: str, timestamp: int) -> str:
        """Where a session's file belongs, relative to the home."""
        name = f"{safe_file_name(session_id)}.json"
        return (self._folder / month_of(timestamp) / name).relative_to(self._root).as_posix()

    def prepare(self, path: str, header: SessionHeader, spool: Spool) -> Prepared:
        """Writes a session whole beside where it belongs, under a passing name."""
        target = self._root / path
        make_directory(target.parent)
        start = dump_line(header_to_json(header))[:-1] + b', "turns": [\n'
        spool.body.seek(0)
        handle, name = tempfile.mkstemp(prefix=".new-", dir=target.parent)
        with translated(target), open(handle, "wb") as file:  # noqa: PTH123 - an open descriptor
            file.write(start)
            while block := spool.body.read(1 << 20):
                file.write(block)
            file.write(b'\n], "metadata": ' + dump_line(header.metadata) + b"}\n")
            size = file.tell()
            file.flush()
            os.fsync(file.fileno())
        return Prepared(path, Path(name), _HEAD.pack(_MAGIC, size) + _shift(bytes(spool.index), len(start)))

    def publish(self, prepared: Prepared) -> None:
        """Gives a prepared session its name, in place of an older state of it."""
        target = self._root / prepared.path
        with translated(target):
            prepared.temporary.chmod(FILE_MODE)
            prepared.temporary.replace(target)
            sync_directory(target.parent)
        write_file(_index_path(target), prepared.index, durable=False)

    def write_markdown(self, path: str, blocks: Iterable[str]) -> None:
        """Writes the session's readable form beside it."""
        with replacing((self._root / path).with_suffix(".md"), durable=False) as file:
            for block in blocks:
                file.write(block.encode("utf-8", "replace"))

    def header(self, path: str) -> dict[str, Any]:
        """id, timestamp, channel, agent, format and metadata of a session file.

        Raises:
            NotFoundError, DamagedError: It is gone, or not one of ours.
        """
        with self._open(path) as file:
            head = file.readline()
            index = self._index(path, file)
            try:
                raw = load_json(head.rstrip().removesuffix(b', "turns": [') + b"}")
                file.seek(_offset(index, _count(index) - 1) if _count(index) else len(head))
                tail = file.read()
                end = tail.rindex(b'\n], "metadata": ')
                raw["metadata"] = load_json(tail[end + len(b'\n], "metadata": ') :].rstrip()[:-1])
                return dict(raw)
            except (ValueError, KeyError) as error:
                raise DamagedError(f"{path} is not a whole session file: {error}", "run `alaya verify`") from error

    def turns(self, path: str, start: int = 0, stop: int | None = None) -> Iterator[Turn]:
        """Yields turns `start` up to (not including) `stop`, reading nothing before them.

        Raises:
            NotFoundError, DamagedError: The file is gone, or a line of it cannot be read.
        """
        with self._open(path) as file:
            index = self._index(path, file)
            total = _count(index)
            first, last = max(0, start), total if stop is None else min(stop, total)
            if first >= last:
                return
            file.seek(_offset(index, first))
            for number in range(first, last):
                line = file.readline().rstrip(b"\n")
                try:
                    yield turn_from_json(load_json(line[:-1] if line.endswith(b"},") else line))
                except (ValueError, KeyError, TypeError) as error:
                    raise DamagedError(
                        f"turn {number} of {path} cannot be read: {error}", "run `alaya verify`"
                    ) from error

    def remove(self, path: str) -> None:
        """Removes a session: its file, its readable form and its index."""
        target = self._root / path
        for one in (target, target.with_suffix(".md"), _index_path(target)):
            one.unlink(missing_ok=True)

    def holds(self, path: str) -> bool:
        """Whether a session file is there."""
        return (self._root / path).is_file()

    def count(self, path: str) -> int:
        """How many turns a session file holds."""
        with self._open(path) as file:
            return _count(self._index(path, file))

    def hash_behind(self, path: str, turn: int) -> bytes:
        """First 8 bytes of the running hash behind the first `turn` turns (empty for none, or beyond the end)."""
        with self._open(path) as file:
            index = self._index(path, file)
        if not 0 < turn <= _count(index):
            return b""
        return index[(turn - 1) * _ENTRY.size + 8 : turn * _ENTRY.size]

    def examine(self, path: str, turn: int) -> tuple[int, bytes]:
        """How many turns a file holds, and `hash_behind(turn)`: read from the file itself, whatever its index says.

        An index that says something else of the file is made anew.
        """
        with self._open(path) as file:
            entries = _scan(file)
            if self._index(path, file) != entries:
                with contextlib.suppress(OSError, AlayaError):
                    index = _HEAD.pack(_MAGIC, file.seek(0, 2)) + entries
                    write_file(_index_path(self._root / path), index, durable=False)
        return _count(entries), entries[(turn - 1) * _ENTRY.size + 8 : turn * _ENTRY.size] if turn else b""

    def files(self) -> Iterator[str]:
        """Every session file there is, relative to the home."""
        for path in sorted(path for path in self._folder.glob("*/*.json") if path.is_file()):
            yield path.relative_to(self._root).as_posix()

    def _open(self, path: str) -> BinaryIO:
        try:
            return (self._root / path).open("rb")
        except FileNotFoundError:
            raise NotFoundError(f"the session file {path} is gone", "run `alaya verify`") from None
        except IsADirectoryError:
            raise DamagedError(f"{path} is a folder, where a session file belongs", "run `alaya verify`") from None

    def _index(self, path: str, file: BinaryIO) -> bytes:
        """The index of a session file; made anew where it is missing or belongs to another state of the file."""
        size = file.seek(0, 2)
        beside = _index_path(self._root / path)
        try:
            raw = beside.read_bytes()
            if len(raw) >= _HEAD.size and _HEAD.unpack(raw[: _HEAD.size]) == (_MAGIC, size):
                file.seek(0)
                return raw[_HEAD.size :]
        except OSError:
            pass
        entries = _scan(file)
        with contextlib.suppress(OSError, AlayaError):  # a read-only home does without the shortcut
            write_file(beside, _HEAD.pack(_MAGIC, size) + entries, durable=False)
        file.seek(0)
        return entries


def dump_line(value: Any) -> bytes:
    """JSON on one line, as session files hold it."""
    return json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "replace")


def _index_path(target: Path) -> Path:
    return target.with_suffix(".idx")


def _count(index: bytes) -> int:
    return len(index) // _ENTRY.size


def _offset(index: bytes, number: int) -> int:
    return int(_ENTRY.unpack_from(index, number * _ENTRY.size)[0])


def _shift(index: bytes, by: int) -> bytes:
    return b"".join(_ENTRY.pack(offset + by, mark) for offset, mark in _ENTRY.iter_unpack(index))


def _scan(file: BinaryIO) -> bytes:
    file.seek(0)
    offset = len(file.readline())
    entries, chain = bytearray(), b""
    for line in file:
        if line.startswith(b"]"):
            break
        body = line.rstrip(b"\n")
        try:
            turn = turn_from_json(load_json(body[:-1] if body.endswith(b"},") else body))
        except (ValueError, KeyError, TypeError):
            break
        chain = hashlib.sha256(chain + turn.digest()).digest()
        entries += _ENTRY.pack(offset, chain[:8])
        offset += len(line)
    return bytes(entries)
