"""Every fault of an upstream, on every front, streamed and whole: no silent success, no hang, no stack trace."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.faults.conftest import UPSTREAM_KEY, Pair, model_for
from tests.faults.table import TABLE, Row
from tests.support.client_view import Outcome, outcome
from tests.support.faulty_upstream import FAULTS, FaultyUpstream
from tests.support.fronts import FRONTS
from tests.support.gateway import RunningGateway
from tests.support.http import PATIENCE, post

WAYS = [(front, stream) for front in FRONTS for stream in (True, False)]


def test_the_table_knows_every_fault() -> None:
    assert {row.name for row in TABLE} == set(FAULTS)
    assert len(TABLE) >= 140


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_each_fault_becomes_what_it_must(gateways: Pair, row: Row) -> None:
    outcomes = _outcomes(gateways.gateway_for(row.name), model_for(row))
    wrong = {
        f"{front.name} {'streamed' if stream else 'whole'}": found
        for (front, stream), found in zip(WAYS, outcomes, strict=True)
        if found[0] not in (row.streamed if stream else row.whole)
    }
    assert not wrong, f"expected {set(row.streamed)} / {set(row.whole)}"


@pytest.mark.parametrize(("port", "status"), [("rst_port", 502), ("mute_port", 504)])
def test_upstreams_that_never_get_as_far_as_http(gateways: Pair, port: str, status: int) -> None:
    outcomes = _outcomes(gateways.gateway_for(port), f"{port},kimi-k2")
    assert [found for found, _ in outcomes] == [status] * len(WAYS)


def test_no_answer_of_one_request_reaches_the_next(gateways: Pair) -> None:
    gateway = gateways.patient
    already = gateways.apart.counters["poisoned"]
    for round_ in range(1, 4):
        for fault in ("double_response", "ok", "keepalive_stale", "ok", "keepalive_close_race", "ok"):
            body = FRONTS[0].ask(f"apart,{fault}", FRONTS[0].user("hi"), (), stream=False)
            reply = post(f"{gateway.root}/v1/chat/completions", body, key=gateway.key)
            assert reply.status == 200
            assert b"POISON" not in reply.body
            if fault == "double_response":
                _wait_for(gateways.apart, poisoned=already + round_)


def test_private_headers_and_keys_stay_inside(gateways: Pair) -> None:
    gateway = gateways.patient
    for fault in ("set_cookie", "leaky_401"):
        body = FRONTS[0].ask(f"faults,{fault}", FRONTS[0].user("hi"), (), stream=False)
        reply = post(f"{gateway.root}/v1/chat/completions", body, key=gateway.key)
        assert UPSTREAM_KEY not in reply.body.decode()
        private = {"set-cookie", "via", "x-internal-host", "alt-svc", "proxy-authenticate", "strict-transport-security"}
        assert private.isdisjoint(reply.headers)


def _wait_for(upstream: FaultyUpstream, *, poisoned: int) -> None:
    """What an upstream has not sent yet cannot be told from an answer by anybody."""
    end = time.monotonic() + PATIENCE
    while upstream.counters["poisoned"] < poisoned:
        assert time.monotonic() < end
        time.sleep(0.01)
    time.sleep(0.2)


def _outcomes(gateway: RunningGateway, model: str) -> list[tuple[Outcome, str]]:
    """What a client makes of it, each way, all at once. A hang ends in the client's own timeout and fails."""
    with ThreadPoolExecutor(len(WAYS)) as pool:
        return list(pool.map(lambda way: outcome(gateway, model, way[0], stream=way[1]), WAYS))
