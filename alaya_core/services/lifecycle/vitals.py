"""What the access log says of each card: counts, times and similarities, folded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from alaya_core.clock import HOUR_MS
from alaya_core.models.card import Vitals

SIMILARITIES_KEPT = 10


class AccessKind(StrEnum):
    """How a card was used."""

    RECALL = "recall"  # it was a direct hit of a recall that somebody asked for
    OPEN = "open"  # somebody opened it from a search
    AUTO = "auto"  # a program recalled it unasked
    BROWSE = "browse"  # it stood there as a neighbour, or was passed by


WEIGHTS: Mapping[AccessKind, float] = {
    AccessKind.RECALL: 1.0,
    AccessKind.OPEN: 1.0,
    AccessKind.AUTO: 0.2,
    AccessKind.BROWSE: 0.0,
}


@dataclass(frozen=True, slots=True)
class Access:
    """One use of one card.

    Attributes:
        at: ms since the epoch, UTC.
        agent: Who used it; empty for the owner.
        similarity: 0..1 to what was asked, where it was a recall; None where nobody knows.
    """

    card_id: str
    at: int
    kind: AccessKind
    agent: str = ""
    similarity: float | None = None


def fold(prior: Mapping[str, Vitals], accesses: Iterable[Access]) -> dict[str, Vitals]:
    """The vitals after these accesses: only of the cards they touch.

    The same card, agent and hour count once, by the heaviest of them. The order of the accesses does not matter. Fold
    whole hours (`whole_hours_before`) into what is kept, else an hour cut in two counts twice.

    Args:
        prior: Vitals so far, by card.
        accesses: New ones, of none of which `prior` knows.
    """
    counted: dict[tuple[str, str, int], Access] = {}
    for access in accesses:
        if WEIGHTS[access.kind] <= 0 or access.at <= 0:
            continue
        key = (access.card_id, access.agent, access.at // HOUR_MS)
        known = counted.get(key)
        if known is None or _rank(access) > _rank(known):
            counted[key] = access
    folded: dict[str, Vitals] = {}
    for access in sorted(counted.values(), key=lambda one: (one.at, one.card_id, one.agent)):
        before = folded.get(access.card_id) or prior.get(access.card_id) or Vitals()
        folded[access.card_id] = with_access(before, access)
    return folded


def with_access(vitals: Vitals, access: Access) -> Vitals:
    """The vitals after one more use that counts."""
    weight = WEIGHTS[access.kind]
    if weight <= 0:
        return vitals
    similarities = vitals.similarities
    if access.similarity is not None:
        similarities = (*similarities, min(1.0, max(0.0, access.similarity)))[-SIMILARITIES_KEPT:]
    return Vitals(
        access_count=round(vitals.access_count + weight, 6),
        last_access=max(vitals.last_access, access.at),
        first_access=min(vitals.first_access or access.at, access.at),
        similarities=similarities,
    )


def merged(one: Vitals, other: Vitals) -> Vitals:
    """The vitals of a card that absorbed another: the union of their uses."""
    older, newer = sorted((one, other), key=lambda vitals: (vitals.last_access, vitals.access_count))
    firsts = [vitals.first_access for vitals in (one, other) if vitals.first_access]
    return Vitals(
        access_count=round(one.access_count + other.access_count, 6),
        last_access=newer.last_access,
        first_access=min(firsts, default=0),
        similarities=(*older.similarities, *newer.similarities)[-SIMILARITIES_KEPT:],
    )


def whole_hours_before(now: int) -> int:
    """The start (ms) of the hour that is still running: accesses before it can be folded for good."""
    return now - now % HOUR_MS


def _rank(access: Access) -> tuple[float, int, float]:
    return (WEIGHTS[access.kind], access.at, -1.0 if access.similarity is None else access.similarity)
