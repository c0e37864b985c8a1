"""Schemas that take long to normalise do not hold up other requests."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.gateway.scripted import Scripted
from tests.support.background import Background
from tests.support.gateway import RunningGateway, run_gateway
from tests.support.http import get, post

TOOLS = 6
LONGEST_WAIT = 0.7  # of the time that the heavy request takes; all of it if it blocked the event loop


@pytest.fixture(scope="module")
def upstream() -> Iterator[Scripted]:
    with Background() as background:
        yield background.start(Scripted().start())


@pytest.fixture(scope="module")
def gateway(upstream: Scripted) -> Iterator[RunningGateway]:
    provider = {
        "name": "p",
        "api_base_url": upstream.url,
        "api_key": "k",
        "models": ["kimi-k2"],
        "transformer": {"use": [["Kimi", {"schemaRules": "always"}]]},
    }
    with run_gateway({"providers": [provider]}) as running:
        yield running


def heavy_tool(number: int) -> dict[str, Any]:
    """A tool whose schema has a product of unions on many levels."""
    schema: dict[str, Any] = {"type": "object"}
    for level in range(14):
        left = {"anyOf": [{"properties": {"a": schema}}, {"required": [f"b{level}"]}]}
        right = {"anyOf": [{"properties": {"a": {"minLength": 1}}}, {"properties": {"c": {}}}]}
        schema = {"allOf": [left, right]}
    parameters = {"type": "object", "properties": {f"x{number}_{at}": schema for at in range(6)}}
    return {"type": "function", "function": {"name": f"tool_{number}", "parameters": parameters}}


def test_other_requests_are_answered_meanwhile(gateway: RunningGateway, upstream: Scripted) -> None:
    ask = {"model": "kimi-k2", "messages": [{"role": "user", "content": "Hi"}]}
    tools = [heavy_tool(number) for number in range(TOOLS)]

    def heavy() -> float:
        start = time.perf_counter()
        reply = post(gateway.root + "/v1/chat/completions", {**ask, "tools": tools}, key=gateway.key)
        assert reply.status == 200
        return time.perf_counter() - start

    waits = []
    with ThreadPoolExecutor() as pool:
        running = pool.submit(heavy)
        while not running.done():
            start = time.perf_counter()
            assert get(gateway.root + "/health").status == 200
            waits.append(time.perf_counter() - start)
    took = running.result()
    assert len(upstream.seen[-1].json["tools"]) == TOOLS
    assert max(waits) < LONGEST_WAIT * took, (max(waits), took)
