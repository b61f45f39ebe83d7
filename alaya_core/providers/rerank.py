"""A cross-encoder over HTTP: it reads a query and each text together, and says how well they fit.

Importing this module loads neither numpy nor an HTTP client.
"""

from __future__ import annotations

import math
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from alaya_core.clock import Clock
from alaya_core.errors import ConfigError, ProviderError
from alaya_core.progress import CancelToken
from alaya_core.providers.http import JsonClient, RetryPolicy
from alaya_core.providers.http_errors import RequestRejectedError, TooLargeError, error_in, shown

_TOKENS = 480
"""Of a query and a text together: small cross-encoders read 512, and many services refuse what is longer."""
_QUERY_TOKENS = 160
_REST_MS = 30_000
_ONCE_MORE = RetryPolicy(attempts=2, base_s=0.2, cap_s=1.0, connects=1, impatient=True)


class Reranker(Protocol):
    """Judges how well texts fit a query."""

    @property
    def model(self) -> str:
        """The model's name; may be empty where the service has but one."""

    @property
    def name(self) -> str:
        """The host that is asked, for messages."""

    @property
    def host(self) -> str | None:
        """The host that receives the text; None when nothing leaves the machine."""

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """How well each text fits, 0..1, in the order of the texts. Gives up in time: somebody is waiting.

        Raises:
            ProviderError: The service did not do its job, or failed a moment ago and is not asked.
        """

    def close(self) -> None:
        """Lets go of connections; a later use opens them again."""


@dataclass(frozen=True, slots=True)
class RerankPreset:
    """A service known by name.

    Attributes:
        base_url: Up to and without `/rerank`.
        key_env: The usual environment variable of its key.
        count_field: What it calls the number of results.
        echo_field: The field that tells it not to send the texts back; empty where it never does.
    """

    base_url: str = ""
    key_env: str = ""
    count_field: str = "top_n"
    echo_field: str = "return_documents"


PRESETS: dict[str, RerankPreset] = {
    "siliconflow": RerankPreset("https://api.siliconflow.cn/v1", "SILICONFLOW_API_KEY"),
    "jina": RerankPreset("https://api.jina.ai/v1", "JINA_API_KEY"),
    "cohere": RerankPreset("https://api.cohere.com/v2", "COHERE_API_KEY", echo_field=""),
    "voyage": RerankPreset("https://api.voyageai.com/v1", "VOYAGE_API_KEY", count_field="top_k"),
}


@dataclass(frozen=True, slots=True)
class RerankEndpoint:
    """A service with every choice made."""

    base_url: str
    model: str = ""
    api_key: str = field(default="", repr=False)
    key_name: str = "rerank.api_key_env"
    timeout_s: float = 3.0
    count_field: str = "top_n"
    echo_field: str = "return_documents"


def resolve_rerank(
    environ: Mapping[str, str],
    *,
    provider: str | None = None,
    model: str | None = None,
    base_url: str | None = None,
    api_key_env: str | None = None,
    timeout_s: float = 3.0,
) -> RerankEndpoint:
    """The `rerank` section of the config, presets and environment made one.

    Raises:
        ConfigError: An unknown provider, no address or model, or a key that is missing.
    """
    preset = PRESETS.get(provider or "", RerankPreset())
    if provider and provider not in PRESETS:
        known = ", ".join(PRESETS)
        raise ConfigError(f"rerank.provider is '{shown(provider, [])}', which is unknown", f"one of: {known}")
    if provider and not model:
        raise ConfigError("rerank.model is missing", f"provider '{provider}' has no default for it")
    address = (base_url or preset.base_url).rstrip("/").removesuffix("/rerank")
    if not address:
        raise ConfigError("rerank.base_url is missing", f"set it, or rerank.provider to one of: {', '.join(PRESETS)}")
    name = api_key_env or preset.key_env
    key = environ.get(name, "").strip() if name else ""
    if name and not key:
        raise ConfigError(f"the reranker needs a key, and {name} is not set", f"export {name}=...")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ConfigError(f"the key in {name} holds characters that no key has", "copy it again")
    return RerankEndpoint(
        base_url=address,
        model=model or "",
        api_key=key,
        key_name=name or "rerank.api_key_env",
        timeout_s=timeout_s,
        count_field=preset.count_field,
        echo_field=preset.echo_field,
    )


