"""JSON over HTTP to a model service: patient where patience helps, quick to stop where it does not."""

from __future__ import annotations

import ipaddress
import json
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NoReturn, Protocol
from urllib.parse import urlsplit

from alaya_core.errors import ConfigError, ProviderError
from alaya_core.progress import CancelToken
from alaya_core.providers.http_errors import RequestRejectedError, RetryLaterError, service_error, shown

if TYPE_CHECKING:
    import httpx

Sleep = Callable[[float, CancelToken | None], None]
"""Waits some seconds, and stops waiting with CancelledError when the token is set."""

Waiting = Callable[[float, str], None]
"""Told how many seconds a client waits before it asks again, and why."""

_SLICE_S = 0.1


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long to try.

    Attributes:
        attempts: Requests in all.
        base_s: The wait before the second request; it doubles from there.
        cap_s: No single wait is longer, whatever `Retry-After` says.
        connects: Requests in all when not even a connection comes about.
        impatient: Gives up at once when `Retry-After` asks for more than `cap_s`, instead of asking again too early.
    """

    attempts: int = 5
    base_s: float = 0.5
    cap_s: float = 60.0
    connects: int = 2
    impatient: bool = False


PATIENT = RetryPolicy()
"""For bulk work."""

BRISK = RetryPolicy(attempts=2, base_s=0.2, cap_s=2.0, connects=1, impatient=True)
"""For a person who waits: words answer meanwhile."""


def pause(seconds: float, cancel: CancelToken | None) -> None:
    """Waits, looking at the token ten times a second."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if cancel is not None:
            cancel.check()
        time.sleep(min(left, _SLICE_S))


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine itself."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


class Addressed(Protocol):
    """A service with every choice made, as far as reaching it goes."""

    @property
    def base_url(self) -> str: ...
    @property
    def api_key(self) -> str: ...
    @property
    def key_name(self) -> str: ...
    @property
    def timeout_s(self) -> float: ...


