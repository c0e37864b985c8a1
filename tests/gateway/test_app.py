"""The application over real sockets: access, requests to the provider, answers."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.scripted import COMPLETION, DONE, Asked, Scripted, chunk, forever
from tests.support.background import Background
from tests.support.gateway import KEY, RunningGateway, run_gateway
from tests.support.http import Reply, get, post, request

ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
UPSTREAM_KEY = "sk-canary-of-the-provider"


@pytest.fixture(scope="module")
def upstream() -> Iterator[Scripted]:
    with Background() as background:
        yield background.start(Scripted(play).start())


async def play(asked: Asked) -> None:
    """What a request asks for in `user`."""
    wanted = asked.json.get("user", "")
    if wanted == "leak":
        asked.document({"error": {"message": f"Incorrect API key: {UPSTREAM_KEY}", "code": UPSTREAM_KEY}}, 401)
    elif wanted == "redirect":
        asked.document(b"", 302, location="http://169.254.169.254/")
    elif wanted == "html":
        asked.document(b"<html><body>Oh no</body></html>", 503, retry_after="90")
    elif wanted == "not json":
        asked.document(b"<html>")
    elif wanted == "repeated keys" and not asked.json.get("stream"):
        asked.document(b'{"choices":[],' + json.dumps(COMPLETION).encode()[1:])
    elif wanted == "repeated keys":
        asked.begin_stream()
        asked.send(chunk("Hel").replace(b'"choices"', b'"choices":[],"choices"') + chunk("lo.", "stop") + DONE)
        asked.end_stream()
    elif wanted == "error in 200":
        asked.document({"error": {"message": "sorry", "code": 400}})
    elif asked.json.get("stream"):
        asked.begin_stream()
        asked.send(chunk("Hel") + chunk("lo.", "stop") + DONE)
        asked.end_stream()
    else:
        asked.document()


@pytest.fixture(scope="module")
def gateway(upstream: Scripted) -> Iterator[RunningGateway]:
    provider = {
        "name": "p",
        "api_base_url": upstream.url,
        "api_key": UPSTREAM_KEY,
        "models": ["m", {"name": "n", "alias": "nick"}],
        "transformer": {"use": ["Kimi"]},
        "headers": {"X-Own": "ours"},
        "forward_headers": ["X-Extra", "Authorization"],
    }
    with run_gateway({"providers": [provider], "retries": {"retries": 0}, "aliases": {"claude-*": "n"}}) as running:
        yield running


def ask(gateway: RunningGateway, path: str = "/v1/chat/completions", **body: Any) -> Reply:
    return post(gateway.root + path, ASK | body, key=gateway.key)


def test_a_whole_answer_comes_back_with_its_own_bytes(gateway: RunningGateway) -> None:
    reply = ask(gateway)
    assert reply.status == 200
    assert reply.body == json.dumps(COMPLETION).encode()
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers["x-request-id"].startswith("req_")


def test_a_stream_comes_back_with_its_own_bytes(gateway: RunningGateway) -> None:
    reply = ask(gateway, stream=True)
    assert reply.status == 200
    assert reply.body == chunk("Hel") + chunk("lo.", "stop") + DONE
    assert reply.headers["content-type"] == "text/event-stream; charset=utf-8"


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_that_repeats_a_key_leaves_as_it_came(gateway: RunningGateway, stream: bool) -> None:
    reply = ask(gateway, user="repeated keys", stream=stream)
    assert reply.status == 200
    assert reply.body.count(b'"choices"') == (3 if stream else 2)
    assert b"Hel" in reply.body


@pytest.mark.parametrize("path", ["/chat/completions", "/v1/chat/completions?beta=true"])
def test_other_paths_to_the_same_front(gateway: RunningGateway, path: str) -> None:
    assert ask(gateway, path).status == 200


def test_an_unchanged_body_is_sent_upstream_as_it_came(gateway: RunningGateway, upstream: Scripted) -> None:
    body = b'{ "model":"m", "messages" : [{"role":"user","content":"\\u00e9"}], "odd": 1e3 }'
    post(gateway.root + "/v1/chat/completions", body, key=gateway.key)
    assert upstream.seen[-1].body == body


@pytest.mark.parametrize(("model", "sent"), [("p,m", "m"), ("nick", "n"), ("claude-opus-9", "n"), ("p/n", "n")])
def test_the_provider_is_asked_for_its_own_name(
    gateway: RunningGateway, upstream: Scripted, model: str, sent: str
) -> None:
    assert ask(gateway, model=model).status == 200
    assert upstream.seen[-1].json == ASK | {"model": sent}


def test_only_own_and_allowed_headers_are_sent_upstream(gateway: RunningGateway, upstream: Scripted) -> None:
    given = {
        "x-session-id": "s1",
        "x-extra": "e",
        "x-evil": "1",
        "cookie": "c=1",
        "x-forwarded-host": "evil.example",
        "x-api-key": KEY,
        "user-agent": "test",
    }
    post(gateway.root + "/v1/chat/completions", ASK, key=gateway.key, headers=given)
    names = [line.partition(":")[0] for line in upstream.seen[-1].head.split("\r\n")[1:] if line]
    assert sorted(names) == sorted(
        [
            "host",
            "accept-encoding",
            "content-length",
            "content-type",
            "x-own",
            "x-session-id",
            "x-extra",
            "authorization",
        ]
    )
    assert upstream.seen[-1].header("authorization") == f"bearer {UPSTREAM_KEY}"
    assert KEY not in upstream.seen[-1].head


def test_a_well_formed_request_id_is_kept(gateway: RunningGateway) -> None:
    url = gateway.root + "/v1/chat/completions"
    assert post(url, ASK, key=KEY, headers={"x-request-id": "mine-1"}).headers["x-request-id"] == "mine-1"
    assert post(url, ASK, key=KEY, headers={"x-request-id": "a b"}).headers["x-request-id"].startswith("req_")


ROUTES = [
    ("POST", "/v1/chat/completions"),
    ("POST", "/chat/completions"),
    ("POST", "/v1/messages"),
    ("POST", "/v1/messages/count_tokens"),
    ("POST", "/v1/responses"),
    ("GET", "/v1/models"),
    ("GET", "/models"),
    ("GET", "/v1/models/m"),
    ("GET", "/metrics"),
    ("GET", "/nothing/here"),
    ("HEAD", "/api/hello"),
]
OPEN = [("GET", "/"), ("HEAD", "/"), ("GET", "/health"), ("GET", "/ready"), ("GET", "/version")]


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize("key", ["", "wrong"])
def test_no_route_without_a_key(gateway: RunningGateway, upstream: Scripted, method: str, path: str, key: str) -> None:
    before = len(upstream.seen)
    reply = request(method, gateway.root + path, json.dumps(ASK).encode(), key=key, headers={})
    assert reply.status == 401
    assert len(upstream.seen) == before
    if method != "HEAD":
        assert reply.json()["error"]["type"] == "authentication_error"
        assert reply.headers["x-should-retry"] == "false"


@pytest.mark.parametrize(("method", "path"), [*ROUTES, *OPEN])
@pytest.mark.parametrize(
    "headers", [{"host": "evil.example"}, {"origin": "https://evil.example"}, {"origin": "null"}], ids=str
)
def test_no_route_for_a_foreign_host_or_origin(
    gateway: RunningGateway, upstream: Scripted, method: str, path: str, headers: dict[str, str]
) -> None:
    before = len(upstream.seen)
    reply = request(method, gateway.root + path, json.dumps(ASK).encode(), key=KEY, headers=headers)
    assert reply.status == 403
    assert len(upstream.seen) == before
    assert not [name for name in reply.headers if name.startswith("access-control")]


@pytest.mark.parametrize(("method", "path"), OPEN)
def test_open_routes_need_no_key(gateway: RunningGateway, method: str, path: str) -> None:
    reply = request(method, gateway.root + path, None, key="", headers={})
    assert reply.status == 200
    if method == "GET":
        assert reply.json()


def test_models_in_openai_s_shape(gateway: RunningGateway) -> None:
    for path in ("/v1/models", "/models"):
        found = get(gateway.root + path, key=KEY).json()
        assert found["object"] == "list"
        assert [each["id"] for each in found["data"]] == ["m", "n", "nick"]
        assert set(found["data"][0]) == {"id", "object", "created", "owned_by"}
    assert get(gateway.root + "/v1/models/m", key=KEY).json()["id"] == "m"
    assert get(gateway.root + "/v1/models/zz", key=KEY).status == 404


def test_models_in_anthropic_s_shape(gateway: RunningGateway) -> None:
    headers = {"anthropic-version": "2023-06-01"}
    found = get(gateway.root + "/v1/models", key=KEY, headers=headers).json()
    assert [each["id"] for each in found["data"]] == ["m", "n", "nick"]
    assert found["data"][0]["type"] == "model"
    assert get(gateway.root + "/v1/models/m", key=KEY, headers=headers).json()["id"] == "m"


def test_tokens_are_counted(gateway: RunningGateway, upstream: Scripted) -> None:
    before = len(upstream.seen)
    reply = post(gateway.root + "/v1/messages/count_tokens", ASK, key=KEY)
    assert reply.json()["input_tokens"] > 0
    assert len(upstream.seen) == before


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", "/v1/chat/completions", "POST"),
        ("POST", "/health", "GET, HEAD"),
        ("GET", "/v1/messages/count_tokens", "POST"),
    ],
)
def test_other_methods(gateway: RunningGateway, method: str, path: str, allow: str) -> None:
    reply = request(method, gateway.root + path, b"" if method == "POST" else None, key=KEY, headers={})
    assert reply.status == 405
    assert reply.headers["allow"] == allow


@pytest.mark.parametrize(
    ("path", "read"),
    [
        ("/v1/chat/completions", lambda body: body["error"]["message"]),
        ("/v1/responses", lambda body: body["error"]["message"]),
        ("/v1/messages", lambda body: body["error"]["message"] if body["type"] == "error" else None),
    ],
)
def test_an_unknown_model_is_a_404_in_the_front_s_shape(gateway: RunningGateway, path: str, read: Any) -> None:
    body = {"model": "mm", "max_tokens": 5, "messages": ASK["messages"], "input": "Hi"}
    reply = post(gateway.root + path, body, key=KEY)
    assert reply.status == 404
    assert "Did you mean" in read(reply.json())


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[]", 400),
        (b"nope", 400),
        (b'{"messages": []}', 400),
        (b'{"model": 7, "messages": []}', 400),
        (b'{"model": "m", "x": ' + b"[" * 200 + b"]" * 200 + b"}", 400),
        (b'{"model": "m", "messages": [{"role": "tool", "content": "x"}]}', 400),
    ],
)
def test_bad_bodies_are_refused(gateway: RunningGateway, upstream: Scripted, body: bytes, status: int) -> None:
    before = len(upstream.seen)
    reply = post(gateway.root + "/v1/chat/completions", body, key=KEY)
    assert reply.status == status
    assert reply.json()["error"]["type"] == "invalid_request_error"
    assert len(upstream.seen) == before


def test_a_body_that_is_too_large(gateway: RunningGateway) -> None:
    host, port = gateway.root.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as client:
        head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {KEY}\r\n"
        client.sendall(f"{head}content-length: {33 << 20}\r\n\r\n".encode())
        assert client.recv(1000).startswith(b"HTTP/1.1 413 ")


def test_an_upstream_error_keeps_status_message_and_retry_after(gateway: RunningGateway) -> None:
    reply = ask(gateway, user="html")
    assert reply.status == 503
    assert reply.json()["error"]["message"].endswith("answered with status 503: Oh no")
    assert reply.headers["retry-after"] == "60"
    assert reply.headers["x-should-retry"] == "true"


def test_a_redirect_is_not_followed(gateway: RunningGateway) -> None:
    reply = ask(gateway, user="redirect")
    assert reply.status == 502
    assert "169.254" not in reply.body.decode()


@pytest.mark.parametrize("stream", [True, False])
def test_a_secret_in_an_upstream_error_is_masked(gateway: RunningGateway, stream: bool) -> None:
    reply = ask(gateway, user="leak", stream=stream)
    assert reply.status == 401
    assert UPSTREAM_KEY not in reply.body.decode()
    assert "[secret]" in reply.json()["error"]["message"]


@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_that_is_not_json_is_a_502(gateway: RunningGateway, stream: bool) -> None:
    assert ask(gateway, user="not json", stream=stream).status == 502


@pytest.mark.parametrize("stream", [True, False])
def test_an_error_under_status_200_is_an_error(gateway: RunningGateway, stream: bool) -> None:
    reply = ask(gateway, user="error in 200", stream=stream)
    assert (reply.status, reply.json()["error"]["message"]) == (400, "sorry")


def test_a_whole_answer_ends_with_the_end_marker_of_the_stream(upstream: Scripted, gateway: RunningGateway) -> None:
    """The provider streams although it was not asked to, and never ends the body."""

    async def hangs(asked: Asked) -> None:
        asked.begin_stream()
        asked.send(chunk("Hel") + chunk("lo.", "stop") + DONE)
        await forever(asked)

    upstream.play, before = hangs, upstream.play
    try:
        reply = ask(gateway)
    finally:
        upstream.play = before
    assert reply.json()["choices"][0]["message"]["content"] == "Hello."


def test_metrics_count(gateway: RunningGateway) -> None:
    ask(gateway)
    text = get(gateway.root + "/metrics", key=KEY).body.decode()
    assert 'moongate_requests_total{model="m",provider="p",front="chat",status="200"}' in text
    assert 'moongate_tokens_total{model="m",provider="p",kind="input"}' in text
    assert 'moongate_attempts_total{provider="p",model="m",outcome="ok"}' in text
    assert "moongate_requests_in_flight 0\n" in text
    assert "moongate_streams_open 0\n" in text
    assert UPSTREAM_KEY not in text
    assert KEY not in text


BROKEN = f"""
class Broken:
    def begin(self, request):
        raise RuntimeError("a bug with {UPSTREAM_KEY}")
"""


def test_an_internal_error_is_logged_in_one_line_and_not_shown_to_the_client(
    upstream: Scripted, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.py"
    path.write_text(BROKEN, encoding="utf-8")
    provider = {
        "name": "p",
        "api_base_url": upstream.url,
        "api_key": UPSTREAM_KEY,
        "models": ["m"],
        "transformer": {"use": ["Broken"]},
    }
    with run_gateway({"providers": [provider], "transformers": [str(path)]}) as running:
        reply = ask(running)
    assert reply.status == 500
    assert "bug" not in reply.body.decode()
    logged = capfd.readouterr().err
    assert reply.headers["x-request-id"] in logged
    assert "RuntimeError at " in logged
    assert ": a bug with [secret]" in logged
    assert "Traceback" not in logged
