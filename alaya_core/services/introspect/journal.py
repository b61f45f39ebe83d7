"""The file of a run: told to whoever watches, in this process and in others."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

from alaya_core.clock import Clock
from alaya_core.models.answers import RunEvent
from alaya_core.progress import Progress, ProgressSink
from alaya_core.stores.runs import RunFiles

_OFTEN_S = 0.5
"""Progress that comes quicker than this is not written down."""


class Journal:
    """Writes what a run does.

    Args:
        files: The runs of the home; None keeps nothing (a dry run).
        run: The run's id.
        on_event: Told the same at once.
        progress: Told the steps within a phase.
    """

    def __init__(
        self,
        files: RunFiles | None,
        run: str,
        clock: Clock,
        on_event: Callable[[RunEvent], None],
        progress: ProgressSink,
    ) -> None:
        self._files = files
        self.run = run
        self._clock = clock
        self._on_event = on_event
        self._progress = progress
        self._phase = ""
        self._written = 0.0

    def tell(self, kind: str, text: str = "", *, phase: str | None = None, **data: Any) -> None:
        """One event. A file that cannot be written stops nothing: the ledger is what counts."""
        if kind == "phase":
            self._phase = phase or ""
        event = RunEvent(
            at=self._clock(),
            run=self.run,
            kind=kind,
            phase=self._phase if phase is None else phase,
            text=text,
            done=data.pop("done", None),
            total=data.pop("total", None),
            data=data,
        )
        if self._files is not None:
            with contextlib.suppress(OSError):
                self._files.append(self.run, event.model_dump(mode="json"))
        self._on_event(event)

    def step(self, progress: Progress) -> None:
        """A step within a phase."""
        self._progress(progress)
        last = progress.total is not None and progress.done >= progress.total
        if last or time.monotonic() - self._written >= _OFTEN_S:
            self._written = time.monotonic()
            self.tell("progress", progress.note, done=progress.done, total=progress.total, stage=progress.stage)


def finished_phases(events: Sequence[RunEvent]) -> list[str]:
    """The phases that a run ended."""
    return [event.phase for event in events if event.kind == "phase_end"]


def events_of(files: RunFiles, run: str, offset: int = 0) -> tuple[list[RunEvent], int]:
    """The events of a run behind an offset, and the offset behind them; what is no event is passed over."""
    lines, end = files.read(run, offset)
    events = []
    for line in lines:
        with contextlib.suppress(ValueError):
            events.append(RunEvent.model_validate(line))
    return events, end
