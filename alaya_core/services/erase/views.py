"""L1 without what was erased: copied into a new generation, so that no vector is made and no service asked."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from alaya_core.errors import AlayaError, DamagedError
from alaya_core.models.card import Card
from alaya_core.services.erase.plan import ErasePlan
from alaya_core.services.index.passages_lacking import counted
from alaya_core.services.workspace import Workspace
from alaya_core.stores.erasing import drop_vectors
from alaya_core.stores.vector_generation import VectorGeneration

_AT_ONCE = 2_000


def views_without(workspace: Workspace, plan: ErasePlan) -> None:
    """Puts a generation without the erased rows in the place of the living one; the caller holds all locks of writers.

    Tables that cannot be read go: the next sync makes them anew from the ledger and the cache.
    """
    if workspace.vectors.exists:
        with contextlib.suppress(AlayaError):
            _copy(workspace, plan)
            return
    drop_vectors(workspace.home)


def _copy(workspace: Workspace, plan: ErasePlan) -> None:
    living = workspace.vectors.generation
    mark = living.mark()
    with workspace.graph.reading_to_write() as reader:
        changed = reader.cards(plan.changed)
    fresh = workspace.vectors.new_generation()
    fresh.create(mark.model, mark.dimensions, mark.embedding)
    for rows in _cards(living, plan, changed):
        fresh.cards.add(rows)
    for rows in _batches(living.passages.arrow()):
        fresh.spoken.add([row for row in rows if not _goes(row, plan)])
    # Where its next line begins nobody knows any more: it was read from a ledger that was rewritten since.
    fresh.set_mark(
        replace(
            mark,
            segment="",
            offset=0,
            pending=len(fresh.pending()),
            passages=fresh.passages.count(),
            tidied={},
        )
    )
    fresh.upkeep(0.0)
    with contextlib.suppress(DamagedError):  # then they are made anew
        fresh.spoken.carry(living.spoken)
    fresh.set_mark(counted(workspace, fresh.mark(), fresh.spoken.columns()))
    if mark.dimensions:
        fresh.save_matrix([card for card in living.matrix().ids if card not in set(plan.cards)])
    fresh.close_to_others()
    workspace.vectors.switch_to(fresh)


def _cards(living: VectorGeneration, plan: ErasePlan, changed: dict[str, Card]) -> Iterator[list[dict[str, Any]]]:
    vectors = living.vectors() if living.mark().dimensions else {}
    table = living.cards.arrow()
    gone = frozenset(plan.cards)
    for rows in _batches(table.drop_columns(["vector"]) if "vector" in table.column_names else table):
        yield [
            {**row, **_references(row, plan, changed), "vector": vectors.get(row["id"])}
            for row in rows
            if row["id"] not in gone
        ]


def _references(row: dict[str, Any], plan: ErasePlan, changed: dict[str, Card]) -> dict[str, Any]:
    """What a card that stays says of others, without what goes."""
    card = changed.get(row["id"])
    if card is None:
        return {}
    left = {source.session_id for source in card.sources}
    return {
        "successor": "" if row["successor"] in plan.cards else row["successor"],
        "merged_from": [one for one in row["merged_from"] if one not in plan.cards],
        "sessions": [one for one in row["sessions"] if one != plan.session or one in left],
    }


def _goes(row: dict[str, Any], plan: ErasePlan) -> bool:
    return bool(plan.session) and row["session_id"] == plan.session and plan.turn in (None, row["turn"])


def _batches(table: Any) -> Iterator[list[dict[str, Any]]]:
    for batch in table.to_batches(max_chunksize=_AT_ONCE):
        yield batch.to_pylist()
