"""A chat model on a real socket, whose answers a test writes."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

Answer = str | Response | dict[str, Any] | list[Any]
HANG_UP = Response("")
"""In place of an answer: the connection is dropped."""


def completion(text: Any, *, finish: str = "stop", usage: dict[str, int] | None = None) -> Response:
    """An answer as services give it; `text` is the message's content."""
    body: dict[str, Any] = {
        "id": "c-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}],
    }
    if usage is not None:
        body["usage"] = usage
    return Response(json.dumps(body), content_type="application/json")


def card(title: str, content: str, turns: Sequence[Any] = (0,), **fields: Any) -> dict[str, Any]:
    """A card as a model proposes it."""
    return {"session": "S1", "title": title, "content": content, "type": "fact", "turns": list(turns)} | fields


@dataclass
class ChatService:
    """Answers `/v1/chat/completions` on a test's server.

    Attributes:
        read: Answers a question about sessions: a text, a value that becomes JSON, or a whole response. A list gives
            its elements in turn, the last one for ever.
        judge: The same for questions about known cards.
        bodies, headers: What was asked.
    """

    server: HTTPServer
    read: Callable[[str], Answer] | list[Any] = field(default_factory=lambda: [{"cards": []}])
    judge: Callable[[str], Answer] | list[Any] = field(default_factory=lambda: [{"answers": []}])
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    usage: dict[str, int] | None = field(default_factory=lambda: {"prompt_tokens": 100, "completion_tokens": 20})
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.server.expect_request("/v1/chat/completions", method="POST").respond_with_handler(self)

    @property
    def url(self) -> str:
        return self.server.url_for("/v1")

    @property
    def questions(self) -> list[str]:
        """What was asked about sessions."""
        return [body["messages"][1]["content"] for body in self.bodies if not _compares(body)]

    @property
    def comparisons(self) -> list[str]:
        """What was asked about known cards."""
        return [body["messages"][1]["content"] for body in self.bodies if _compares(body)]

    @property
    def systems(self) -> list[str]:
        return [body["messages"][0]["content"] for body in self.bodies]

    def __call__(self, request: Request) -> Response:
        body = json.loads(request.get_data())
        with self.lock:
            self.bodies.append(body)
            self.headers.append(dict(request.headers))
            answers = self.judge if _compares(body) else self.read
            user = body["messages"][1]["content"]
            answer = answers(user) if callable(answers) else answers.pop(0) if len(answers) > 1 else answers[0]
        if answer is HANG_UP:
            request.environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
        if isinstance(answer, Response):
            return answer
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        return completion(text, usage=self.usage)


def _compares(body: dict[str, Any]) -> bool:
    return "(new)" in body["messages"][1]["content"]


def label_of(question: str, holding: str) -> str:
    """The label of the note in a comparison that holds some words."""
    for found in re.finditer(
        r"^([CK]\d+) \((?:new|known)[^)]*\)\n<note \w+>\n(.*?)\n</note \w+>", question, re.S | re.M
    ):
        if holding in found[2]:
            return found[1]
    raise AssertionError(f"no note holds {holding!r}:\n{question}")
