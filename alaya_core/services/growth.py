"""What a session that comes in again is: the same, an older copy, grown, repaired, or another one. No I/O."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from alaya_core.models.session import SessionInfo

HashBehind = Callable[[int], bytes]
"""First 8 bytes of the running hash behind the first n turns."""

_REPAIRED_SHARE = 0.8


@dataclass(frozen=True, slots=True)
class Arrival:
    """Attributes:
    status: What it is.
    from_turn: The first turn that is new.
    reason: For people.
    shared: Of a conflict, how many turns the two have in common from their start.
    """

    status: Literal["new", "grown", "unchanged", "conflict"]
    from_turn: int = 0
    reason: str = ""
    shared: int = 0


def judge_arrival(old_turns: int | None, old_hash: HashBehind, new_turns: int, new_hash: HashBehind) -> Arrival:
    """Compares a session that is kept with the one that comes in, by their running hashes.

    Args:
        old_turns: Turns of the kept one; None = there is none.
        new_turns: Turns of the one that comes in.
    """
    if old_turns is None:
        return Arrival("new")
    shorter = min(old_turns, new_turns)
    if shorter == 0 or old_hash(shorter) == new_hash(shorter):
        if new_turns > old_turns:
            return Arrival("grown", old_turns)
        kept = f"an older copy: {new_turns} of the {old_turns} turns that are kept" if new_turns < old_turns else ""
        return Arrival("unchanged", old_turns, kept)
    common = common_turns(shorter, old_hash, new_hash)
    if new_turns >= old_turns and common >= max(1, _REPAIRED_SHARE * old_turns):
        return Arrival("grown", common, f"the log was repaired from turn {common} on")
    reason = f"differs from the session of this id from turn {common} on; kept as one of its own"
    return Arrival("conflict", 0, reason, common)


def judge_return(before: SessionInfo, new_turns: int, new_hash: HashBehind) -> Arrival:
    """What a session is whose file was lost, now that it comes in again: written anew, with all that it holds."""
    if new_turns >= before.turns and new_hash(before.turns).hex() == before.chain[:16]:
        return Arrival("grown", before.turns, "its file was gone, and is back")
    return Arrival("grown", 0, "its file was gone; what came in now differs from what it was")


def common_turns(limit: int, one: HashBehind, other: HashBehind) -> int:
    """How many turns two sessions share from their start (the running hashes agree up to there and nowhere beyond)."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if one(middle) == other(middle):
            low = middle
        else:
            high = middle - 1
    return low
