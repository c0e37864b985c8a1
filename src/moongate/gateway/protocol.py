"""Our side of a client's connection, as a protocol class for uvicorn.

No client gets more time or memory than its phase deserves. One request runs at a time;
bytes that come after it before it is answered close the connection when it is.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Coroutine
from math import inf
from typing import Any, ClassVar, Final, cast

from uvicorn.config import Config
from uvicorn.server import ServerState

from moongate.gateway.bounds import Bounds
from moongate.gateway.cycle import STATUS_LINE, Cycle
from moongate.gateway.mistakes import kind_and_place
from moongate.gateway.request_reader import Head, Known, RequestReader
from moongate.net.deadlines import Alarm
from moongate.net.errand import Errand
from moongate.payload import dumps

log = logging.getLogger("moongate")
LINGER: Final = 2.0  # seconds in which a refused client may go on sending before we close
ASGI: Final = {"version": "3.0", "spec_version": "2.3"}
MISTAKE: Final = (500, "Internal server error", "server_error")
GOING_DOWN: Final = (503, "The server is going down", "overloaded_error")
DEFAULT_BOUNDS: Final = Bounds()
REFUSAL: Final = (
    b"content-type: application/json\r\nx-request-id: req_%b\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%b"
)


# (head, body if it is whole, length if it is known, outlet): what answers without ASGI in between
Enter = Callable[[Head, bytes | None, int | None, Cycle], Coroutine[Any, Any, None]]


class Protocol:
    """One connection: all that an `asyncio.Protocol` has. uvicorn makes it and asks for `shutdown`.

    It derives from nothing, so that its attributes are where compiled code finds them at once.
    """

    _dated: ClassVar[list[tuple[bytes, bytes]] | None] = None
    _date: ClassVar[bytes] = b""
    _known: ClassVar[Known] = {}

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        bounds: Bounds = DEFAULT_BOUNDS,
    ) -> None:
        self.loop = _loop or asyncio.get_running_loop()
        self._app = config.loaded_app
        self._enter: Enter | None = getattr(self._app, "enter", None)  # an application of our own needs no scope
        self._state = server_state
        self._app_state = app_state
        self._bounds = bounds
        self._alarm = Alarm(self.loop, self._ring)
        self._reader = RequestReader(bounds, self._known)
        self._cycle: Cycle | None = None  # the request that is being answered
        self._reading = True
        self._closing = False

    # asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self._state.connections.add(self)  # type: ignore[arg-type]
        self._client = transport.get_extra_info("peername")
        self._server = transport.get_extra_info("sockname")
        self._scheme = "https" if transport.get_extra_info("sslcontext") else "http"
        self._alarm.set(self.loop.time() + self._bounds.head)

    def connection_lost(self, exc: Exception | None) -> None:
        self._state.connections.discard(self)
        self._alarm.stop()
        self._forget()

    def eof_received(self) -> None:
        """A client that stops sending has left: None closes the transport when all is written."""
        self._closing = True
        self._forget()
        self._alarm.set(self.loop.time() + LINGER)

    def pause_writing(self) -> None:
        self._alarm.set(self.loop.time() + self._bounds.unread)
        if self._cycle is not None:
            self._cycle.pause()

    def resume_writing(self) -> None:
        if self._cycle is not None:
            self._alarm.due = inf
            self._cycle.resume()

    def data_received(self, data: bytes) -> None:
        if self._closing:
            return
        reader = self._reader
        cycle = self._cycle
        body = reader.feed(data)
        if reader.failure is not None:
            self._refuse(*reader.failure)
        elif cycle is None:
            if reader.head is not None:
                self._start(reader.head, body)
            elif reader.begun:
                # Postpones nothing: not a deadline that runs already.
                self._alarm.set(min(self._alarm.due, self.loop.time() + self._bounds.head))
        elif body or not cycle.complete:
            self._feed(cycle, body)
        elif reader.surplus > self._bounds.max_head:
            self.abort()

    # requests

    def _start(self, head: Head, body: bytes) -> None:
        reader = self._reader
        cycle = self._cycle = Cycle(self, head_only=head.method == "HEAD", persistent=head.modern)
        cycle.keep_alive = head.keep_alive
        cycle.expects_continue = head.expects_continue
        if reader.complete:
            self._alarm.due = inf
        else:
            self._alarm.set(self.loop.time() + self._bounds.body)
        if self._enter is None:
            self._feed(cycle, body)
            cycle.task = task = self.loop.create_task(self._run(self._scope_of(head, cycle), cycle))
            self._state.tasks.add(task)
            return
        if reader.complete:
            cycle.complete = True
            answering = self._enter(head, body, None, cycle)
        else:
            self._feed(cycle, body)
            answering = self._enter(head, None, reader.length, cycle)
        cycle.task = errand = Errand(self.loop, answering, cycle.ended)
        self._state.tasks.add(errand)  # type: ignore[arg-type]
        errand.begin()

    def _scope_of(self, head: Head, cycle: Cycle) -> dict[str, Any]:
        """The same request for any other ASGI application."""
        return {
            "type": "http",
            "asgi": ASGI,
            "http_version": "1.1" if head.modern else "1.0",
            "server": self._server,
            "client": self._client,
            "scheme": self._scheme,
            "method": head.method,
            "root_path": "",
            "path": head.path,
            "raw_path": head.raw_path,
            "query_string": head.query,
            "headers": self._reader.headers,
            "state": self._app_state.copy(),
            "extensions": {"moongate.stream": cycle},
        }

    async def _run(self, scope: dict[str, Any], cycle: Cycle) -> None:
        """Any other application, in a task of its own, which it may ask asyncio for."""
        error: BaseException | None = None
        try:
            await self._app(scope, cycle.receive, cycle.send)
        except Exception as failed:
            error = failed
        except BaseException as failed:
            error = failed
            raise
        finally:
            cycle.ended(error)

    def _feed(self, cycle: Cycle, body: bytes) -> None:
        if self._reader.complete:
            self._alarm.due = inf
        if not cycle.feed(body, last=self._reader.complete) and self._reading:
            self._reading = False
            self.transport.pause_reading()

    # what a cycle asks for

    def resume_reading(self) -> None:
        """The application has taken what there was of the body."""
        if not self._reading:
            self._reading = True
            if not self.transport.is_closing():
                self.transport.resume_reading()

    def date(self) -> bytes:
        """The Date header. The server makes a new list once a second."""
        made = self._state.default_headers
        if Protocol._dated is not made:
            Protocol._dated = made
            Protocol._date = b"".join([b"%b: %b\r\n" % pair for pair in made])
        return Protocol._date

    def answered(self, cycle: Cycle, task: object, error: BaseException | None) -> None:
        """The application has come to its end, though perhaps not to that of its answer."""
        self._state.tasks.discard(task)
        if isinstance(error, Exception):  # any application may run here, and its mistake ends its own request only
            log.error("the application failed: %s", kind_and_place(error))
        elif error is None and not cycle.over:
            log.error("the application returned before its answer was complete")
        if cycle.started:
            cycle.abort()
        elif not cycle.over:
            self._refuse(*(GOING_DOWN if isinstance(error, asyncio.CancelledError) else MISTAKE))

    def finished(self, cycle: Cycle) -> None:
        """The cycle has written its last byte."""
        self._state.total_requests += 1
        self._cycle = None
        reader = self._reader
        if cycle.keep_alive and reader.complete and not reader.surplus:
            reader.reset()
            unread = self.transport.get_write_buffer_size() > 0
            self._alarm.set(self.loop.time() + (self._bounds.unread if unread else self._bounds.idle))
        else:
            self._hang_up(linger=not reader.complete or reader.surplus > 0)

    # ends

    def _forget(self) -> Cycle | None:
        """Tell the request in flight, if there is one, that nobody waits for its answer any more."""
        cycle, self._cycle = self._cycle, None
        if cycle is not None:
            cycle.leave()
        return cycle

    def abort(self) -> None:
        """Close now."""
        self._closing = True
        self._forget()
        self.transport.abort()

    def _hang_up(self, *, linger: bool) -> None:
        """Close when all is written; if the client may still be sending, hear it out or it may miss the answer."""
        self._closing = True
        self.resume_reading()
        if linger and self.transport.can_write_eof():
            self.transport.write_eof()
            self._alarm.set(self.loop.time() + LINGER)
        else:
            self.transport.close()
            self._alarm.set(self.loop.time() + self._bounds.unread)

    def _refuse(self, status: int, message: str, kind: str = "invalid_request_error") -> None:
        """Answer without the application, and close."""
        cycle = self._forget()
        if cycle is not None and cycle.started:
            self.abort()
        elif not self._closing:
            body = dumps({"error": {"message": message, "type": kind, "param": None, "code": None}})
            rest = REFUSAL % (secrets.token_hex(8).encode(), len(body), body)
            self.transport.write(STATUS_LINE[status] + self.date() + rest)
            self._hang_up(linger=True)

    def _ring(self) -> None:
        late = not self._reader.complete if self._cycle is not None else self._reader.begun
        if late and not self._closing and not (self._cycle is not None and self._cycle.started):
            self._refuse(408, "The request did not come in time")
        else:
            self.abort()  # idle, or it does not read what we wrote

    def shutdown(self) -> None:
        """The server goes down: close when idle, else after the answer."""
        if self._cycle is not None:
            self._cycle.keep_alive = False
        elif not self._closing:
            self._hang_up(linger=False)
