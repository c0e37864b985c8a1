"""Run the gateway: uvicorn with our protocol, in one process or several, from start to a clean shutdown.

SIGTERM or SIGINT drains and exits with 0, a second one exits at once; SIGHUP reloads. A parent, if there is one, holds
the sockets and replaces workers that die or hang; each worker has its own socket (SO_REUSEPORT), so the kernel
distributes connections evenly, and a dead worker's replacement gets its socket with the connections that wait in it.
Workers whose parent has died stop listening at once, then drain: the port belongs to whoever is started next.
"""

from __future__ import annotations

import functools
import socket
from collections.abc import Callable
from typing import Any, Protocol, cast, runtime_checkable

import uvicorn

from moongate.gateway.server.address_connections import AddressConnections
from moongate.gateway.server.connection_limits import ConnectionLimits
from moongate.gateway.server.listening import BACKLOG, limit_unsent, listen, sockets_of
from moongate.gateway.server.protocol import ClientProtocol, DirectHandler
from moongate.gateway.server.resources import raise_limits
from moongate.gateway.server.service_manager import ServiceManager
from moongate.gateway.server.shared_listener import SharedListener
from moongate.gateway.server.uvicorn_server import GatewayServer, ServerPosition, WorkerService
from moongate.gateway.server.worker_reports import WorkerReports
from moongate.gateway.server.workers import SILENT_SECONDS, supervise


@runtime_checkable
class DirectService(Protocol):
    """A service that takes requests from our protocol directly."""

    handle: DirectHandler


def serve(
    make: Callable[[int], WorkerService],
    *,
    host: str,
    port: int,
    workers: int = 1,
    supervised: bool = False,
    limits: ConnectionLimits | None = None,
    drain: float = 30,
    announce: Callable[[int], None] = lambda _: None,
    manager: ServiceManager | None = None,
    silence: float = SILENT_SECONDS,
    admin: SharedListener | None = None,
) -> int:
    """Serve until a signal stops it; returns the exit code. Raises OSError if the address cannot be bound.

    `make(n)` makes the service of worker n (from 0), in its process; its `handle`, if it has one, gets requests without
    ASGI in between, one worker's `handle_admin` those of `admin`. `announce` gets the port when it listens.
    `manager` is notified of the gateway's state; its sockets, if any, are served instead of `host` and `port`. Several
    workers have a parent, one if `supervised`: it replaces a worker whose loop does not run for `silence` seconds.
    """
    supervised = supervised or workers > 1
    raise_limits()
    manager = manager or ServiceManager()
    sockets = [limit_unsent(sock) for sock in manager.sockets] or listen(host, port, workers)
    announce(sockets[0].getsockname()[1])
    reports = WorkerReports(workers)

    def work(index: int, *, replaces: bool = False) -> int:
        own = _keep_own(index, workers, sockets)
        service, observer = make(index), reports.of(index) if supervised else manager
        if replaces:  # the configuration may have been reloaded since the start
            service.reload()
            observer.reloaded()
        position = ServerPosition(observer, has_parent=supervised, sockets_are_kept=bool(manager.sockets), admin=admin)
        server = make_server(service, limits or ConnectionLimits(), drain, position)
        server.run(sockets=own)
        return server.exit_code

    return supervise(work, reports, workers, manager, silence=silence) if supervised else work(0)


def _keep_own(index: int, workers: int, sockets: list[socket.socket]) -> list[socket.socket]:
    """The sockets of this worker; those of the others are closed."""
    own = sockets_of(index, workers, sockets)
    for other in set(sockets).difference(own):
        other.close()
    return own


def make_server(
    service: WorkerService, limits: ConnectionLimits, drain: float, position: ServerPosition
) -> GatewayServer:
    """uvicorn, configured for our protocol and without its own logs, headers and websockets."""
    handle = service.handle if isinstance(service, DirectService) else None
    connections = AddressConnections(limits.per_address, limits.is_exempt)
    config = uvicorn.Config(
        cast(Any, service),
        http=cast(Any, functools.partial(ClientProtocol, limits=limits, handle=handle, connections=connections)),
        loop="auto",  # uvloop where it is installed
        ws="none",
        interface="asgi3",
        lifespan="auto",
        log_config=None,
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
    )
    return GatewayServer(config, service, drain, position)
