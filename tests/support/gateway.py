"""The real gateway in this process: its own event loop (uvloop, as in production), its own port."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from tests.support.background import Background
from tests.support.canary import CLIENT_KEY, PROVIDER_KEY, WATCH
from tests.support.canary_tap import tapped
from uvicorn.server import ServerState

from moongate.gateway.app import Gateway
from moongate.gateway.config.load import parse_config
from moongate.gateway.record.access_log import AccessLog
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.record.shared_counters import SharedCounters
from moongate.gateway.server.connection_limits import ConnectionLimits
from moongate.gateway.state import GatewayState

KEY = CLIENT_KEY
DEFAULTS = {"api_keys": [KEY], "log": {"format": "off"}, "metrics": "clients"}


@dataclass(frozen=True, slots=True)
class RunningGateway:
    root: str  # http://127.0.0.1:port
    key: str
    app: Gateway


@contextlib.contextmanager
def run_gateway(
    config: dict[str, Any], *, limits: ConnectionLimits | None = None, environment: Mapping[str, str] | None = None
) -> Iterator[RunningGateway]:
    """Serve this configuration until the block ends. Providers without a key get a canary for one."""
    providers = [{"api_key": PROVIDER_KEY, **each} for each in config["providers"]]
    text = json.dumps({**DEFAULTS, **config, "providers": providers})
    parsed = parse_config(text, "config.json", Path.cwd(), {} if environment is None else environment)
    WATCH.know(parsed.secrets)
    metrics = Metrics(SharedCounters())
    app = Gateway(GatewayState(parsed, parsed.client_keys, metrics, None), metrics, AccessLog(1, style="off"))
    with Background(fast=True) as background:
        state = ServerState()
        port, server = background.run(_listen(app, state, limits or ConnectionLimits()))
        try:
            yield RunningGateway(f"http://127.0.0.1:{port}", KEY, app)
        finally:
            background.run(_stop(app, state, server))


async def _listen(app: Gateway, state: ServerState, limits: ConnectionLimits) -> tuple[int, asyncio.Server]:
    settings = uvicorn.Config(app, ws="none", interface="asgi3", lifespan="off", log_config=None, access_log=False)
    settings.load()
    loop = asyncio.get_running_loop()
    protocol = tapped(WATCH)
    server = await loop.create_server(
        lambda: protocol(settings, state, {}, loop, limits=limits, handle=app.handle), "127.0.0.1", 0
    )
    return server.sockets[0].getsockname()[1], server


async def _stop(app: Gateway, state: ServerState, server: asyncio.Server) -> None:
    server.close()
    await app.drain(0)
    app.close()
    # A loop that still has open connections does not close.
    while state.connections:
        for connection in list(state.connections):
            connection.transport.abort()
        await asyncio.sleep(0.01)
