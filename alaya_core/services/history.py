"""History: what happened to the memory, or to one card, in words, field by field."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

from alaya_core.models.answers import CommitView, FieldChange, HistoryAnswer
from alaya_core.models.commit import Commit, Event, card_to_json, event_cards
from alaya_core.services.lookup import find_card
from alaya_core.services.undoing import REDONE, UNDONE, marks_of, note_marks
from alaya_core.services.workspace import Workspace
from alaya_core.stores.folding import fold

_UNTOLD = ("rev", "updated_at")
_SHORT = 120
_AROUND = 1
"""Lines of a text that are shown around a change."""


def history(workspace: Workspace, reference: str | None, *, limit: int) -> HistoryAnswer:
    """What happened to the memory, or to one card, newest first.

    Raises:
        NotFoundError, AmbiguousIdError: No such card.
    """
    if reference is not None:
        return _of_card(workspace, reference, limit)
    last = workspace.ledger.last_seq()
    commits = list(workspace.ledger.commits(max(0, last - max(0, limit))))[-limit:] if limit > 0 else []
    views = commit_views(workspace, commits[::-1])
    return HistoryAnswer(commits=[view for view in views if view.what], total=last)


def _of_card(workspace: Workspace, reference: str, limit: int) -> HistoryAnswer:
    with workspace.graph.reading() as reader:
        card = find_card(reader, reference, workspace.visible_scopes(), forgotten=True)
    ids = {card.id, *card.merged_from}
    commits = {
        commit.seq: commit
        for card_id in ids
        for commit in workspace.ledger.commits(holding=card_id)
        if any(card_id in event_cards(event) for event in commit.events)
    }
    ordered = [commits[seq] for seq in sorted(commits)]
    changes = field_changes(ordered, ids)
    shown = ordered[-limit:] if limit > 0 else []
    views = commit_views(workspace, shown[::-1], cards=ids)
    for view in views:
        view.changes = changes.get(view.seq, [])
    return HistoryAnswer(commits=[view for view in views if view.what], total=len(ordered))


def commit_views(workspace: Workspace, commits: Sequence[Commit], *, cards: set[str] | None = None) -> list[CommitView]:
    """Commits told to whoever asks, in the given order.

    Args:
        cards: Tell only what happened to these; None = everything.
    """
    titles = _titles(workspace, commits)
    undone: dict[int, bool] = {}
    if commits:
        for commit in reversed(list(workspace.ledger.commits(min(commit.seq for commit in commits)))):
            note_marks(commit, undone)
    return [_view(commit, titles, cards, workspace.agent, undone.get(commit.seq, False)) for commit in commits]


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
    gone = mentioned - known.keys() - created.keys()
    told = created | known | {key: ("", "") for key in gone if scopes is None}
    return {key: title for key, (title, scope) in told.items() if scopes is None or scope in scopes}


def _view(
    commit: Commit, titles: dict[str, str], cards: set[str] | None, agent: str | None, undone: bool
) -> CommitView:
    events = [
        event
        for event in commit.events
        if (cards is None or cards & set(event_cards(event))) and _may_see(event, titles, agent)
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
    if event["kind"] in (UNDONE, REDONE, "erased"):
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
            changed = ", ".join(name for name in event["after"] if name not in _UNTOLD)
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
        case _:
            return f"erased a {event['what']}"


def field_changes(commits: Sequence[Commit], ids: set[str]) -> dict[int, list[FieldChange]]:
    """Per commit, what became of the fields of some cards.

    Args:
        commits: All that name these cards, in order.
    """
    found: dict[int, list[FieldChange]] = {}
    state: dict[str, dict[str, Any]] = {}
    cards: dict[str, Any] = {}
    for commit in commits:
        folded = fold([commit], cards, {})
        for card_id in ids & folded.removed:
            state.pop(card_id, None)
            cards.pop(card_id, None)
        for card_id in ids & folded.cards.keys():
            cards[card_id] = folded.cards[card_id]
            before, after = state.get(card_id), card_to_json(cards[card_id])
            state[card_id] = after
            if before is not None:
                found.setdefault(commit.seq, []).extend(_changes(card_id, before, after))
    return found


def _changes(card_id: str, before: dict[str, Any], after: dict[str, Any]) -> list[FieldChange]:
    names = [name for name in after if after[name] != before[name] and name not in _UNTOLD]
    return [_change(card_id, name, before[name], after[name]) for name in names]


def _change(card_id: str, name: str, before: Any, after: Any) -> FieldChange:
    if isinstance(before, list) and all(isinstance(item, str) for item in (*before, *after)):
        went, came = [item for item in before if item not in after], [item for item in after if item not in before]
        told = [*(f"- {item}" for item in went), *(f"+ {item}" for item in came)]
        return FieldChange(card_id=card_id, field=name, before=", ".join(before), after=", ".join(after), diff=told)
    old, new = _text(before), _text(after)
    if max(len(old), len(new)) <= _SHORT and "\n" not in old + new:
        return FieldChange(card_id=card_id, field=name, before=old, after=new)
    return FieldChange(card_id=card_id, field=name, before=old, after=new, diff=text_diff(old, new))


def text_diff(before: str, after: str) -> list[str]:
    """The lines that went (`- `), came (`+ `) and stand around them (`  `)."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=_AROUND, lineterm=""))[2:]
    return [f"{line[0]} {line[1:]}" if line[0] in "+- " else "  ..." for line in lines][1:]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
