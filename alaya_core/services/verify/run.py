"""One verification: looks at everything, says what would mend it, does it when told, and looks again."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from alaya_core.errors import DamagedError
from alaya_core.models.answers import VerifyAnswer
from alaya_core.services.verify.contexts import context_findings
from alaya_core.services.verify.found import Found
from alaya_core.services.verify.ledger import LedgerLook, ledger_findings, look_at_ledger
from alaya_core.services.verify.sessions import session_findings
from alaya_core.services.verify.upkeep import access_findings, home_findings, name_findings
from alaya_core.services.verify.views import dangling_links, graph_findings, graph_unreadable, vector_findings
from alaya_core.services.workspace import Workspace

_LOOKS = 5
"""How often it is looked again when somebody changes the memory meanwhile."""
_ROUNDS = 3
"""How often what is found behind a mended fault is mended in turn."""


def verify(workspace: Workspace, *, fix: bool, yes: bool) -> VerifyAnswer:
    """Compares the layers.

    Args:
        fix: Whether to say what would mend the findings.
        yes: Whether to do that, and look again.

    Raises:
        BusyError: Another process holds what is needed.
        NewerHomeError: A newer version wrote the home.
        ReadOnlyHomeError: It is to be mended and cannot be written.
    """
    with contextlib.suppress(DamagedError):  # what stands in its way is found below
        workspace.tidy()
    workspace.graph.doubt()
    found = _look(workspace)
    plan = [mend.plan for mend in found.mends()] if fix else []
    fixed: list[str] = []
    if fix and yes and plan:
        workspace.require_writable()
        for _ in range(_ROUNDS):
            done, failed = _mended(found)
            fixed += done
            found = _look(workspace)
            for plan_of_it, why in failed:
                found.add_whole("not_mended", "repeat it, or run `alaya doctor`", f"{plan_of_it}: {why}")
            if not done:
                break
    return VerifyAnswer(ok=found.ok, findings=found.findings, checked=dict(found.checked), plan=plan, fixed=fixed)


def _mended(found: Found) -> tuple[list[str], list[tuple[str, str]]]:
    """Does every mend; what was done, and which could not be done, with the reason."""
    done: list[str] = []
    failed: list[tuple[str, str]] = []
    for mend in found.mends():
        try:
            if said := mend.do():
                done.append(said)
        except DamagedError as error:  # damage that stands in the way of one mend says nothing of the others
            failed.append((mend.plan, error.message))
    return done, failed


def _look(workspace: Workspace) -> Found:
    """Everything that is wrong, the memory being as it is at one moment."""
    for _ in range(_LOOKS - 1):
        found, at_rest = _look_once(workspace)
        if at_rest:
            return found
    return _look_once(workspace)[0]


def _look_once(workspace: Workspace) -> tuple[Found, bool]:
    """What is wrong, and whether nobody changed the memory meanwhile."""
    found = Found()
    name_findings(workspace, found)
    ledger = look_at_ledger(workspace)
    ledger_findings(workspace, ledger, found)
    truth, last = ledger.truth, ledger.scan.last_seq
    found.checked.update(commits=last, cards=len(truth.cards), links=len(truth.links), sessions=len(truth.sessions))
    at_rest = _views(workspace, ledger, found)
    if ledger.whole:
        dangling_links(workspace, truth, found)
        _tried(found, lambda: session_findings(workspace, truth, found))
        _tried(found, lambda: context_findings(workspace, truth, found))
    _tried(found, lambda: access_findings(workspace, found))
    home_findings(workspace, found)
    return found, at_rest and (not ledger.sound or workspace.ledger.last_seq() == last)


def _tried(found: Found, look: Callable[[], None]) -> None:
    """Takes a look; a file that the system will not give is a finding, and the rest is looked at."""
    try:
        look()
    except OSError as error:
        if not isinstance(error, IsADirectoryError):  # that one is told as what it is
            found.add("unreadable", [str(error.filename)], "see to its rights, or to the disk", error.strerror or "")


def _views(workspace: Workspace, ledger: LedgerLook, found: Found) -> bool:
    """Compares the views with the ledger, where it is sound: they cannot follow one that is not.

    Returns:
        Whether all stood at the same commit.
    """
    if ledger.graph_fault:
        graph_unreadable(workspace, ledger.graph_fault, found)
        return True
    if not ledger.sound:
        return True
    last = ledger.scan.last_seq
    at_rest = graph_findings(workspace, ledger.truth, last, found)
    if not at_rest:
        found.checked.update(graph_behind=1)
    vector_findings(workspace, ledger.truth, last, found)
    return at_rest
