"""What an erase needs of the disk: its journal, and the files of a home in which text may lie about."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from alaya_core.errors import DamagedError
from alaya_core.safe_json import load_json
from alaya_core.stores.files import replacing, sync_directory, write_file
from alaya_core.stores.home import Home

JOURNAL = "erasing.json"
_LARGEST = 64 << 20
_FOLDERS = ("logs", "runs", "cache", "locks")
_VIEWS = ("kuzu", "lancedb")
_LINES = (".jsonl", ".log", ".txt", ".label", ".md")
_CACHE_OF_VECTORS = "embeddings.sqlite"

Holds = Callable[[str], bool]
"""Whether a text holds what is to be gone."""


class Journal:
    """`raw/erasing.json`: what is being erased, from before the first step until after the last."""

    def __init__(self, home: Home) -> None:
        self._path = home.raw / JOURNAL

    def exists(self) -> bool:
        """Whether an erase is under way, or was cut off."""
        return self._path.exists()

    def write(self, plan: dict[str, Any]) -> None:
        """Makes a plan durable."""
        write_file(self._path, json.dumps(plan).encode("ascii"))

    def read(self) -> dict[str, Any] | None:
        """The plan; None where there is none.

        Raises:
            DamagedError: It cannot be read.
        """
        try:
            return dict(load_json(self._path.read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError) as error:
            said = f"{self._path} cannot be read: {error}"
            raise DamagedError(said, "remove it, then erase again what was to go") from error

    def remove(self) -> None:
        """Says, durably, that all of it is done."""
        self._path.unlink(missing_ok=True)
        sync_directory(self._path.parent)


def scrub_leftovers(home: Home, holds: Holds, names: Holds) -> None:
    """Takes text out of whatever is no part of the memory: logs, runs, caches, labels, torn lines, the passing files of
    writers that were killed, generations of the views that were set aside. Logs lose the lines that hold it, all other
    files go as a whole.

    Args:
        names: Whether a text holds one of the ids: by these a passing file is known, which somebody alive may need.
    """
    for path in _lying_about(home):
        if path.suffix in _LINES:
            _without_lines(path, holds)
        elif any(holds(text) for text in texts_of(path)):
            path.unlink(missing_ok=True)
    for path in _passing(home):
        judge = holds if path.parent == home.sources else names
        with contextlib.suppress(FileNotFoundError):
            if any(judge(text) for text in texts_of(path)):
                path.unlink(missing_ok=True)
    for view in _VIEWS:
        for path in (home.root / view).glob("damaged-*"):
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def drop_vectors(home: Home) -> None:
    """Removes every generation of the vector tables."""
    for path in home.vectors.glob("*"):
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def files_under(folder: Path) -> Iterator[Path]:
    """Every file in a folder, in order; none where there is no folder."""
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def holders(paths: Iterable[Path], holds: Holds) -> Iterator[tuple[Path, bool]]:
    """Of some files, those that hold it, and whether that is known; False where a file cannot be looked into."""
    for path in paths:
        try:
            if any(holds(text) for text in texts_of(path, strict=True)):
                yield path, True
        except (OSError, ValueError, EOFError):
            yield path, False


def texts_of(path: Path, *, strict: bool = False) -> Iterator[str]:
    """What a file says, as it stands and with its compression undone, in pieces that overlap.

    Args:
        strict: Whether a compressed file that cannot be read raises OSError, ValueError or EOFError.
    """
    with path.open("rb") as file:
        head = file.read(4)
        yield from _pieces(file)
    opener = _opener(path, head)
    if opener is None:
        return
    try:
        for stream in opener():
            with stream:
                yield from _pieces(stream)
    except (OSError, ValueError, EOFError):
        if strict:
            raise


def _opener(path: Path, head: bytes) -> Callable[[], Iterable[Any]] | None:
    if head == b"\x28\xb5\x2f\xfd" or path.suffix == ".zst":
        return lambda: _zst(path)
    if head[:2] == b"\x1f\x8b":
        import gzip

        return lambda: [gzip.open(path, "rb")]
    if head == b"PK\x03\x04":
        return lambda: _zip(path)
    return None


def _zst(path: Path) -> Iterator[Any]:
    import zstandard

    try:
        yield zstandard.ZstdDecompressor().stream_reader(path.open("rb"), closefd=True)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error


def _zip(path: Path) -> Iterator[Any]:
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                yield archive.open(name)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise ValueError(str(error)) from error


def _pieces(file: Any) -> Iterator[str]:
    """A file in pieces of which each begins with the end of the one before."""
    import zstandard

    file.seek(0) if file.seekable() and not isinstance(file, zstandard.ZstdDecompressionReader) else None
    tail = b""
    while True:
        try:
            block = file.read(_LARGEST)
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error
        if not block:
            return
        yield (tail + block).decode("utf-8", "replace")
        tail = block[-4096:]


def _lying_about(home: Home) -> Iterator[Path]:
    for name in _FOLDERS:
        for path in sorted((home.root / name).rglob("*")):
            passing = path.name.startswith((".new-", _CACHE_OF_VECTORS)) or path.suffix == ".lock"
            if path.is_file() and not passing:
                yield path
    for folder in (home.ledger / "torn", home.ledger / "damaged", home.set_aside):
        yield from (path for path in sorted(folder.rglob("*")) if path.is_file())
    if (home.root / "snapshot.md").is_file():
        yield home.root / "snapshot.md"


def _passing(home: Home) -> Iterator[Path]:
    """Files on their way to a name; those of a killed writer stay."""
    for top, folders, names in os.walk(home.root):
        if Path(top) == home.root:
            folders[:] = [name for name in folders if name not in (*_VIEWS, "backup", "export")]
        yield from (Path(top) / name for name in names if name.startswith(".new-"))


def _without_lines(path: Path, holds: Holds) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if not holds(line.decode("utf-8", "replace"))]
    if len(kept) == len(lines) and any(holds(text) for text in texts_of(path)):
        kept = []  # it goes over several lines
    if len(kept) < len(lines):
        with replacing(path) as file:
            file.writelines(kept)
