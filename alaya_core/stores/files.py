"""Files that only their owner may read, written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from alaya_core.errors import DamagedError, DiskFullError, ReadOnlyHomeError

DIRECTORY_MODE = 0o700
FILE_MODE = 0o600
PASSING = ".new-"
"""How the names begin of files that are being written and do not have their own name yet."""


def make_directory(path: Path) -> bool:
    """Makes a directory, and those above it that are missing, for the owner only.

    Returns:
        Whether it had to be made.
    """
    if path.is_dir():
        return False
    with translated(path):
        make_directory(path.parent) if not path.parent.exists() else None
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=DIRECTORY_MODE)
        path.chmod(DIRECTORY_MODE)
    return True


def sync_directory(path: Path) -> None:
    """Makes names created or renamed in a directory durable (a no-op where the system cannot)."""
    if os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


def is_disk_full(error: OSError) -> bool:
    """Whether the system says that there is no room, on the disk or in a quota."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


_FULL = ("no space left", "file too large", "quota exceeded", "disk full", "numbyteswritten")


def says_disk_full(text: str) -> bool:
    """The same of an engine's words."""
    lowered = text.lower()
    return any(word in lowered for word in _FULL)


def require_room(folder: Path, needed: int) -> None:
    """Raises DiskFullError unless so many bytes are free on a folder's disk."""
    with contextlib.suppress(OSError):  # a system that cannot say does not stand in the way
        if shutil.disk_usage(folder).free < needed:
            raise DiskFullError(f"less than {needed >> 20} MB are left for {folder}")


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turns the system's refusals into errors with a hint."""
    try:
        yield
    except PermissionError as error:
        raise ReadOnlyHomeError(f"{path} cannot be written: {error.strerror}", "check who owns the home") from error
    except OSError as error:
        if error.errno == errno.EROFS:
            raise ReadOnlyHomeError(f"{path} is on a read-only disk", "choose another home with --home") from error
        if is_disk_full(error):
            raise DiskFullError(f"{path} was not written") from error
        if error.errno in (errno.ENOTDIR, errno.EISDIR):
            raise DamagedError(f"{path} is not what it should be: {error.strerror}", "run `alaya doctor`") from error
        raise


@contextlib.contextmanager
def replacing(path: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """Opens a file to take the place of `path` when the block ends well; until then the old one stands.

    Args:
        durable: Whether the bytes must be on the disk before the name changes.
    """
    make_directory(path.parent)
    with translated(path):
        handle, name = tempfile.mkstemp(prefix=PASSING, dir=path.parent)
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            temporary.chmod(FILE_MODE)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        if durable:
            sync_directory(path.parent)


def write_file(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Writes a whole file, replacing the one that was there."""
    with replacing(path, durable=durable) as file:
        file.write(data)


def append_bytes(path: Path, data: bytes, *, durable: bool) -> None:
    """Appends with one write, so that lines of two processes never mingle; makes the file for its owner only."""
    make_directory(path.parent)
    with translated(path):
        fresh = not path.exists()
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, FILE_MODE)
        try:
            if fresh:
                os.chmod(path, FILE_MODE)  # noqa: PTH101 - the umask may have taken bits the owner needs
            before = os.fstat(handle).st_size
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(handle, view) :]
                if durable:
                    os.fsync(handle)
            except OSError:
                if durable:  # whoever appends durably holds the pen: what stands behind is its own half line
                    with contextlib.suppress(OSError):
                        os.ftruncate(handle, before)
                raise
        finally:
            os.close(handle)
        if fresh and durable:
            sync_directory(path.parent)


def set_aside(path: Path, folder: Path) -> Path:
    """Moves a file out of the way into a folder of the same disk, and keeps whatever lies there already.

    Returns:
        Where it lies now.
    """
    make_directory(folder)
    aside, count = folder / path.name, 1
    while aside.exists():
        count += 1
        aside = folder / f"{path.stem}-{count}{path.suffix}"
    with translated(path):
        path.rename(aside)
        sync_directory(aside.parent)
        sync_directory(path.parent)
    return aside


def leftovers(root: Path, before_s: float) -> Iterator[Path]:
    """Files that were being written under a passing name when their writer died.

    Args:
        before_s: Only those last written before this moment, seconds since the epoch.
    """
    for path in sorted(root.rglob(f"{PASSING}*")):
        with contextlib.suppress(OSError):
            if path.is_file() and path.stat().st_mtime < before_s:
                yield path


def close_to_others(folder: Path) -> None:
    """Gives everything in a folder the modes of a home."""
    folder.chmod(DIRECTORY_MODE)
    for root, folders, names in os.walk(folder):
        for name, mode in [*((name, DIRECTORY_MODE) for name in folders), *((name, FILE_MODE) for name in names)]:
            with contextlib.suppress(FileNotFoundError):
                (Path(root) / name).chmod(mode)


def folder_bytes(path: Path) -> int:
    """The size of all files below a folder; those that vanish meanwhile count nothing."""
    total = 0
    for root, _, names in os.walk(path):
        for name in names:
            with contextlib.suppress(OSError):
                total += (Path(root) / name).stat().st_size
    return total
