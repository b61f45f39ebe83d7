"""Files of one JSON object a line, walked a line at a time; a bad line costs that line and says why."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeVar

from alaya_core.models.session import SessionStream

MAX_LINE = 64 * 1024 * 1024
BOM = b"\xef\xbb\xbf"
_CHUNK = 1024 * 1024

Record = tuple[int, dict[str, Any]]
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file, without its newline.

    Attributes:
        number: Counted from 1.
        data: Its bytes; None if it is too long to be loaded.
        ended: Whether a newline ended it (the last line of a file cut short has none).
    """

    number: int
    data: bytes | None
    ended: bool


class BadLine(ValueError):
    """A line that holds no JSON object; the message says why."""


def lines(file: BinaryIO, max_line: int = MAX_LINE) -> Iterator[Line]:
    """The lines of a file, split at newlines only, none longer than `max_line` ever in memory."""
    for number in itertools.count(1):
        parts: list[bytes] = []
        size = 0
        ended = False
        while piece := file.readline(_CHUNK):
            size += len(piece)
            ended = piece.endswith(b"\n")
            if size <= max_line + 1:
                parts.append(piece)
            else:
                parts.clear()
            if ended:
                break
        if not size:
            return
        data = None if size - ended > max_line else b"".join(parts)
        parts.clear()
        yield Line(number, data[:-1] if data and ended else data, ended)


def decode(data: bytes | str) -> dict[str, Any]:
    """The JSON object that a line holds; control characters inside its strings are let pass.

    Raises:
        BadLine: It holds none.
    """
    try:
        value = json.loads(data, strict=False, parse_constant=str)
    except RecursionError:
        raise BadLine("nested too deeply") from None
    except ValueError:
        raise BadLine("not JSON") from None
    if not isinstance(value, dict):
        raise BadLine("not a JSON object")
    return value


def decode_line(data: bytes, number: int, stream: SessionStream) -> dict[str, Any]:
    """`decode`, in which bytes that are not UTF-8 become replacement characters and are noted.

    Raises:
        BadLine: The line holds no JSON object.
    """
    try:
        return decode(data.decode("utf-8"))
    except UnicodeDecodeError:
        try:
            value = decode(data.decode("utf-8", "replace"))
        except BadLine as error:
            raise BadLine(f"invalid UTF-8, {error}") from None
        stream.skip(number, "invalid UTF-8: the bad bytes replaced, the rest kept")
        return value


def records(file: BinaryIO, stream: SessionStream) -> Iterator[Record]:
    """The objects of a file with their line numbers; blank lines pass, bad ones go to `stream.skip`."""
    for line in lines(file):
        if line.data is None:
            stream.skip(line.number, f"longer than {MAX_LINE // 1024 // 1024} MB")
            continue
        data = line.data.removeprefix(BOM) if line.number == 1 else line.data
        data = data.strip(b" \t\r")
        if not data:
            continue
        try:
            value = decode_line(data, line.number, stream)
        except BadLine as error:
            cut = not line.ended and str(error) != "not a JSON object"
            stream.skip(line.number, "cut short at the end of the file" if cut else str(error))
            continue
        yield line.number, value


def look_ahead(
    walk: Iterator[Record], found: Callable[[dict[str, Any]], Found | None], limit: int = 8
) -> tuple[Found | None, Iterator[Record]]:
    """What `found` finds in one of the first records, and a walk that still begins with them."""
    held: list[Record] = []
    for record in itertools.islice(walk, limit):
        held.append(record)
        answer = found(record[1])
        if answer is not None:
            return answer, itertools.chain(held, walk)
    return None, itertools.chain(held, walk)


def skip_unknown(stream: SessionStream, line: int | None, what: str, value: Any) -> None:
    """Counts a record of a type that no reader knows."""
    named = f'unknown {what} "{value[:60]}"' if isinstance(value, str) and value else f"no {what}"
    stream.skip(line, named)


def rewound(head: bytes, rest: BinaryIO) -> BinaryIO:
    """A file whose first bytes, already read, come once more."""
    return io.BufferedReader(_Rewound(head, rest), 65_536)


class _Rewound(io.RawIOBase):
    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head = io.BytesIO(head)
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._head.read(len(buffer)) or self._rest.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
