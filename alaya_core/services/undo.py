"""Undo and redo: commits taken back by commits that say the opposite; the ledger only grows."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from alaya_core.errors import ConflictError, NotFoundError
from alaya_core.models.answers import UndoAnswer
from alaya_core.models.commit import Commit, Event, commits_redone, commits_undone, event_cards, link_from_json
from alaya_core.services.history import commit_views, said
from alaya_core.services.priors import Priors, priors_of
from alaya_core.services.taking_back import Present, done_again, taken_back
from alaya_core.services.undoing import (
    REDONE,
    UNDONE,
    Choice,
    choose,
    marks_of,
    meets,
    newest_standing,
    newest_undo,
)
from alaya_core.services.workspace import Workspace
from alaya_core.stores.folding import link_key, session_ids
from alaya_core.stores.graph_read import GraphReader
from alaya_core.text import safe_line

_EVENTS_AT_ONCE = 2_000
_LISTED = 8
_TRIES = 3
_FEW_LINKS = 50

Step = tuple[Commit, bool]
"""A commit, and whether it is done again (else it is taken back)."""


def undo(workspace: Workspace, *, run: str | None, cascade: bool) -> UndoAnswer:
    """Takes back the last change of whoever asks (with the rest of its run), or a whole run.

    Args:
        run: The run; None = the last change by hand that stands.
        cascade: Whether to take back first what touched the same things since.

    Raises:
        NotFoundError: There is nothing to undo. ConflictError: Something changed since; the message lists it.
    """

    def find() -> Choice:
        sought = _of_run(workspace, run) if run else _last(workspace)
        choice = choose(workspace.ledger.commits_backwards(), sought, undone=False)
        if not choice.targets:
            raise NotFoundError("all of this was undone already", "`alaya redo` does it again")
        return choice

    answer = _do(workspace, find, cascade, "undo", run)
    return UndoAnswer(undone=answer.undone, run=answer.run, note=answer.note)


def redo(workspace: Workspace, *, run: str | None, cascade: bool) -> UndoAnswer:
    """Does again what was undone last, or what a run undid, or an undone run (or redo) itself.

    Raises:
        NotFoundError, ConflictError: As for `undo`.
    """

    def find() -> Choice:
        sought = _undone_by(workspace, run)
        choice = choose(workspace.ledger.commits_backwards(), sought, undone=True)
        if not choice.targets:
            raise NotFoundError("none of this is undone", "`alaya history` shows what is")
        return choice

    answer = _do(workspace, find, cascade, "redo", run)
    return UndoAnswer(redone=answer.redone, undone=answer.undone, run=answer.run, note=answer.note)


def _do(workspace: Workspace, find: Callable[[], Choice], cascade: bool, verb: str, named: str | None) -> UndoAnswer:
    """Undoes (or redoes) what is found; where another process was quicker, what is found then.

    Args:
        named: The run that was asked for.
    """
    workspace.require_writable()
    for _ in range(_TRIES - 1):
        with contextlib.suppress(_OvertakenError):
            return _do_once(workspace, find, cascade, verb, named)
    return _do_once(workspace, find, cascade, verb, named)


class _OvertakenError(ConflictError):
    """Somebody touched the same things between the choice and the commit; nothing was changed."""

    retryable = True


def _do_once(
    workspace: Workspace, find: Callable[[], Choice], cascade: bool, verb: str, named: str | None
) -> UndoAnswer:
    """Undoes (or redoes) in pieces, each one commit. What is in the way is undone first."""
    seen = workspace.ledger.last_seq()
    choice = _clear(workspace, find(), cascade, verb, named)
    run = workspace.new_run()
    if verb == "undo":
        steps = [(commit, False) for commit in choice.both()]
    else:
        steps = [(commit, False) for commit in choice.later] + [(commit, True) for commit in choice.targets[::-1]]
    chosen = [commit for commit, _ in steps]
    told = {view.seq: view for view in commit_views(workspace, chosen)}
    priors = priors_of(workspace.ledger.commits(), [commit for commit, again in steps if not again])
    for piece in _pieces(steps):

        def plan(reader: GraphReader, piece: Sequence[Step] = piece, seen: int = seen) -> list[Event]:
            if meets(chosen, list(workspace.ledger.commits(seen))):
                raise _OvertakenError("another process changed the same things meanwhile", "look at it and repeat")
            return _events(workspace, reader, piece, priors)

        done = workspace.commit(verb, plan, run=run)
        seen = done.seq if done else seen
    return UndoAnswer(
        undone=[told[commit.seq] for commit, again in steps if not again],
        redone=[told[commit.seq] for commit, again in steps if again],
        run=run,
    )


def _clear(workspace: Workspace, choice: Choice, cascade: bool, verb: str, named: str | None) -> Choice:
    """The choice, if nothing is in its way, or what is may be undone first."""
    if choice.missing:
        raise ConflictError(
            f"not redone, because of what it rests on and is undone: {_listed(workspace, choice.missing[::-1])}",
            f"`alaya redo --run {choice.missing[-1].seq}` does that first",
        )
    if choice.later and not cascade:
        run = f" --run {safe_line(named).removeprefix('#')[:80]}" if named else ""
        raise ConflictError(
            f"not {'undone' if verb == 'undo' else 'redone'}, because of changes made since: "
            f"{_listed(workspace, choice.later)}",
            f"`alaya {verb}{run} --cascade` undoes those first, newest first",
        )
    hidden = [commit for commit in (*choice.targets, *choice.later) if not _own(workspace, commit)]
    if hidden:
        raise ConflictError(f"#{hidden[0].seq} was made by {hidden[0].actor}", "the owner can undo it, without --agent")
    return choice


def _listed(workspace: Workspace, commits: Sequence[Commit]) -> str:
    listed = "; ".join(f"#{commit.seq} {_short(workspace, commit)}" for commit in commits[:_LISTED])
    return listed + (f"; and {len(commits) - _LISTED} more" if len(commits) > _LISTED else "")


def _own(workspace: Workspace, commit: Commit) -> bool:
    """Whether whoever asks may take a commit back: the owner all, an agent its own."""
    return workspace.agent is None or commit.actor == workspace.actor


def _last(workspace: Workspace) -> set[int]:
    found = newest_standing(workspace.ledger.commits_backwards(), lambda commit: commit.actor == workspace.actor)
    if found is None:
        raise NotFoundError("there is nothing to undo", "`alaya history` shows the changes; --run undoes any of them")
    return _of_run(workspace, found.run) if found.run else {found.seq}


def _of_run(workspace: Workspace, run: str) -> set[int]:
    """The commits of a run; of one that redid others, those."""
    commits = _named(workspace, run)
    again = {seq for commit in commits for seq in marks_of(commit, REDONE)}
    if not again and any(marks_of(commit, UNDONE) for commit in commits):
        raise NotFoundError("that run is itself an undo", f"alaya redo --run {safe_line(run)[:80]}")
    return again or {commit.seq for commit in commits}


def _named(workspace: Workspace, run: str) -> list[Commit]:
    """The commits of a run, or the one of a number (`#12`) as the history shows it."""
    if re.fullmatch(r"#?[0-9]{1,18}", run):
        number = int(run.removeprefix("#"))
        commits = [commit for commit in islice(workspace.ledger.commits(max(0, number - 1)), 1) if commit.seq == number]
    else:
        commits = [commit for commit in workspace.ledger.commits(holding=run) if run and commit.run == run]
    if not commits:
        raise NotFoundError(f"there is no run '{safe_line(run)[:80]}'", "`alaya history` shows them")
    return commits


def _undone_by(workspace: Workspace, run: str | None) -> set[int]:
    """What a run undid; of one that only redid others, those; of any other, its own commits."""
    if run is None:
        found = newest_undo(workspace.ledger.commits_backwards(), lambda commit: commit.actor == workspace.actor)
        if found is None:
            raise NotFoundError("there is nothing to redo", "only what was undone can be done again")
        run = found.run
    commits = _named(workspace, run)
    back = {seq for commit in commits for seq in marks_of(commit, UNDONE)}
    again = {seq for commit in commits for seq in marks_of(commit, REDONE)}
    return back or again or {commit.seq for commit in commits}


def _pieces(steps: Sequence[Step]) -> Iterator[list[Step]]:
    piece: list[Step] = []
    events = 0
    for commit, again in steps:
        piece.append((commit, again))
        events += len(commit.events)
        if events >= _EVENTS_AT_ONCE:
            yield piece
            piece, events = [], 0
    if piece:
        yield piece


def _events(workspace: Workspace, reader: GraphReader, piece: Sequence[Step], priors: Priors) -> list[Event]:
    present = _present(workspace, reader, [commit for commit, _ in piece])
    events: list[Event] = []
    for commit, again in piece:
        events += done_again(commit, present) if again else taken_back(commit, present, priors)
    back = [commit.seq for commit, again in piece if not again]
    forth = [commit.seq for commit, again in piece if again]
    if back:
        events.append(commits_undone(back))
    if forth:
        events.append(commits_redone(forth))
    return events


def _present(workspace: Workspace, reader: GraphReader, commits: Sequence[Commit]) -> Present:
    """Everything that these commits touch, as it is now."""
    cards = {card for commit in commits for event in commit.events for card in event_cards(event)}
    keys = {
        link_key(link_from_json(event["link"]))
        for commit in commits
        for event in commit.events
        if event["kind"].startswith("link.")
    }
    if len(keys) > _FEW_LINKS:
        links = reader.all_links()
    else:
        links = [link for a, b in {key[:2] for key in keys} for link in reader.links_between(a, b)]
    infos = {key: reader.session(key) for commit in commits for key in session_ids(commit)}
    return Present(
        workspace.clock(),
        reader.cards(cards),
        {link_key(link): link for link in links if link_key(link) in keys},
        {key: info for key, info in infos.items() if info is not None},
    )


def _short(workspace: Workspace, commit: Commit) -> str:
    what = said(workspace, commit)
    return what[0] + (f" and {len(what) - 1} more" if len(what) > 1 else "") if what else commit.actor