class JsonClient:
    """Posts JSON to one service. May be used from several threads.

    Args:
        base_url: `http(s)://host/path`; requests go below it, and only there: redirects are not followed.
        api_key: Sent as a bearer token; appears in no message and no repr.
        key_name: Where the key comes from, for hints.
        timeout_s: Seconds to connect, and seconds without a byte, before a request counts as failed.
        policy: How to retry.
        sleep, now, jitter: Waiting, the wall clock in seconds, and a random number 0..1; for tests.
        max_bytes: The longest answer that is read, decoded.

    Raises:
        ConfigError: `base_url` is no http address with a host.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str = "",
        key_name: str = "the API key",
        timeout_s: float = 30.0,
        policy: RetryPolicy = PATIENT,
        sleep: Sleep = pause,
        now: Callable[[], float] = time.time,
        jitter: Callable[[], float] = random.random,
        max_bytes: int = 64 * 1024 * 1024,
    ) -> None:
        host, port = _host_of(base_url)
        self.base_url = base_url.rstrip("/")
        self.name = f"{host}:{port}" if port else host
        self.host = None if is_loopback(host) else self.name
        self._secrets = [part for part in (api_key, urlsplit(base_url).password or "") if part]
        self._api_key = api_key
        self._key_name = key_name
        self._timeout_s = timeout_s
        self._policy = policy
        self._sleep, self._now, self._jitter = sleep, now, jitter
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None

    @classmethod
    def of(cls, endpoint: Addressed, policy: RetryPolicy = PATIENT) -> JsonClient:
        """The client of a service.

        Raises:
            ConfigError: Its address is no http address with a host.
        """
        return cls(
            endpoint.base_url,
            api_key=endpoint.api_key,
            key_name=endpoint.key_name,
            timeout_s=endpoint.timeout_s,
            policy=policy,
        )

    def __repr__(self) -> str:
        return f"JsonClient({self.name})"

    def post(
        self,
        path: str,
        payload: Mapping[str, Any],
        *,
        cancel: CancelToken | None = None,
        policy: RetryPolicy | None = None,
        timeout_s: float | None = None,
        waiting: Waiting | None = None,
    ) -> Any:
        """Posts and returns the decoded answer.

        Args:
            path: Below the base URL, e.g. `/embeddings`.
            payload: What becomes the JSON body.
            cancel: Looked at before every request and while waiting for the next.
            policy, timeout_s: Other ones than the client's, for this call.
            waiting: Told before each wait.

        Raises:
            TooLargeError: The service finds the request too large; fewer or shorter texts may pass.
            ProviderRefusedError: Key or quota refused; not retried.
            RequestRejectedError: The service finds the request wrong; not retried.
            ProviderError: All attempts failed, or the answer cannot be read.
            CancelledError: `cancel` was set.
        """
        policy = policy or self._policy
        body = json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace")
        attempt = 0
        while True:
            attempt += 1
            if cancel is not None:
                cancel.check()
            try:
                return self._once(path, body, timeout_s or self._timeout_s, cancel)
            except RetryLaterError as again:
                most = min(policy.attempts, policy.connects) if again.no_connection else policy.attempts
                asked = _retry_after_s(again.retry_after, self._now())
                if attempt >= most or (policy.impatient and (asked or 0.0) > policy.cap_s):
                    tries = f" (tried {attempt} times)" if attempt > 1 else ""
                    raise ProviderError(again.message + tries, again.hint) from None
                wait = self._wait(policy, attempt, asked)
                if waiting is not None:
                    waiting(wait, again.message)
            self._sleep(wait, cancel)

    def close(self) -> None:
        """Closes the connections; a later post opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _wait(self, policy: RetryPolicy, attempt: int, asked: float | None) -> float:
        wait: float
        if asked is None:
            wait = policy.base_s * 2.0 ** (attempt - 1) * (0.5 + self._jitter())
        else:
            # never before the time asked for, and not all clients at the same moment
            wait = asked + self._jitter() * min(1.0, policy.base_s)
        return min(wait, policy.cap_s)

    def _once(self, path: str, body: bytes, timeout_s: float, cancel: CancelToken | None) -> Any:
        import httpx

        try:
            with self._opened().stream("POST", self.base_url + path, content=body, timeout=timeout_s) as response:
                data = self._read(response, timeout_s, cancel)
        except httpx.ConnectError as exc:
            self._lost(f"cannot reach {self.name}: {exc}", "is the service running, and base_url right?", True)
        except httpx.TimeoutException:
            self._lost(f"{self.name} did not answer within {timeout_s:g} s", "try again, or raise timeout_s")
        except (httpx.NetworkError, httpx.RemoteProtocolError, httpx.ProxyError) as exc:
            self._lost(f"the connection to {self.name} broke: {exc}", "try again")
        except (httpx.HTTPError, httpx.InvalidURL) as exc:
            kind = type(exc).__name__
            raise ProviderError(shown(f"{self.name}: {kind}: {exc}", self._secrets)) from None
        if response.is_success:
            return self._decoded(data)
        raise service_error(self.name, self._key_name, response.status_code, response.headers, data, self._secrets)

    def _read(self, response: httpx.Response, timeout_s: float, cancel: CancelToken | None) -> bytes:
        data = bytearray()
        until = time.monotonic() + timeout_s
        for chunk in response.iter_bytes():
            data += chunk
            if len(data) > self._max_bytes:
                raise ProviderError(f"{self.name} sent an answer longer than {self._max_bytes:,} bytes")
            if time.monotonic() > until:
                self._lost(f"{self.name} did not finish its answer within {timeout_s:g} s", "try again")
            if cancel is not None:
                cancel.check()
        return bytes(data)

    def _decoded(self, data: bytes) -> Any:
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            start = shown(data[:800].decode("utf-8", "replace"), self._secrets)
            raise RequestRejectedError(
                f"{self.name} did not answer with JSON: {start}", "is base_url right? it usually ends in /v1"
            ) from None

    def _lost(self, message: str, hint: str, no_connection: bool = False) -> NoReturn:
        raise RetryLaterError(shown(message, self._secrets), hint, no_connection=no_connection) from None

    def _opened(self) -> httpx.Client:
        import httpx

        with self._lock:
            if self._client is None:
                headers = {"Content-Type": "application/json", "Accept": "application/json"}
                if self._api_key:
                    headers["Authorization"] = f"Bearer {self._api_key}"
                # a service on this machine is reached directly, whatever proxy the environment names
                self._client = httpx.Client(
                    headers=headers, follow_redirects=False, trust_env=self.host is not None, timeout=self._timeout_s
                )
            return self._client


def _host_of(base_url: str) -> tuple[str, int | None]:
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigError("base_url is not an http address", "write it like https://api.example.com/v1")
    return host, port


def _retry_after_s(value: str | None, now: float) -> float | None:
    """Seconds from a Retry-After header, which holds seconds or an HTTP date."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - now
        except (ValueError, TypeError, OverflowError):
            return None
    return max(0.0, seconds) if seconds == seconds else None
