"""Files that are written just before the commit that names them.

Whoever is killed in between leaves them behind, belonging to nobody: they are noted before they are written, and
whoever takes the pen next removes those that the memory does not know.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from alaya_core.safe_json import load_json
from alaya_core.stores.files import append_bytes


@dataclass(frozen=True, slots=True)
class Staged:
    """A file that is on its way.

    Attributes:
        kind: `session`, `card` (its context), or `source`.
        id: Whose file it is; path: where a session's lies, relative to the home.
    """

    kind: str
    id: str
    path: str


class Staging:
    """What is on its way into the raw layer; only whoever holds the pen writes it.

    Args:
        raw: `raw/` of a home.
    """

    def __init__(self, raw: Path) -> None:
        self._path = raw / "staged.jsonl"

    def add(self, kind: str, identifier: str, path: str) -> None:
        """Notes a file that is not there yet, before it is written."""
        line = json.dumps({"kind": kind, "id": identifier, "path": path})
        append_bytes(self._path, line.encode("ascii") + b"\n", durable=False)

    def files(self) -> Iterator[Staged]:
        """Yields what is noted; a line that cannot be read is passed over: its file was not written yet."""
        try:
            lines = self._path.read_bytes().splitlines()
        except OSError:
            return
        for line in lines:
            with contextlib.suppress(ValueError, KeyError, TypeError):
                raw = load_json(line)
                yield Staged(str(raw["kind"]), str(raw["id"]), str(raw["path"]))

    def clear(self) -> None:
        """Forgets all of it: the memory knows these files, or they are gone."""
        self._path.unlink(missing_ok=True)
