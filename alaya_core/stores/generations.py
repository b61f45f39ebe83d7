"""Generations of a view: a new one is built beside the old, then CURRENT is switched to it in one step."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from alaya_core.stores.files import write_file


class Generations:
    """Which generation of a view is the living one.

    Args:
        folder: The view's folder (`kuzu/`, `lancedb/`).
        suffix: Ending of a generation's name (`.kuzu`, or empty for folders).
    """

    def __init__(self, folder: Path, suffix: str = "") -> None:
        self._folder = folder
        self._suffix = suffix

    @property
    def current(self) -> Path:
        """The living generation; the first one when none was ever chosen."""
        return self._folder / self._name(self.number)

    @property
    def number(self) -> int:
        """The living generation's number."""
        try:
            text = (self._folder / "CURRENT").read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError):
            return 1
        match = re.fullmatch(rf"gen-([0-9]+){re.escape(self._suffix)}\s*", text)
        return int(match[1]) if match else 1

    def next(self) -> Path:
        """A path for a generation that does not exist yet."""
        numbers = [int(match[1]) for path in self._folder.glob("gen-*") if (match := re.match(r"gen-(\d+)", path.name))]
        return self._folder / self._name(max([*numbers, self.number, 0]) + 1)

    def switch(self, generation: Path) -> None:
        """Makes a generation the living one."""
        write_file(self._folder / "CURRENT", f"{generation.name}\n".encode("ascii"))

    def remove_others(self) -> None:
        """Removes every generation but the living one; those still open elsewhere go when they can."""
        living = self.current.name
        for path in self._folder.glob("gen-*"):
            if path.name == living or path.name.startswith(f"{living}."):
                continue
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)

    def set_aside(self, generation: Path) -> Path:
        """Moves a generation that will not open out of the way, keeping it for whoever wants to look."""
        aside = generation.with_name(f"damaged-{generation.name}")
        count = 1
        while aside.exists():
            count += 1
            aside = generation.with_name(f"damaged-{count}-{generation.name}")
        generation.rename(aside)
        for extra in generation.parent.glob(f"{generation.name}.*"):
            extra.rename(aside.parent / f"{aside.name}{extra.name[len(generation.name) :]}")
        return aside

    def _name(self, number: int) -> str:
        return f"gen-{number}{self._suffix}"
