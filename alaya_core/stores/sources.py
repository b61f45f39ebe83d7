"""The bytes as they came, compressed, named by their hash."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from alaya_core.stores.files import FILE_MODE, PASSING, make_directory, sync_directory, translated

_BLOCK = 1 << 20
_LARGEST = 64 << 20


@dataclass(frozen=True, slots=True)
class PreparedSource:
    """Bytes written whole, waiting for their name.

    Attributes:
        temporary: Where they lie now.
    """

    digest: str
    temporary: Path

    def discard(self) -> None:
        """Removes them, if they were not published."""
        self.temporary.unlink(missing_ok=True)


class SourceStore:
    """Keeps source bytes under `raw/sources/<sha256>.zst`.

    Args:
        folder: `raw/sources` of a home.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, digest: str) -> Path:
        """Where the bytes with this sha256 lie."""
        return self._folder / f"{digest}.zst"

    def keep(self, blocks: Iterable[bytes], digest: str) -> int:
        """Stores bytes under their sha256; a second time does nothing.

        Returns:
            Bytes on disk.
        """
        if (prepared := self.prepare(blocks, digest)) is not None:
            self.publish(prepared)
        return self.path(digest).stat().st_size

    def prepare(self, blocks: Iterable[bytes], digest: str) -> PreparedSource | None:
        """Writes bytes whole under a passing name; None where they are kept already."""
        import zstandard

        if self.path(digest).exists():
            return None
        make_directory(self._folder)
        handle, name = tempfile.mkstemp(prefix=PASSING, dir=self._folder)
        prepared = PreparedSource(digest, Path(name))
        try:
            with translated(self.path(digest)), os.fdopen(handle, "wb") as file:
                with zstandard.ZstdCompressor(level=3).stream_writer(file, closefd=False) as out:
                    for block in blocks:
                        out.write(block)
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            prepared.discard()
            raise
        return prepared

    def publish(self, prepared: PreparedSource) -> None:
        """Gives prepared bytes their name."""
        target = self.path(prepared.digest)
        with translated(target):
            prepared.temporary.chmod(FILE_MODE)
            prepared.temporary.replace(target)
            sync_directory(target.parent)

    def known(self) -> list[str]:
        """The sha256 of every source that is kept, by the names of the files."""
        return sorted(path.stem for path in self._folder.glob("*.zst") if re.fullmatch("[0-9a-f]{64}", path.stem))

    def matches(self, digest: str) -> bool:
        """Whether the bytes kept under a sha256 have it."""
        import zstandard

        running = hashlib.sha256()
        try:
            with self.open(digest) as file:
                while block := file.read(_BLOCK):
                    running.update(block)
        except (OSError, zstandard.ZstdError):
            return False
        return running.hexdigest() == digest

    def drop(self, digest: str) -> None:
        """Removes bytes that another source holds as its beginning."""
        self.path(digest).unlink(missing_ok=True)

    def read(self, digest: str, most: int) -> bytes | None:
        """All of some kept bytes; None where they are not kept, cannot be read, or are more than `most`."""
        import zstandard

        try:
            with self.open(digest) as file:
                data = file.read(most + 1)
        except (OSError, zstandard.ZstdError):
            return None
        return data if len(data) <= most else None

    def keep_bytes(self, data: bytes) -> str:
        """Stores bytes.

        Returns:
            Their sha256.
        """
        digest = hashlib.sha256(data).hexdigest()
        self.keep([data], digest)
        return digest

    def begins_with(self, digest: str, beginning: str, prepared: PreparedSource | None = None) -> bool:
        """Whether bytes begin with other, shorter kept bytes; False where either is not kept.

        Args:
            prepared: The longer ones, where they have no name yet.
        """
        longest = prepared.temporary if prepared else self.path(digest)
        if digest == beginning or not (longest.exists() and self.path(beginning).exists()):
            return False
        with _reader(longest) as longer, self.open(beginning) as shorter:
            while block := shorter.read(_BLOCK):
                if longer.read(len(block)) != block:
                    return False
        return True

    def open(self, digest: str) -> BinaryIO:
        """The bytes, to read.

        Raises:
            FileNotFoundError: They are not kept.
        """
        return _reader(self.path(digest))


def _reader(path: Path) -> BinaryIO:
    import zstandard

    return zstandard.ZstdDecompressor().stream_reader(path.open("rb"), closefd=True)


def decompress(data: bytes) -> bytes:
    """Bytes that zstd made small, as they were.

    Raises:
        ValueError: They are not.
    """
    import zstandard

    try:
        with zstandard.ZstdDecompressor().stream_reader(data) as reader:
            return bytes(reader.read(_LARGEST))
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error


def file_blocks(file: BinaryIO) -> Iterable[bytes]:
    """A file from its start, a block at a time."""
    file.seek(0)
    while block := file.read(_BLOCK):
        yield block


def file_digests(file: BinaryIO, prefixes: Iterable[int] = ()) -> tuple[str, dict[int, str], int]:
    """sha256 of a file, and of its first n bytes for each n asked for (those beyond its end are left out).

    Returns:
        The file's hash, the prefixes' hashes by length, its length.
    """
    running = hashlib.sha256()
    cuts = sorted(set(prefixes))
    found: dict[int, str] = {}
    position = 0
    for block in file_blocks(file):
        start = 0
        while cuts and cuts[0] <= position + len(block):
            cut = cuts.pop(0)
            running.update(block[start : cut - position])
            start = cut - position
            found[cut] = running.copy().hexdigest()
        running.update(block[start:])
        position += len(block)
    return running.hexdigest(), found, position
