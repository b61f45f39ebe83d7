"""What lies around the memory itself: access logs, folded vitals, left-over files, rights, unfinished erasing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from alaya_core.services.verify.found import FIX, Found, counted_are, listed
from alaya_core.services.workspace import Workspace
from alaya_core.stores.access_mending import BrokenBytes, blank, broken_accesses, broken_vitals
from alaya_core.stores.files import close_to_others, leftovers, set_aside
from alaya_core.text import counted

_HOUR_S = 3600


_FILES = (
    "config.json",
    "raw/vitals.jsonl",
    "raw/ledger/*.jsonl",
    "raw/sessions/*/*.json",
    "raw/sessions/*/*.md",
    "raw/sessions/*/*.idx",
    "raw/contexts/*.json",
    "raw/sources/*.zst",
    "raw/accesses/*.jsonl",
)


def name_findings(workspace: Workspace, found: Found) -> None:
    """Looks for folders, and whatever else is no file, under the names of files."""
    root = workspace.home.root
    wrong = [path for pattern in _FILES for path in sorted(root.glob(pattern)) if not path.is_file()]
    names = [path.relative_to(root).as_posix() for path in wrong]
    if found.add("not_a_file", names, FIX, "something else lies where a file belongs"):
        plan = f"{listed(names)} {'is' if len(names) == 1 else 'are'} moved to raw/set-aside"
        found.can("names", plan, lambda: _move_away(workspace, wrong))


def _move_away(workspace: Workspace, wrong: Sequence[Path]) -> str:
    with workspace.locks.writing("verify"):
        aside = [set_aside(path, workspace.home.set_aside / path.parent.name) for path in wrong if not path.is_file()]
    return f"moved {listed([path.name for path in aside])} to raw/set-aside"


def access_findings(workspace: Workspace, found: Found) -> None:
    """Looks at every line of the access logs and of their fold."""
    broken = list(broken_accesses(workspace.home.accesses))
    if found.add("access_torn", [f"{one.path.name}:{one.line}" for one in broken], FIX, "a line is no access"):
        lines = counted(len(broken), "broken line")
        plan = f"{lines} of the access log {'is' if len(broken) == 1 else 'are'} moved to raw/set-aside"
        found.can("accesses", plan, lambda: _blank(workspace, broken))
    folds = workspace.home.raw / "vitals.jsonl"
    if broken_vitals(folds):
        found.add("vitals_broken", [folds.name], FIX, "a line of it cannot be read")
        plan = "raw/vitals.jsonl is moved to raw/set-aside and made anew from the access logs"
        found.can("vitals", plan, lambda: _fold_again(workspace, folds))


def _blank(workspace: Workspace, broken: Sequence[BrokenBytes]) -> str:
    aside = workspace.home.set_aside / "accesses"
    with workspace.locks.writing("verify"):
        for one in broken:
            blank(one, aside)
    return f"moved {counted(len(broken), 'broken line')} of the access log to raw/set-aside"


def _fold_again(workspace: Workspace, folds: Path) -> str:
    with workspace.locks.writing("verify"):
        if not broken_vitals(folds):
            return ""
        set_aside(folds, workspace.home.set_aside)
        workspace.vitals.write_fold(workspace.clock())
    return "made raw/vitals.jsonl anew from the access logs"


def home_findings(workspace: Workspace, found: Found) -> None:
    """Looks at what was left behind, and at who else may read the home."""
    root = workspace.home.root
    before = workspace.clock() / 1000 - _HOUR_S
    left = [path.relative_to(root).as_posix() for path in leftovers(root, before)]
    if found.add("leftover", left, FIX, "a file whose writer died before it had its name"):
        plan = f"{counted_are(len(left), 'half-written file')} removed"
        found.can("leftovers", plan, lambda: _remove(workspace))
    if (workspace.home.raw / "erasing.json").exists():
        step = "any command that opens the home finishes it"
        found.add("erase_unfinished", ["raw/erasing.json"], step, "an erase was interrupted")
    if os.name == "nt":
        return
    found_open = [
        path.relative_to(root).as_posix() or "."
        for path in (root, *root.rglob("*"))
        if not path.is_symlink() and path.exists() and path.stat().st_mode & 0o077
    ]
    if found.add("permissions", found_open, FIX, "others on this machine can read it"):
        found.can("permissions", "the home is closed to others on this machine", lambda: _close(workspace))


def _remove(workspace: Workspace) -> str:
    root, removed = workspace.home.root, 0
    with workspace.locks.writing("verify"):
        for path in leftovers(root, workspace.clock() / 1000 - _HOUR_S):
            path.unlink(missing_ok=True)
            removed += 1
    return f"removed {counted(removed, 'half-written file')}"


def _close(workspace: Workspace) -> str:
    close_to_others(workspace.home.root)
    return "closed the home to others on this machine"
