"""Looking without searching: one card with its neighbours, and lists of cards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from alaya_core.errors import AmbiguousIdError, NotFoundError, UsageError
from alaya_core.models.answers import CardAnswer, SourceView
from alaya_core.models.answers.recall import FilteredList
from alaya_core.models.card import Card
from alaya_core.models.requests import SORTS, Filters
from alaya_core.services.card_views import Now, card_row, card_view, related, shown
from alaya_core.services.lookup import LEAST, as_seen, find_card
from alaya_core.services.recall.emptied import active, card_thing, close_to, counts, names_of, passes, unknown_names
from alaya_core.services.workspace import Workspace
from alaya_core.stores.graph_read import GraphReader
from alaya_core.text import safe_line, storable

_BEYOND_THE_GRAPH = ("tier", "importance", "without_origin")
"""Filters that are judged card by card: the first depends on the time, the graph is not asked for the others."""


def show(workspace: Workspace, reference: str, *, neighbours: int, forgotten: bool = False) -> CardAnswer:
    """A card in full, with its strongest neighbours.

    Raises:
        NotFoundError, AmbiguousIdError: No such card.
    """
    scopes = workspace.visible_scopes()
    with workspace.graph.reading() as reader:
        found = find_card(reader, reference, scopes, forgotten=forgotten)
        card = as_seen(reader, [found], scopes)[found.id]
        around = reader.neighbours([card.id], scopes)[card.id]
    return CardAnswer(
        card=card_view(card, workspace.now()),
        related=related(card.id, around, scopes, neighbours),
        related_total=len({neighbour.card_id for neighbour in around if shown(neighbour, scopes)}),
        sources=[SourceView(session_id=source.session_id, turns=list(source.turns)) for source in card.sources],
    )


def list_cards(workspace: Workspace, filters: Filters, *, sort: str, limit: int, offset: int) -> FilteredList:
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
        beyond = [name for name in active(filters) if name in _BEYOND_THE_GRAPH]
        if sort in ("recent", "importance", "title") and not beyond:
            cards, total = reader.page(filters, scopes, sort, limit, offset)
            degrees = reader.degrees([card.id for card in cards], scopes) if cards else {}
        else:
            matching = reader.matching(filters, scopes, None)
            degrees = reader.degrees(scopes=scopes)
            for name in beyond:
                tiers = {card.id: str(now.tier(card)) for card in matching} if name == "tier" else {}
                matching = [
                    card for card in matching if passes(card_thing(card, tiers.get(card.id, "")), filters, name)
                ]
            matching.sort(key=_order(sort, now, degrees))
            cards, total = matching[offset : offset + limit], len(matching)
        without, notes = _judge_filters(reader, filters, scopes, now, cards, total)
    rows = [card_row(card, now, degrees.get(card.id, 0)) for card in cards]
    return FilteredList(cards=rows, total=total, sort=sort, without=without, notes=notes)


def find_session(workspace: Workspace, reference: str) -> str:
    """The id of the session that a reference names: an id, or at least 8 characters of its beginning.

    Raises:
        NotFoundError: There is none that may be seen.
        AmbiguousIdError: The beginning fits several; the message lists them.
    """
    wanted, scopes = storable(reference.strip()), workspace.visible_scopes()
    with workspace.graph.reading() as reader:
        kept = reader.sessions()
        ids = [info.id for info in kept if scopes is None or f"agent:{info.agent}" in scopes]
        # Cards that were brought in may name a session that is not kept here; one that is kept and hidden is not named.
        unkept = wanted and all(info.id != wanted for info in kept)
        if unkept and reader.page(Filters(session=wanted, archived=True), scopes, "recent", 1, 0)[1]:
            return wanted
    if wanted in ids:
        return wanted
    fitting = [known for known in ids if known.startswith(wanted)] if len(wanted) >= LEAST else []
    if len(fitting) == 1:
        return fitting[0]
    shown = safe_line(wanted)[:80]
    if fitting:
        listed = ", ".join(safe_line(known)[:80] for known in fitting[:5]) + (", ..." if len(fitting) > 5 else "")
        raise AmbiguousIdError(f"'{shown}' fits several sessions: {listed}", "give more of the id")
    near = ", ".join(safe_line(known)[:80] for known in close_to(wanted, ids))
    hint = f"did you mean: {near}" if near else "`alaya show CARD` names the sessions a card came from"
    raise NotFoundError(f"there is no session '{shown}'", hint)


def _judge_filters(
    reader: GraphReader, filters: Filters, scopes: list[str] | None, now: Now, shown: list[Card], total: int
) -> tuple[dict[str, int], list[str]]:
    """How many cards there are without each filter, where none is left; and names in them that no card has."""
    if not active(filters):
        return {}, []
    everything: list[Card] = []

    def all_cards() -> list[Card]:
        if not everything:
            everything.extend(as_seen(reader, reader.matching(filters.bare, scopes, None), scopes).values())
        return everything

    def names(kind: str) -> list[str]:
        return [name for card in all_cards() for name in names_of(card, kind)]

    notes = unknown_names(filters, shown, names, sessions=total == 0)
    if total:
        return {}, notes
    return counts(filters, (card_thing(card, str(now.tier(card))) for card in all_cards())), notes


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
