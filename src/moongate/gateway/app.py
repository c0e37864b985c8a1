"""The gateway as a plain ASGI application: it mounts anywhere and runs under any ASGI server.

Order of judgement: Host and Origin, the client's key, the route, the limits, then the request itself. Nothing of a
request reaches a provider before all of it has passed.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
from collections.abc import Awaitable, Coroutine, Mapping
from typing import Any, Final

from moongate.errors import Overloaded
from moongate.gateway.access_log import FLUSH_SECONDS, AccessLog
from moongate.gateway.cycle import Cycle
from moongate.gateway.logged import logged
from moongate.gateway.metrics import Metrics
from moongate.gateway.outlet import EXTENSION, AsgiOutlet, Outlet, Receive, Scope, Send
from moongate.gateway.pulse import Pulse
from moongate.gateway.request_reader import Head
from moongate.gateway.state import State
from moongate.gateway.visit import Visit

_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._:-]{1,128}")


class Gateway:
    """One worker's application. `state` may be replaced at any time; requests keep the one they began with."""

    def __init__(self, state: State, metrics: Metrics, log: AccessLog) -> None:
        self.state = state
        self.metrics = metrics
        self.log = log
        self.pulse = Pulse()
        self.draining = False
        self.visits: set[Visit] = set()
        self._id_prefix = f"req_{secrets.token_hex(6)}".encode()
        self._id_count = 0
        self._flushing: asyncio.TimerHandle | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.answer(scope, receive, send)

    def answer(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """The same, a coroutine less."""
        if scope["type"] != "http":
            return _aside(scope, receive, send)
        outlet = scope.get("extensions", {}).get(EXTENSION)
        if outlet is None:
            return self._plain(scope, receive, send)
        return self._visit(scope, receive, outlet).run()

    def enter(self, head: Head, body: bytes | None, length: int | None, outlet: Cycle) -> Coroutine[Any, Any, None]:
        """The same for our own server, without the detour of a scope."""
        return Visit(self, head.method, head.path, head.fields, body, length, outlet.receive, outlet).run()

    def _visit(self, scope: Scope, receive: Receive, outlet: Outlet) -> Visit:
        # Mounted in another application, the path that is ours begins after the mount point.
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        head: dict[bytes, bytes] = dict(scope["headers"])
        length = head.get(b"content-length", b"")
        size = int(length) if length.isdigit() else None
        return Visit(self, scope["method"], path, head, None, size, receive, outlet)

    def request_id(self, head: Mapping[bytes, bytes]) -> bytes:
        """The client's own, if it is a decent one without a secret in it, else a new one."""
        given = head.get(b"x-request-id")
        if given is not None and _REQUEST_ID.fullmatch(given):
            text = given.decode("ascii")
            if self.state.redactor.clean(text) is text:
                return given
        self._id_count += 1
        return b"%b%08x" % (self._id_prefix, self._id_count)

    def over(self, visit: Visit) -> None:
        """A visit has ended: its line goes out with the next flush."""
        self.visits.discard(visit)
        self.log.add(logged(visit))
        if self._flushing is None:
            self._flushing = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._flush)

    def replace(self, state: State) -> None:
        """Serve with another configuration from now on."""
        old, self.state = self.state, state
        old.close(state)

    async def drain(self, seconds: float) -> None:
        """Take nothing new; wait for what is in flight, then end it with an error."""
        self.draining = True
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while self.visits and loop.time() < end:
            await asyncio.sleep(0.05)
        for visit in list(self.visits):
            visit.stop(Overloaded("The gateway is going down", code="draining", retry_after=2))
        while self.visits and loop.time() < end + 1:
            await asyncio.sleep(0.01)

    def close(self) -> None:
        """After the last request."""
        if self._flushing is not None:
            self._flushing.cancel()
        self.state.close()
        self.log.close()

    def _flush(self) -> None:
        self._flushing = None
        self.log.flush()

    async def _plain(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Under any other server."""
        plain = AsgiOutlet(receive, send, bodiless=scope["method"] == "HEAD")
        pump = asyncio.create_task(plain.pump())
        try:
            await self._visit(scope, receive, plain).run()
            plain.close()
            await pump
        finally:
            plain.close()
            pump.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await pump


async def _aside(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
    elif scope["type"] == "lifespan":
        await _lifespan(receive, send)


async def _lifespan(receive: Receive, send: Send) -> None:
    """Nothing is opened before it is needed; whoever made the gateway closes it."""
    while True:
        message = await receive()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return
