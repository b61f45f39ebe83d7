"""Who may read and who may write, between processes and threads.

Kernel locks on files are the truth: `writer` (one writer of the home at a time), `index` and `rebuild` (one builder of
a view at a time), and the turnstile of the graph: `turn` and `gate`. Everybody passes `turn` to reach `gate`; a reader
shares the gate and leaves the turn at once, a writer keeps both, so that readers in a loop can never starve it. The
other locks have a turnstile of their own: whoever gives one back and wants it again stands behind the one who waits.
The text in a lock's label only tells people who holds it.

They are taken in this order, and never the other way round: index or rebuild, writer, turn, gate.
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
from alaya_core.safe_json import load_json
from alaya_core.stores.files import FILE_MODE, make_directory, translated

_POLL_S = 0.006
_POLL_LEAST_S = 0.0005
_PATIENCE_S = 0.25
"""Waited so long, a process looks twice as often as at first; it soon has the better chance against newcomers."""


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
        with self._in_turn("writer", verb, timeout_s):
            yield

    @contextlib.contextmanager
    def indexing(self, *, timeout_s: float | None = None) -> Iterator[None]:
        """Holds the pen of the vector tables, which keeps a second process from indexing the same changes; taken
        before `writing`, never inside it. Never call out over a network inside.

        Raises:
            BusyError: Another process is indexing longer than the timeout.
        """
        with self._in_turn("index", "index", timeout_s):
            yield

    @contextlib.contextmanager
    def rebuilding(self, *, timeout_s: float | None = None) -> Iterator[None]:
        """Keeps a second process from building the graph anew; taken before `writing`, never inside it.

        Raises:
            BusyError: Another process is rebuilding longer than the timeout.
        """
        with self._in_turn("rebuild", "rebuild l2", timeout_s):
            yield

    @contextlib.contextmanager
    def building(self, *, timeout_s: float | None = None) -> Iterator[None]:
        """Keeps a second process from building a generation of the vector tables; taken before `indexing`.

        Raises:
            BusyError: Another process is building longer than the timeout.
        """
        with self._in_turn("build", "rebuild l1", timeout_s):
            yield

    @contextlib.contextmanager
    def introspecting(self, *, timeout_s: float | None = None) -> Iterator[None]:
        """Keeps a second run of introspect out, and by being held says that one is alive. Nobody who reads or changes
        the memory waits for it, so it may be held while a model is asked.

        Raises:
            BusyError: Another process is introspecting longer than the timeout.
        """
        with self._in_turn("introspect", "introspect", timeout_s):
            yield

    @contextlib.contextmanager
    def graph_reading(self, *, timeout_s: float | None = None) -> Iterator[None]:
        """Keeps graph writers out while the graph is open to read.

        Raises:
            BusyError: A writer holds it longer than the timeout.
        """
        deadline = self._deadline(timeout_s)
        with contextlib.ExitStack() as stack:
            # Where no lock file can be made nobody can write either.
            with contextlib.suppress(ReadOnlyHomeError), self._held("turn", deadline, "gate"):
                stack.enter_context(self._held("gate", deadline, shared=True))
                self._unlabel("gate")  # of a writer that was killed: no living one holds it now
            yield

    @contextlib.contextmanager
    def graph_writing(self, *, timeout_s: float | None = None) -> Iterator[None]:
        """Keeps everybody else out while the graph is open to write.

        Raises:
            BusyError: Readers hold it longer than the timeout.
        """
        deadline = self._deadline(timeout_s)
        with self._held("turn", deadline, "gate"), self._held("gate", deadline), self._labelled("gate", "graph"):
            yield

    @contextlib.contextmanager
    def _in_turn(self, name: str, verb: str, timeout_s: float | None) -> Iterator[None]:
        """Holds an exclusive lock, taken one after the other by those who wait for it."""
        deadline = self._deadline(timeout_s)
        with contextlib.ExitStack() as stack:
            with self._held(f"{name}-turn", deadline, name):
                stack.enter_context(self._held(name, deadline))
            stack.enter_context(self._labelled(name, verb))
            yield

    def _deadline(self, timeout_s: float | None) -> float:
        return time.monotonic() + (self._timeout_s if timeout_s is None else timeout_s)

    @contextlib.contextmanager
    def _held(self, name: str, deadline: float, wanted: str = "", *, shared: bool = False) -> Iterator[None]:
        """Holds a kernel lock.

        Args:
            deadline: When to give up, on the monotonic clock.
            wanted: The lock that is really waited for, where this one is only on the way to it.
        """
        import portalocker

        kind = portalocker.LockFlags.SHARED if shared else portalocker.LockFlags.EXCLUSIVE
        began = time.monotonic()
        file = self._open(name)
        try:
            while True:
                try:
                    portalocker.lock(file, kind | portalocker.LockFlags.NON_BLOCKING)
                    break
                except portalocker.exceptions.LockException:
                    now = time.monotonic()
                    if now >= deadline:
                        raise BusyError(*self._busy(wanted or name)) from None
                    time.sleep(min(_pause(now - began), max(0.0, deadline - now)))
            yield
        finally:
            file.close()

    @contextlib.contextmanager
    def _labelled(self, name: str, verb: str) -> Iterator[None]:
        """Tells others who holds a lock, while the block runs; the caller holds it."""
        label = self._label(name)
        told = json.dumps({"pid": os.getpid(), "verb": verb, "since": iso(int(time.time() * 1000))})
        with contextlib.suppress(OSError):
            label.touch(mode=FILE_MODE)
            label.chmod(FILE_MODE)
            label.write_text(told, encoding="utf-8")
        try:
            yield
        finally:
            self._unlabel(name)

    def _unlabel(self, name: str) -> None:
        label = self._label(name)
        with contextlib.suppress(OSError):
            if label.stat().st_size:
                os.truncate(label, 0)

    def _label(self, name: str) -> Path:
        return self._folder / f"{name}.label"

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
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            held = load_json(self._label(name).read_text(encoding="utf-8"))
            who = f"process {held['pid']} ({held['verb']}, since {held['since']})"
            return f"the home is busy: {who}", "wait for it and repeat"
        what = "the graph is being read" if name == "gate" else f"its {name} lock is held"
        return f"the home is busy ({what} by another process)", "wait a moment and repeat"


def _pause(waited_s: float) -> float:
    """How long to sleep before looking at a lock again, s: the longer somebody has waited, the shorter."""
    longest = max(_POLL_LEAST_S, _POLL_S / (1 + waited_s / _PATIENCE_S))
    return longest * random.uniform(0.5, 1.5)
