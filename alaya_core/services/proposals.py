"""What was proposed and what was decided about it, as the ledger tells it."""

from __future__ import annotations

from dataclasses import dataclass, field

from alaya_core.models.commit import Commit
from alaya_core.services.undoing import note_marks
from alaya_core.services.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Proposal:
    """What tidying would do if a person agreed.

    Attributes:
        key: The same for the same proposal about the same texts.
        cards: Ids; of a merge, the one that stays first.
        at: When it was made, ms.
    """

    key: str
    verb: str
    cards: tuple[str, ...]
    score: float | None
    why: str
    at: int


@dataclass(slots=True)
class Proposals:
    """All there ever were.

    Attributes:
        open: Those that nobody decided, by key, oldest first.
        rejected: Keys of what is not to be proposed (or asked) again.
    """

    open: dict[str, Proposal] = field(default_factory=dict)
    rejected: set[str] = field(default_factory=set)


def read_proposals(workspace: Workspace) -> Proposals:
    """What waits for a person, and what was rejected; what was undone counts for nothing."""
    found = Proposals()
    commits = list(workspace.ledger.commits(holding='"proposal.'))
    undone: dict[int, bool] = {}
    for commit in reversed(list(workspace.ledger.commits(commits[0].seq, holding='"commits.')) if commits else []):
        note_marks(commit, undone)
    for commit in commits:
        if not undone.get(commit.seq, False):
            _take(found, commit)
    return found


def _take(found: Proposals, commit: Commit) -> None:
    for event in commit.events:
        if event["kind"] == "proposal.made":
            found.open[event["key"]] = Proposal(
                event["key"], event["verb"], tuple(event["cards"]), event["score"], event["why"], commit.at
            )
        elif event["kind"] == "proposal.judged":
            found.open.pop(event["key"], None)
            if event["verdict"] == "rejected":
                found.rejected.add(event["key"])
