"""Any service that speaks OpenAI's `/embeddings`: SiliconFlow, OpenAI, Jina, Voyage, Ollama, llama.cpp, vLLM ..."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alaya_core.progress import CancelToken
from alaya_core.providers.embedding import Background, Endpoint
from alaya_core.providers.http import BRISK, PATIENT, JsonClient, RetryPolicy
from alaya_core.providers.http_errors import RequestRejectedError, TooLargeError, error_in, shown
from alaya_core.providers.parallel import run_batches
from alaya_core.providers.pieces import Vectors, collect, cut, estimate_tokens, join_pieces, sendable, unit

_QUERY_TIMEOUT_S = 10.0
_SMALLEST_PIECE = 16
_SPARE_TOKENS = 8


class OpenAICompatibleProvider:
    """Embeds over HTTP, in batches, several at a time.

    Args:
        endpoint: The service and how to talk to it.
        client: Other than the one made from `endpoint`; for tests.
    """

    background: Background | None = None

    def __init__(self, endpoint: Endpoint, client: JsonClient | None = None) -> None:
        self._endpoint = endpoint
        self._client = client or JsonClient.of(endpoint)
        self.model = endpoint.model
        self.host = self._client.host
        self.cache_key = "|".join(
            [
                endpoint.provider,
                endpoint.model,
                str(endpoint.dimensions or ""),
                endpoint.passage_prefix,
                *(f"{key}={value}" for key, value in sorted(endpoint.passage_fields.items())),
            ]
        )
        self._lock = threading.Lock()
        self._dimensions = endpoint.dimensions
        self._sends_dimensions = endpoint.dimensions is not None
        # both shrink when the service turns out to take less than it was said to
        self._batch = endpoint.batch_size
        self._tokens = endpoint.max_tokens

    def __repr__(self) -> str:
        return f"OpenAICompatibleProvider({self.model} at {self._client.name})"

    @property
    def dimensions(self) -> int | None:
        """Numbers in a vector: as configured, else as first seen; None before."""
        return self._dimensions

    def warm_up(self) -> None:
        """Nothing to load, and nothing is sent without need."""

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def iter_passages(
        self, texts: Sequence[str], cancel: CancelToken | None = None
    ) -> Iterator[tuple[list[int], Vectors]]:
        """See `EmbeddingProvider.iter_passages`; `max_concurrency` requests at a time."""
        size = self._batch
        batches = [list(range(at, min(at + size, len(texts)))) for at in range(0, len(texts), size)]
        end = self._endpoint

        def embed(rows: list[int], stop: CancelToken) -> Vectors:
            chosen = [texts[row] for row in rows]
            return self._embed(chosen, end.passage_prefix, end.passage_fields, stop, PATIENT, end.timeout_s)

        yield from run_batches(batches, embed, end.max_concurrency, cancel)

    def embed_passages(self, texts: Sequence[str], cancel: CancelToken | None = None) -> Vectors:
        """See `EmbeddingProvider.embed_passages`."""
        return collect(len(texts), self._dimensions, self.iter_passages(texts, cancel))

    def embed_query(self, text: str) -> Vectors:
        """See `EmbeddingProvider.embed_query`; at most two requests, ten seconds each."""
        end = self._endpoint
        timeout_s = min(end.timeout_s, _QUERY_TIMEOUT_S)
        vector: Vectors = self._embed([text], end.query_prefix, end.query_fields, None, BRISK, timeout_s)[0]
        return vector

    def _embed(
        self,
        texts: Sequence[str],
        prefix: str,
        fields: Mapping[str, str],
        cancel: CancelToken | None,
        policy: RetryPolicy,
        timeout_s: float,
    ) -> Vectors:
        call = _Call(self, prefix, fields, cancel, policy, timeout_s)
        room = max(_SMALLEST_PIECE, self._tokens - (estimate_tokens(prefix) if prefix else 0) - _SPARE_TOKENS)
        pieces = [cut(sendable(text), room) for text in texts]
        flat = [piece for parts in pieces for piece in parts]
        done: list[Vectors] = []
        while flat:
            size = self._batch
            done.append(call.halving(flat[:size])[0])
            flat = flat[size:]
        return join_pieces(pieces, np.concatenate(done))

    def _accept(self, answer: Any, count: int) -> Vectors:
        """Checks an answer to `count` texts, and gives their vectors in order."""
        who = self._client.name
        said = error_in(answer)
        items = answer.get("data") if isinstance(answer, dict) else None
        if said or not isinstance(items, list):
            raise RequestRejectedError(f"{who} answered without vectors: {shown(said or str(answer), self._secrets)}")
        if len(items) != count:
            raise RequestRejectedError(f"{who} returned {len(items)} vectors for {count} texts")
        rows: list[Any] = [item.get("embedding") if isinstance(item, dict) else None for item in items]
        order = [item.get("index") if isinstance(item, dict) else None for item in items]
        if any(index is not None for index in order):
            place = {index: row for row, index in enumerate(order) if type(index) is int}
            if set(place) != set(range(count)):
                raise RequestRejectedError(f"{who} returned vectors with indexes that do not fit the {count} texts")
            rows = [rows[place[index]] for index in range(count)]
        return self._same_length(unit(_matrix(rows, who), who))

    def _same_length(self, vectors: Vectors) -> Vectors:
        got = vectors.shape[1]
        with self._lock:
            if self._dimensions is None:
                self._dimensions = got
        if got != self._dimensions:
            raise RequestRejectedError(
                f"{self.model} at {self._client.name} returned vectors of {got} numbers, not {self._dimensions}",
                "set embedding.dimensions to what the model gives",
            )
        return vectors

    @property
    def _secrets(self) -> list[str]:
        return [self._endpoint.api_key] if self._endpoint.api_key else []


class _Call:
    """One call's circumstances, and the splitting of what is refused as too large."""

    def __init__(
        self,
        provider: OpenAICompatibleProvider,
        prefix: str,
        fields: Mapping[str, str],
        cancel: CancelToken | None,
        policy: RetryPolicy,
        timeout_s: float,
    ) -> None:
        self.provider, self.prefix, self.fields = provider, prefix, fields
        self.cancel, self.policy, self.timeout_s = cancel, policy, timeout_s

    def halving(self, texts: list[str]) -> tuple[Vectors, bool]:
        """The vectors of texts, (n, d), and whether they were accepted in one request."""
        try:
            return self.request(texts), True
        except TooLargeError as exc:
            if len(texts) == 1:
                return self.shorter(texts[0], exc), False
        middle = (len(texts) + 1) // 2
        first, first_whole = self.halving(texts[:middle])
        second, second_whole = self.halving(texts[middle:])
        if first_whole and second_whole:
            # both halves passed at once, so it was their number that was refused, not one long text among them
            self.provider._batch = min(self.provider._batch, middle)
        return np.concatenate([first, second]), False

    def shorter(self, text: str, refusal: TooLargeError) -> Vectors:
        """The vector, (1, d), of one text that is refused whole."""
        half = estimate_tokens(text) // 2
        if half < _SMALLEST_PIECE:
            raise RequestRejectedError(refusal.message, "the service refuses even a short text as too large")
        parts = cut(text, half)
        answers = [self.halving([part]) for part in parts]
        if all(whole for _, whole in answers):
            self.provider._tokens = min(self.provider._tokens, max(half, _SMALLEST_PIECE * 2))
        return join_pieces([parts], np.concatenate([vectors for vectors, _ in answers]))

    def request(self, texts: list[str]) -> Vectors:
        """One request."""
        provider, end = self.provider, self.provider._endpoint
        payload: dict[str, Any] = {"model": end.model, "input": [self.prefix + sendable(text) for text in texts]}
        if end.sends_encoding_format:
            payload["encoding_format"] = "float"
        if provider._sends_dimensions:
            payload[end.dimensions_field] = end.dimensions
        payload |= self.fields
        try:
            answer = provider._client.post(
                "/embeddings", payload, cancel=self.cancel, policy=self.policy, timeout_s=self.timeout_s
            )
        except RequestRejectedError as exc:
            refused = "dimension" in exc.message.lower() or "matryoshka" in exc.message.lower()
            if isinstance(exc, TooLargeError) or not refused or end.dimensions_field not in payload:
                raise
            # a model of fixed length refuses the field; whether its length is the one asked for is checked below
            provider._sends_dimensions = False
            return self.request(texts)
        return provider._accept(answer, len(texts))


def _matrix(rows: list[Any], who: str) -> NDArray[Any]:
    try:
        matrix: NDArray[Any] = np.array(rows)
    except ValueError:
        raise RequestRejectedError(f"{who} returned vectors of different lengths") from None
    if matrix.ndim != 2 or matrix.shape[1] == 0 or matrix.dtype.kind not in "fiu":
        raise RequestRejectedError(f"{who} returned vectors that are not lists of numbers")
    return matrix
