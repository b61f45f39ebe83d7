"""Which commits an undo takes back, and what stands in its way. No I/O.

A commit stands, or it was undone, or it was undone and redone and stands again; the newest commit that says so counts.
Commits that undo or redo are never undone themselves: they say what became of others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field

from alaya_core.models.commit import Commit, Event

UNDONE = "commits.undone"
REDONE = "commits.redone"

Thing = tuple[str, ...]
"""What can be changed: ("card", id), ("link", from, to, relation), ("session", id)."""

_UPKEEP_VERBS = frozenset({"cool", "reheat"})
"""Changes that nobody decided: they stand in nobody's way."""


@dataclass(slots=True)
class Choice:
    """What an undo or a redo is about.

    Attributes:
        targets: The commits to undo (or redo), newest first.
        later: Commits that stand, were made since, and touch the same things; newest first.
    """

    targets: list[Commit] = field(default_factory=list)
    later: list[Commit] = field(default_factory=list)


def newest_standing(backwards: Iterable[Commit], wanted: Callable[[Commit], bool]) -> Commit | None:
    """The newest commit that stands and is wanted, or the redo that made an older one stand again after it.

    An erase is passed over, and what it left nothing of: they cannot be undone, and must not keep what came before them
    from being so.

    Args:
        backwards: Commits, newest first; read only as far as needed, here and below.
        wanted: Whether a commit may be undone by whoever asks.
    """
    undone: dict[int, bool] = {}
    for commit in backwards:
        again = marks_of(commit, REDONE) - undone.keys()
        is_mark = note_marks(commit, undone)
        stands = not (is_mark or undone.get(commit.seq, False) or _is_gone(commit))
        if wanted(commit) and (again or stands):
            return commit
    return None


def newest_undo(backwards: Iterable[Commit], wanted: Callable[[Commit], bool]) -> Commit | None:
    """The newest undo of which something is still undone."""
    undone: dict[int, bool] = {}
    for commit in backwards:
        still = marks_of(commit, UNDONE) - undone.keys()
        note_marks(commit, undone)
        if still and wanted(commit) and not marks_of(commit, REDONE):
            return commit
    return None


def choose(backwards: Iterable[Commit], sought: Set[int], *, undone: bool) -> Choice:
    """Of the sought commits those that are undone (or those that stand), and what stands in their way.

    Args:
        sought: Their seqs; not empty.
    """
    marks: dict[int, bool] = {}
    stand: list[Commit] = []
    targets: list[Commit] = []
    for commit in backwards:
        if commit.seq < min(sought):
            break
        if note_marks(commit, marks):
            continue
        if commit.seq in sought and marks.get(commit.seq, False) == undone:
            targets += [commit] if commit.events else []
        elif not marks.get(commit.seq, False):
            stand.append(commit)
    return Choice(targets, in_the_way(targets, stand) if targets else [])


def in_the_way(targets: Sequence[Commit], later: Iterable[Commit]) -> list[Commit]:
    """The later commits that touch what the targets touch, or that touch what such commits touch; newest first."""
    things = {thing for commit in targets for thing in touched(commit)}
    made = {thing for commit in targets for thing in brought(commit)}
    first = min(commit.seq for commit in targets)
    found: list[Commit] = []
    for commit in sorted(later, key=lambda one: one.seq):
        if commit.seq > first and (touched(commit) & things or needed(commit) & made):
            things |= touched(commit)
            made |= brought(commit)
            found.append(commit)
    return found[::-1]


def note_marks(commit: Commit, undone: dict[int, bool]) -> bool:
    """Takes in what a commit says of earlier ones, unless a newer one said it; whether it says anything."""
    back, again = marks_of(commit, UNDONE), marks_of(commit, REDONE)
    for seqs, is_undone in ((back, True), (again, False)):
        for seq in seqs:
            undone.setdefault(seq, is_undone)
    return bool(back or again)


def marks_of(commit: Commit, kind: str) -> set[int]:
    """The seqs that a commit undoes (or redoes)."""
    return {seq for event in commit.events if event["kind"] == kind for seq in event["seqs"]}


def touched(commit: Commit) -> frozenset[Thing]:
    """The things that a commit changes."""
    return frozenset(thing for event in commit.events for thing in _touched(event))


def brought(commit: Commit) -> frozenset[Thing]:
    """The things that were not there before a commit."""
    return frozenset(
        thing
        for event in commit.events
        if event["kind"] == "card.created" or (event["kind"] == "session.ingested" and event["from_turn"] == 0)
        for thing in _touched(event)
    )


def needed(commit: Commit) -> frozenset[Thing]:
    """The things that must be there for a commit to make sense."""
    return frozenset(thing for event in commit.events for thing in _needed(event))


def _is_gone(commit: Commit) -> bool:
    return not commit.events or any(event["kind"] == "erased" for event in commit.events)


def _touched(event: Event) -> list[Thing]:
    match event["kind"]:
        case "card.created":
            return [("card", event["card"]["id"])]
        case "card.changed":
            return [] if event["verb"] in _UPKEEP_VERBS else [("card", event["id"])]
        case "card.removed":
            return [("card", event["id"])]
        case "link.created" | "link.removed":
            link = event["link"]
            return [("link", link["from_id"], link["to_id"], link["relation"])]
        case "session.ingested":
            return [("session", event["session"]["id"])]
        case "session.distilled" | "session.removed":
            return [("session", event["id"])]
        case _:
            return []


def _needed(event: Event) -> list[Thing]:
    match event["kind"]:
        case "link.created" | "link.removed":
            return [("card", event["link"]["from_id"]), ("card", event["link"]["to_id"])]
        case "card.created" | "card.changed":
            fields = event["card"] if event["kind"] == "card.created" else event["after"]
            sources: list[Thing] = [("session", source["session_id"]) for source in fields.get("sources", ())]
            return [*sources, ("card", fields["successor"])] if fields.get("successor") else sources
        case _:
            return []
