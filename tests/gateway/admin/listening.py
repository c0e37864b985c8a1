"""The admin listener in this process, over a real socket, for tests."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from tests.support.background import Background
from uvicorn.server import ServerState

from moongate.gateway.admin.app import AdminApp, AdminSettings
from moongate.gateway.admin.route import AdminRoute
from moongate.gateway.admin.routes import ADMIN_ROUTES
from moongate.gateway.http.host_policy import HostPolicy
from moongate.gateway.http.redaction import Redactor
from moongate.gateway.record.access_log import AccessLog
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.record.shared_counters import SharedCounters
from moongate.gateway.server.connection_limits import ConnectionLimits
from moongate.gateway.server.protocol import ClientProtocol

KEY = "canary-admin-0123456789-0123456789"


@dataclass(frozen=True, slots=True)
class Listening:
    root: str
    app: AdminApp


@contextlib.contextmanager
def listening(
    place: Path | str | None, *, delay: float = 0.0, routes: Sequence[AdminRoute] = ADMIN_ROUTES
) -> Iterator[Listening]:
    """`place` is that of the store."""
    settings = AdminSettings(KEY, HostPolicy("127.0.0.1", ()), Redactor([KEY]))
    url = None if place is None else str(place)
    metrics, log = Metrics(SharedCounters()), AccessLog(1, style="off")
    app = AdminApp(settings, metrics, log, url, routes=routes, wrong_key_delay=delay)
    with Background(fast=True) as background:
        port, server, state = background.run(_listen(app))
        try:
            yield Listening(f"http://127.0.0.1:{port}", app)
        finally:
            background.run(_stop(app, server, state))


async def _listen(app: AdminApp) -> tuple[int, asyncio.Server, ServerState]:
    config = uvicorn.Config("none", ws="none", interface="asgi3", lifespan="off", log_config=None, access_log=False)
    config.loaded_app = None
    state, loop, limits = ServerState(), asyncio.get_running_loop(), ConnectionLimits(max_body=128 * 1024)
    server = await loop.create_server(
        lambda: ClientProtocol(config, state, {}, loop, limits=limits, handle=app.handle),  # type: ignore[arg-type,return-value]
        "127.0.0.1",
        0,
    )
    return server.sockets[0].getsockname()[1], server, state


async def _stop(app: AdminApp, server: asyncio.Server, state: ServerState) -> None:
    server.close()
    app.close()
    while state.connections:
        for connection in list(state.connections):
            connection.transport.abort()
        await asyncio.sleep(0.01)
