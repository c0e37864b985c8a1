"""Every fault of an upstream, on every front, streamed or not: no false success, no hang, no stack trace."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.faults.conftest import UPSTREAM_KEY, Gateways, model_for
from tests.faults.table import TABLE, Row
from tests.support.client_view import Outcome, outcome
from tests.support.faulty_upstream import FAULTS, FaultyUpstream
from tests.support.fronts import FRONTS
from tests.support.gateway import RunningGateway
from tests.support.http import TIMEOUT, post

COMBINATIONS = [(front, stream) for front in FRONTS for stream in (True, False)]


def test_the_table_lists_every_fault() -> None:
    assert {row.name for row in TABLE} == set(FAULTS)
    assert len(TABLE) >= 140


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_each_fault_has_its_outcome(gateways: Gateways, row: Row) -> None:
    outcomes = _outcomes(gateways.gateway_for(row.name), model_for(row))
    wrong = {
        f"{front.name} {'streamed' if stream else 'whole'}": found
        for (front, stream), found in zip(COMBINATIONS, outcomes, strict=True)
        if found[0] not in (row.streamed if stream else row.whole)
    }
    assert not wrong, f"expected {set(row.streamed)} / {set(row.whole)}"


@pytest.mark.parametrize(("port", "status"), [("rst_port", 502), ("mute_port", 504)])
def test_upstreams_that_fail_before_http(gateways: Gateways, port: str, status: int) -> None:
    outcomes = _outcomes(gateways.gateway_for(port), f"{port},kimi-k2")
    assert [found for found, _ in outcomes] == [status] * len(COMBINATIONS)


def test_no_answer_of_one_request_reaches_the_next(gateways: Gateways) -> None:
    gateway = gateways.normal
    already = gateways.separate.counters["poisoned"]
    for round_ in range(1, 4):
        for fault in ("double_response", "ok", "keepalive_stale", "ok", "keepalive_close_race", "ok"):
            body = FRONTS[0].request(f"separate,{fault}", FRONTS[0].user("hi"), (), stream=False)
            reply = post(f"{gateway.root}/v1/chat/completions", body, key=gateway.key)
            assert reply.status == 200
            assert b"POISON" not in reply.body
            if fault == "double_response":
                _wait_for(gateways.separate, poisoned=already + round_)


def test_private_headers_and_keys_stay_inside(gateways: Gateways) -> None:
    gateway = gateways.normal
    for fault in ("set_cookie", "leaky_401"):
        body = FRONTS[0].request(f"faults,{fault}", FRONTS[0].user("hi"), (), stream=False)
        reply = post(f"{gateway.root}/v1/chat/completions", body, key=gateway.key)
        assert UPSTREAM_KEY not in reply.body.decode()
        private = {"set-cookie", "via", "x-internal-host", "alt-svc", "proxy-authenticate", "strict-transport-security"}
        assert private.isdisjoint(reply.headers)


def _wait_for(upstream: FaultyUpstream, *, poisoned: int) -> None:
    """Wait until the upstream has sent the poisoned response: before that, reusing the connection is correct."""
    end = time.monotonic() + TIMEOUT
    while upstream.counters["poisoned"] < poisoned:
        assert time.monotonic() < end
        time.sleep(0.01)
    time.sleep(0.2)


def _outcomes(gateway: RunningGateway, model: str) -> list[tuple[Outcome, str]]:
    """The outcomes of all combinations, run in parallel. A hang ends with the timeout of the client and fails."""
    with ThreadPoolExecutor(len(COMBINATIONS)) as pool:
        return list(pool.map(lambda each: outcome(gateway, model, each[0], stream=each[1]), COMBINATIONS))
