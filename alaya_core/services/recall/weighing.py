"""What each word of a query tells, judged among the texts that were found."""

from __future__ import annotations

import math
from collections.abc import Sequence

from alaya_core import words

_PRIOR, _PRIOR_SHARE = 20.0, 0.02
"""Where few texts were found, so many imagined ones stand beside them, of which this share has any word."""


def token_weights(tokens: Sequence[str], having: Sequence[int], found: int) -> list[float]:
    """A weight for each token: what it tells by itself, times how few of the texts found have it.

    Robertson and Spärck Jones's inverse document frequency, over the texts found instead of the collection: on LoCoMo
    it did as well as the collection's own, and nobody has to count.

    Args:
        tokens: `words.query_words` of a query.
        having: Of each, how many of the texts found have it.
        found: How many texts that hold any of them were found.
    """
    present = frozenset(token for token, count in zip(tokens, having, strict=True) if count)
    weigh = words.telling_among([present])
    return [
        weigh(token) * math.log(1.0 + (found + _PRIOR) / (count + 0.5 + _PRIOR * _PRIOR_SHARE))
        for token, count in zip(tokens, having, strict=True)
    ]
