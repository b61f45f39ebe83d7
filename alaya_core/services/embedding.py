"""Text to vectors for the rest of the core: each text once, queries remembered, similarities on one scale."""

from __future__ import annotations

import math
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future

import numpy as np
from numpy.typing import NDArray

from alaya_core.errors import ProviderError
from alaya_core.progress import CancelToken, Progress, ProgressSink, silent
from alaya_core.providers.embedding import Background, EmbeddingProvider, EmbeddingSettings, Script
from alaya_core.services.background_texts import ANSWERED, CHINESE, ENGLISH
from alaya_core.stores.embedding_cache import EmbeddingCache, content_hash

Vectors = NDArray[np.float32]

_CJK = re.compile(
    "[\u2e80-\u303f\u3040-\u30ff\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
_HIGHEST_BACKGROUND = 0.95
_NEAREST_RELATED, _FARTHEST_RELATED = 0.2, 0.7


def dominant_script(text: str) -> Script:
    """Which background a text is measured against: `zh` when it holds a CJK character, else `en`."""
    return "zh" if _CJK.search(text) else "en"


def are_chinese(texts: Iterable[str]) -> NDArray[np.bool_]:
    """Of each text whether its `dominant_script` is `zh`."""
    return np.array([dominant_script(text) == "zh" for text in texts], np.bool_)


RELATED = 0.7
"""What the scale of similarities calls related."""


def rescaled(
    cosine: NDArray[np.float32] | float, background: NDArray[np.float32] | float, related: float = RELATED
) -> NDArray[np.float32]:
    """Cosine on the scale that all thresholds use: unrelated text near 0, related text at .7, the same text at 1.

    Args:
        cosine: Any shape.
        background: The cosine of unrelated text; broadcastable to `cosine`, below 1.
        related: What related text has of the way from there to 1, above 0 and below 1.

    Returns:
        ((cosine - background) / (1 - background)) ^ (ln .7 / ln related), held within 0..1.
    """
    way = (np.asarray(cosine, dtype=np.float32) - background) / (np.float32(1.0) - background)
    return np.asarray(np.clip(way, 0.0, 1.0) ** (math.log(RELATED) / math.log(related)), dtype=np.float32)


class Embedder:
    """The one way from text to vectors. May be used from several threads.

    Args:
        provider: What embeds.
        cache: Vectors of earlier days; None keeps none.
        settings: Size and lifetime of the memory of queries.
        clock: A monotonic clock, seconds.
        calibrated: Gives the background that was measured on the home's own texts, if it was.
    """

    def __init__(
        self,
        provider: EmbeddingProvider,
        cache: EmbeddingCache | None,
        settings: EmbeddingSettings,
        clock: Callable[[], float] = time.monotonic,
        calibrated: Callable[[], Background | None] = lambda: None,
    ) -> None:
        self.provider = provider
        self._cache = cache
        self._settings = settings
        self._clock = clock
        self._lock = threading.Lock()
        self._asked: dict[str, Future[Vectors]] = {}
        self._queries: OrderedDict[str, tuple[float, Vectors]] = OrderedDict()
        self._calibrated = calibrated
        self._background: Background | None = None
        self._unkept: dict[bytes, Vectors] = {}  # what no file takes: else it would be paid for again and again

    def passages(
        self, texts: Sequence[str], progress: ProgressSink = silent, cancel: CancelToken | None = None
    ) -> Vectors:
        """Vectors of texts to be stored.

        Equal texts are embedded once, known ones not at all. Each batch is in the cache before the next is waited
        for: what was paid for survives a cancel or a fault.

        Args:
            texts: n texts; any may be blank or long.
            progress: Told `embed` and how many of `texts` are done.
            cancel: Stops between batches.

        Returns:
            (n, d), L2-normalised.

        Raises:
            ProviderError: The provider failed.
            CancelledError: `cancel` was set.
        """
        rows: dict[bytes, list[int]] = {}
        for row, text in enumerate(texts):
            rows.setdefault(content_hash(text), []).append(row)
        known = self._known(list(rows))
        done = sum(len(rows[key]) for key in known)
        progress(Progress("embed", done, len(texts)))
        missing = [key for key in rows if key not in known]
        chosen = [texts[rows[key][0]] for key in missing]
        for positions, vectors in self.provider.iter_passages(chosen, cancel):
            fresh = {missing[at]: vector for at, vector in zip(positions, vectors, strict=True)}
            if self._cache is not None:
                self._cache.put_many(self.provider.cache_key, fresh)
            if self._cache is None or self._cache.trouble:
                self._unkept |= fresh
            known |= fresh
            done += sum(len(rows[key]) for key in fresh)
            progress(Progress("embed", done, len(texts)))
        known |= self._again_if_other_length(known, set(missing), texts, rows, cancel)
        out = np.zeros(
            (len(texts), len(next(iter(known.values()))) if known else self.provider.dimensions or 0), np.float32
        )
        for key, places in rows.items():
            out[places] = known[key]
        return out

    def known(self, texts: Sequence[str]) -> dict[int, Vectors]:
        """The vectors that are there already, by position in `texts`; nobody is asked."""
        hashes = [content_hash(text) for text in texts]
        found = {**self._unkept, **self._known(list(dict.fromkeys(hashes)))}
        return {at: found[key] for at, key in enumerate(hashes) if key in found}

    def query(self, text: str) -> Vectors:
        """The vector of a search, (d,), read-only; remembered for a while.

        Raises:
            ProviderError: The provider failed; nothing is remembered then.
        """
        with self._lock:
            kept = self._queries.get(text)
            if kept is not None and self._clock() - kept[0] < self._settings.query_cache_ttl_s:
                self._queries.move_to_end(text)
                return kept[1]
            asked = self._asked.get(text)
            if asked is None:
                mine = self._asked[text] = Future[Vectors]()
        if asked is not None:  # cards and passages ask at the same time, and a service is paid by the question
            return asked.result()
        try:
            vector = self.provider.embed_query(text)
            vector.setflags(write=False)
        except BaseException as error:
            with self._lock:
                del self._asked[text]
            mine.set_exception(error)
            raise
        with self._lock:
            del self._asked[text]
            self._queries[text] = (self._clock(), vector)
            self._queries.move_to_end(text)
            while len(self._queries) > max(0, self._settings.query_cache_size):
                self._queries.popitem(last=False)
        mine.set_result(vector)
        return vector

    def background(self) -> Background:
        """The background of the model: as measured on the home's own texts, else as measured when the model was
        chosen, else estimated from the shipped sentences at first use.

        Raises:
            ProviderError: It has to be estimated, and the provider failed.
        """
        if self._background is None:
            self._background = self._calibrated() or self.provider.background
        if self._background is None:
            questions, answers = zip(*ANSWERED, strict=True)
            vectors = self.passages([*CHINESE, *ENGLISH, *questions, *answers])
            chinese, english, asked, answering = np.split(
                vectors, np.cumsum([len(CHINESE), len(ENGLISH), len(questions)])
            )
            self._background = estimate_background(chinese, english, asked, answering)
        return self._background

    def rescale(
        self,
        cosine: NDArray[np.float32] | float,
        query_script: Script,
        text_script: Script | Sequence[Script] | NDArray[np.bool_],
    ) -> NDArray[np.float32]:
        """Cosines on the scale that all thresholds use, see `rescaled`.

        Args:
            cosine: One or n cosines.
            query_script: The query's `dominant_script`.
            text_script: The texts' one, or one a text; as an array, True where a text is `zh`.

        Raises:
            ProviderError: As for `background`.
        """
        background = self.background()
        if isinstance(text_script, str):
            return rescaled(cosine, background.between(query_script, text_script), background.related)
        chinese = text_script if isinstance(text_script, np.ndarray) else np.array([s == "zh" for s in text_script])
        pair = np.where(chinese, background.between(query_script, "zh"), background.between(query_script, "en"))
        return rescaled(cosine, pair.astype(np.float32), background.related)

    def forget_background(self) -> None:
        """Looks again at its next use."""
        self._background = None

    def forget_queries(self) -> None:
        """Drops the remembered queries."""
        with self._lock:
            self._queries.clear()

    def _known(self, keys: list[bytes]) -> dict[bytes, Vectors]:
        """Cached vectors of one length: the provider's, else all of them if they agree."""
        if self._cache is None:
            return {}
        found = self._cache.get_many(self.provider.cache_key, keys)
        lengths = {len(vector) for vector in found.values()}
        wanted = self.provider.dimensions or (lengths.pop() if len(lengths) == 1 else None)
        return {key: vector for key, vector in found.items() if len(vector) == wanted}

    def _again_if_other_length(
        self,
        known: dict[bytes, Vectors],
        fresh: set[bytes],
        texts: Sequence[str],
        rows: dict[bytes, list[int]],
        cancel: CancelToken | None,
    ) -> dict[bytes, Vectors]:
        """New vectors for cached ones that turn out to be of another length than those of today."""
        length = self.provider.dimensions
        stale = [key for key, vector in known.items() if length is not None and len(vector) != length]
        if not stale:
            return {}
        if fresh & set(stale):
            raise ProviderError(f"{self.provider.model} changed the length of its vectors during the work")
        vectors = self.provider.embed_passages([texts[rows[key][0]] for key in stale], cancel)
        again = dict(zip(stale, vectors, strict=True))
        if self._cache is not None:
            self._cache.put_many(self.provider.cache_key, again)
        return again


def estimate_background(chinese: Vectors, other: Vectors, asked: Vectors, answering: Vectors) -> Background:
    """The background from vectors of unrelated texts, and of questions and their answers.

    Args:
        chinese: (n, d), L2-normalised, n > 1.
        other: (m, d), m > 1.
        asked, answering: (k, d) each, pairs; k > 0.
    """

    def within(vectors: Vectors) -> float:
        count = len(vectors)
        return (float((vectors @ vectors.T).sum()) - count) / (count * (count - 1))

    def held(value: float) -> float:
        return min(value, _HIGHEST_BACKGROUND)

    zh, en, cross = held(within(chinese)), held(within(other)), held(float((chinese @ other.T).mean()))
    mean = (zh + en) / 2
    way = float(np.median((asked * answering).sum(axis=1)) - mean) / (1 - mean)
    return Background(zh, en, cross, _related(way))


def background_from(zh: Vectors, en: Vectors, cross: Vectors, answered_zh: Vectors, answered_en: Vectors) -> Background:
    """The background from cosines of pairs: of unrelated texts, and of questions and their answers.

    Args:
        zh, en, cross: Of pairs that have nothing to do with each other; none empty.
        answered_zh, answered_en: Of questions and answers; not both empty.
    """
    chinese, other, across = (min(float(cosines.mean()), _HIGHEST_BACKGROUND) for cosines in (zh, en, cross))
    pairs = ((answered_zh, chinese), (answered_en, other))
    ways = np.concatenate([(answered - mean) / (1 - mean) for answered, mean in pairs])
    return Background(chinese, other, across, _related(float(np.median(ways))))


def measured_background(figures: Mapping[str, float]) -> Background | None:
    """A background out of figures that were kept; None where they are none that could have been measured."""
    if any(name not in figures or not math.isfinite(figures[name]) for name in ("zh", "en", "cross", "related")):
        return None
    zh, en, cross = (figures[name] for name in ("zh", "en", "cross"))
    if not all(-1 < figure <= _HIGHEST_BACKGROUND for figure in (zh, en, cross)):
        return None
    return Background(zh, en, cross, _related(figures["related"]))


def _related(way: float) -> float:
    return min(_FARTHEST_RELATED, max(_NEAREST_RELATED, way))
