"""A budget divided among those who need it. No I/O."""

from __future__ import annotations

from collections.abc import Sequence


def allot(total: int, needs: Sequence[int], weights: Sequence[int]) -> list[int]:
    """Gives each what it needs, or its share by weight; what somebody does not need goes to the others.

    Args:
        total: What there is to give.
        needs: What each can use, 0 or more.
        weights: Each one's share of what all cannot have, 1 or more.

    Returns:
        What each gets: no more than it needs, no less than the smaller of its need and its share, `total` at most in
        all.
    """
    given = [0] * len(needs)
    hungry = [index for index, need in enumerate(needs) if need > 0]
    left = total
    while hungry:
        weight = sum(weights[index] for index in hungry)
        content = [index for index in hungry if needs[index] * weight <= left * weights[index]]
        if not content:
            for index in hungry:
                given[index] = left * weights[index] // weight
            break
        for index in content:
            given[index] = needs[index]
            left -= needs[index]
            hungry.remove(index)
    return given
