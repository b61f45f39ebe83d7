"""Writes the records of passages. One process at a time: whoever may write the table that they stand beside."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alaya_core.stores.files import FILE_MODE, make_directory, translated
from alaya_core.stores.passage_columns import (
    ASKS,
    HAN,
    LIVE,
    MEANS,
    NO_TIME,
    RECORD,
    RECORDS,
    SAID,
    SESSIONS,
    STRETCH,
    STRETCHES,
    TIMED,
    TOKENS,
    VECTORS,
    PassageColumns,
    token_code,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STRETCH_TURNS = 6
"""Turns whose mean vector is searched as one."""
_CARRIED = 5_000


class PassageWriter:
    """Appends to the files in a folder, and blanks what is gone.

    Args:
        folder: Where they lie; made if need be.
        dimensions: Numbers a vector; 0 = there are none.
    """

    def __init__(self, folder: Path, dimensions: int) -> None:
        self._folder = folder
        self._dimensions = dimensions

    def append(self, rows: Sequence[dict[str, Any]], first: int) -> None:
        """Appends the records of rows that the table holds from the row id `first` on."""
        import numpy as np

        make_directory(self._folder)
        known = PassageColumns(self._folder, self._dimensions)
        sessions = dict(known.numbers)
        names = {name: number for number, name in enumerate(known.names)}
        lines: list[bytes] = []
        records = np.zeros(len(rows), np.dtype(RECORD))
        tokens: list[int] = []
        tokens_at = len(known.tokens)
        last: dict[int, int] = {}
        for place, (row, record) in enumerate(zip(rows, records, strict=True)):
            number = sessions.get(row["session_id"])
            if number is None:
                number = sessions[row["session_id"]] = len(sessions)
                lines.append(_line({"session": row["session_id"], "scope": row["scope"]}))
            name = row.get("name") or ""
            if name and name not in names:
                names[name] = len(names)
                lines.append(_line({"name": name}))
            codes = sorted({token_code(token) for token in row["words"].split()})
            said = row["kind"] != "tool"
            flags = LIVE | (SAID if said else 0) | (int(row.get("marks") or 0) & (ASKS | TIMED | HAN))
            record["session"], record["turn"], record["piece"] = number, row["turn"], row["piece"]
            record["said"] = int(row.get("said") or 0)
            record["time"] = NO_TIME if row["timestamp"] is None else row["timestamp"]
            record["tokens_at"], record["tokens"] = tokens_at + len(tokens), len(codes)
            record["length"], record["name"] = len(row["text"]), names.get(name, -1)
            record["text"], record["flags"] = text_hash(row["text"]), flags
            if number not in last:
                last[number] = _last_said(known, number) if number < len(known.sessions) else -1
            record["before"], record["after"] = last[number], -1
            tokens.extend(codes)
            if said:
                last[number] = first + place
        self._link(known, records, first)
        self._write(TOKENS, [(tokens_at * 4, np.asarray(tokens, "<u4").tobytes())])
        if lines:
            with translated(self._folder), (self._folder / SESSIONS).open("ab") as file:
                file.write(b"".join(lines))
        # Last, so that whoever sees a record finds all that it names.
        self._write(RECORDS, [(first * records.dtype.itemsize, records.tobytes())])

    def _link(self, known: PassageColumns, records: Any, first: int) -> None:
        """Says of what was said before which passage follows it."""
        import numpy as np

        size, offset = _place_of("after")
        older: list[tuple[int, bytes]] = []
        for place, record in enumerate(records):
            before = int(record["before"])
            if not record["flags"] & SAID or before < 0:
                continue
            if before >= first:
                records[before - first]["after"] = first + place
            else:
                older.append((before * size + offset, np.int32(first + place).tobytes()))
        self._write(RECORDS, older)

    def remove(self, session: str, from_turn: int) -> None:
        """Blanks the records of a session from a turn on, their tokens and vectors, so that nothing of them is left."""
        import numpy as np

        known = PassageColumns(self._folder, self._dimensions)
        number = known.numbers.get(session)
        if number is None:
            return
        records = known.records
        of_it = (records["session"] == number) & (records["flags"] & LIVE > 0)
        gone = np.flatnonzero(of_it & (records["turn"] >= from_turn))
        if not len(gone):
            return
        (size, after), end = _place_of("after"), set(gone.tolist())
        left = np.flatnonzero(of_it & (records["turn"] < from_turn))
        cut = [row for row in left.tolist() if int(records[row]["after"]) in end]
        self._write(RECORDS, [(row * size + after, np.int32(-1).tobytes()) for row in cut])
        spans = [(int(records[row]["tokens_at"]) * 4, bytes(4 * int(records[row]["tokens"]))) for row in gone]
        self._write(TOKENS, spans)
        # Also of those that are said to have none: whoever wrote one may have been killed before it was said.
        having = [row for row in gone.tolist() if row < len(known.vectors)]
        self._write(VECTORS, [(row * self._dimensions, bytes(self._dimensions)) for row in having])
        self._shorten_stretches(known, number, end)
        self._write(RECORDS, [(row * size, bytes(size)) for row in gone.tolist()])

    def _shorten_stretches(self, known: PassageColumns, number: int, gone: set[int]) -> None:
        import numpy as np

        for place in np.flatnonzero((known.stretches["session"] == number) & (known.stretches["rows"] > 0)):
            stretch = known.stretches[place]
            rows = range(int(stretch["first"]), int(stretch["first"]) + int(stretch["rows"]))
            left = [row for row in rows if row not in gone]
            if len(left) == len(rows):
                continue
            count = left[-1] - rows[0] + 1 if left else 0
            mean = _mean(self._vectors(known, left)) if left else np.zeros(self._dimensions, np.float32)
            self._write(MEANS, [(int(place) * self._dimensions * 4, mean.astype("<f4").tobytes())])
            record = np.zeros(1, np.dtype(STRETCH))
            record[0] = (rows[0], count, number, 0)
            self._write(STRETCHES, [(int(place) * record.dtype.itemsize, record.tobytes())])

    def put_vectors(self, rows: Sequence[int], vectors: NDArray[np.float32]) -> None:
        """Stores the vectors of some rows of one session, and the means of the stretches they make.

        Args:
            rows: Rising.
            vectors: (rows, dimensions), each of length 1.
        """
        import numpy as np

        known = PassageColumns(self._folder, self._dimensions)
        flags, scales = known.records["flags"], known.records["scale"]
        # Another process may have made them meanwhile: a second time they would be two stretches.
        still = [at for at, row in enumerate(rows) if row < len(known) and flags[row] & LIVE and scales[row] <= 0]
        size, offset = _place_of("scale")
        packed = {rows[at]: _packed(vectors[at]) for at in still}
        self._write(VECTORS, [(row * self._dimensions, data) for row, (_, data) in packed.items()])
        made = [(row * size + offset, np.float32(scale).tobytes()) for row, (scale, _) in packed.items()]
        self._write(RECORDS, made)
        # One that is no vector must not spoil what the others of its stretch mean.
        self._add_stretches(known, [(rows[at], vectors[at]) for at in still if packed[rows[at]][0] > 0])

    def _add_stretches(self, known: PassageColumns, said: Sequence[tuple[int, NDArray[np.float32]]]) -> None:
        import numpy as np

        groups: dict[tuple[int, int, int], list[tuple[int, NDArray[np.float32]]]] = {}
        begun: dict[int, tuple[int, int]] = {}
        for row, vector in said:
            session = int(known.records[row]["session"])
            # A stretch is a span of rows: where other sessions came in between, it ends and another begins.
            begin, last = begun.get(session, (row, row))
            begin = row if (known.records["session"][last:row] != session).any() else begin
            begun[session] = (begin, row)
            group = (session, int(known.records[row]["said"]) // STRETCH_TURNS, begin)
            groups.setdefault(group, []).append((row, vector))
        stretches = np.zeros(len(groups), np.dtype(STRETCH))
        means = np.zeros((len(groups), self._dimensions), "<f4")
        for place, ((session, *_), members) in enumerate(groups.items()):
            first, last = members[0][0], members[-1][0]
            stretches[place] = (first, last - first + 1, session, 0)
            means[place] = _mean(np.stack([vector for _, vector in members]))
        at = len(known.stretches)
        self._write(MEANS, [(at * self._dimensions * 4, means.tobytes())])
        self._write(STRETCHES, [(at * stretches.dtype.itemsize, stretches.tobytes())])

    def carry(self, older: PassageColumns) -> int:
        """Takes over the vectors of passages that another generation of the same model holds, where the text is the
        same.

        Returns:
            How many.
        """
        import numpy as np

        mine = PassageColumns(self._folder, self._dimensions)
        having = np.flatnonzero(older.records["scale"][: len(older.vectors)] > 0)
        known = {older.key(int(row)): int(row) for row in having}
        carried = 0
        rows: list[int] = []
        froms: list[int] = []

        def flush() -> None:
            self.put_vectors(rows, self._vectors(older, froms))

        for row in mine.embeddable():
            source = known.get(mine.key(int(row)))
            if source is None or older.records[source]["text"] != mine.records[row]["text"]:
                continue
            rows.append(int(row))
            froms.append(source)
            carried += 1
            if len(rows) >= _CARRIED:
                flush()
                rows, froms = [], []
        if rows:
            flush()
        return carried

    def _vectors(self, known: PassageColumns, rows: Sequence[int]) -> NDArray[np.float32]:
        """The stored vectors of rows that have one, of length 1 again."""
        import numpy as np

        chosen = np.asarray([row for row in rows if known.records[row]["scale"] > 0 and row < len(known.vectors)], int)
        if not len(chosen):
            return np.zeros((0, self._dimensions), np.float32)
        raw = known.vectors[chosen].astype(np.float32)
        norms = np.linalg.norm(raw, axis=1, keepdims=True)
        return np.asarray(raw / np.where(norms > 0, norms, 1), np.float32)

    def _write(self, name: str, parts: Sequence[tuple[int, bytes]]) -> None:
        """Writes bytes at places of a file; a file that is shorter gets zeros in between."""
        if not any(data for _, data in parts):
            return
        path = self._folder / name
        with translated(path):
            handle = os.open(path, os.O_RDWR | os.O_CREAT, FILE_MODE)
            try:
                os.fchmod(handle, FILE_MODE) if hasattr(os, "fchmod") else None  # whatever the umask took away
                for at, data in parts:
                    os.lseek(handle, at, os.SEEK_SET)
                    view = memoryview(data)
                    while view:
                        view = view[os.write(handle, view) :]
            finally:
                os.close(handle)


def _line(fields: dict[str, Any]) -> bytes:
    """A line of the file of sessions and names."""
    return json.dumps(fields, ensure_ascii=True).encode() + b"\n"


def text_hash(text: str) -> int:
    """64 bits that tell one text from another."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _place_of(field: str) -> tuple[int, int]:
    """The size of a record, and where a field stands in it, bytes."""
    import numpy as np

    dtype = np.dtype(RECORD)
    return dtype.itemsize, int(dtype.fields[field][1])  # type: ignore[index]


def _packed(vector: NDArray[np.float32]) -> tuple[float, bytes]:
    """A vector as one byte a number, and what they are multiplied by; 0 of no vector at all."""
    import numpy as np

    largest = float(np.abs(vector).max(initial=0.0))
    if not np.isfinite(largest) or largest <= 0:
        return 0.0, bytes(len(vector))
    packed = np.rint(vector * (127.0 / largest)).astype(np.int8)
    # What rounding lost of its length is put into the factor.
    return float(1.0 / np.linalg.norm(packed.astype(np.float32))), packed.tobytes()


def _mean(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    if not len(vectors):
        return np.zeros(vectors.shape[1], np.float32)
    mean = vectors.sum(axis=0)
    norm = float(np.linalg.norm(mean))
    return np.asarray(mean / norm if norm > 0 else mean, np.float32)


def _last_said(known: PassageColumns, number: int) -> int:
    """The row of what was said last in a session; -1 = nothing."""
    import numpy as np

    records = known.records
    if not len(records):
        return -1
    of_it = np.flatnonzero((records["session"] == number) & (records["flags"] & SAID > 0))
    if not len(of_it):
        return -1
    return int(of_it[np.lexsort((records["piece"][of_it], records["turn"][of_it]))[-1]])
