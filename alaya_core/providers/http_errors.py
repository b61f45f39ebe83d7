"""What a service's refusal means: stop, split, wait, or give up."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from alaya_core.errors import ProviderError, ProviderRefusedError
from alaya_core.text import safe_line

_SHOWN = 200

_TOO_LARGE = re.compile(
    r"""too\s+(large|long|many|big) | exceed | maximum\s+(context|length|allowed|number|batch|input)
      | max(imum)?[_ ]?(batch|input|seq\w*|tokens) | (context|sequence)[_ ](length|size|window) | batch[_ ]size
      | at\s+most | (less|fewer|larger|longer)\s+than | reduce\s+(the|your)
      | 过长 | 过大 | 过多 | 超过 | 超出 | 最多 | 最大""",
    re.IGNORECASE | re.VERBOSE,
)
_TOO_LARGE_500 = re.compile(r"too\s+(large|long)|context[_ ](length|size)|physical batch", re.IGNORECASE)
_DIMENSION = re.compile(r"dimension|matryoshka", re.IGNORECASE)
_NO_QUOTA = re.compile(
    r"insufficient[_ ](quota|balance|funds|credits?)|billing[_ ](hard[_ ]limit|not[_ ]active)|余额不足|欠费",
    re.IGNORECASE,
)
_TRANSIENT = {408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529}


class RequestRejectedError(ProviderError):
    """The service finds the request, or we its answer, wrong; the same request would fail again.

    Attributes:
        status: The HTTP status; 0 where it is not the service that refuses.
    """

    retryable = False

    def __init__(self, message: str, hint: str = "", *, status: int = 0) -> None:
        super().__init__(message, hint)
        self.status = status


class TooLargeError(RequestRejectedError):
    """The service finds the request too large: fewer or shorter texts may pass."""


class RetryLaterError(ProviderError):
    """One attempt failed in a way that may pass.

    Attributes:
        retry_after: The Retry-After header as it came, if any.
        no_connection: Whether not even a connection came about.
    """

    def __init__(
        self, message: str, hint: str = "", *, retry_after: str | None = None, no_connection: bool = False
    ) -> None:
        super().__init__(message, hint)
        self.retry_after = retry_after
        self.no_connection = no_connection


def shown(text: str, secrets: Sequence[str]) -> str:
    """A foreign message fit to be shown: one line, harmless, without secrets, at most 200 characters."""
    line = safe_line(text)
    for secret in secrets:
        line = line.replace(secret, "***")
    return line if len(line) <= _SHOWN else line[: _SHOWN - 3] + "..."


def service_error(
    name: str, key_name: str, status: int, headers: Mapping[str, str], body: bytes, secrets: Sequence[str]
) -> ProviderError:
    """The error that an answer other than 2xx stands for.

    Args:
        name: The service's host, for the message.
        key_name: Where the key comes from, for the hint.
        status: The HTTP status.
        headers: The response headers, looked up without regard to case.
        body: The response body.
        secrets: What must not appear in the message.
    """
    said, codes = _said(body)
    message = shown(said, secrets)
    text = f"{name}: HTTP {status}" + (f": {message}" if message else "")
    everything = f"{said} {codes}"
    if status in (401, 403):
        return ProviderRefusedError(text, f"check the key in {key_name}, and that it may use this model")
    if status == 402 or (status == 429 and _NO_QUOTA.search(everything)):
        return ProviderRefusedError(text, f"the quota or credit of {key_name} is used up; nothing is retried")
    if _is_too_large(status, everything):
        return TooLargeError(text, "lower embedding.batch_size or embedding.max_tokens", status=status)
    if status in _TRANSIENT:
        return RetryLaterError(text, "try again later", retry_after=headers.get("retry-after"))
    if 300 <= status < 400:
        target = shown(headers.get("location", "elsewhere"), secrets)
        return RequestRejectedError(f"{name} redirects to {target}", "redirects are not followed: correct base_url")
    hint = "check the model's name and base_url" if status in (404, 405) else "the service does not take it as it is"
    return RequestRejectedError(text, hint, status=status)


def error_in(answer: Any) -> str:
    """The message of an error object that came with status 200, or nothing."""
    if isinstance(answer, dict) and answer.get("error"):
        return _said(json.dumps(answer, ensure_ascii=False).encode())[0]
    return ""


def _is_too_large(status: int, everything: str) -> bool:
    if status == 413:
        return True
    if status in (400, 422):
        return bool(_TOO_LARGE.search(everything)) and not _DIMENSION.search(everything)
    return status == 500 and bool(_TOO_LARGE_500.search(everything))


def _said(body: bytes) -> tuple[str, str]:
    """What the service says for people, and its codes, from the shapes that services use."""
    text = body[:65536].decode("utf-8", "replace")
    try:
        answer: Any = json.loads(body)
    except (ValueError, RecursionError):
        return re.sub(r"<[^>]{0,200}>", " ", text) if text.lstrip().startswith("<") else text, ""
    if not isinstance(answer, dict):
        return text, ""
    inner = answer.get("error")
    holder: dict[str, Any] = inner if isinstance(inner, dict) else answer
    codes = " ".join(str(holder.get(key) or "") for key in ("code", "type"))
    if isinstance(inner, str) and inner:
        return inner, codes
    for key in ("message", "detail", "msg", "error_msg"):
        value = holder.get(key)
        if isinstance(value, str) and value:
            return value, codes
        if isinstance(value, list) and value:
            return "; ".join(str(v.get("msg", v)) if isinstance(v, dict) else str(v) for v in value[:3]), codes
    return text, codes
