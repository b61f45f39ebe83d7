"""A small embedding service on a real socket, for the provider tests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from alaya_core.progress import CancelToken

KEY = "sk-secret-0123456789"
DIM = 8


def vector_of(text: str) -> list[float]:
    """A vector that depends on the text alone."""
    seed = sum(ord(char) * (i + 1) for i, char in enumerate(text))
    return [float(x) for x in np.random.default_rng(seed).normal(size=DIM)]


def unit_of(text: str) -> np.ndarray:
    vector = np.array(vector_of(text))
    return np.asarray(vector / np.linalg.norm(vector))


@dataclass
class Waits:
    """Stands in for sleeping: keeps how long each wait would have been."""

    seconds: list[float] = field(default_factory=list)

    def __call__(self, seconds: float, cancel: CancelToken | None) -> None:
        if cancel is not None:
            cancel.check()
        self.seconds.append(seconds)


@dataclass
class Service:
    """An embedding service whose limits and answers a test chooses."""

    server: HTTPServer
    max_batch: int = 10_000
    max_chars: int = 1_000_000
    answer: Callable[[dict[str, Any]], Response | None] = lambda _: None
    change: Callable[[list[dict[str, Any]]], Any] = lambda data: data
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, request: Request) -> Response:
        body = json.loads(request.get_data())
        with self.lock:
            self.bodies.append(body)
            self.headers.append(dict(request.headers))
        special = self.answer(body)
        if special is not None:
            return special
        texts = body["input"]
        if len(texts) > self.max_batch:
            return said(413, f"input batch size {len(texts)} > maximum allowed batch size {self.max_batch}")
        if any(len(text) > self.max_chars for text in texts):
            return said(400, "This model's maximum context length is exceeded")
        data = [{"index": i, "embedding": vector_of(text)} for i, text in enumerate(texts)]
        return Response(json.dumps({"data": self.change(data)}), content_type="application/json")

    @property
    def sizes(self) -> list[int]:
        return [len(body["input"]) for body in self.bodies]


def said(status: int, message: str, headers: dict[str, str] | None = None, **more: str) -> Response:
    return Response(
        json.dumps({"error": {"message": message, **more}}), status, headers, content_type="application/json"
    )
