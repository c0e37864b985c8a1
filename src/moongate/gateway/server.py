"""Run the gateway: uvicorn with our protocol, one process or several, from start to a clean end.

SIGTERM or SIGINT drains and ends with 0, a second one ends at once; SIGHUP reloads. With
several workers a parent keeps the sockets and replaces workers that die; each worker has
its own socket (SO_REUSEPORT), so the kernel spreads connections evenly, and the socket of
a dead worker goes on to its successor with the connections that wait in it.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final, Protocol, cast

import uvicorn

from moongate.gateway.bounds import Bounds
from moongate.gateway.mistakes import kind_and_place
from moongate.gateway.protocol import Protocol as Connection
from moongate.gateway.resources import claim, give_back
from moongate.gateway.workers import FORCE, listen_to_signals, say, supervise

BACKLOG: Final = 2048
UNSENT: Final = 256 * 1024  # bytes that wait in the kernel for a client; left alone, it takes megabytes for each
COLLECT_AFTER: Final = 10_000  # new objects; Python's own 700 is a dozen requests, which leave nothing to collect
IDLE_TICKS: Final = 50  # of a tenth of a second
FLUSH_SECONDS: Final = 2.0  # for clients to read the last bytes of their answers


class Service(Protocol):
    """The application of one worker."""

    def __call__(self, scope: Any, receive: Any, send: Any) -> Awaitable[None]: ...

    async def drain(self, seconds: float) -> None:
        """Refuse new requests at once; return when those in flight have ended, by an error after `seconds`."""

    def reload(self) -> None:
        """Read the configuration anew; keep the old one if the new one is bad."""

    def close(self) -> None:
        """The last request has ended."""


def serve(
    make: Callable[[int], Service],
    *,
    host: str,
    port: int,
    workers: int = 1,
    bounds: Bounds | None = None,
    drain: float = 30,
    announce: Callable[[int], None] = lambda _: None,
) -> int:
    """Serve until told to stop; gives the exit code. Raises OSError if the address cannot be had.

    `make(n)` makes the service of worker n (from 0), in its process. `announce` is called
    with the port once connections are taken.
    """
    claim()
    sockets = listen(host, port, workers)
    announce(sockets[0].getsockname()[1])

    def work(index: int) -> int:
        for other in sockets[:index] + sockets[index + 1 :]:
            other.close()
        server = make_server(make(index), bounds or Bounds(), drain, has_parent=workers > 1)
        server.run(sockets=[sockets[index]])
        return server.exit_code

    return work(0) if workers == 1 else supervise(work, workers)


def listen(host: str, port: int, workers: int) -> list[socket.socket]:
    """One socket per worker, all at the same address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sockets: list[socket.socket] = []
    for _ in range(workers):
        bound = socket.create_server((host, port), family=family, backlog=BACKLOG, reuse_port=workers > 1)
        if hasattr(socket, "TCP_NOTSENT_LOWAT"):
            bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT)
        sockets.append(bound)
        port = bound.getsockname()[1]
    return sockets


def make_server(service: Service, bounds: Bounds, drain: float, *, has_parent: bool) -> Server:
    """uvicorn, set up for our protocol and without what is not wanted of it."""
    config = uvicorn.Config(
        cast(Any, service),
        http=cast(Any, functools.partial(Connection, bounds=bounds)),
        loop="uvloop",
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
    return Server(config, service, drain, has_parent=has_parent)


class Server(uvicorn.Server):
    """uvicorn's server with our signals and our way down: it listens until the drain is over."""

    def __init__(self, config: uvicorn.Config, service: Service, drain: float, *, has_parent: bool) -> None:
        super().__init__(config)
        self._has_parent = has_parent
        self.exit_code = 0
        self._service = service
        self._drain_seconds = drain
        self._draining: asyncio.Task[None] | None = None
        self._forced = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """uvicorn's would end the process by the same signal again after a clean shutdown."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        loop.add_signal_handler(FORCE, self._force)
        loop.add_signal_handler(signal.SIGHUP, self._reload)
        listen_to_signals()
        yield

    def stop(self) -> None:
        """Once: drain. Twice: end at once, but a worker leaves that to its parent."""
        if self._draining is None:
            self.should_exit = True
            self._draining = asyncio.get_running_loop().create_task(self._service.drain(self._drain_seconds))
        elif not self._has_parent:
            self._force()

    def _force(self) -> None:
        self.should_exit = self.force_exit = True
        self.exit_code = 1
        self._forced.set()

    def _reload(self) -> None:
        try:
            self._service.reload()
        except Exception as error:  # the old configuration goes on serving
            say(f"not reloaded: {kind_and_place(error)}")

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(_tell)
        await super().startup(sockets)
        gc.collect()
        gc.freeze()  # what is here now stays: no need to look at it again and again, in the midst of requests
        gc.set_threshold(COLLECT_AFTER)

    async def on_tick(self, counter: int) -> bool:
        if counter % IDLE_TICKS == 0 and not self.server_state.tasks:
            give_back()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._until_drained()
        for server in self.servers:
            server.close()
        for sock in sockets or []:
            sock.close()
        for task in list(self.server_state.tasks):
            task.cancel()
        await _until(lambda: not self.server_state.tasks)
        for connection in list(self.server_state.connections):
            connection.shutdown()
        await _until(lambda: self.force_exit or not self.server_state.connections)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await self.lifespan.shutdown()
        self._service.close()

    async def _until_drained(self) -> None:
        if self._draining is None:
            return
        forced = asyncio.create_task(self._forced.wait())
        await asyncio.wait({self._draining, forced}, return_when=asyncio.FIRST_COMPLETED)
        for task in (self._draining, forced):
            task.cancel()
        await asyncio.gather(self._draining, forced, return_exceptions=True)


async def _until(over: Callable[[], bool]) -> None:
    """Or for a while, if it does not come to that."""
    end = asyncio.get_running_loop().time() + FLUSH_SECONDS
    while not over() and asyncio.get_running_loop().time() < end:
        await asyncio.sleep(0.005)


def _tell(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What fails in a callback: asyncio would print a stack trace, and whatever the exception says."""
    error = context.get("exception")
    # The message beside an exception shows the callback, with whatever its object shows of itself.
    what = kind_and_place(error) if isinstance(error, BaseException) else context["message"]
    say(f"mistake in the event loop: {what}")
