"""What was measured of each embedding model on the home's own cards: a small file of figures, no text among them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from alaya_core.safe_json import load_json
from alaya_core.stores.files import write_file

CALIBRATION = "calibration.json"


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of one model.

    Attributes:
        figures: By name.
        pairs: How many pairs of the home's own texts a figure rests on, by its name; 0 = on shipped texts.
        model: The model's name, for people.
        at: When, ms.
    """

    figures: dict[str, float]
    pairs: dict[str, int]
    model: str
    at: int


class Calibrations:
    """Figures by model.

    Args:
        path: `cache/calibration.json` of a home.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def get(self, cache_key: str) -> Measured | None:
        """What was measured of a model; None where nothing was, or the file cannot be read."""
        try:
            raw = self._read()[_name(cache_key)]
            return Measured(
                {str(name): float(figure) for name, figure in raw["figures"].items()},
                {str(name): int(count) for name, count in raw["pairs"].items()},
                str(raw["model"]),
                int(raw["at"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            return None

    def put(self, cache_key: str, measured: Measured) -> None:
        """Keeps what was measured of a model, in the place of what was measured before.

        Raises:
            DiskFullError, ReadOnlyHomeError: It cannot be written.
        """
        models = {**self._read(), _name(cache_key): asdict(measured)}
        write_file(self._path, json.dumps({"version": 1, "models": models}, ensure_ascii=False).encode())

    def _read(self) -> dict[str, Any]:
        try:
            raw = load_json(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        models = raw.get("models") if isinstance(raw, dict) else None
        return models if isinstance(models, dict) else {}


def _name(cache_key: str) -> str:
    """A model's key may be long and hold anything; its hash does not."""
    return hashlib.sha256(cache_key.encode("utf-8", "surrogatepass")).hexdigest()[:32]
