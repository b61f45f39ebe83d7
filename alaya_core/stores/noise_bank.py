"""Vectors of small talk that was learnt, a file for each embedding model: vectors only, no text among them."""

from __future__ import annotations

import contextlib
import hashlib
import io
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from alaya_core.errors import AlayaError
from alaya_core.stores.files import write_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NOISE = "noise"
"""Their folder below `cache/`."""


class NoiseBank:
    """What was learnt under one embedding model.

    Args:
        folder: `cache/noise/` of a home; made at the first write.
        cache_key: What the provider calls its vectors.
    """

    def __init__(self, folder: Path, cache_key: str) -> None:
        name = hashlib.sha256(cache_key.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        self._path = folder / f"{name}.npz"

    def load(self, dimensions: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """The vectors, (n, d), oldest first, and which of them are of text with Chinese in it; empty where the file
        is missing or holds anything else."""
        import numpy as np

        try:
            with np.load(io.BytesIO(self._path.read_bytes()), allow_pickle=False) as kept:
                vectors, chinese = kept["vectors"], kept["chinese"]
            fits = vectors.ndim == 2 and vectors.shape == (len(chinese), dimensions) and chinese.dtype == np.bool_
            if fits and vectors.dtype == np.float32 and bool(np.isfinite(vectors).all()):
                return vectors, chinese
        except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile):
            pass
        return np.zeros((0, dimensions), np.float32), np.zeros(0, np.bool_)

    def save(self, vectors: NDArray[np.float32], chinese: NDArray[np.bool_]) -> None:
        """Keeps them in place of what was there; a disk that takes none is no reason to fail."""
        import numpy as np

        file = io.BytesIO()
        np.savez(file, vectors=vectors.astype(np.float32), chinese=chinese.astype(np.bool_))
        with contextlib.suppress(AlayaError, OSError):
            write_file(self._path, file.getvalue(), durable=False)
