"""What the tests of the stages share: drawn figures, and looks at what came out."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

settings.register_profile("unhurried", deadline=None)  # the first call loads tables and the stemmer
settings.load_profile("unhurried")

UNIT = st.floats(0, 1)
LEG = st.none() | st.floats(allow_nan=True, allow_infinity=True)


def ids(candidates: Any) -> Any:
    return [candidate.id for candidate in candidates]


def by_id(candidates: Any) -> Any:
    return {candidate.id: candidate for candidate in candidates}
