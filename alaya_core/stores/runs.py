"""What runs of introspect did: a file a run, an event a line, so that any process can follow it while it grows."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from alaya_core.safe_json import load_json
from alaya_core.stores.files import append_bytes, make_directory

_NAME = re.compile(r"run-[0-9a-z-]{1,80}")


class RunFiles:
    """Keeps `runs/<run id>.jsonl`.

    Args:
        folder: `runs` of a home.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def append(self, run: str, line: Mapping[str, Any]) -> None:
        """Adds a line; one write, so that a reader never sees half of it followed by another's."""
        make_directory(self._folder)
        data = json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        append_bytes(self._path(run), data, durable=False)

    def read(self, run: str, offset: int = 0) -> tuple[list[dict[str, Any]], int]:
        """The whole lines behind an offset, and the offset behind them; a line that is damaged is passed over."""
        try:
            with self._path(run).open("rb") as file:
                file.seek(offset)
                data = file.read()
        except OSError:
            return [], offset
        end = data.rfind(b"\n") + 1
        lines = []
        for raw in data[:end].splitlines():
            try:
                line = load_json(raw)
            except ValueError:
                continue
            if isinstance(line, dict):
                lines.append(line)
        return lines, offset + end

    def names(self) -> list[str]:
        """The ids of all runs, newest first."""
        found = (path.stem for path in self._folder.glob("run-*.jsonl")) if self._folder.is_dir() else ()
        return sorted((name for name in found if _NAME.fullmatch(name)), reverse=True)

    def drop_older(self, keep: int) -> int:
        """Removes the files of all but the newest runs, and says how many; what they did stands in the ledger."""
        old = self.names()[keep:]
        for name in old:
            self._path(name).unlink(missing_ok=True)
        return len(old)

    def _path(self, run: str) -> Path:
        return self._folder / f"{run}.jsonl"
