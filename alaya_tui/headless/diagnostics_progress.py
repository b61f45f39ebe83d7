"""A progress bar on stderr that only appears when the work turns out to be slow."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from alaya_core.progress import Progress as Step
from alaya_core.text import clip, safe_line

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE_S = 1.0
NOTE_CELLS = 40


class Bar:
    """Shown from the first second on, gone when the work is done; `show` may be called from any thread.

    Rich is imported by the timer, so quick work never pays for it.
    """

    def __init__(self, stream: TextIO, label: str, patience: float = PATIENCE_S) -> None:
        self._stream = stream
        self._step = Step(label, 0)
        self._lock = threading.Lock()
        self._over = False
        self._shown: tuple[Progress, TaskID] | None = None
        self._timer = threading.Timer(patience, self._appear)
        self._timer.daemon = True

    def __enter__(self) -> Bar:
        self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._shown:
                self._shown[0].stop()

    def show(self, step: Step) -> None:
        """Takes note of where the work is."""
        with self._lock:
            self._step = step
            self._refresh()

    def _appear(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[count]}", markup=False),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}", markup=False),
        )
        progress = Progress(
            *columns,
            console=Console(file=self._stream),
            transient=True,
            refresh_per_second=8,
            redirect_stdout=False,  # stdout is render's, it must not be swapped under it
            redirect_stderr=False,
        )
        with self._lock:
            if self._over:
                return
            self._shown = (progress, progress.add_task("", total=None, count="", note=""))
            self._refresh()
            progress.start()

    def _refresh(self) -> None:
        if not self._shown:
            return
        progress, task = self._shown
        step = self._step
        count = f"{step.done:,}/{step.total:,}" if step.total else (f"{step.done:,}" if step.done else "")
        progress.update(
            task,
            description=safe_line(step.stage),
            total=step.total,
            completed=step.done,
            count=count,
            note=clip(safe_line(step.note), NOTE_CELLS),
        )
