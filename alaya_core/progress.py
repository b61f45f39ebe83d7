"""How long work tells what it is doing, and is told to stop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from alaya_core.errors import AlayaError


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of long work.

    Attributes:
        stage: What is being done, e.g. `ingest`, `embed`.
        done: Units finished.
        total: Units in all; None when nobody can know.
        note: What it is at now; may be empty.
    """

    stage: str
    done: int
    total: int | None = None
    note: str = ""


ProgressSink = Callable[[Progress], None]


def silent(_: Progress) -> None:
    """A sink for callers who do not want to hear."""


class CancelledError(AlayaError):
    """The work was told to stop; what it had committed stays."""

    code = "cancelled"
    exit_status = 130


class CancelToken:
    """Set by whoever waits, asked by whoever works."""

    def __init__(self, event: threading.Event | None = None) -> None:
        self._event = event or threading.Event()

    def cancel(self) -> None:
        """Asks the work to stop at its next step."""
        self._event.set()

    def check(self) -> None:
        """Stops here if asked to.

        Raises:
            CancelledError: The work was cancelled.
        """
        if self._event.is_set():
            raise CancelledError("cancelled", "what was finished before is kept")
