"""Filters as SQL for the vector tables: columns are ours, every value is quoted."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from alaya_core.models.card import LIVING, CardState
from alaya_core.models.requests import Filters
from alaya_core.stores.vector_tables import holds_any, one_of, quoted


def card_condition(filters: Filters, scopes: Sequence[str] | None) -> str:
    """Which cards may be found; tier is not judged here, it depends on the time.

    Args:
        scopes: The only scopes that may be seen; None = all.
    """
    clauses = [one_of("state", [*LIVING, CardState.ARCHIVED] if filters.archived else LIVING)]
    for column, wanted in (
        ("type", filters.type),
        ("standing", filters.standing),
        ("origin", filters.origin),
        ("scope", filters.scope),
    ):
        if wanted:
            clauses.append(one_of(column, wanted))
    for column, wanted in (("tags", filters.tag), ("entities", filters.entity)):
        if wanted:
            clauses.append(holds_any(column, wanted))
    if filters.without_origin:
        clauses.append(f"NOT ({one_of('origin', filters.without_origin)})")
    if filters.session is not None:
        clauses.append(holds_any("sessions", [filters.session]))
    if filters.importance is not None:
        clauses.append(f"importance >= {_number(filters.importance)}")
    return _and(clauses, "created_at", filters, scopes)


def passage_condition(filters: Filters, scopes: Sequence[str] | None) -> str | None:
    """Which passages may be found; None = all."""
    clauses = [one_of("scope", filters.scope)] if filters.scope else []
    if filters.session is not None:
        clauses.append(f"session_id = {quoted(filters.session)}")
    return _and(clauses, "timestamp", filters, scopes) or None


def _and(clauses: list[str], time_column: str, filters: Filters, scopes: Sequence[str] | None) -> str:
    if scopes is not None:
        clauses.append(one_of("scope", scopes))
    if filters.since is not None:
        clauses.append(f"{time_column} >= {int(filters.since)}")
    if filters.until is not None:
        clauses.append(f"{time_column} <= {int(filters.until)}")
    return " AND ".join(clauses)


def _number(value: float) -> str:
    """A number as SQL; what is none (NaN) lets nothing through."""
    return repr(float(value)) if isfinite(value) else "1e308"
