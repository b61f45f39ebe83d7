"""A chat model over HTTP, at any endpoint that speaks as OpenAI's does.

Importing this module loads neither numpy nor an HTTP client.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from alaya_core.errors import ProviderError
from alaya_core.progress import CancelledError, CancelToken
from alaya_core.providers.chat_choice import ChatEndpoint
from alaya_core.providers.http import JsonClient, RetryPolicy
from alaya_core.providers.http_errors import RequestRejectedError, TooLargeError, error_in, shown

Told = Callable[[str], None]
"""Told in a few words what is going on, while somebody waits."""

_PATIENCE = RetryPolicy(attempts=5, base_s=1.0, cap_s=60.0, connects=2)
_LOOK_S = 0.1
_REFUSED = (400, 422)
_JSON, _TEMPERATURE, _NEW_LIMIT = "response_format", "temperature", "max_completion_tokens"


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a model answered.

    Attributes:
        input_tokens, output_tokens: As the service counted.
        estimated: Whether it did not, so that they are a guess.
        cut: Whether it stopped because the answer was getting too long.
    """

    text: str
    input_tokens: int
    output_tokens: int
    estimated: bool = False
    cut: bool = False


class ChatModel(Protocol):
    """Answers one message at a time."""

    @property
    def model(self) -> str:
        """The model's name."""

    @property
    def name(self) -> str:
        """The host that is asked, for messages."""

    @property
    def host(self) -> str | None:
        """The host that receives the text; None when nothing leaves the machine."""

    def complete(
        self, system: str, user: str, *, cancel: CancelToken | None = None, told: Told = lambda _: None
    ) -> ChatReply:
        """The answer to a message under given instructions.

        Args:
            cancel: Stops at once, whatever the service is doing.
            told: Told of waits: `waiting 20 s: ...`.

        Raises:
            TooLargeError: Less text may pass.
            ProviderRefusedError, RequestRejectedError: Asking again is pointless.
            ProviderError: All attempts failed, or there is no answer in what came.
            CancelledError: `cancel` was set.
        """

    def close(self) -> None:
        """Lets go of connections; a later use opens them again."""


class HttpChat:
    """Any service that answers `POST {base_url}/chat/completions`.

    Args:
        endpoint: The service and how to talk to it.
        client: Other than the one made from `endpoint`; for tests.

    Raises:
        ConfigError: `base_url` is no http address.
    """

    def __init__(self, endpoint: ChatEndpoint, client: JsonClient | None = None) -> None:
        self._endpoint = endpoint
        self._client = client or JsonClient.of(endpoint, _PATIENCE)
        self.model = endpoint.model
        self.name = self._client.name
        self.host = self._client.host
        self._refused: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"HttpChat({self.model} at {self.name})"

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def complete(
        self, system: str, user: str, *, cancel: CancelToken | None = None, told: Told = lambda _: None
    ) -> ChatReply:
        """See `ChatModel.complete`."""
        refused = self._refused
        while True:
            try:
                answer = self._posted(self._payload(system, user, refused), cancel, told)
                break
            except RequestRejectedError as error:
                also = _unknown_field(error, refused)
                if also is None:
                    raise (_too_large(error) if isinstance(error, TooLargeError) else error) from None
                refused |= {also}
        self._refused = refused  # known to be right only now
        text, cut = text_in(answer, self.name, [self._endpoint.api_key] if self._endpoint.api_key else [])
        if counted := _counted(answer):
            return ChatReply(text, *counted, cut=cut)
        from alaya_core.providers.pieces import estimate_tokens

        return ChatReply(text, estimate_tokens(system + user), estimate_tokens(text), estimated=True, cut=cut)

    def _posted(self, payload: dict[str, Any], cancel: CancelToken | None, told: Told) -> Any:
        """The decoded answer.

        In a thread of its own: a request that waits for a slow model cannot be cut short from within.
        """
        inner = CancelToken()
        answers: queue.SimpleQueue[tuple[Any, Exception | None]] = queue.SimpleQueue()
        waits: queue.SimpleQueue[str] = queue.SimpleQueue()

        def waiting(seconds: float, why: str) -> None:
            waits.put(f"waiting {seconds:.0f} s: {why}")

        def run() -> None:
            try:
                answers.put((self._client.post("/chat/completions", payload, cancel=inner, waiting=waiting), None))
            except Exception as error:
                answers.put((None, error))

        threading.Thread(target=run, name="chat", daemon=True).start()
        while True:
            try:
                answer, error = answers.get(timeout=_LOOK_S)
            except queue.Empty:
                _pass_on(waits, told)
                if cancel is not None:
                    try:
                        cancel.check()
                    except CancelledError:
                        inner.cancel()
                        raise
                continue
            _pass_on(waits, told)
            if error is not None:
                raise error
            return answer

    def _payload(self, system: str, user: str, refused: frozenset[str]) -> dict[str, Any]:
        limit = _NEW_LIMIT if _NEW_LIMIT in refused else "max_tokens"
        payload: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
            limit: self._endpoint.output_tokens,
        }
        if _TEMPERATURE not in refused:
            payload["temperature"] = 0
        if _JSON not in refused:
            payload["response_format"] = {"type": "json_object"}
        return payload


def text_in(answer: Any, who: str, secrets: list[str]) -> tuple[str, bool]:
    """What the model said, without its thinking, and whether it was cut off.

    Args:
        answer: The decoded body, whatever it is.
        who: The host, for messages.
        secrets: What must not appear in messages.

    Raises:
        ProviderError: There is no answer in it.
    """
    choices = answer.get("choices") if isinstance(answer, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(first, dict) or not isinstance(message, dict):
        said = error_in(answer) or type(answer).__name__
        raise ProviderError(f"{who} answered without a message: {shown(said, secrets)}", "is base_url a chat endpoint?")
    return _plain(message.get("content")), first.get("finish_reason") in ("length", "max_tokens")


def _plain(content: Any) -> str:
    """The text of a content: a string, a list of parts, or nothing."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [part.get("text") if isinstance(part, dict) else part for part in content]
    return "".join(part for part in parts if isinstance(part, str))


def _counted(answer: Any) -> tuple[int, int] | None:
    """The tokens that were sent and answered, where the service counts."""
    usage = answer.get("usage")
    if not isinstance(usage, dict):
        return None
    sent, given = usage.get("prompt_tokens"), usage.get("completion_tokens")
    return (sent, given) if type(sent) is int and type(given) is int and sent >= 0 and given >= 0 else None


def _unknown_field(error: RequestRejectedError, refused: frozenset[str]) -> str | None:
    """The field that the service may not know, and that is to be left out; None = it is something else."""
    if error.status not in _REFUSED:
        return None
    for field in (_NEW_LIMIT, _TEMPERATURE):
        if field in error.message and field not in refused:
            return field
    return None if _JSON in refused or isinstance(error, TooLargeError) else _JSON


def _too_large(error: TooLargeError) -> RequestRejectedError:
    if "max_tokens" in error.message or _NEW_LIMIT in error.message:
        return RequestRejectedError(error.message, "lower distill.output_tokens")
    return TooLargeError(error.message, "lower distill.input_tokens")


def _pass_on(waits: queue.SimpleQueue[str], told: Told) -> None:
    while not waits.empty():
        told(waits.get())
