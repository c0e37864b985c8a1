"""One HTTP request, of whatever kind: judged, answered, logged and counted."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from moongate.chat.contracts import Dialect
from moongate.dialects import CHAT, MESSAGES
from moongate.errors import GatewayError, MethodNotAllowed, NotFound, Overloaded, TooLarge
from moongate.gateway.auth import Client
from moongate.gateway.fronts import FRONTS
from moongate.gateway.mistakes import told
from moongate.gateway.outlet import Copying, HeaderList, Outlet, Receive
from moongate.gateway.pages import COSTLY_PAGES, OPEN_PAGES, PAGES, Ask, one_model
from moongate.gateway.refusals import advice
from moongate.gateway.turn import JSON_TYPE, STREAM_HEAD, Turn
from moongate.net.errand import Cancellable
from moongate.payload import dumps

if TYPE_CHECKING:
    from moongate.gateway.app import Gateway

CLIENT_LEFT: Final = 499  # for the log: nobody was there to hear a status


class Visit:
    """One HTTP request, of whatever kind."""

    __slots__ = (
        *("_body", "_length", "_receive", "_stop", "_task"),
        *("asked", "began", "client", "error", "front", "gateway", "head", "id", "is_turn", "left", "method"),
        *("outlet", "path", "state", "status", "turn"),
    )

    def __init__(
        self,
        gateway: Gateway,
        method: str,
        path: str,
        head: Mapping[bytes, bytes],
        body: bytes | None,
        length: int | None,
        receive: Receive,
        outlet: Outlet,
    ) -> None:
        """If `body` is None it must be received; `length` is then what the head says of it, if it says so."""
        self.gateway = gateway
        self.state = state = gateway.state
        self.method = method
        self.path = path
        self.head = head
        self._body = body
        self._length = length
        self._receive = receive
        self.outlet = Copying(outlet, bodiless=method == "HEAD") if state.log_bodies else outlet
        self.id = gateway.request_id(head)
        self.began = time.perf_counter()  # the loop's clock is coarse
        self.front: Dialect = CHAT
        self.is_turn = False
        self.client: Client | None = None
        self.turn: Turn | None = None
        self.status = 200
        self.error = ""
        self.asked = b""
        self.left = False  # the client is gone
        self._stop: GatewayError | None = None
        self._task: Cancellable | None = None

    async def run(self) -> None:
        """Answer. Raises nothing but cancellation by the server."""
        self._task = self.outlet.task or asyncio.current_task()
        self.gateway.visits.add(self)
        front = FRONTS.get(self.path)
        try:
            if front is not None:
                await self._converse(front)
            else:
                await self._show()
        except GatewayError as error:
            self._refuse(error)
        except asyncio.CancelledError:
            self._cancelled()
        except Exception as error:  # a mistake of ours must not take the worker down, nor show itself to a client
            self._refuse(self._mistake(error))
        finally:
            self.gateway.over(self)

    def stop(self, error: GatewayError) -> None:
        """End it now, and tell the client why."""
        self._stop = error
        if self._task is not None:
            self._task.cancel()

    async def _converse(self, front: Dialect) -> None:
        state, metrics = self.state, self.gateway.metrics
        self.front, self.is_turn = front, True
        state.visitors.check(self.head)
        self.client = client = state.doorkeeper.admit(self.head)
        if self.method != "POST":
            raise MethodNotAllowed(f"{self.path} takes POST")
        self._enter(client)
        try:
            self.asked = body = await self._whole_body() if self._body is None else self._within_limit(self._body)
            metrics.values[metrics.in_flight] += 1
            try:
                self.outlet.on_disconnect(self._leave)
                self.turn = Turn(state, front, self.outlet, self.head, self.id, self.gateway.pulse)
                await self.turn.run(body)
            finally:
                metrics.values[metrics.in_flight] -= 1
        finally:
            client.leave()

    async def _show(self) -> None:
        """A page."""
        path, method = self.path, self.method
        if path.startswith("/v1/messages") or b"anthropic-version" in self.head:
            self.front = MESSAGES
        self.state.visitors.check(self.head)
        if path not in OPEN_PAGES:
            self.client = self.state.doorkeeper.admit(self.head)
        page = PAGES.get(path)
        if page is None and path.startswith("/v1/models/"):
            page = one_model(path.removeprefix("/v1/models/"))
        if page is None:
            raise NotFound(f"There is nothing at {path[:200]!r}", code="no_such_path")
        body = b""
        if path in COSTLY_PAGES and self.client is not None and method == "POST":
            self._enter(self.client)
            try:
                body = await self._whole_body() if self._body is None else self._within_limit(self._body)
            finally:
                self.client.leave()
        self.status, headers, data = page(Ask(self.gateway, method, self.head, body))
        self._respond(self.status, headers, data)

    def _enter(self, client: Client) -> None:
        """May the client send the body? `client.leave` must follow."""
        if self.gateway.draining:
            raise Overloaded("The gateway is going down", code="draining", retry_after=2)
        self._check_room()
        client.enter(self.began)

    def _check_room(self) -> None:
        metrics = self.gateway.metrics
        if metrics.values[metrics.in_flight] >= self.state.limits.in_flight:
            raise Overloaded("Too many requests at the same time", code="overloaded", retry_after=1)

    async def _whole_body(self) -> bytes:
        """It takes no place while it comes, so that who dribbles takes nobody's: there must be room afterwards, too."""
        limit = self.state.limits.request_body
        if self._length is not None and self._length > limit:
            raise TooLarge(f"The body is larger than {limit} bytes", code="too_large")
        pieces, size, more = [], 0, True
        while more and size <= limit:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self.left = True
                raise asyncio.CancelledError
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
            more = bool(message.get("more_body", False))
        self._check_room()
        return self._within_limit(b"".join(pieces))

    def _within_limit(self, body: bytes) -> bytes:
        limit = self.state.limits.request_body
        if len(body) > limit:
            raise TooLarge(f"The body is larger than {limit} bytes", code="too_large")
        return body

    def _leave(self) -> None:
        self.left = True
        if self._task is not None:
            self._task.cancel()

    def _cancelled(self) -> None:
        if self._stop is not None and self._task is not None:
            self._task.uncancel()
            self._refuse(self._stop)
            return
        self.status = CLIENT_LEFT
        self.error = "the client left"
        if not self.left:
            raise asyncio.CancelledError
        if self._task is not None:
            self._task.uncancel()
        self.gateway.metrics.values[self.gateway.metrics.left] += 1

    def _mistake(self, error: Exception) -> GatewayError:
        """Tell the operator what and where, in one line."""
        text = told(error, self.state.redactor.clean)
        print(f"moongate: mistake in {self.id.decode()}: {text}", file=sys.stderr, flush=True)
        return GatewayError("The gateway made a mistake; its log says more under this request's id", code="internal")

    def _refuse(self, error: GatewayError) -> None:
        """Tell an error; in the stream, if one has begun."""
        self.state.redactor.clean_error(error)  # a provider may have quoted our key
        self.error = str(error)
        turn = self.turn
        if turn is not None and turn.started:
            self.outlet.write(self.front.error_event(error))
            self.outlet.finish()
            return
        shown = self.front.told(error)
        self.status = shown.status
        streamed = turn.failed_stream(error) if turn is not None else None
        if streamed is not None:
            self._respond(200, [*STREAM_HEAD], streamed)
        else:
            self._respond(shown.status, [JSON_TYPE, *advice(error, self.method)], dumps(self.front.error(error)))

    def _respond(self, status: int, headers: HeaderList, data: bytes) -> None:
        self.outlet.respond(status, [*headers, (b"x-request-id", self.id)], data)
