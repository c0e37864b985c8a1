"""Every route, asked by those who may not: refused, and nothing of it goes upstream."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from tests.gateway.scripted import Scripted
from tests.support.background import Background
from tests.support.gateway import KEY, RunningGateway, run_gateway
from tests.support.http import request

from moongate.gateway.fronts import FRONTS
from moongate.gateway.pages import OPEN_PAGES, PAGES

ROUTES = [*FRONTS, *PAGES, "/v1/models/m", "/v1/models/p%2Cm", "/v1/nothing", "/v1/files", "/%2e%2e/v1/models"]
BODY = json.dumps({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}], "input": "Hi"})
STRANGERS: dict[str, tuple[int, dict[str, str]]] = {
    "no key": (401, {}),
    "empty key": (401, {"authorization": "Bearer "}),
    "wrong key": (401, {"authorization": "Bearer wrong"}),
    "wrong x-api-key": (401, {"x-api-key": "wrong"}),
    "key without a scheme": (401, {"authorization": KEY}),
    "key as a password": (401, {"authorization": f"Basic {KEY}"}),
    "longer key": (401, {"authorization": f"Bearer {KEY}x"}),
    "foreign host": (403, {"authorization": f"Bearer {KEY}", "host": "evil.example"}),
    "host that begins like ours": (403, {"authorization": f"Bearer {KEY}", "host": "127.0.0.1.evil.example"}),
    "foreign origin": (403, {"authorization": f"Bearer {KEY}", "origin": "https://evil.example"}),
    "no origin to speak of": (403, {"authorization": f"Bearer {KEY}", "origin": "null"}),
    "foreign host, no key": (403, {"host": "evil.example"}),
}
METHODS = ("GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD")


@pytest.fixture(scope="module")
def upstream() -> Iterator[Scripted]:
    with Background() as background:
        yield background.start(Scripted().start())


@pytest.fixture(scope="module")
def gateway(upstream: Scripted) -> Iterator[RunningGateway]:
    with run_gateway({"providers": [{"name": "p", "api_base_url": upstream.url, "models": ["m"]}]}) as running:
        yield running


@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_stranger_is_refused_everywhere(gateway: RunningGateway, upstream: Scripted, stranger: str) -> None:
    status, headers = STRANGERS[stranger]
    for route in ROUTES:
        for method in METHODS:
            if route in OPEN_PAGES and status == 401:
                continue
            data = BODY.encode() if method in ("POST", "PUT") else None
            reply = request(method, gateway.root + route, data, key="", headers=headers)
            assert reply.status == status, (method, route)
            assert KEY.encode() not in reply.body
    assert upstream.seen == []


@pytest.mark.parametrize("route", OPEN_PAGES)
def test_what_is_open_says_nothing_of_the_configuration(gateway: RunningGateway, route: str) -> None:
    reply = request("GET", gateway.root + route, None, key="", headers={})
    assert reply.status == 200
    assert set(reply.json()) <= {"name", "status", "version", "compiled"}


def test_a_friend_is_let_in(gateway: RunningGateway, upstream: Scripted) -> None:
    for headers in ({"authorization": f"Bearer {KEY}"}, {"x-api-key": KEY, "origin": gateway.root}):
        before = len(upstream.seen)
        assert (
            request("POST", f"{gateway.root}/v1/chat/completions", BODY.encode(), key="", headers=headers).status == 200
        )
        assert len(upstream.seen) == before + 1
