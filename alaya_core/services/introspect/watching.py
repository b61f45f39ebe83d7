"""What runs there were, and the one that runs now, from their files: of this process or of any other."""

from __future__ import annotations

import time
from collections.abc import Iterator

from alaya_core.errors import BusyError, NotFoundError, ReadOnlyHomeError
from alaya_core.models.answers import RunEvent, RunsAnswer, RunView
from alaya_core.progress import CancelToken
from alaya_core.services.introspect.journal import events_of
from alaya_core.services.workspace import Workspace
from alaya_core.stores.runs import RunFiles
from alaya_core.text import safe_line

_LOOK_EVERY_S = 0.2
_DECIDE = ("consolidate", "cool-down", "forget")
"""Phases whose counts are changes of cards and links."""


def list_runs(workspace: Workspace, limit: int) -> RunsAnswer:
    """The last runs, newest first."""
    files = RunFiles(workspace.home.runs)
    alive = _is_running(workspace)
    views = []
    for at, name in enumerate(files.names()[: max(0, limit)]):
        events, _ = events_of(files, name)
        if events:
            views.append(_view(name, events, alive and at == 0))
    return RunsAnswer(runs=views)


def last_whole_run(workspace: Workspace) -> int | None:
    """When the last run of all phases ended well, ms; None = there was none."""
    files = RunFiles(workspace.home.runs)
    for name in files.names():
        events, _ = events_of(files, name)
        if events and events[-1].kind == "end" and events[-1].text == "done":
            whole = next((not event.data.get("phases") for event in events if event.kind == "start"), False)
            if whole:
                return events[-1].at
    return None


def watch(workspace: Workspace, run: str | None, cancel: CancelToken) -> Iterator[RunEvent]:
    """The events of a run as they come; ends with the run, or when its process is gone.

    Args:
        run: Its id, or the beginning of one; None = the newest.

    Raises:
        NotFoundError: There is no such run.
    """
    files = RunFiles(workspace.home.runs)
    name = _named(files, run)
    offset = 0
    while True:
        alive = _is_running(workspace) and name == files.names()[0]
        events, offset = events_of(files, name, offset)
        yield from events
        if (events and events[-1].kind == "end") or not alive:
            return
        if not events:
            cancel.check()
            time.sleep(_LOOK_EVERY_S)


def _named(files: RunFiles, run: str | None) -> str:
    names = files.names()
    if run is None:
        if not names:
            raise NotFoundError("there was no run yet", "start one: alaya introspect")
        return names[0]
    found = [name for name in names if name == run] or [name for name in names if run and name.startswith(run)]
    if len(found) != 1:
        raise NotFoundError(f"there is no run '{safe_line(run)[:80]}'", "alaya introspect --list shows them")
    return found[0]


def _is_running(workspace: Workspace) -> bool:
    """Whether some process is introspecting now."""
    try:
        with workspace.locks.introspecting(timeout_s=0):
            return False
    except BusyError:
        return True
    except ReadOnlyHomeError:  # nobody can be at work there
        return False


def _view(name: str, events: list[RunEvent], alive: bool) -> RunView:
    start, last = events[0], events[-1]
    ended = last.kind == "end"
    phases = [event.phase for event in events if event.phase]
    return RunView(
        run=name,
        started=start.at,
        ended=last.at if ended else None,
        status=last.text if ended else "running" if alive else "cut off",
        by=str(start.data.get("by", "")),
        phase="" if ended or not phases else phases[-1],
        changes=_changes(events),
    )


def _changes(events: list[RunEvent]) -> int:
    """How many things a run did: of a phase that ended by its counts, of one at work as far as they were told."""
    ended = {event.phase: event.data.get("counts", {}) for event in events if event.kind == "phase_end"}
    counted = sum(
        int(count)
        for phase in _DECIDE
        for verb, count in ended.get(phase, {}).items()
        if verb != "skipped" and not verb.endswith("review")
    )
    told = (event for event in events if event.kind == "change" and event.phase not in ended)
    return counted + len([event for event in told if event.data.get("outcome") == "done"])
