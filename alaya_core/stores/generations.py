"""Generations of a view: a new one is built beside the old, then CURRENT is switched to it in one step."""

from __future__ import annotations

import contextlib
import re
import shutil
from pathlib import Path

from alaya_core.stores.files import folder_bytes, write_file


class Generations:
    """Which generation of a view is the living one.

    Args:
        folder: The view's folder (`kuzu/`, `lancedb/`).
        suffixes: Endings of a generation's name (`.kuzu`; none for folders), the usual one first.
    """

    def __init__(self, folder: Path, *suffixes: str) -> None:
        self._folder = folder
        self._suffixes = suffixes or ("",)

    @property
    def current(self) -> Path:
        """The living generation; the first one when none was ever chosen."""
        chosen = self._chosen()
        if chosen:
            return self._folder / chosen[0]
        first = [self._folder / f"gen-1{suffix}" for suffix in self._suffixes]
        return next((path for path in first if path.exists()), first[0])

    @property
    def number(self) -> int:
        """The living generation's number."""
        chosen = self._chosen()
        return int(chosen[1]) if chosen else 1

    def _chosen(self) -> re.Match[str] | None:
        try:
            text = (self._folder / "CURRENT").read_text(encoding="ascii").rstrip()
        except (OSError, UnicodeDecodeError):
            return None
        endings = "|".join(re.escape(suffix) for suffix in self._suffixes)
        return re.fullmatch(rf"gen-([0-9]+)(?:{endings})", text)

    def next(self, suffix: str | None = None) -> Path:
        """A path for a generation that does not exist yet.

        Args:
            suffix: Its ending; None = the usual one.
        """
        numbers = [int(match[1]) for path in self._folder.glob("gen-*") if (match := re.match(r"gen-(\d+)", path.name))]
        return self._path(max([*numbers, self.number]) + 1, suffix)

    def first(self, suffix: str | None = None) -> Path:
        """A path for a generation where there is none: under the number that is the living one."""
        return self._path(self.number, suffix)

    def unborn(self, generation: Path) -> Path:
        """Another name for a generation while it is being built, whatever an earlier try left there removed."""
        hidden = generation.with_name(f"building-{generation.name}")
        self.remove(hidden)
        return hidden

    def rename(self, generation: Path, name: Path) -> None:
        """Gives a generation another name, with the files that belong to it; what had that name is removed."""
        self.remove(name)
        generation.rename(name)
        for extra in self._folder.glob(f"{generation.name}.*"):
            extra.rename(self._folder / f"{name.name}{extra.name[len(generation.name) :]}")

    def switch(self, generation: Path) -> None:
        """Makes a generation the living one."""
        write_file(self._folder / "CURRENT", f"{generation.name}\n".encode("ascii"))

    def remove_others(self) -> None:
        """Removes every generation but the living one; those still open elsewhere go when they can."""
        living = self.current.name
        for path in (*self._folder.glob("gen-*"), *self._folder.glob("building-gen-*")):
            if path.name != living and not path.name.startswith(f"{living}."):
                _remove(path)

    def remove(self, generation: Path) -> None:
        """Removes one generation, as far as it is there."""
        for path in (generation, *self._folder.glob(f"{generation.name}.*")):
            _remove(path)

    def other_bytes(self) -> int:
        """Bytes of every generation but the living one."""
        living = self.current.name
        others = (p for p in self._folder.glob("gen-*") if p.name != living and not p.name.startswith(f"{living}."))
        return sum(folder_bytes(path) if path.is_dir() else path.stat().st_size for path in others)

    def set_aside(self, generation: Path) -> Path:
        """Moves a generation that will not open out of the way, keeping it for whoever wants to look."""
        aside = generation.with_name(f"damaged-{generation.name}")
        count = 1
        while aside.exists():
            count += 1
            aside = generation.with_name(f"damaged-{count}-{generation.name}")
        self.rename(generation, aside)
        return aside

    def _path(self, number: int, suffix: str | None) -> Path:
        return self._folder / f"gen-{number}{self._suffixes[0] if suffix is None else suffix}"


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
