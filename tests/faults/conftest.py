"""Two gateways in front of the faulty upstream, for all tests of this folder.

One has short timeouts and serves only the faults that end by a timeout, the other has the default timeouts and serves
all others, so that no test depends on the speed of the machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pytest
from tests.faults.table import TABLE, Row
from tests.support.background import Background
from tests.support.faulty_upstream import FaultyUpstream
from tests.support.gateway import RunningGateway, run_gateway
from tests.support.length import FULL

collect_ignore = [] if FULL else ["test_full_sizes.py"]

SHORT_TIMEOUTS: Final = {"connect": 5, "head": 0.5, "first_event": 0.5, "silence": 0.5, "whole": 1, "stream": 1.5}
NEEDS_TIMEOUT: Final = (
    *("hang_no_headers", "hang_mid_headers", "hang_after_headers", "hang_mid_body", "hang_mid_stream"),
    *("hang_after_done", "no_read", "mute_port", "sse_comments_only"),
)
LIMITS: Final = {"answer": 2 << 20, "event": 256 << 10}
BY_PATH: Final = ("early_413", "no_read")  # these must be selected before the body is read
SEPARATE: Final = ("double_response", "keepalive_close_race", "keepalive_stale")  # these break pooled connections
BY_PORT: Final = ("rst_port", "mute_port")
UPSTREAM_KEY: Final = "upstream-key-canary-1234567890"


@dataclass(frozen=True, slots=True)
class Gateways:
    normal: RunningGateway
    impatient: RunningGateway  # with short timeouts
    separate: FaultyUpstream

    def gateway_for(self, fault: str) -> RunningGateway:
        return self.impatient if fault in NEEDS_TIMEOUT else self.normal


def model_for(row: Row) -> str:
    if row.name in BY_PATH:
        return f"{row.name},kimi-k2"
    return f"{'separate' if row.name in SEPARATE else 'faults'},{row.fault}"


@pytest.fixture(scope="module")
def gateways() -> Iterator[Gateways]:
    with Background() as background:
        upstream = background.start(FaultyUpstream(max_bytes=8 << 20, max_seconds=30).start())
        separate = background.start(FaultyUpstream(max_seconds=30).start())
        root = upstream.url.removesuffix("/v1")
        by_model = [row.fault for row in TABLE if row.name not in BY_PATH]
        providers = [_provider("faults", upstream.url, by_model)]
        providers.append(_provider("separate", separate.url, ["ok", *SEPARATE]))
        providers += [_provider(name, f"{root}/{name}/v1", ["kimi-k2"]) for name in BY_PATH]
        for name in BY_PORT:
            providers.append(_provider(name, f"http://127.0.0.1:{getattr(upstream, name)}/v1", ["kimi-k2"]))
        once = {"retries": 0, "attempts": 1}
        config: dict[str, Any] = {"providers": providers, "limits": LIMITS, "retries": once}
        with run_gateway(config) as normal, run_gateway(config | {"timeouts": SHORT_TIMEOUTS}) as impatient:
            yield Gateways(normal, impatient, separate)


def _provider(name: str, url: str, models: list[str]) -> dict[str, Any]:
    use = [["Kimi", {"preset": "agent", "family": "k2"}]]
    return {"name": name, "api_base_url": url, "api_key": UPSTREAM_KEY, "models": models, "transformer": {"use": use}}
