"""Every fault of an upstream, on every front, streamed and whole: no silent success, no hang, no stack trace."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.faults.table import BAND, OK, TABLE, Outcome, Row
from tests.support.background import Background
from tests.support.faulty_upstream import FAULTS, FaultyUpstream
from tests.support.fronts import FRONTS, Front
from tests.support.gateway import RunningGateway, run_gateway
from tests.support.http import Reply, post

# Short waits and low limits: the same code runs, only sooner.
TIMEOUTS = {"connect": 2, "head": 0.8, "first_event": 0.8, "silence": 0.8, "whole": 1.5, "stream": 6, "commit": 5}
LIMITS = {"answer": 2 << 20, "event": 256 << 10}
BY_PATH = ("early_413", "no_read")  # these must be chosen before the body is read
BY_PORT = ("rst_port", "mute_port")
UPSTREAM_KEY = "upstream-key-canary-1234567890"
WAYS = [(front, stream) for front in FRONTS for stream in (True, False)]
LONGEST = 9.0  # seconds: what the deadlines above allow, with room for a busy machine


@pytest.fixture(scope="module")
def gateway() -> Iterator[RunningGateway]:
    with Background() as background:
        upstream = background.start(FaultyUpstream(max_bytes=8 << 20, max_seconds=30).start())
        root = upstream.url.removesuffix("/v1")
        by_model = [row.fault for row in TABLE if row.name not in BY_PATH]
        providers = [_provider("faults", upstream.url, by_model)]
        providers += [_provider(name, f"{root}/{name}/v1", ["kimi-k2"]) for name in BY_PATH]
        providers += [
            _provider(name, f"http://127.0.0.1:{getattr(upstream, name)}/v1", ["kimi-k2"]) for name in BY_PORT
        ]
        config = {
            "providers": providers,
            "timeouts": TIMEOUTS,
            "limits": LIMITS,
            "retries": {"retries": 0, "attempts": 1},
        }
        with run_gateway(config) as running:
            yield running


def _provider(name: str, url: str, models: list[str]) -> dict[str, Any]:
    use = [["Kimi", {"preset": "agent", "family": "k2"}]]
    return {"name": name, "api_base_url": url, "api_key": UPSTREAM_KEY, "models": models, "transformer": {"use": use}}


def test_the_table_knows_every_fault() -> None:
    assert {row.name for row in TABLE} == set(FAULTS)
    assert len(TABLE) >= 140


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_each_fault_becomes_what_it_must(gateway: RunningGateway, row: Row) -> None:
    model = f"{row.name},kimi-k2" if row.name in BY_PATH else f"faults,{row.fault}"
    with ThreadPoolExecutor(len(WAYS)) as pool:
        outcomes = list(pool.map(lambda way: _outcome(gateway, model, *way), WAYS))
    wrong = {
        f"{front.name} {'streamed' if stream else 'whole'}": outcome
        for (front, stream), outcome in zip(WAYS, outcomes, strict=True)
        if outcome[0] not in (row.streamed if stream else row.whole)
    }
    assert not wrong, f"expected {set(row.streamed)} / {set(row.whole)}"


@pytest.mark.parametrize(("port", "status"), [("rst_port", 502), ("mute_port", 504)])
def test_upstreams_that_never_get_as_far_as_http(gateway: RunningGateway, port: str, status: int) -> None:
    with ThreadPoolExecutor(len(WAYS)) as pool:
        outcomes = list(pool.map(lambda way: _outcome(gateway, f"{port},kimi-k2", *way)[0], WAYS))
    assert outcomes == [status] * len(WAYS)


def test_no_answer_of_one_request_reaches_the_next(gateway: RunningGateway) -> None:
    for _ in range(3):
        for fault in ("double_response", "ok", "keepalive_stale", "ok", "keepalive_close_race", "ok"):
            body = FRONTS[0].ask(f"faults,{fault}", FRONTS[0].user("hi"), (), stream=False)
            reply = post(f"{gateway.root}/v1/chat/completions", body, key=gateway.key)
            assert reply.status == 200
            assert b"POISON" not in reply.body


def test_private_headers_and_keys_stay_inside(gateway: RunningGateway) -> None:
    for fault in ("set_cookie", "leaky_401"):
        body = FRONTS[0].ask(f"faults,{fault}", FRONTS[0].user("hi"), (), stream=False)
        reply = post(f"{gateway.root}/v1/chat/completions", body, key=gateway.key)
        assert UPSTREAM_KEY not in reply.body.decode()
        private = {"set-cookie", "via", "x-internal-host", "alt-svc", "proxy-authenticate", "strict-transport-security"}
        assert private.isdisjoint(reply.headers)


def _outcome(gateway: RunningGateway, model: str, front: Front, stream: bool) -> tuple[Outcome, str]:
    """What a client makes of it, and the answer's beginning for the message of a failing test."""
    begun = time.monotonic()
    reply = post(gateway.root + front.path, front.ask(model, front.user("hi"), (), stream=stream), key=gateway.key)
    if time.monotonic() - begun > LONGEST:
        return "too late", ""
    shown = reply.body[-300:].decode(errors="replace")
    if b"Traceback" in reply.body or b'File "' in reply.body:
        return "stack trace", shown
    if UPSTREAM_KEY.encode() in reply.body:
        return "leaked key", shown
    return _class_of(reply, front, stream), shown


def _class_of(reply: Reply, front: Front, stream: bool) -> Outcome:
    if reply.cut:
        return "cut short"
    if reply.status != 200:
        error = reply.json()["error"]
        shaped = isinstance(error["message"], str) and error["message"] and isinstance(error["type"], str)
        return reply.status if shaped else "shapeless error"
    answer = front.read(reply.body, stream=stream)
    if answer.late:
        return "something after the end"
    if answer.error is not None:
        return "success beside an error" if answer.ended or answer.finish not in (None, "failed") else BAND
    if not answer.ended or answer.finish is None:
        return "silence at the end"
    return OK
