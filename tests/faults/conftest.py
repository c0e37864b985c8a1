"""Two gateways in front of the faulty upstream, for all tests of this folder.

The hasty one gives up soon and is asked only for faults that end no other way, the patient one for all others: so no
test depends on how fast the machine is.
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

HASTY: Final = {"connect": 5, "head": 0.5, "first_event": 0.5, "silence": 0.5, "whole": 1, "stream": 1.5}
SILENT: Final = (
    *("hang_no_headers", "hang_mid_headers", "hang_after_headers", "hang_mid_body", "hang_mid_stream"),
    *("hang_after_done", "no_read", "mute_port", "sse_comments_only"),
)
LIMITS: Final = {"answer": 2 << 20, "event": 256 << 10}
BY_PATH: Final = ("early_413", "no_read")  # these must be chosen before the body is read
APART: Final = ("double_response", "keepalive_close_race", "keepalive_stale")  # they spoil connections for others
BY_PORT: Final = ("rst_port", "mute_port")
UPSTREAM_KEY: Final = "upstream-key-canary-1234567890"


@dataclass(frozen=True, slots=True)
class Pair:
    patient: RunningGateway
    hasty: RunningGateway
    apart: FaultyUpstream

    def gateway_for(self, fault: str) -> RunningGateway:
        return self.hasty if fault in SILENT else self.patient


def model_for(row: Row) -> str:
    if row.name in BY_PATH:
        return f"{row.name},kimi-k2"
    return f"{'apart' if row.name in APART else 'faults'},{row.fault}"


@pytest.fixture(scope="module")
def gateways() -> Iterator[Pair]:
    with Background() as background:
        upstream = background.start(FaultyUpstream(max_bytes=8 << 20, max_seconds=30).start())
        apart = background.start(FaultyUpstream(max_seconds=30).start())
        root = upstream.url.removesuffix("/v1")
        by_model = [row.fault for row in TABLE if row.name not in BY_PATH]
        providers = [_provider("faults", upstream.url, by_model)]
        providers.append(_provider("apart", apart.url, ["ok", *APART]))
        providers += [_provider(name, f"{root}/{name}/v1", ["kimi-k2"]) for name in BY_PATH]
        for name in BY_PORT:
            providers.append(_provider(name, f"http://127.0.0.1:{getattr(upstream, name)}/v1", ["kimi-k2"]))
        once = {"retries": 0, "attempts": 1}
        config: dict[str, Any] = {"providers": providers, "limits": LIMITS, "retries": once}
        with run_gateway(config) as patient, run_gateway(config | {"timeouts": HASTY}) as hasty:
            yield Pair(patient, hasty, apart)


def _provider(name: str, url: str, models: list[str]) -> dict[str, Any]:
    use = [["Kimi", {"preset": "agent", "family": "k2"}]]
    return {"name": name, "api_base_url": url, "api_key": UPSTREAM_KEY, "models": models, "transformer": {"use": use}}
