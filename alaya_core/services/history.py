"""History: what happened to the memory, or to one card, in words, field by field."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from alaya_core.errors import NotFoundError
from alaya_core.models.answers import CommitView, HistoryAnswer
from alaya_core.models.commit import Commit, Event, event_cards
from alaya_core.services.field_changes import UNTOLD, field_changes
from alaya_core.services.lookup import LEAST, PREFIX, find_card
from alaya_core.services.undoing import REDONE, UNDONE, marks_of, note_marks
from alaya_core.services.workspace import Workspace

_MOST_SOUGHT = 20
_NAMES_OTHERS = ("sources", "successor", "merged_from")
"""Fields of a card that name sessions and other cards."""


def history(workspace: Workspace, reference: str | None, *, limit: int) -> HistoryAnswer:
    """What happened to the memory, or to one card, newest first.

    Raises:
        NotFoundError, AmbiguousIdError: No such card.
    """
    if reference is not None:
        return _of_card(workspace, reference, limit)
    if workspace.agent is not None:
        return _as_told(workspace, list(workspace.ledger.commits()), limit)
    last = workspace.ledger.last_seq()
    commits = list(workspace.ledger.commits(max(0, last - max(0, limit))))[-limit:] if limit > 0 else []
    views = commit_views(workspace, commits[::-1])
    return HistoryAnswer(commits=[view for view in views if view.what], total=last)


def _of_card(workspace: Workspace, reference: str, limit: int) -> HistoryAnswer:
    ids = _ids(workspace, reference)
    commits = {
        commit.seq: commit
        for card_id in ids
        for commit in workspace.ledger.commits(holding=card_id)
        if any(card_id in event_cards(event) for event in commit.events)
    }
    ordered = [commits[seq] for seq in sorted(commits)]
    changes = field_changes(ordered, ids)
    if workspace.agent is not None:
        answer = _as_told(workspace, ordered, limit, cards=ids)
        for view in answer.commits:
            view.changes = [change for change in changes.get(view.seq, []) if change.field not in _NAMES_OTHERS]
        return answer
    shown = ordered[-limit:] if limit > 0 else []
    views = commit_views(workspace, shown[::-1], cards=ids)
    for view in views:
        view.changes = changes.get(view.seq, [])
    return HistoryAnswer(commits=[view for view in views if view.what], total=len(ordered))


def _as_told(
    workspace: Workspace, commits: Sequence[Commit], limit: int, *, cards: set[str] | None = None
) -> HistoryAnswer:
    """What an agent may know of commits: what is hidden takes no place in it, and is not counted.

    Args:
        commits: Oldest first; of each card that they change, all from its making on.
    """
    scopes = workspace.visible_scopes() or []
    views = commit_views(workspace, commits[::-1], cards=cards, hidden=_hidden_then(commits, scopes))
    told = [view for view in views if view.what]
    for view in told:
        view.events = [dict(_without_others(event)) for event in view.events]
    return HistoryAnswer(commits=told[: max(0, limit)], total=len(told))


def _without_others(event: Event) -> Event:
    """An event without the sessions and cards that it names besides: they may be hidden."""
    return {
        name: {key: each for key, each in value.items() if key not in _NAMES_OTHERS}
        if isinstance(value, dict)
        else value
        for name, value in event.items()
    }


def _hidden_then(commits: Iterable[Commit], scopes: Sequence[str]) -> set[tuple[int, int]]:
    """The events, by commit and place, of cards that stood in a hidden scope before or after them."""
    scope_of: dict[str, str] = {}
    found: set[tuple[int, int]] = set()
    for commit in commits:
        for at, event in enumerate(commit.events):
            stood = [scope_of[card] for card in event_cards(event) if card in scope_of]
            if event["kind"] == "card.created":
                scope_of[event["card"]["id"]] = event["card"]["scope"]
            elif event["kind"] == "card.changed" and "scope" in event["after"]:
                scope_of[event["id"]] = event["after"]["scope"]
            stands = [scope_of[card] for card in event_cards(event) if card in scope_of]
            if any(scope not in scopes for scope in (*stood, *stands)):
                found.add((commit.seq, at))
    return found


def _ids(workspace: Workspace, reference: str) -> set[str]:
    """A card and those it absorbed; also one whose making was undone, which only the ledger knows."""
    with workspace.graph.reading() as reader:
        try:
            card = find_card(reader, reference, workspace.visible_scopes(), forgotten=True)
        except NotFoundError:
            known = reader.find_ids(_whole(reference), 1)  # what is there and hidden is not sought in the ledger
            gone = None if known else _undone_card(workspace, reference)
            if gone is None:
                raise
            return {gone}
    return {card.id, *card.merged_from}


def _undone_card(workspace: Workspace, reference: str) -> str | None:
    wanted = _whole(reference)
    scopes = workspace.visible_scopes()
    found = {
        event["card"]["id"]
        for commit in (workspace.ledger.commits(holding=wanted) if len(wanted) >= len(PREFIX) + LEAST else ())
        for event in commit.events
        if event["kind"] == "card.created"
        and event["card"]["id"].startswith(wanted)
        and (scopes is None or event["card"]["scope"] in scopes)
    }
    return found.pop() if len(found) == 1 else None


def _whole(reference: str) -> str:
    return reference if reference.startswith(PREFIX) else PREFIX + reference


def commit_views(
    workspace: Workspace,
    commits: Sequence[Commit],
    *,
    cards: set[str] | None = None,
    hidden: Set[tuple[int, int]] = frozenset(),
) -> list[CommitView]:
    """Commits told to whoever asks, in the given order.

    Args:
        cards: Tell only what happened to these; None = everything.
        hidden: Events, by commit and place, that are not told.
    """
    titles = _titles(workspace, commits)
    undone: dict[int, bool] = {}
    if commits:
        since = min(commit.seq for commit in commits)
        for commit in reversed(list(workspace.ledger.commits(since, holding='"commits.'))):
            note_marks(commit, undone)
    agent = workspace.agent
    return [_view(commit, titles, cards, agent, undone.get(commit.seq, False), hidden) for commit in commits]


def said(workspace: Workspace, commit: Commit) -> list[str]:
    """A commit in sentences, as far as whoever asks may see it."""
    return _view(commit, _titles(workspace, [commit]), None, workspace.agent, False).what


def _titles(workspace: Workspace, commits: Iterable[Commit]) -> dict[str, str]:
    """Titles of the cards that commits name and whoever asks may see; of a card that is no more, as it was made."""
    scopes = workspace.visible_scopes()
    created = {
        event["card"]["id"]: (event["card"]["title"], event["card"]["scope"])
        for commit in commits
        for event in commit.events
        if event["kind"] == "card.created"
    }
    mentioned = {key for commit in commits for event in commit.events for key in event_cards(event)}
    with workspace.graph.reading() as reader:
        known = {key: (card.title, card.scope) for key, card in reader.cards(mentioned).items()}
    gone = sorted(mentioned - known.keys() - created.keys())
    told = created | known | {key: _as_made(workspace, key) for key in gone[:_MOST_SOUGHT]}
    told |= {key: ("", "") for key in gone[_MOST_SOUGHT:] if scopes is None}
    return {key: title for key, (title, scope) in told.items() if scopes is None or scope in scopes}


def _as_made(workspace: Workspace, card_id: str) -> tuple[str, str]:
    """Title and scope of a card that is no more."""
    for commit in workspace.ledger.commits(holding=card_id):
        for event in commit.events:
            if event["kind"] == "card.created" and event["card"]["id"] == card_id:
                return event["card"]["title"], event["card"]["scope"]
    return "", ""


def _view(
    commit: Commit,
    titles: dict[str, str],
    cards: set[str] | None,
    agent: str | None,
    undone: bool,
    hidden: Set[tuple[int, int]] = frozenset(),
) -> CommitView:
    events = [
        event
        for at, event in enumerate(commit.events)
        if (cards is None or cards & set(event_cards(event)))
        and (commit.seq, at) not in hidden
        and _may_see(event, titles, agent)
    ]
    return CommitView(
        seq=commit.seq,
        id=commit.id,
        at=commit.at,
        actor=commit.actor,
        run=commit.run or None,
        what=[_said(event, titles) for event in events if event["kind"] not in (UNDONE, REDONE)] or _about(events),
        why=_why(commit, events),
        undone=undone,
        cards=list(dict.fromkeys(key for event in events for key in event_cards(event))),
        events=[dict(event) for event in events],
    )


def _may_see(event: Event, titles: dict[str, str], agent: str | None) -> bool:
    """Whether whoever asks may see an event: the owner all, an agent those of cards it sees and of its own sessions."""
    if agent is None:
        return True
    if event["kind"].startswith("session."):
        return bool(event.get("session", {}).get("agent") == agent)
    if event["kind"] in (UNDONE, REDONE, "erased", "proposal.made", "proposal.judged"):
        return False
    return all(key in titles for key in event_cards(event))


def _about(events: Iterable[Event]) -> list[str]:
    """What a commit says that changes nothing by itself."""
    return [f"{'undid' if event['kind'] == UNDONE else 'redid'} {_seqs(event['seqs'])}" for event in events]


def _why(commit: Commit, events: Iterable[Event]) -> str:
    back, again = marks_of(commit, UNDONE), marks_of(commit, REDONE)
    parts = [
        f"undoes {_seqs(sorted(back))}" if back else "",
        f"redoes {_seqs(sorted(again))}" if again else "",
        *(event["why"] for event in events if event["kind"] == "card.changed"),
        *(
            f"distilled from session {event['id']} by {event['by']}"
            for event in events
            if event["kind"] == "session.distilled" and event["status"] != "undone"
        ),
    ]
    return "; ".join(dict.fromkeys(part for part in parts if part))


def _seqs(seqs: Sequence[int]) -> str:
    listed = ", ".join(f"#{seq}" for seq in seqs[:8])
    return listed + (f" and {len(seqs) - 8} more" if len(seqs) > 8 else "")


def _said(event: Event, titles: dict[str, str]) -> str:
    """One event as a sentence."""
    match event["kind"]:
        case "card.created":
            return f'new card "{event["card"]["title"]}"'
        case "card.changed":
            changed = ", ".join(name for name in event["after"] if name not in UNTOLD)
            return f'{event["verb"]} "{titles.get(event["id"], "")}" ({changed})'
        case "card.removed":
            return f'took back the making of "{titles.get(event["id"], "") or event["id"]}"'
        case "link.created" | "link.removed":
            link, made = event["link"], event["kind"] == "link.created"
            ends = f'"{titles.get(link["from_id"], "")}" {link["relation"]} "{titles.get(link["to_id"], "")}"'
            return f"{'link' if made else 'unlink'} {ends}"
        case "session.ingested":
            info = event["session"]
            new = info["turns"] - event["from_turn"]
            if new <= 0:
                return f"session {info['id']} has {info['turns']} turns again"
            return f"{'grew' if event['from_turn'] else 'new'} session {info['id']} ({new} turns)"
        case "session.removed":
            return f"took back session {event['id']}"
        case "session.distilled":
            undone = event["status"] == "undone"
            return f"session {event['id']} is to be distilled again" if undone else f"distilled session {event['id']}"
        case "proposal.made":
            ends = " and ".join(f'"{titles.get(key, "")}"' for key in event["cards"])
            return f"proposed to {event['verb']} {ends}"
        case "proposal.judged":
            return f"{event['verdict']} a proposal ({event['by']})"
        case _:
            return "erased a turn" if event["what"] == "turns" else f"erased a {event['what']}"
