"""What a search is told about its filters: names that no card has, and how much there was without them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from alaya_core.models.answers import Filtered, PassageHit
from alaya_core.models.card import Card
from alaya_core.models.recall_parts import Candidate
from alaya_core.models.requests import Filters, RecallOptions
from alaya_core.services.recall.emptied import Thing, active, card_thing, counts, unknown_names
from alaya_core.services.workspace import Workspace
from alaya_core.stores.vector_filters import card_condition
from alaya_core.stores.vector_tables import one_of

Cards = Sequence[tuple[Candidate, Card]]
Search = Callable[[RecallOptions], tuple[Cards, Sequence[PassageHit]]]


def explain_filters(
    workspace: Workspace,
    options: RecallOptions,
    hits: Cards,
    passages: Sequence[PassageHit],
    filtered: Filtered,
    search: Search,
) -> None:
    """Adds which names in the filters no card has and, where nothing came through, how many there were without them.

    Args:
        hits, passages: What came through.
        filtered: Filled as far as the tables can be read.
        search: The same search with other options; asked only where nothing came through.

    Raises:
        AlayaError: The tables cannot be read.
    """
    filters, only_passages = options.filters, options.within == "passages"
    idle = ", ".join(sorted(set(active(filters)) - set(active(filters, passages_only=True))))
    if only_passages and idle:
        filtered.notes.append(f"passages are not filtered by {idle}: only cards have that")
    if options.within == "both" and filters.only_cards:
        filtered.notes.append(f"no passages were looked for: only cards have {idle}")
    nothing = not hits and not passages
    if not only_passages:
        filtered.notes += unknown_names(
            filters,
            [card for _, card in hits],
            lambda column: _names(workspace, filters, column),
            sessions=nothing and options.within == "cards",
        )
    if nothing:
        found, said = search(replace(options, filters=filters.bare, typed=True))
        things = [card_thing(card, str(candidate.tier)) for candidate, card in found]
        things += _passage_things(workspace, said)
        filtered.without = counts(filters, things, passages_only=only_passages)


def _names(workspace: Workspace, filters: Filters, column: str) -> list[str]:
    """What stands in a list column of the cards that whoever asks may see."""
    where = card_condition(filters.bare, workspace.visible_scopes())
    rows = workspace.vectors.read(lambda living: living.cards.rows(where, [column]))
    return [name for row in rows for name in row[column]]


def _passage_things(workspace: Workspace, passages: Sequence[PassageHit]) -> list[Thing]:
    sessions = {passage.session_id for passage in passages}
    where = one_of("session_id", sorted(sessions))
    rows = (
        workspace.vectors.read(lambda living: living.passages.rows(where, ["session_id", "scope"])) if sessions else []
    )
    scopes = {row["session_id"]: row["scope"] for row in rows}
    return [Thing(scopes.get(each.session_id, ""), each.timestamp, (each.session_id,)) for each in passages]
