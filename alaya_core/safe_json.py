"""JSON that may be anything: whoever reads it has one error to expect."""

from __future__ import annotations

import json
from typing import Any


def load_json(data: str | bytes) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: It is none, or is nested too deep to be read.
    """
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