class HttpReranker:
    """Any service that answers `POST {base_url}/rerank`: Jina, Cohere, SiliconFlow, Voyage, llama.cpp, vLLM, TEI ...

    After a failure it is left alone for half a minute: a service that is down must not slow down every search.

    Args:
        endpoint: The service and how to talk to it.
        clock: Now, in ms.
        client: Other than the one made from `endpoint`; for tests.

    Raises:
        ConfigError: `base_url` is no http address.
    """

    def __init__(self, endpoint: RerankEndpoint, clock: Clock, client: JsonClient | None = None) -> None:
        self._endpoint = endpoint
        self._clock = clock
        self._client = client or JsonClient.of(endpoint, _ONCE_MORE)
        self.model = endpoint.model
        self.name = self._client.name
        self.host = self._client.host
        self._failed: tuple[int, ProviderError] | None = None
        self._says_texts = False

    def __repr__(self) -> str:
        return f"HttpReranker({self.model} at {self.name})"

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """See `Reranker.scores`."""
        if not texts:
            return []
        self._require_rested()
        try:
            asked, shortened = _cut(query, texts)
            answer = self._in_time(lambda cancel: self._ask(asked, shortened, cancel))
            found = scores_in(answer, len(texts), self.name, self._secrets)
        except ProviderError as error:
            self._failed = (self._clock(), error)
            raise
        self._failed = None
        return found

    def _require_rested(self) -> None:
        failed = self._failed
        if failed is None:
            return
        since, error = failed
        left = _REST_MS - (self._clock() - since)
        if 0 < left <= _REST_MS:  # a clock that was set back must not keep it quiet for longer
            raise ProviderError(error.message, f"asked again in {math.ceil(left / 1000)} s")

    def _in_time(self, ask: Callable[[CancelToken], Any]) -> Any:
        """What `ask` gives, or an error when the time is up.

        In a thread of its own: neither the look-up of a name nor a service that answers a byte at a time can be cut
        short from within.
        """
        cancel = CancelToken()
        answers: queue.SimpleQueue[tuple[Any, Exception | None]] = queue.SimpleQueue()

        def run() -> None:
            try:
                answers.put((ask(cancel), None))
            except Exception as error:
                answers.put((None, error))

        threading.Thread(target=run, name="rerank", daemon=True).start()
        limit = self._endpoint.timeout_s
        try:
            answer, error = answers.get(timeout=limit)
        except queue.Empty:
            cancel.cancel()
            message = f"{self.name} did not answer within {limit:g} s"
            raise ProviderError(message, "raise rerank.timeout_s, or lower rerank.candidates") from None
        if error is not None:
            raise error
        return answer

    def _ask(self, query: str, texts: Sequence[str], cancel: CancelToken) -> Any:
        try:
            return self._client.post("/rerank", self._payload(query, texts), cancel=cancel)
        except TooLargeError as error:
            raise RequestRejectedError(error.message, "lower rerank.candidates") from None
        except RequestRejectedError as error:
            if self._says_texts or "`texts`" not in error.message:
                raise
            self._says_texts = True
            return self._client.post("/rerank", self._payload(query, texts), cancel=cancel)

    def _payload(self, query: str, texts: Sequence[str]) -> dict[str, Any]:
        if self._says_texts:
            return {"query": query, "texts": list(texts), "truncate": True}
        end = self._endpoint
        payload: dict[str, Any] = {"query": query, "documents": list(texts), end.count_field: len(texts)}
        if end.model:
            payload["model"] = end.model
        if end.echo_field:
            payload[end.echo_field] = False
        return payload

    @property
    def _secrets(self) -> list[str]:
        return [self._endpoint.api_key] if self._endpoint.api_key else []


def scores_in(answer: Any, count: int, who: str, secrets: Sequence[str] = ()) -> list[float]:
    """The scores of an answer to `count` texts, 0..1, in the order of the texts.

    Args:
        answer: `{"results": [...]}`, `{"data": [...]}` or the bare list, of objects with `index` and
            `relevance_score` or `score`, in any order.
        who: The host, for messages.
        secrets: What must not appear in messages.

    Raises:
        RequestRejectedError: It is anything else.
    """
    items = answer
    if isinstance(answer, dict):
        items = None if answer.get("error") else answer.get("results", answer.get("data"))
    if not isinstance(items, list):
        raise RequestRejectedError(
            f"{who} answered without scores: {shown(_gist(answer), secrets)}", "check rerank.base_url and rerank.model"
        )
    if len(items) != count:
        raise RequestRejectedError(f"{who} returned {len(items)} scores for {count} texts", _NOT_A_RERANKER)
    by_index: dict[int, float] = {}
    for item in items:
        index = item.get("index") if isinstance(item, dict) else None
        if type(index) is not int or not 0 <= index < count or index in by_index:
            raise RequestRejectedError(
                f"{who} returned scores with indexes that do not fit the {count} texts", _NOT_A_RERANKER
            )
        by_index[index] = _number(item.get("relevance_score", item.get("score")), who)
    raw = [by_index[index] for index in range(count)]
    # logits, which some models and services give as they are
    return raw if all(0.0 <= score <= 1.0 for score in raw) else [_sigmoid(score) for score in raw]


_NOT_A_RERANKER = "is rerank.base_url a rerank endpoint?"


def _gist(answer: Any) -> str:
    try:
        return error_in(answer) or str(answer)
    except RecursionError:
        return "nothing but brackets"


def _number(value: Any, who: str) -> float:
    try:
        number = float(value) if type(value) in (int, float) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise RequestRejectedError(f"{who} returned a score that is not a number", _NOT_A_RERANKER)
    return number


def _sigmoid(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-min(700.0, max(-700.0, value))))


def _cut(query: str, texts: Sequence[str]) -> tuple[str, list[str]]:
    """Query and texts so short that any cross-encoder reads a pair of them whole."""
    from alaya_core.providers.pieces import cut, estimate_tokens, sendable

    asked = cut(sendable(query), _QUERY_TOKENS)[0]
    room = _TOKENS - estimate_tokens(asked)
    return asked, [cut(sendable(text), room)[0] for text in texts]
