"""Reembed: the vectors of all cards made anew by the configured model, while the old ones go on answering."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from alaya_core.models.answers import ReembedAnswer
from alaya_core.progress import CancelToken, ProgressSink, silent
from alaya_core.services.embedding_choice import configured, same_kind, texts_a_request
from alaya_core.services.index import rebuild_vectors, sync
from alaya_core.services.index.embed import warm_cards
from alaya_core.services.index.embedders import length_of
from alaya_core.services.index.waiting import chunks
from alaya_core.services.workspace import Workspace
from alaya_core.stores.vector_state import VectorMark

if TYPE_CHECKING:
    from alaya_core.providers.embedding import EmbeddingSettings
    from alaya_core.services.embedding import Embedder

_AT_ONCE = 1_000
_SAMPLE = 64


@dataclass(frozen=True, slots=True)
class _Work:
    """What there is to embed.

    Attributes:
        texts: Texts that cards have; cached: how many of them are known.
        tokens: Of those not known, an estimate.
        sample: Some of those not known.
        length: Numbers a vector, as far as one is known; 0 = none is.
    """

    texts: int
    cached: int
    tokens: int
    sample: tuple[str, ...]
    length: int

    @property
    def missing(self) -> int:
        """How many are not known."""
        return self.texts - self.cached


def reembed(
    workspace: Workspace,
    *,
    dry_run: bool,
    progress: ProgressSink,
    cancel: CancelToken | None,
    beforehand: Callable[[ReembedAnswer], None] = lambda _: None,
) -> ReembedAnswer:
    """Says what it takes and, unless it is a dry run, does it. Cut off, it goes on where it was.

    Every batch is in the cache before the next is asked for; then a new generation is built from the cache, beside the
    living one, and takes its place.

    Args:
        dry_run: Whether only to say what it takes, as far as that is known without sending a word to anybody.
        beforehand: Told what it takes before the first text is sent.

    Raises:
        ConfigError: The configured embedding cannot be used.
        ProviderError: It does not answer, or not as it should; the old vectors stay.
    """
    workspace.require_writable()
    started = time.perf_counter()
    embedder, settings = workspace.embedder, configured(workspace.config)
    mark = workspace.vectors.mark()
    stored = mark if mark.dimensions and same_kind(settings, mark) else VectorMark()
    # A service may put another model behind the same name: what it gives today is found out by one word.
    length = _known_length(embedder, stored) if dry_run else length_of(embedder)
    work = _work(workspace, embedder, _sample_size(workspace), length)
    price = workspace.config.embedding.price_per_million_tokens
    answer = ReembedAnswer(
        done=False,
        from_model=mark.model,
        from_dimensions=mark.dimensions,
        to_model=embedder.provider.model,
        to_dimensions=length or work.length,
        texts=work.texts,
        cached=work.cached,
        tokens=work.tokens,
        requests=0 if settings.provider == "bundled" else -(-work.missing // texts_a_request(settings)),
        seconds=_seconds(embedder, settings, work, cancel),
        host=embedder.provider.host,
        price=None if price is None else round(work.tokens * price / 1e6, 6),
    )
    if stored.dimensions and answer.to_dimensions in (0, stored.dimensions):
        answer.done = not mark.pending
        answer.note = f"the vectors are of {mark.model} already"
        if mark.pending and not dry_run:
            beforehand(answer)
            sync(workspace, patient=True, progress=progress, cancel=cancel)
            answer.done = not workspace.vectors.mark().pending
    elif not dry_run:
        beforehand(answer)
        rebuild_vectors(workspace, progress, cancel)
        answer.done = True
        now = workspace.vectors.mark()
        answer.to_model, answer.to_dimensions = now.model, now.dimensions
        if now.pending:
            answer.note = f"{now.pending} cards came meanwhile; their vectors follow"
    answer.took_ms = round((time.perf_counter() - started) * 1000)
    return answer


def _sample_size(workspace: Workspace) -> int:
    return min(_SAMPLE, texts_a_request(configured(workspace.config)))


def _work(workspace: Workspace, embedder: Embedder, sample_size: int, length: int) -> _Work:
    """Counts the texts of all cards that are to have a vector, each text once.

    Args:
        length: Numbers a vector; those known of another length are made anew. 0 = it is not known.
    """
    from alaya_core.providers.pieces import estimate_tokens

    with workspace.graph.reading() as reader:
        ids = sorted(reader.card_seqs())
    seen: set[str] = set()
    cached = tokens = 0
    sample: list[str] = []
    for some in chunks(ids, _AT_ONCE):
        texts = [card.text_to_embed() for card in warm_cards(workspace, some)]
        fresh = [text for text in dict.fromkeys(texts) if text not in seen]
        seen.update(fresh)
        known = embedder.known(fresh)
        length = length or next((len(vector) for vector in known.values()), 0)
        known = {place: vector for place, vector in known.items() if len(vector) == length}
        cached += len(known)
        missing = [text for place, text in enumerate(fresh) if place not in known]
        tokens += sum(estimate_tokens(text) for text in missing)
        sample += missing[: sample_size - len(sample)]
    return _Work(len(seen), cached, tokens, tuple(sample), length)


def _seconds(embedder: Embedder, settings: EmbeddingSettings, work: _Work, cancel: CancelToken | None) -> float | None:
    """How long the missing texts take, by the time that some of them took; those are in the cache then.

    Returns:
        None where text would have to be sent to find it out.
    """
    if not work.sample:
        return 0.0
    if settings.provider != "bundled":
        return None
    embedder.provider.warm_up()
    started = time.perf_counter()
    embedder.passages(work.sample, silent, cancel)
    each = (time.perf_counter() - started) / len(work.sample)
    return round(each * (work.missing - len(work.sample)), 1)


def _known_length(embedder: Embedder, stored: VectorMark) -> int:
    """Numbers a vector of the configured model, as far as that is known without asking; 0 = it is not."""
    return embedder.provider.dimensions or stored.dimensions
