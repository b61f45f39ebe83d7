"""An embedding service for whole memories: vectors follow the words of a text, each model has a space of its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from alaya_core.words import normalise


@dataclass
class Words:
    """Answers `/v1/embeddings` on a test's server.

    Attributes:
        lengths: Numbers a vector, by model.
        asked: (model, text) of every text that was embedded.
        before: Called before each answer, with the number of requests so far; may answer itself.
    """

    server: HTTPServer
    lengths: dict[str, int] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    requests: int = 0
    before: Callable[[int], Response | None] = lambda _: None

    def __post_init__(self) -> None:
        self.server.expect_request("/v1/embeddings", method="POST").respond_with_handler(self)

    def __call__(self, request: Request) -> Response:
        body = json.loads(request.get_data())
        self.requests += 1
        if (special := self.before(self.requests)) is not None:
            return special
        model, texts = body["model"], body["input"]
        length = body.get("dimensions") or self.lengths.get(model, 32)
        self.asked += [(model, text) for text in texts]
        data = [{"index": at, "embedding": vector_of(model, text, length)} for at, text in enumerate(texts)]
        return Response(json.dumps({"data": data}), content_type="application/json")

    def configure(self, home: Path, model: str, **more: Any) -> None:
        """Makes a home use the service from its next opening on."""
        embedding = {"provider": "ollama", "base_url": self.server.url_for("/v1"), "model": model, "batch_size": 2}
        value = {"embedding": {**embedding, **more}, "home": {"busy_timeout_s": 2}}
        (home / "config.json").write_text(json.dumps(value))


def vector_of(model: str, text: str, length: int) -> list[float]:
    """The sum of a direction for each word, in a space that belongs to the model."""
    total = np.full(length, 1e-3)
    for word in normalise(text).split():
        seed = int.from_bytes(hashlib.sha256(f"{model}|{word}".encode()).digest()[:8], "big")
        total += np.random.default_rng(seed).normal(size=length)
    return [float(value) for value in total / np.linalg.norm(total)]
