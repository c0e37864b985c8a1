"""A stream without faults reaches the client byte for byte."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.background import Background
from tests.support.gateway import RunningGateway, run_gateway
from tests.support.http import post
from tests.support.loops import tool
from tests.support.replay import ReplayUpstream, recordings

RECORDED = recordings()
TOOLS = (tool("get_weather", "city"), tool("get_time", "tz"), tool("read_file", "path"))


@pytest.fixture(scope="module")
def gateway() -> Iterator[RunningGateway]:
    with Background() as background:
        upstreams = [background.start(ReplayUpstream(RECORDED, piece=piece).start()) for piece in (700, 5)]
        providers = [
            {
                "name": name,
                "api_base_url": upstream.url,
                "models": list(RECORDED),
                # The recordings of K3 carry ids in a form that only K3 may have.
                "transformer": {
                    "use": ["Kimi"],
                    **{k3: {"use": [["Kimi", {"family": "k3"}]]} for k3 in RECORDED if "k3" in k3},
                },
            }
            for name, upstream in zip(("whole", "crumbs"), upstreams, strict=True)
        ]
        with run_gateway({"providers": providers}) as running:
            yield running


def test_there_are_enough_recordings() -> None:
    assert len(RECORDED) >= 50


@pytest.mark.parametrize("name", RECORDED)
@pytest.mark.parametrize("provider", ["whole", "crumbs"])
def test_a_faultless_stream_arrives_byte_for_byte(gateway: RunningGateway, provider: str, name: str) -> None:
    offered = [{"type": "function", "function": {"name": t.name, "parameters": t.parameters}} for t in TOOLS]
    body = {"model": f"{provider},{name}", "stream": True, "messages": [{"role": "user", "content": "x"}]}
    reply = post(f"{gateway.root}/v1/chat/completions", body | {"tools": offered}, key=gateway.key)
    assert reply.status == 200, reply.body
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.body == RECORDED[name]
