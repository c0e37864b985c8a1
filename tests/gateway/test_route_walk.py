"""Every route without access rights: refused, and nothing is sent upstream."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from tests.gateway.scripted import Scripted
from tests.support.background import Background
from tests.support.gateway import KEY, RunningGateway, run_gateway
from tests.support.http import request

from moongate.gateway.http.front_paths import DIALECT_BY_PATH
from moongate.gateway.http.pages import OPEN_PAGES, PAGES

ROUTES = [*DIALECT_BY_PATH, *PAGES, "/v1/models/m", "/v1/models/p%2Cm", "/v1/nothing", "/v1/files", "/%2e%2e/v1/models"]
BODY = json.dumps({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}], "input": "Hi"})
INTRUDERS: dict[str, tuple[int, dict[str, str]]] = {
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
    provider = {"name": "p", "api_base_url": upstream.url, "models": ["m"]}
    # Hundreds of wrong keys come from one address; tests/gateway/http/test_address_limits.py limits them.
    with run_gateway({"providers": [provider], "limits": {"wrong_keys": 0}}) as running:
        yield running


@pytest.mark.parametrize("intruder", INTRUDERS)
def test_every_route_refuses_intruders(gateway: RunningGateway, upstream: Scripted, intruder: str) -> None:
    status, headers = INTRUDERS[intruder]
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
def test_open_pages_disclose_nothing_of_the_configuration(gateway: RunningGateway, route: str) -> None:
    reply = request("GET", gateway.root + route, None, key="", headers={})
    assert reply.status == 200
    assert set(reply.json()) <= {"name", "status", "version", "compiled"}


def test_a_request_with_a_key_is_answered(gateway: RunningGateway, upstream: Scripted) -> None:
    for headers in ({"authorization": f"Bearer {KEY}"}, {"x-api-key": KEY, "origin": gateway.root}):
        before = len(upstream.seen)
        assert (
            request("POST", f"{gateway.root}/v1/chat/completions", BODY.encode(), key="", headers=headers).status == 200
        )
        assert len(upstream.seen) == before + 1
