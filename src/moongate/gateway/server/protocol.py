"""The server's side of a client's connection, as a protocol class for uvicorn.

Time and memory that a client gets are limited in every phase. One request runs at a time; bytes that arrive behind it
before it is answered close the connection when it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from math import inf
from typing import Any, ClassVar, Final, cast

from uvicorn.config import Config
from uvicorn.server import ServerState

from moongate.aio.tasks import LOOP, TASKS
from moongate.gateway.http.internal_errors import log_failure
from moongate.gateway.server.address_connections import AddressConnections
from moongate.gateway.server.asgi_scope import Addresses, asgi_scope, run_asgi
from moongate.gateway.server.connection_limits import ConnectionLimits
from moongate.gateway.server.date_line import DATE_LINE
from moongate.gateway.server.half_close import HalfCloseWatch
from moongate.gateway.server.known_heads import KnownHeads
from moongate.gateway.server.read_progress import ReadWatch
from moongate.gateway.server.request_cycle import RequestResponseCycle
from moongate.gateway.server.request_head import RequestHead
from moongate.gateway.server.request_reader import RequestReader
from moongate.gateway.server.response_head import INTERNAL_ERROR, SHUTTING_DOWN, TOO_MANY_CONNECTIONS, encode_error
from moongate.net.deadlines import DeadlineTimer
from moongate.switches import FAST

LINGER_SECONDS: Final = 2.0  # in which a client that got an error may go on sending before we close
DEFAULT_LIMITS: Final = ConnectionLimits()

# (head, body if it is complete, Content-Length if there is one, cycle) → a coroutine that answers
DirectHandler = Callable[[RequestHead, bytes | None, int | None, RequestResponseCycle], Coroutine[Any, Any, None]]


class ClientProtocol:
    """One connection, with all methods of an `asyncio.Protocol`. uvicorn creates it and calls `shutdown`.

    If there is a direct handler it gets every request, without ASGI in between; else the ASGI application does.
    The class derives from nothing, so that compiled code accesses its attributes directly.
    """

    _known_heads: ClassVar[KnownHeads | None] = {} if FAST else None

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        limits: ConnectionLimits = DEFAULT_LIMITS,
        handle: DirectHandler | None = None,
        connections: AddressConnections | None = None,
    ) -> None:
        self.loop = _loop or asyncio.get_running_loop()
        self._app = config.loaded_app
        self._handle = handle
        self._server = server_state
        self._app_state = app_state
        self._limits = limits
        self._connections = connections or AddressConnections(limits.per_address)  # of all clients of the worker
        self.peer = ""  # the address of the client
        self._timer = DeadlineTimer(self.loop, self._on_deadline)
        self._read_watch = ReadWatch(self._timer, limits, self.abort)
        self._reader = RequestReader(limits, self._known_heads)
        self._cycle: RequestResponseCycle | None = None  # the request that is being answered
        self._half_close = HalfCloseWatch(self.loop, self.abort)
        self._reading = True
        self.is_fresh = True  # no request has come yet
        self._closing = False

    # asyncio calls what follows.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self._server.connections.add(self)  # type: ignore[arg-type]
        info = transport.get_extra_info
        self._addresses = Addresses(info("peername"), info)
        self.peer = self._addresses.host
        self._timer.set(self.loop.time() + self._limits.head)
        if not self._connections.enter(self.peer):
            self._send_error(*TOO_MANY_CONNECTIONS)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.discard(self)
        self._connections.leave(self.peer)
        self._timer.stop()
        self._read_watch.stop()
        self._half_close.stop()
        self._disconnect_cycle()
        self._reader.forget()

    def eof_received(self) -> bool:
        """A client that stops sending has left, unless it waits for an answer. False closes the transport."""
        if self._cycle is not None and self._cycle.complete and not self._closing:
            self._half_close.start(self.transport, self._cycle)
            return True
        self._closing = True
        self._disconnect_cycle()
        self._timer.set(self.loop.time() + LINGER_SECONDS)
        return False

    def pause_writing(self) -> None:
        self._read_watch.start(self.transport)
        if self._cycle is not None:
            self._cycle.pause()

    def resume_writing(self) -> None:
        if self._cycle is not None:
            self._read_watch.stop()
            self._cycle.resume()

    def data_received(self, data: bytes) -> None:
        if self._closing:
            return
        reader, cycle = self._reader, self._cycle
        body = reader.feed(data)
        if reader.failure is not None:
            self._send_error(*reader.failure)
        elif cycle is None:
            if reader.head is not None:
                self._start(reader.head, body)
            elif reader.begun:
                # A deadline that runs already is not postponed.
                self._timer.set(min(self._timer.due, self.loop.time() + self._limits.head))
        elif body or not cycle.complete:
            self._feed(cycle, body)
        elif reader.surplus > self._limits.max_head:
            self.abort()

    def _start(self, head: RequestHead, body: bytes) -> None:
        self.is_fresh, reader = False, self._reader
        cycle = self._cycle = RequestResponseCycle(self, head_only=head.method == "HEAD", persistent=head.is_http_1_1)
        cycle.keep_alive, cycle.expects_continue = head.keep_alive, head.expects_continue
        self._read_watch.stop()
        if reader.complete:
            self._timer.due = inf
        else:
            self._timer.set(self.loop.time() + self._limits.body)
        if self._handle is None:
            self._feed(cycle, body)
            scope = asgi_scope(head, reader.headers, self._addresses, self._app_state, cycle)
            task = LOOP.new_task(self.loop, run_asgi(self._app, scope, cycle), cycle.task_done)
        elif reader.complete:
            cycle.complete = True
            task = TASKS.new_task(self.loop, self._handle(head, body, None, cycle), cycle.task_done)
        else:
            self._feed(cycle, body)
            task = TASKS.new_task(self.loop, self._handle(head, None, reader.length, cycle), cycle.task_done)
        cycle.task = task
        self._server.tasks.add(task)  # type: ignore[arg-type]
        task.start()

    def _feed(self, cycle: RequestResponseCycle, body: bytes) -> None:
        if self._reader.complete:
            self._timer.due = inf
        if not cycle.feed(body, last=self._reader.complete) and self._reading:
            self._reading = False
            self.transport.pause_reading()

    # The cycle calls what follows.

    def resume_reading(self) -> None:
        """The application has taken what there was of the body."""
        if not self._reading:
            self._reading = True
            if not self.transport.is_closing():
                self.transport.resume_reading()

    def date(self) -> bytes:
        """The Date header. uvicorn makes a new list of default headers once a second."""
        return DATE_LINE.of(self._server.default_headers)

    def task_done(self, cycle: RequestResponseCycle, task: object, error: BaseException | None) -> None:
        """The application has returned or raised, perhaps before its response was complete."""
        self._server.tasks.discard(task)
        if error is None and cycle.done:
            return
        log_failure(error, complete=cycle.done)
        if cycle.started:
            cycle.abort()
        elif not cycle.done:
            self._send_error(*(SHUTTING_DOWN if isinstance(error, asyncio.CancelledError) else INTERNAL_ERROR))

    def response_complete(self, cycle: RequestResponseCycle) -> None:
        """The cycle has written its last byte: wait for the next request, or close."""
        self._server.total_requests += 1
        self._cycle = None
        reader = self._reader
        if cycle.keep_alive and reader.complete and not reader.surplus:
            reader.reset()
            if not self._read_watch.start(self.transport):
                self._timer.set(self.loop.time() + self._limits.idle)
        else:
            self._close(linger=not reader.complete or reader.surplus > 0)

    # The end of the connection.

    def _disconnect_cycle(self) -> RequestResponseCycle | None:
        """Tell the request in flight, if there is one, that its client has left."""
        cycle, self._cycle = self._cycle, None
        if cycle is not None:
            cycle.disconnect()
        return cycle

    def abort(self) -> None:
        """Close now."""
        self._closing = True
        self._disconnect_cycle()
        self.transport.abort()

    def _close(self, *, linger: bool) -> None:
        """Close when everything is written. A client that still sends is read a little longer: closing at once would
        reset the connection, and the client might lose the response."""
        self._closing = True
        self.resume_reading()
        if linger and self.transport.can_write_eof():
            self.transport.write_eof()
            self._timer.set(self.loop.time() + LINGER_SECONDS)
        else:
            self._read_watch.start(self.transport)
            self.transport.close()

    def _send_error(self, status: int, message: str, kind: str = "invalid_request_error") -> None:
        """Answer without the application, and close."""
        cycle = self._disconnect_cycle()
        if cycle is not None and cycle.started:
            self.abort()
        elif not self._closing:
            self.transport.write(encode_error(status, self.date(), message, kind))
            self._close(linger=True)

    def _on_deadline(self) -> None:
        late = not self._reader.complete if self._cycle is not None else self._reader.begun
        if late and not self._closing and not (self._cycle is not None and self._cycle.started):
            self._send_error(408, "The request did not come in time")
        else:
            self.abort()  # idle

    def shutdown(self) -> None:
        """The server shuts down: close now if idle, else after the response."""
        if self._cycle is not None:
            self._cycle.keep_alive = False
        elif not self._closing:
            self._close(linger=False)
