"""Who may read and who may write, between processes and threads.

Kernel locks on files are the truth: `writer` (one writer of the home at a time), and the turnstile of the graph:
`turn` and `gate`. Everybody passes `turn` to reach `gate`; a reader shares the gate and leaves the turn at once, a
writer keeps both, so that readers in a loop can never starve it. The text in a lock's label only tells people who
holds it.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from alaya_core.clock import iso
from alaya_core.errors import BusyError, NotFoundError, ReadOnlyHomeError
from alaya_core.stores.files import FILE_MODE, make_directory, translated

_POLL_S = 0.004


class HomeLocks:
    """The locks of one home.

    Args:
        folder: Where the lock files are.
        timeout_s: How long to wait before giving up.
    """

    def __init__(self, folder: Path, timeout_s: float) -> None:
        self._folder = folder
        self._timeout_s = timeout_s

    @contextlib.contextmanager
    def writing(self, verb: str, *, timeout_s: float | None = None) -> Iterator[None]:
        """Holds the home's one pen. Never call out over a network inside.

        Raises:
            BusyError: Another process holds it longer than the timeout; the message says which.
        """
        with self._held("writer", exclusive=True, timeout_s=timeout_s):
            label = self._folder / "writer.label"
            told = json.dumps({"pid": os.getpid(), "verb": verb, "since": iso(int(time.time() * 1000))})
            with contextlib.suppress(OSError):
                label.write_text(told, encoding="utf-8")
                label.chmod(FILE_MODE)
            try:
                yield
            finally:
                with contextlib.suppress(OSError):
                    label.write_text("", encoding="utf-8")

    @contextlib.contextmanager
    def indexing(self, *, timeout_s: float | None = None) -> Iterator[None]:
        """Keeps a second process from indexing the same changes; taken before `writing`, never inside it.

        Raises:
            BusyError: Another process is indexing longer than the timeout.
        """
        with self._held("index", exclusive=True, timeout_s=timeout_s):
            yield

    @contextlib.contextmanager
    def graph_reading(self, *, timeout_s: float | None = None) -> Iterator[None]:
        """Keeps graph writers out while the graph is open to read.

        Raises:
            BusyError: A writer holds it longer than the timeout.
        """
        with contextlib.ExitStack() as stack:
            # Where no lock file can be made nobody can write either.
            with contextlib.suppress(ReadOnlyHomeError), self._held("turn", exclusive=True, timeout_s=timeout_s):
                stack.enter_context(self._held("gate", exclusive=False, timeout_s=timeout_s))
            yield

    @contextlib.contextmanager
    def graph_writing(self, *, timeout_s: float | None = None) -> Iterator[None]:
        """Keeps everybody else out while the graph is open to write.

        Raises:
            BusyError: Readers hold it longer than the timeout.
        """
        with (
            self._held("turn", exclusive=True, timeout_s=timeout_s),
            self._held("gate", exclusive=True, timeout_s=timeout_s),
        ):
            yield

    @contextlib.contextmanager
    def _held(self, name: str, *, exclusive: bool, timeout_s: float | None) -> Iterator[None]:
        import portalocker

        patience = self._timeout_s if timeout_s is None else timeout_s
        deadline = time.monotonic() + patience
        kind = portalocker.LockFlags.EXCLUSIVE if exclusive else portalocker.LockFlags.SHARED
        file = self._open(name)
        try:
            while True:
                try:
                    portalocker.lock(file, kind | portalocker.LockFlags.NON_BLOCKING)
                    break
                except portalocker.exceptions.LockException:
                    if time.monotonic() >= deadline:
                        raise BusyError(*self._busy(name)) from None
                    time.sleep(_POLL_S * random.uniform(0.5, 1.5))
            yield
        finally:
            file.close()

    def _open(self, name: str) -> BinaryIO:
        path = self._folder / f"{name}.lock"
        home = self._folder.parent
        if not home.is_dir():  # nobody who only reads may bring an empty one back
            raise NotFoundError(f"the home at {home} is gone", "put it back, or name another with --home")
        with translated(path):
            if not path.exists():
                make_directory(self._folder)
                path.touch(mode=FILE_MODE)
                path.chmod(FILE_MODE)  # the umask may have taken bits the owner needs
            try:
                return path.open("r+b")
            except PermissionError:
                return path.open("rb")

    def _busy(self, name: str) -> tuple[str, str]:
        with contextlib.suppress(OSError, ValueError):
            held = json.loads((self._folder / "writer.label").read_text(encoding="utf-8"))
            who = f"process {held['pid']} ({held['verb']}, since {held['since']})"
            return f"the home is busy: {who}", "wait for it and repeat"
        return f"the home is busy ({name} is held by another process)", "wait a moment and repeat"
