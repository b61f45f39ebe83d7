"""Small talk, known by its likeness to shipped examples and to what a model found nothing in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from alaya_core.errors import AlayaError
from alaya_core.progress import CancelledError, CancelToken
from alaya_core.services.workspace import Workspace
from alaya_core.stores.noise_bank import NOISE, NoiseBank

if TYPE_CHECKING:
    from alaya_core.services.embedding import Embedder, Vectors

PROTOTYPES = (
    "Hello, how are you today?",
    "Good morning! Hope you slept well.",
    "Thank you so much, that was very helpful.",
    "Okay, sounds good, go ahead please.",
    "Can you hear me? Are you there?",
    "Do you remember what I told you before?",
    "I don't have any memory of that.",
    "Let me know if you need anything else.",
    "你好，今天过得怎么样？",
    "早上好，昨晚睡得好吗？",
    "谢谢你，帮了我大忙了。",
    "好的，没问题，请继续吧。",
    "在吗？能听到我说话吗？",
    "你还记得我之前跟你说过什么吗？",
    "抱歉，我没有关于这件事的记忆。",
)
"""Stays whatever is learnt."""
SHORTEST, LONGEST = 8, 300
"""Characters of a text that can be told to be small talk: a shorter one says too little, a longer one too much."""
MOST_LEARNT = 200
_SAME = 0.95
_LOOKED_AT = 300
_TAUGHT = 20
"""Texts of one session that are looked at, and learnt."""


class Noise:
    """Tells small talk from the rest, and learns more of it.

    Attributes:
        trouble: Why nothing can be told; empty while all is well.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._work = workspace
        self._known: _Known | None = None
        self.trouble = ""

    def among(self, texts: Sequence[str], cancel: CancelToken) -> set[int]:
        """Which of these texts are small talk, by their place; only the first few hundred are looked at.

        Raises:
            CancelledError: `cancel` was set.
        """
        places = [place for place, text in enumerate(texts) if _telling(text)][:_LOOKED_AT]
        if not places or self.trouble:
            return set()
        try:
            known = self._opened(cancel)
            closeness = known.closeness([texts[place] for place in places], cancel)
        except CancelledError:
            raise
        except AlayaError as error:
            self.trouble = f"small talk was not left out: {error.message}"
            return set()
        least = self._work.config.distill.noise_similarity
        return {place for place, close in zip(places, closeness, strict=True) if close >= least}

    def learn(self, texts: Sequence[str], cancel: CancelToken) -> None:
        """Learns from what was said where a model found nothing; what is hardly new teaches nothing."""
        chosen = [text for text in texts if _telling(text)][:_TAUGHT]
        if not chosen or self.trouble:
            return
        try:
            self._opened(cancel).learn(chosen, cancel)
        except CancelledError:
            raise
        except AlayaError as error:
            self.trouble = f"small talk was not learnt: {error.message}"

    def _opened(self, cancel: CancelToken) -> _Known:
        if self._known is None:
            embedder = self._work.embedder
            bank = NoiseBank(self._work.home.cache / NOISE, embedder.provider.cache_key)
            self._known = _Known(embedder, bank, cancel)
        return self._known


class _Known:
    """The vectors of all that is known to be small talk: shipped ones first, then learnt ones, oldest first."""

    def __init__(self, embedder: Embedder, bank: NoiseBank, cancel: CancelToken) -> None:
        import numpy as np

        from alaya_core.services.embedding import are_chinese

        self._embedder, self._bank = embedder, bank
        shipped = embedder.passages(PROTOTYPES, cancel=cancel)
        learnt, chinese = bank.load(shipped.shape[1])
        self._rows = np.vstack([shipped, learnt[-MOST_LEARNT:]])
        self._chinese = np.append(are_chinese(PROTOTYPES), chinese[-MOST_LEARNT:])

    def closeness(self, texts: Sequence[str], cancel: CancelToken) -> list[float]:
        """How like each text is to the likest of them, 0..1, rescaled."""
        vectors = self._embedder.passages(texts, cancel=cancel)
        return [self._closest(text, vector) for text, vector in zip(texts, vectors, strict=True)]

    def learn(self, texts: Sequence[str], cancel: CancelToken) -> None:
        """Takes texts in, and keeps the bank."""
        import numpy as np

        from alaya_core.services.embedding import are_chinese

        shipped, before = len(PROTOTYPES), len(self._rows)
        vectors = self._embedder.passages(texts, cancel=cancel)
        for text, vector, chinese in zip(texts, vectors, are_chinese(texts), strict=True):
            if self._closest(text, vector) < _SAME:
                self._rows = np.vstack([self._rows, vector[None]])
                self._chinese = np.append(self._chinese, chinese)
        if len(self._rows) > before:
            oldest = np.arange(shipped, max(shipped, len(self._rows) - MOST_LEARNT))
            self._rows, self._chinese = np.delete(self._rows, oldest, 0), np.delete(self._chinese, oldest)
            self._bank.save(self._rows[shipped:], self._chinese[shipped:])

    def _closest(self, text: str, vector: Vectors) -> float:
        from alaya_core.services.embedding import dominant_script

        return float(self._embedder.rescale(self._rows @ vector, dominant_script(text), self._chinese).max())


def _telling(text: str) -> bool:
    return SHORTEST <= len(text.strip()) <= LONGEST
