"""The gateway as a plain ASGI application: it mounts anywhere and runs under any ASGI server.

Checks in order: Host and Origin, the client's key, the route, the limits, then the request itself. Nothing of a
request reaches a provider before all of them have passed.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
from collections.abc import Awaitable, Coroutine, Mapping
from typing import Any, Final

from moongate.aio.tasks import is_current
from moongate.errors import Overloaded
from moongate.gateway.http.address_limits import ForwardedRequests
from moongate.gateway.http.body_reader import IncomingBodies
from moongate.gateway.http.pages import PROBES
from moongate.gateway.http.request_handler import RequestHandler
from moongate.gateway.inspect.inspector import Inspector
from moongate.gateway.record.access_log import FLUSH_SECONDS, AccessLog
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.record.recording import record
from moongate.gateway.server.request_cycle import RequestResponseCycle
from moongate.gateway.server.request_head import RequestHead
from moongate.gateway.server.response_writer import EXTENSION, AsgiResponseWriter, Receive, ResponseWriter, Scope, Send
from moongate.gateway.server.ticker import Ticker
from moongate.gateway.state import GatewayState
from moongate.gateway.trace.tracer import Tracer

MAX_SUSPECTS: Final = 4  # requests in threads that are named as those that may have blocked the loop
_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._:-]{1,128}")


class Gateway:
    """One worker's application. `state` may be replaced at any time; requests keep the one they started with."""

    def __init__(self, state: GatewayState, metrics: Metrics, log: AccessLog) -> None:
        self.state = state
        self.metrics = metrics
        metrics.computed = state.computed_lines
        self.log = log
        self.ticker = Ticker()
        self.draining = False
        self.inspector: Inspector | None = None  # captures requests
        self.tracer: Tracer | None = None
        self.active_requests: set[RequestHandler] = set()
        self.forwarded_requests = ForwardedRequests()
        self.incoming = IncomingBodies()
        self._id_prefix = f"req_{secrets.token_hex(6)}".encode()
        self._id_count = 0
        self._flush_timer: asyncio.TimerHandle | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.answer(scope, receive, send)

    def answer(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """The same, without a coroutine around it."""
        if scope["type"] != "http":
            return _not_http(scope, receive, send)
        writer = scope.get("extensions", {}).get(EXTENSION)
        if writer is None:
            return self._run_asgi(scope, receive, send)
        return self._handler(scope, receive, writer).run()

    def handle(
        self, head: RequestHead, body: bytes | None, length: int | None, writer: RequestResponseCycle
    ) -> Coroutine[Any, Any, None]:
        """The same for our own server, without building an ASGI scope."""
        return RequestHandler(
            self, head.method, head.path, head.fields, body, length, writer.receive, writer, head.query
        ).run()

    def _handler(self, scope: Scope, receive: Receive, writer: ResponseWriter) -> RequestHandler:
        # Mounted in another application, our path begins after the mount point.
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        headers: dict[bytes, bytes] = dict(scope["headers"])
        length = headers.get(b"content-length", b"")
        size = int(length) if length.isdigit() else None
        return RequestHandler(
            self, scope["method"], path, headers, None, size, receive, writer, scope.get("query_string", b"")
        )

    def request_id(self, headers: Mapping[bytes, bytes]) -> bytes:
        """The client's own id if it is well formed and holds no secret, else a new one."""
        given = headers.get(b"x-request-id")
        if given is not None and _REQUEST_ID.fullmatch(given):
            text = given.decode("ascii")
            if self.state.redactor.redact(text) is text:
                return given
        self._id_count += 1
        return b"%b%08x" % (self._id_prefix, self._id_count)

    def request_finished(self, handler: RequestHandler) -> None:
        """Record a request; its log line is written with the next flush."""
        self.active_requests.discard(handler)
        if handler.forwarded_for is not None:
            self.forwarded_requests.leave(handler.forwarded_for)
        entry = record(handler)
        if handler.capture is not None and self.inspector is not None:
            notes = () if handler.completion is None else handler.completion.notes
            handler.capture.finish(handler.request_body, notes)
            self.inspector.finish(handler.capture, entry, handler.state.redactor)
        if handler.trace is not None and self.tracer is not None:
            self.tracer.finish(handler, handler.trace, entry)
        if handler.is_completion or handler.path not in PROBES or self.state.log_probes:
            self.log.add(entry)
        if self._flush_timer is None:
            self._flush_timer = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._flush)

    def running_requests(self, task: object) -> list[str]:
        """The ids of the requests that are worked on now; `task` is the loop's current one. Called in a thread."""
        activity = self.ticker.activity
        active = list(self.active_requests)  # copies, because the loop may go on meanwhile
        for tasks in ([task, activity.feeding], list(activity.in_threads)):
            found = [each.id.decode() for each in active if any(is_current(each.task, other) for other in tasks)]
            if found:
                return found[:MAX_SUSPECTS]
        return []

    def replace(self, state: GatewayState) -> None:
        """Serve new requests with another configuration."""
        old, self.state = self.state, state
        self.metrics.computed = state.computed_lines
        old.close(state)

    async def drain(self, seconds: float) -> None:
        """Refuse new requests; wait for those in flight, then end them with an error."""
        self.draining = True
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while self.active_requests and loop.time() < end:
            await asyncio.sleep(0.05)
        for handler in list(self.active_requests):
            handler.stop(Overloaded("The gateway is going down", code="draining", retry_after=2))
        while self.active_requests and loop.time() < end + 1:
            await asyncio.sleep(0.01)

    def close(self) -> None:
        """Release everything; to be called after the last request."""
        if self._flush_timer is not None:
            self._flush_timer.cancel()
        self.state.close()
        self.log.close()
        if self.inspector is not None:
            self.inspector.close()
        if self.tracer is not None:
            self.tracer.close()

    def _flush(self) -> None:
        self._flush_timer = None
        self.log.flush()

    async def _run_asgi(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Under a server other than ours: responses go through a queue to `send`."""
        peer = (scope.get("client") or ("",))[0]
        writer = AsgiResponseWriter(receive, send, bodiless=scope["method"] == "HEAD", peer=peer)
        pump = asyncio.create_task(writer.pump())
        try:
            await self._handler(scope, receive, writer).run()
            writer.close()
            await pump
        finally:
            writer.close()
            pump.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await pump


async def _not_http(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
    elif scope["type"] == "lifespan":
        await _lifespan(receive, send)


async def _lifespan(receive: Receive, send: Send) -> None:
    """Nothing to do: resources are opened on first use, and closed by whoever made the gateway."""
    while True:
        message = await receive()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return
