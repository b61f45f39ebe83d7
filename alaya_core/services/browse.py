"""Looking without searching: one card with its neighbours, lists of cards, and what happened to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from alaya_core.errors import UsageError
from alaya_core.models.answers import CardAnswer, CardList, CommitView, HistoryAnswer, SourceView
from alaya_core.models.card import Card
from alaya_core.models.commit import Commit, Event, event_cards
from alaya_core.models.requests import SORTS, Filters
from alaya_core.services.card_views import Now, card_row, card_view, related, shown
from alaya_core.services.lookup import find_card
from alaya_core.services.workspace import Workspace


def show(workspace: Workspace, reference: str, *, neighbours: int, forgotten: bool = False) -> CardAnswer:
    """A card in full, with its strongest neighbours.

    Raises:
        NotFoundError, AmbiguousIdError: No such card.
    """
    scopes = workspace.visible_scopes()
    with workspace.graph.reading() as reader:
        card = find_card(reader, reference, scopes, forgotten=forgotten)
        around = reader.neighbours([card.id])[card.id]
    return CardAnswer(
        card=card_view(card, workspace.now()),
        related=related(card.id, around, scopes, neighbours),
        related_total=len({neighbour.card_id for neighbour in around if shown(neighbour, scopes)}),
        sources=[SourceView(session_id=source.session_id, turns=list(source.turns)) for source in card.sources],
    )


def list_cards(workspace: Workspace, filters: Filters, *, sort: str, limit: int, offset: int) -> CardList:
    """A page of the cards that pass the filters.

    Args:
        sort: One of `SORTS`.

    Raises:
        UsageError: An unknown order, or a page that cannot be.
    """
    if sort not in SORTS:
        raise UsageError(f"cannot sort by '{sort}'", f"one of: {', '.join(SORTS)}")
    if limit < 0 or offset < 0:
        raise UsageError("a page begins at 0 or later and has 0 cards or more", "use --limit and --offset from 0 on")
    scopes = workspace.visible_scopes()
    now = workspace.now()
    with workspace.graph.reading() as reader:
        if sort in ("recent", "importance", "title") and not filters.tier:
            cards, total = reader.page(filters, scopes, sort, limit, offset)
            degrees = reader.degrees([card.id for card in cards], scopes) if cards else {}
        else:
            matching = reader.matching(filters, scopes, None)
            degrees = reader.degrees(scopes=scopes)
            if filters.tier:
                matching = [card for card in matching if str(now.tier(card)) in filters.tier]
            matching.sort(key=_order(sort, now, degrees))
            cards, total = matching[offset : offset + limit], len(matching)
    rows = [card_row(card, now, degrees.get(card.id, 0)) for card in cards]
    return CardList(cards=rows, total=total, sort=sort)


def history(workspace: Workspace, reference: str | None, *, limit: int) -> HistoryAnswer:
    """What happened to the memory, or to one card, newest first.

    Raises:
        NotFoundError, AmbiguousIdError: No such card.
    """
    with workspace.graph.reading() as reader:
        card = find_card(reader, reference, workspace.visible_scopes(), forgotten=True) if reference else None
        last = workspace.ledger.last_seq()
        if card is not None:
            commits = [commit for commit in workspace.ledger.commits(holding=card.id) if _touches(commit, card.id)]
            total = len(commits)
        else:
            commits, total = list(workspace.ledger.commits(max(0, last - max(0, limit)))), last
        commits = commits[-limit:] if limit > 0 else []
        mentioned = {card_id for commit in commits for event in commit.events for card_id in event_cards(event)}
        scopes = workspace.visible_scopes()
        cards = reader.cards(mentioned)
    titles = {key: found.title for key, found in cards.items() if scopes is None or found.scope in scopes}
    views = [_commit_view(commit, titles, card.id if card else None, workspace.agent) for commit in reversed(commits)]
    return HistoryAnswer(commits=[view for view in views if view.what], total=total)


def _order(sort: str, now: Now, degrees: dict[str, int]) -> Callable[[Card], tuple[Any, ...]]:
    orders: dict[str, Callable[[Card], tuple[Any, ...]]] = {
        "recent": lambda card: (-card.updated_at, card.id),
        "importance": lambda card: (-card.importance, card.id),
        "title": lambda card: (card.title.lower(), card.id),
        "hottest": lambda card: (-now.temperature(card), card.id),
        "coldest": lambda card: (now.temperature(card), card.id),
        "linked": lambda card: (-degrees.get(card.id, 0), card.id),
        "used": lambda card: (-now.of(card).access_count, -now.of(card).last_access, card.id),
    }
    return orders[sort]


def _touches(commit: Commit, card_id: str) -> bool:
    return any(card_id in event_cards(event) for event in commit.events)


def _commit_view(commit: Commit, titles: dict[str, str], card_id: str | None, agent: str | None) -> CommitView:
    events = [
        event
        for event in commit.events
        if (card_id is None or card_id in event_cards(event)) and _may_see(event, titles, agent)
    ]
    return CommitView(
        seq=commit.seq,
        id=commit.id,
        at=commit.at,
        actor=commit.actor,
        run=commit.run or None,
        what=[_said(event, titles) for event in events],
        cards=list(dict.fromkeys(key for event in events for key in event_cards(event))),
        events=[dict(event) for event in events],
    )


def _may_see(event: Event, titles: dict[str, str], agent: str | None) -> bool:
    """Whether whoever asks may see an event: the owner all, an agent those of cards it sees and of its own sessions."""
    if agent is None:
        return True
    if event["kind"].startswith("session."):
        return bool(event.get("session", {}).get("agent") == agent)
    return all(key in titles for key in event_cards(event))


def _said(event: Event, titles: dict[str, str]) -> str:
    """One event as a sentence."""
    match event["kind"]:
        case "card.created":
            return f'new card "{event["card"]["title"]}"'
        case "card.changed":
            changed = ", ".join(name for name in event["after"] if name != "updated_at")
            return f'{event["verb"]} "{titles.get(event["id"], "")}" ({changed})'
        case "link.created" | "link.removed":
            link, made = event["link"], event["kind"] == "link.created"
            ends = f'"{titles.get(link["from_id"], "")}" {link["relation"]} "{titles.get(link["to_id"], "")}"'
            return f"{'link' if made else 'unlink'} {ends}"
        case "session.ingested":
            info = event["session"]
            new = info["turns"] - event["from_turn"]
            return f"{'grew' if event['from_turn'] else 'new'} session {info['id']} ({new} turns)"
        case _:
            return f"distilled session {event['id']}"
