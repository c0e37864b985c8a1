"""Faults of size at full size, with the gateway's default limits. Collected at full length only (`make faults`)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.background import Background
from tests.support.client_view import IN_BAND_ERROR, OK, Outcome, outcome
from tests.support.faulty_upstream import FaultyUpstream
from tests.support.front import Front
from tests.support.fronts import FRONTS
from tests.support.gateway import RunningGateway, run_gateway

FULL_SIZES: dict[str, tuple[Outcome, ...]] = {
    "gzip_bomb~mb=512": (502,),
    "huge_json~mb=80": (502,),
    "huge_error~mb=32": (500,),
    "sse_big_line~mb=100": (IN_BAND_ERROR, 502),
    "sse_big_event": (502,),
    "sse_flood~n=20000": (OK,),
    "marker_flood": (OK,),
    "sse_marker_flood": (OK,),
    "endless_headers": (502,),
}


@pytest.fixture(scope="module")
def gateway() -> Iterator[RunningGateway]:
    with Background() as background:
        upstream = background.start(FaultyUpstream(max_seconds=120).start())
        provider = {
            "name": "faults",
            "api_base_url": upstream.url,
            "models": list(FULL_SIZES),
            "transformer": {"use": [["Kimi", {"preset": "agent", "family": "k2"}]]},
        }
        with run_gateway({"providers": [provider], "retries": {"retries": 0, "attempts": 1}}) as running:
            yield running


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("front", FRONTS, ids=lambda front: front.name)
@pytest.mark.parametrize("fault", FULL_SIZES)
def test_size_is_bounded(gateway: RunningGateway, fault: str, front: Front, stream: bool) -> None:
    found, shown = outcome(gateway, f"faults,{fault}", front, stream=stream)
    assert found in FULL_SIZES[fault], shown
