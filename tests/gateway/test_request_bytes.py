"""What the gateway judged is what it sends, whatever bytes the request came in; over real sockets."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator

import pytest
from tests.gateway.scripted import Scripted
from tests.support.background import Background
from tests.support.gateway import KEY, RunningGateway, run_gateway

ASK = '{"model":"m","messages":[{"role":"user","content":"Hi"}]}'
WIDE = '{"model":"m","messages":[' + "[]," * 1000 + "[]]}"


@pytest.fixture(scope="module")
def background() -> Iterator[Background]:
    with Background() as running:
        yield running


@pytest.fixture(scope="module")
def upstream(background: Background) -> Scripted:
    return background.start(Scripted().start())


@pytest.fixture(scope="module")
def gateway(upstream: Scripted) -> Iterator[RunningGateway]:
    provider = {"name": "p", "api_base_url": upstream.url, "models": ["m", "n"]}
    with run_gateway({"providers": [provider], "limits": {"json_values": 1000}}) as running:
        yield running


def send(gateway: RunningGateway, body: bytes, path: str = "/v1/chat/completions") -> tuple[int, str]:
    connection = http.client.HTTPConnection(gateway.root.removeprefix("http://"), timeout=20)
    try:
        connection.request("POST", path, body, {"authorization": f"Bearer {KEY}"})
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"n","model":"m","messages":[{"role":"user","content":"Hi"}]}',
        b'{"model":"m","messages":[{"role":"system","role":"user","content":"no","content":"Hi"}]}',
        b'{"model":"m","messages":[],"messages":[{"role":"user","content":"Hi"}]}',
        b'{"model":"n","\\u006dodel":"m","messages":[{"role":"user","content":"Hi"}]}',
        b'{"model":"m","messages":[{"role":"user","content":"no","content":"Hi"}],"\\u003a":":"}',
    ],
)
def test_one_reading_is_routed_and_sent(gateway: RunningGateway, upstream: Scripted, body: bytes) -> None:
    assert send(gateway, body)[0] == 200
    sent = upstream.seen[-1].json
    assert json.loads(body) == sent
    assert upstream.seen[-1].body == json.dumps(sent, separators=(",", ":")).encode()


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_only_utf8_is_taken(gateway: RunningGateway, upstream: Scripted, coding: str) -> None:
    asked = len(upstream.seen)
    status, answer = send(gateway, ASK.encode(coding))
    assert (status, json.loads(answer)["error"]["code"]) == (400, "invalid_json")
    assert "UTF-8" in answer
    assert len(upstream.seen) == asked


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages", "/v1/messages/count_tokens", "/v1/responses"])
def test_a_body_with_too_many_values_is_refused(gateway: RunningGateway, upstream: Scripted, path: str) -> None:
    asked = len(upstream.seen)
    status, answer = send(gateway, WIDE.encode(), path)
    assert status == 400
    assert "more than 1000 JSON values" in answer
    assert len(upstream.seen) == asked
