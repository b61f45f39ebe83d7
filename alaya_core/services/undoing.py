"""Which commits an undo takes back, and what stands in its way. No I/O.

A commit stands, or it was undone, or it was undone and redone and stands again; the newest commit that says so counts.
Commits that undo or redo are never undone themselves: they say what became of others.

What a commit rests on is what stood when it was made: only on that can it be taken back or done again. So an older
commit that was undone then and stands now is in its way too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field

from alaya_core.models.commit import Commit, Event

UNDONE = "commits.undone"
REDONE = "commits.redone"

Thing = tuple[str, ...]
"""What can be changed: ("card", id), ("link", from, to, relation), ("session", id)."""

UPKEEP_VERBS = frozenset({"cool", "reheat", "rise", "sink"})
"""Changes that nobody decided: they stand in nobody's way."""


@dataclass(slots=True)
class Choice:
    """What an undo or a redo is about; all of it newest first.

    Attributes:
        targets: The commits to undo (or redo).
        later: Commits that stand and did not when the targets were made, and touch the same things; and what was made
            on top of such.
        missing: Of a redo: undone commits that the targets were made on top of.
    """

    targets: list[Commit] = field(default_factory=list)
    later: list[Commit] = field(default_factory=list)
    missing: list[Commit] = field(default_factory=list)

    def both(self) -> list[Commit]:
        """The targets and what is in their way: of what lies on each other the upper first, as it must be undone."""
        return sorted([*self.targets, *self.later], key=_by_seq, reverse=True)


class Fates:
    """What became of commits, from all that was said of them since; told newest first."""

    def __init__(self) -> None:
        self._said: dict[int, list[tuple[int, bool]]] = {}

    def note(self, commit: Commit) -> set[int]:
        """Takes in what a commit undoes or redoes.

        Returns:
            The seqs of those.
        """
        back, again = marks_of(commit, UNDONE), marks_of(commit, REDONE)
        for seqs, stands in ((back, False), (again, True)):
            for seq in seqs:
                self._said.setdefault(seq, []).append((commit.seq, stands))
        return back | again

    def stands(self, commit: Commit) -> bool:
        """Whether it was never undone, or redone since."""
        said = self._said.get(commit.seq)
        return said[0][1] if said else True

    def stood(self, commit: Commit, at: int) -> bool:
        """Whether it stood when the commit of a seq was made."""
        known = (stands for seq, stands in self._said.get(commit.seq, ()) if seq < at)
        return next(known, commit.seq < at)


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
    fates = Fates()
    targets: list[Commit] = []
    others: list[Commit] = []
    last = min(sought)
    for commit in backwards:
        if commit.seq < last:
            break
        if marked := fates.note(commit):
            last = min(last, *marked)
        elif commit.seq in sought and fates.stands(commit) != undone:
            targets += [commit] if commit.events else []
        else:
            others.append(commit)
    standing = [commit for commit in others if fates.stands(commit)]
    gone = [commit for commit in others if not fates.stands(commit)]
    return Choice(targets, _in_the_way(targets, standing, fates), _missing(targets, gone, fates) if undone else [])


def _in_the_way(targets: Sequence[Commit], standing: Iterable[Commit], fates: Fates) -> list[Commit]:
    """What was made on top of the targets or instead of them, and what was made on top of that; newest first.

    Args:
        standing: Commits that stand, the targets not among them.
    """
    by_thing: dict[Thing, list[Commit]] = {}
    by_need: dict[Thing, list[Commit]] = {}
    for commit in standing:
        for thing in touched(commit):
            by_thing.setdefault(thing, []).append(commit)
        for thing in needed(commit):
            by_need.setdefault(thing, []).append(commit)
    found: dict[int, Commit] = {}
    todo = list(targets)
    while todo:
        below = todo.pop()
        near = {commit.seq: commit for thing in touched(below) for commit in by_thing.get(thing, ())}
        near |= {commit.seq: commit for thing in brought(below) for commit in by_need.get(thing, ())}
        above = [near[seq] for seq in near.keys() - found.keys() if not fates.stood(near[seq], below.seq)]
        found |= {commit.seq: commit for commit in above}
        todo += above
    return sorted(found.values(), key=_by_seq, reverse=True)


def meets(chosen: Iterable[Commit], fresh: Sequence[Commit]) -> bool:
    """Whether commits made since touch what the chosen ones touch, say what became of them, or erased anything.

    Args:
        fresh: What undoes and redoes counts too, by what it changed.
    """
    seqs: set[int] = set()
    things: set[Thing] = set()
    made: set[Thing] = set()
    for commit in chosen:
        seqs.add(commit.seq)
        things |= touched(commit)
        made |= brought(commit)
    return any(
        touched(commit) & things
        or needed(commit) & made
        or (marks_of(commit, UNDONE) | marks_of(commit, REDONE)) & seqs
        or any(event["kind"] == "erased" for event in commit.events)
        for commit in fresh
    )


def _missing(targets: Iterable[Commit], undone: Iterable[Commit], fates: Fates) -> list[Commit]:
    """Of undone commits those that the targets were made on top of; newest first."""
    touching: dict[Thing, list[int]] = {}
    needing: dict[Thing, list[int]] = {}
    for commit in targets:
        for thing in touched(commit):
            touching.setdefault(thing, []).append(commit.seq)
        for thing in needed(commit):
            needing.setdefault(thing, []).append(commit.seq)

    def under(commit: Commit) -> bool:
        above = [seq for thing in touched(commit) for seq in touching.get(thing, ())]
        above += [seq for thing in brought(commit) for seq in needing.get(thing, ())]
        return any(fates.stood(commit, seq) for seq in above)

    return [commit for commit in undone if under(commit)]


def _by_seq(commit: Commit) -> int:
    """The order of commits."""
    return commit.seq


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
            return [] if event["verb"] in UPKEEP_VERBS else [("card", event["id"])]
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
