"""Vectors that were paid for once, by model and content, in one SQLite file. Losing it costs time, never truth."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_T = TypeVar("_T")

_VERSION = 1
_BUSY_S = 5.0
_MANY = 500
_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT)

_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS models (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS vectors (
  hash BLOB NOT NULL, model INTEGER NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (hash, model));
PRAGMA user_version = {_VERSION};
COMMIT;
"""


def content_hash(text: str) -> bytes:
    """SHA-256 of a text, 32 bytes; lone surrogates count as U+FFFD."""
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


class EmbeddingCache:
    """Keeps float32 vectors by model key and content hash. May be used from several threads and processes.

    Nothing here raises because of the disk: a file that cannot be read is as if empty, one that cannot be written is
    left as it is, and a corrupt one is set aside as `<name>.corrupt` and begun again; `trouble` says so.

    Args:
        path: The file; made with mode 0600 at the first write.
        read_only: Whether never to write (a read-only home).
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self._path = path
        self._read_only = read_only
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._can_write = False
        self._inode = 0
        self.trouble = ""

    def get_many(self, model: str, hashes: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """The vectors that are there.

        Args:
            model: The provider's cache key.
            hashes: Content hashes, see `content_hash`.

        Returns:
            hash -> (d,), L2-normalised. A stored value that is no unit vector is passed over.
        """

        def read(db: sqlite3.Connection) -> dict[bytes, NDArray[np.float32]]:
            found: dict[bytes, NDArray[np.float32]] = {}
            for some in _chunks(hashes):
                marks = ",".join("?" * len(some))
                rows = db.execute(
                    f"SELECT hash, vector FROM vectors WHERE model = (SELECT id FROM models WHERE key = ?) "
                    f"AND hash IN ({marks})",
                    [model, *some],
                )
                for key, blob in rows:
                    vector = _vector(blob)
                    if vector is not None:
                        found[key] = vector
            return found

        return self._run(read, {}, write=False) if hashes else {}

    def put_many(self, model: str, vectors: Mapping[bytes, NDArray[np.float32]]) -> None:
        """Keeps vectors, replacing those of the same model and hash; one transaction."""

        def write(db: sqlite3.Connection) -> None:
            db.execute("INSERT OR IGNORE INTO models (key) VALUES (?)", [model])
            (number,) = db.execute("SELECT id FROM models WHERE key = ?", [model]).fetchone()
            db.executemany(
                "INSERT OR REPLACE INTO vectors (hash, model, vector) VALUES (?, ?, ?)",
                [(key, number, np.asarray(vector, dtype="<f4").tobytes()) for key, vector in vectors.items()],
            )

        if vectors:
            self._run(write, None, write=True)

    def forget(self, hashes: Iterable[bytes]) -> bool:
        """Removes every vector of these texts, of any model, and overwrites its bytes with zeros.

        A file set aside as corrupt is removed with them: it may hold what is to be gone.

        Returns:
            Whether nothing of them is left; False if the file could not be written.
        """
        keys = [(key,) for key in hashes]

        def write(db: sqlite3.Connection) -> bool:
            db.executemany("DELETE FROM vectors WHERE hash = ?", keys)
            return True

        aside = self._aside()
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)
        if not self._path.exists():
            return not aside.exists()
        return self._run(write, False, write=True) and not aside.exists()

    def keep_only(self, hashes: Collection[bytes]) -> int:
        """Removes the vectors of all other texts, and gives the room back once it is a fifth of the file.

        Returns:
            How many were removed.
        """

        def write(db: sqlite3.Connection) -> int:
            gone = [(key,) for (key,) in db.execute("SELECT DISTINCT hash FROM vectors") if key not in hashes]
            return int(db.executemany("DELETE FROM vectors WHERE hash = ?", gone).rowcount) if gone else 0

        def shrink(db: sqlite3.Connection) -> None:
            pages, free = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count"))
            if free * 5 > pages:
                db.commit()
                db.execute("VACUUM")

        removed = self._run(write, 0, write=True) if self._path.exists() else 0
        if removed:
            self._run(shrink, None, write=True)
        return max(0, removed)

    def size(self) -> int:
        """How many vectors are kept."""
        return self._run(lambda db: int(db.execute("SELECT count(*) FROM vectors").fetchone()[0]), 0, write=False)

    def close(self) -> None:
        """Closes the file; a later use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _run(self, work: Callable[[sqlite3.Connection], _T], otherwise: _T, *, write: bool) -> _T:
        with self._lock:
            for attempt in (1, 2):
                try:
                    db = self._opened(write)
                    if db is None:
                        return otherwise
                    with db:
                        return work(db)
                except (sqlite3.Error, OSError) as exc:
                    self.trouble = f"{self._path.name}: {exc}"
                    self.close()
                    if attempt == 2 or not _is_corrupt(exc) or not self._set_aside():
                        return otherwise
            return otherwise

    def _opened(self, write: bool) -> sqlite3.Connection | None:
        if write and self._read_only:
            return None
        if self._connection is not None and (self._can_write or not write):
            return self._connection
        self.close()
        exists = self._path.exists()
        if not exists and not write:
            return None
        if not exists:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        self._can_write = not self._read_only and os.access(self._path, os.W_OK)
        mode = "rw" if self._can_write else "ro"
        uri = f"{self._path.absolute().as_uri()}?mode={mode}"
        db = sqlite3.connect(uri, uri=True, timeout=_BUSY_S, check_same_thread=False)
        self._connection, self._inode = db, self._path.stat().st_ino
        db.execute("PRAGMA secure_delete = ON")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version == 0 and self._can_write:
            self._path.chmod(0o600)
            db.executescript(_SCHEMA)
        elif version not in (0, _VERSION):
            raise sqlite3.OperationalError(f"written by a newer version ({version})")
        return db

    def _set_aside(self) -> bool:
        """Moves the corrupt file away, unless another process has done so meanwhile."""
        if self._read_only:
            return False
        try:
            if self._path.stat().st_ino == self._inode:
                self._path.with_name(f"{self._path.name}-journal").unlink(missing_ok=True)
                self._path.replace(self._aside())
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True

    def _aside(self) -> Path:
        return self._path.with_name(f"{self._path.name}.corrupt")


def _is_corrupt(exc: Exception) -> bool:
    code = getattr(exc, "sqlite_errorcode", None)
    return isinstance(code, int) and (code & 0xFF) in _CORRUPT


def _vector(blob: object) -> NDArray[np.float32] | None:
    if not isinstance(blob, bytes) or not blob or len(blob) % 4:
        return None
    vector = np.frombuffer(blob, dtype="<f4").astype(np.float32)
    norm = float(vector @ vector)
    return vector if 0.98 < norm < 1.02 else None


def _chunks(items: Sequence[bytes]) -> Iterable[Sequence[bytes]]:
    return (items[at : at + _MANY] for at in range(0, len(items), _MANY))
