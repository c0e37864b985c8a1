"""uvicorn's server with our signal handlers, our shutdown and a watch over its event loop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast, runtime_checkable

import uvicorn

from moongate.gateway.http.internal_errors import kind_and_place
from moongate.gateway.server.connection_limits import ConnectionLimits
from moongate.gateway.server.observer import ServerObserver
from moongate.gateway.server.protocol import ClientProtocol, DirectHandler
from moongate.gateway.server.resources import collect_rarely, trim_memory
from moongate.gateway.server.shared_listener import SharedListener
from moongate.gateway.server.stall_watch import StallReporter, StallWatch
from moongate.gateway.server.workers import CAN_SUPERVISE, FORCE, ORPHANED, RELOAD, print_error, unblock_signals

TRIM_TICKS: Final = 50  # of a tenth of a second
ADMIN_LIMITS: Final = ConnectionLimits(max_head=16 * 1024, max_body=128 * 1024)
SETTLE_SECONDS: Final = 0.05  # in which the loop may still accept a connection that it knew of
CLOSE_SECONDS: Final = 2.0  # for clients to read the last bytes of their answers


class WorkerService(Protocol):
    """The application of one worker."""

    def __call__(self, scope: Any, receive: Any, send: Any) -> Awaitable[None]: ...

    async def drain(self, seconds: float) -> None:
        """Refuse new requests at once; return when those in flight have ended, with an error after `seconds`."""

    def reload(self) -> None:
        """Read the configuration again; keep the old one if the new one has an error."""

    def close(self) -> None:
        """Release everything; called after the last request."""


@runtime_checkable
class AdminService(Protocol):
    """A service that also answers what comes to the admin listener."""

    handle_admin: DirectHandler


@dataclass(frozen=True, slots=True)
class ServerPosition:
    """Where a server stands among the processes around it."""

    observer: ServerObserver
    has_parent: bool = False  # which decides when to end at once
    sockets_are_kept: bool = False  # a service manager holds them, too, so that connections wait for the next process
    admin: SharedListener | None = None  # one worker serves it, if its service is an AdminService


class GatewayServer(uvicorn.Server):
    """uvicorn's server with our signal handlers and our shutdown: it accepts connections until the drain is over."""

    def __init__(self, config: uvicorn.Config, service: WorkerService, drain: float, position: ServerPosition) -> None:
        super().__init__(config)
        self._position = position
        self.exit_code = 0
        self._service = service
        self._drain_seconds = drain
        self._draining: asyncio.Task[None] | None = None
        self._forced = asyncio.Event()
        self._sockets: list[socket.socket] = []
        self._is_shut_down = False
        self._watch = StallWatch(service if isinstance(service, StallReporter) else None, position.observer.heartbeat)
        self.servers = []  # uvicorn sets it when it starts, but a signal may come before

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Replaces uvicorn's, which raises the signal again after a clean shutdown."""
        on_signal(signal.SIGINT, self.stop)
        on_signal(signal.SIGTERM, self.stop)
        if CAN_SUPERVISE:
            on_signal(FORCE, self._force)
            on_signal(ORPHANED, self._orphaned)
        if RELOAD is not None:
            on_signal(RELOAD, self._reload)
        unblock_signals()
        yield

    def stop(self) -> None:
        """The first time: drain. The second: exit at once, but a worker leaves that to its parent."""
        if self._draining is None:
            self.should_exit = True
            self._draining = asyncio.get_running_loop().create_task(self._drain())
            self._position.observer.stopping()
        elif not self._position.has_parent:
            self._force()

    def _force(self) -> None:
        self.should_exit = self.force_exit = True
        self.exit_code = 1
        self._forced.set()

    def _orphaned(self) -> None:
        """The parent has died. A successor at the same port shares connections with every socket that still listens."""
        self._stop_listening()
        if self._draining is None:
            self.stop()

    async def _drain(self) -> None:
        """If the sockets stay open elsewhere, new connections wait there, and clients with idle ones connect again.

        A connection that was accepted already but has sent nothing yet is still served: closing it would be a reset.
        """
        if self._position.sockets_are_kept:
            self._stop_listening()
            await asyncio.sleep(SETTLE_SECONDS)
            connections = cast("set[ClientProtocol]", self.server_state.connections)
            for connection in list(connections):
                if not connection.is_fresh:
                    connection.shutdown()
            await _wait_until(lambda: not any(connection.is_fresh for connection in connections))
        await self._service.drain(self._drain_seconds)

    def _stop_listening(self) -> None:
        for server in self.servers:
            server.close()
        for sock in self._sockets:
            sock.close()
        if self._position.admin is not None:
            self._position.admin.close()

    def _reload(self) -> None:
        self._position.observer.reloading()
        try:
            self._service.reload()
        except Exception as error:  # the old configuration stays in use
            print_error(f"not reloaded: {kind_and_place(error)}")
        self._position.observer.reloaded()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(_log_loop_error)
        self._sockets = sockets or []
        await super().startup(sockets)
        if self._position.admin is not None and isinstance(self._service, AdminService):
            self._position.admin.start(self._admin_protocol(self._service.handle_admin))
        collect_rarely()
        self._watch.start()
        if self.should_exit:  # a signal came meanwhile: uvicorn before 0.41 leaves without a shutdown
            await self.shutdown(sockets)
        else:
            self._position.observer.ready()

    def _admin_protocol(self, handle: DirectHandler) -> Callable[[], asyncio.Protocol]:
        """Connections of operators count as the worker's own, so a shutdown ends them, too."""
        state, limits = self.server_state, ADMIN_LIMITS
        return lambda: cast(Any, ClientProtocol(self.config, state, self.lifespan.state, limits=limits, handle=handle))

    async def on_tick(self, counter: int) -> bool:
        if counter % TRIM_TICKS == 0 and not self.server_state.tasks:
            trim_memory()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Once, also if it was done at the end of the start."""
        if self._is_shut_down:
            return
        self._is_shut_down = True
        await self._wait_for_drain()
        self._stop_listening()
        for task in list(self.server_state.tasks):
            task.cancel()
        await _wait_until(lambda: not self.server_state.tasks)
        for connection in list(self.server_state.connections):
            connection.shutdown()
        await _wait_until(lambda: self.force_exit or not self.server_state.connections)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await self.lifespan.shutdown()
        self._watch.stop()
        self._service.close()

    async def _wait_for_drain(self) -> None:
        if self._draining is None:
            return
        forced = asyncio.create_task(self._forced.wait())
        await asyncio.wait({self._draining, forced}, return_when=asyncio.FIRST_COMPLETED)
        for task in (self._draining, forced):
            task.cancel()
        await asyncio.gather(self._draining, forced, return_exceptions=True)


def on_signal(number: signal.Signals, call: Callable[[], None]) -> None:
    """Call it in the running event loop when the signal arrives. On Windows loops do not handle signals themselves."""
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(number, call)
    except NotImplementedError:
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(call))


async def _wait_until(condition: Callable[[], bool]) -> None:
    """Wait until it is true, but not for ever."""
    end = asyncio.get_running_loop().time() + CLOSE_SECONDS
    while not condition() and asyncio.get_running_loop().time() < end:
        await asyncio.sleep(0.005)


def _log_loop_error(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """For errors in callbacks: asyncio itself would print a stack trace and the exception's text."""
    error = context.get("exception")
    # The message beside an exception holds the callback's repr, which may hold anything.
    what = kind_and_place(error) if isinstance(error, BaseException) else context["message"]
    print_error(f"internal error in the event loop: {what}")
