"""A reranker on a real socket, for whoever tests what becomes of its judgement."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

MISSING_TEXTS = "Failed to deserialize the JSON body into the target type: missing field `texts` at line 1 column 93"


@dataclass
class Judge:
    """Answers `/v1/rerank` on a test's server.

    Attributes:
        style: `results`, `data` or `bare`, as services answer; `texts` for one that knows no `documents`.
        score: What a text gets for a query.
        instead: May answer itself, given the body.
        bodies, headers: What was asked.
    """

    server: HTTPServer
    style: str = "results"
    score: Callable[[str, str], float] = lambda query, text: 0.5
    instead: Callable[[dict[str, Any]], Response | None] = lambda _: None
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.server.expect_request("/v1/rerank", method="POST").respond_with_handler(self)

    @property
    def url(self) -> str:
        return self.server.url_for("/v1")

    @property
    def host(self) -> str:
        return f"{self.server.host}:{self.server.port}"

    @property
    def texts(self) -> list[str]:
        """Every text that was sent, in order."""
        return [text for body in self.bodies for text in body.get("documents", body.get("texts", []))]

    def __call__(self, request: Request) -> Response:
        body = json.loads(request.get_data())
        self.bodies.append(body)
        self.headers.append(dict(request.headers))
        if (special := self.instead(body)) is not None:
            return special
        if self.style == "texts" and "texts" not in body:
            return Response(MISSING_TEXTS, 422)
        texts = body["texts"] if self.style == "texts" else body["documents"]
        key = "score" if self.style in ("bare", "texts") else "relevance_score"
        scored = [{"index": at, key: self.score(body["query"], text)} for at, text in enumerate(texts)]
        scored.sort(key=lambda item: -item[key])
        return answered(scored if key == "score" else {self.style: scored, "model": "m"})


def answered(value: Any) -> Response:
    return Response(json.dumps(value), content_type="application/json")


@contextmanager
def mute(first: bytes = b"", then: bytes = b"") -> Iterator[tuple[str, list[bytes]]]:
    """A server that takes a connection, begins to answer, and never comes to an end.

    Yields:
        Its address, and what it was asked (a piece for each connection).
    """
    asked: list[bytes] = []
    over = threading.Event()

    def serve(peer: socket.socket) -> None:
        with peer:
            asked.append(peer.recv(65536))
            try:
                peer.sendall(first)
                while not over.wait(0.02):
                    peer.sendall(then)
            except OSError:
                return

    def take(listener: socket.socket) -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(peer,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=take, args=(listener,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1", asked
        finally:
            over.set()
            listener.shutdown(socket.SHUT_RDWR)
