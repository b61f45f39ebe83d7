"""Which turns of a branching log lie off its active path, remembered in a few bytes an entry."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence

from alaya_core.models.session import Turn

_ABSENT = 0xFFFFFFFF


def digest64(data: bytes) -> int:
    """Eight bytes of a hash, never 0."""
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big") or 1


class CompactMap:
    """64-bit keys to 32-bit numbers in two flat arrays: a tenth of a dict's memory, for logs of millions of entries."""

    def __init__(self) -> None:
        self._keys = array("Q", bytes(8 * 1024))
        self._values = array("I", bytes(4 * 1024))
        self._count = 0

    def _slot(self, key: int) -> int:
        mask = len(self._keys) - 1
        slot = key & mask
        while self._keys[slot] not in (0, key):
            slot = (slot + 1) & mask
        return slot

    def get(self, key: int) -> int | None:
        """The number under a key."""
        slot = self._slot(key)
        return self._values[slot] if self._keys[slot] else None

    def put(self, key: int, value: int) -> None:
        """Stores a number under a key (not 0), in place of an older one."""
        slot = self._slot(key)
        if not self._keys[slot]:
            self._count += 1
            self._keys[slot] = key
        self._values[slot] = value
        if self._count * 4 > len(self._keys) * 3:
            self._grow()

    def _grow(self) -> None:
        keys, values = self._keys, self._values
        self._keys = array("Q", bytes(16 * len(keys)))
        self._values = array("I", bytes(8 * len(keys)))
        for key, value in zip(keys, values, strict=True):
            if key:
                slot = self._slot(key)
                self._keys[slot] = key
                self._values[slot] = value


class Repeats:
    """Recognises entries that come again under the same id with the same turns."""

    def __init__(self) -> None:
        self._seen = CompactMap()

    def is_repeat(self, key: str, turns: Sequence[Turn]) -> bool:
        """Whether these turns were met before under this key; remembers them if not."""
        if not key or not turns:
            return False
        parts = [key.encode("utf-8", "replace")]
        for turn in turns:
            parts += [turn.digest(), turn.thinking.encode("utf-8", "replace")]
        mark = digest64(b"\0".join(parts))
        if self._seen.get(mark) is not None:
            return True
        self._seen.put(mark, 1)
        return False


class Tree:
    """The entries of a log by id and parent, and the numbers of the turns each made."""

    def __init__(self) -> None:
        self._by_id = CompactMap()
        self._parents = array("I")
        self._firsts = array("I")
        self._counts = array("I")

    def add(self, key: str, parent: str | None, first: int, count: int, *, root: bool = False) -> None:
        """Adds an entry.

        Args:
            key: Its id; entries without one belong to every path.
            parent: Its parent's id. One that has not been met stands for a lost line: the entry continues the one
                before it. As a parent always comes before its child, no cycle can arise.
            first: The number of its first turn.
            count: How many turns it made.
            root: Whether it says that it has no parent.
        """
        if not key:
            return
        number = len(self._parents)
        above = None if parent is None else self._by_id.get(digest64(parent.encode("utf-8", "replace")))
        if above is None:
            above = _ABSENT if root or not number else number - 1
        self._parents.append(above)
        self._firsts.append(first)
        self._counts.append(count)
        self._by_id.put(digest64(key.encode("utf-8", "replace")), number)

    def abandoned(self) -> list[list[int]]:
        """Turn numbers off the path from the last entry to its root, as [first, last] pairs."""
        active = bytearray(len(self._parents))
        at = len(self._parents) - 1
        while 0 <= at < len(active):
            active[at] = 1
            at = self._parents[at]
        ranges: list[list[int]] = []
        for entry, on_path in enumerate(active):
            if on_path or not self._counts[entry]:
                continue
            first, last = self._firsts[entry], self._firsts[entry] + self._counts[entry] - 1
            if ranges and ranges[-1][1] == first - 1:
                ranges[-1][1] = last
            else:
                ranges.append([first, last])
        return ranges
