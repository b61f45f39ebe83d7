"""Looking without searching: one card with its neighbours, and lists of cards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from alaya_core.errors import UsageError
from alaya_core.models.answers import CardAnswer, CardList, SourceView
from alaya_core.models.card import Card
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
