"""One HTTP request of any kind: checked, answered, then recorded in log and metrics."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from moongate.aio.tasks import Cancellable
from moongate.chat.contracts import Dialect
from moongate.errors import GatewayError, MethodNotAllowed, NotFound, Overloaded
from moongate.gateway.http.auth import Client
from moongate.gateway.http.body_reader import receive_body, within_limit
from moongate.gateway.http.completion import Completion
from moongate.gateway.http.front_paths import DEFAULT_FRONT, DIALECT_BY_PATH, front_of
from moongate.gateway.http.internal_errors import internal_error
from moongate.gateway.http.limit_errors import limit_error
from moongate.gateway.http.offload import takes_long
from moongate.gateway.http.pages import COSTLY_PAGES, OPEN_PAGES, PAGES, PageRequest, one_model
from moongate.gateway.http.pass_through import PassThroughRequest
from moongate.gateway.http.reservation import check_shared_limits
from moongate.gateway.http.send_error import send_error
from moongate.gateway.inspect.capture import Capture
from moongate.gateway.limits.limit_set import Refusal
from moongate.gateway.limits.limiter import Admission
from moongate.gateway.server.response_writer import CopyingResponseWriter, HeaderList, Receive, ResponseWriter
from moongate.gateway.trace.request_trace import RequestTrace

if TYPE_CHECKING:
    from moongate.gateway.app import Gateway

CLIENT_LEFT: Final = 499  # status in log and metrics when the client disconnected before one was sent


class RequestHandler:
    """Handles one HTTP request; afterwards its attributes say what happened, for log and metrics."""

    __slots__ = (
        *("_admission", "_stop_error", "body"),
        *("capture", "client", "client_left", "completion", "dialect", "error", "forwarded_for", "gateway", "headers"),
        *("id", "is_completion", "length", "method", "path", "query", "receive", "request_body", "started_at", "state"),
        *("status", "task", "trace", "writer"),
    )

    def __init__(
        self,
        gateway: Gateway,
        method: str,
        path: str,
        headers: Mapping[bytes, bytes],
        body: bytes | None,
        length: int | None,
        receive: Receive,
        writer: ResponseWriter,
        query: bytes,
    ) -> None:
        """If `body` is None it must be received; `length` is then its Content-Length, if there is one."""
        self.gateway = gateway
        self.state = state = gateway.state
        self.method, self.path, self.query, self.headers = method, path, query, headers
        self.body = body
        self.length = length
        self.receive = receive
        self.writer: ResponseWriter = writer
        if state.log_bodies:
            self.writer = CopyingResponseWriter(writer, bodiless=method == "HEAD")
        self.id = gateway.request_id(headers)
        self.started_at = time.perf_counter()  # the event loop's clock is coarse
        self.dialect: Dialect = DEFAULT_FRONT.dialect
        self.is_completion = False
        self.client: Client | None = None
        self.completion: Completion | PassThroughRequest | None = None
        self.status = 200
        self.error = ""
        self.request_body = b""
        self.client_left = False
        self.forwarded_for: str | None = None  # the address behind a trusted proxy
        self._admission: Admission | None = None
        self._stop_error: GatewayError | None = None
        self.capture: Capture | None = None  # if it is captured
        self.trace: RequestTrace | None = None  # if it is traced
        self.task: Cancellable | None = None  # runs the handler

    async def run(self) -> None:
        """Answer. Raises nothing but cancellation by the server."""
        self.task = self.writer.task or asyncio.current_task()
        self.gateway.active_requests.add(self)
        dialect = DIALECT_BY_PATH.get(self.path)
        try:
            if self.state.addresses.has_proxies:
                self._enter_forwarded()
            if dialect is not None:
                await self._complete(dialect)
            else:
                await self._serve_page()
        except GatewayError as error:
            send_error(self, error.without_frames())
        except asyncio.CancelledError:
            self._cancelled()
        except Exception as error:  # a bug must neither end the worker nor show its text to a client
            send_error(self, internal_error(error, self.id.decode(), self.state.redactor.redact))
        finally:
            if self.completion is not None and self.completion.failure is not None:
                self.completion.failure.without_frames()
            self.gateway.request_finished(self)
            if self._admission is not None:  # last: what the request took is known now
                self._admission.release()

    def _enter_forwarded(self) -> None:
        """Count a request that a trusted proxy forwards by the address of the proxy's client."""
        addresses, peer = self.state.addresses, self.writer.peer
        if addresses.is_proxy(peer):
            address = addresses.of(peer, self.headers)
            self.gateway.forwarded_requests.enter(address, self.state.limits.connections_per_address)
            self.forwarded_for = address

    def stop(self, error: GatewayError) -> None:
        """End the request now with this error."""
        self._stop_error = error
        if self.task is not None:
            self.task.cancel()

    async def _complete(self, dialect: Dialect) -> None:
        """A request to a model."""
        state, metrics = self.state, self.gateway.metrics
        self.dialect, self.is_completion = dialect, True
        state.host_policy.check(self.headers)
        self.client = client = state.auth.authenticate(self.headers, self.writer)
        if self.gateway.tracer is not None:
            self.gateway.tracer.begin(self)
        if self.gateway.inspector is not None:
            self.gateway.inspector.begin(self, client)
        if self.method != "POST":
            raise MethodNotAllowed(f"{self.path} takes POST")
        admission = self.admit(client)
        body = await self.read_body() if self.body is None else within_limit(self.body, state.limits)
        if state.log_bodies or self.capture is not None:
            self.request_body = body
        metrics.values[metrics.in_flight] += 1
        try:
            self.writer.on_disconnect(self.on_disconnect)
            ticker = self.gateway.ticker
            completion = Completion(state, dialect, self.writer, self.headers, self.id, ticker, client, admission)
            self.completion = completion
            completion.capture, completion.trace = self.capture, self.trace
            answering = completion.run(body)
            body = self.body = b""  # it is not kept while its answer streams
            await answering
        finally:
            metrics.values[metrics.in_flight] -= 1

    async def _serve_page(self) -> None:
        """Any other request."""
        path, method = self.path, self.method
        front = front_of(path, self.headers)
        self.dialect = front.dialect
        self.state.host_policy.check(self.headers)
        if path not in OPEN_PAGES:
            self.client = self.state.auth.authenticate(self.headers, self.writer)
        page = PAGES.get(path)
        if page is None and path.startswith("/v1/models/"):
            page = one_model(path.removeprefix("/v1/models/"))
        if page is None and (found := self.state.pass_through.find(path, self.headers)) is not None:
            self.completion = PassThroughRequest(self, found)
            await self.completion.run()
            return
        if page is None:
            shown = self.state.redactor.redact(path)[:200]
            raise NotFound(f"There is nothing at {shown!r}", code="no_such_path")
        body = b""
        if path in COSTLY_PAGES and self.client is not None and method == "POST":
            admission = self.admit(self.client)
            body = await self.read_body()
            await check_shared_limits(self.state, admission)
        request = PageRequest(self.gateway, method, front, body, self.client)
        if takes_long(body):
            self.status, headers, data = await self.gateway.ticker.activity.in_thread(page, request)
        else:
            self.status, headers, data = page(request)
        self.respond(self.status, headers, data)

    def admit(self, client: Client) -> Admission:
        """Check the limits of gateway and client before the body is read. `run` releases the admission."""
        if self.gateway.draining:
            raise Overloaded("The gateway is going down", code="draining", retry_after=2)
        self._check_in_flight()
        admission = self.state.limiter.admit(client.accounts)
        if isinstance(admission, Refusal):
            self.gateway.metrics.count("moongate_limited_total", limit=admission.limit)
            raise limit_error(admission)
        self._admission = admission
        return admission

    def _check_in_flight(self) -> None:
        metrics = self.gateway.metrics
        if metrics.values[metrics.in_flight] >= self.state.limits.in_flight:
            raise Overloaded("Too many requests at the same time", code="overloaded", retry_after=1)

    async def read_body(self) -> bytes:
        """The whole body. A slot is taken only when the body is complete, so slow senders cannot exhaust them."""
        limits = self.state.limits
        if self.body is not None:
            return within_limit(self.body, limits)
        body = await receive_body(self.receive, self.length, limits, self.gateway.incoming)
        if body is None:
            self.client_left = True
            raise asyncio.CancelledError
        self._check_in_flight()
        return body

    def on_disconnect(self) -> None:
        if self.completion is not None and self.completion.failure is not None:
            return  # it was dropped, because its answer was
        self.client_left = True
        if self.task is not None:
            self.task.cancel()

    def _cancelled(self) -> None:
        if self._stop_error is not None and self.task is not None:
            self.task.uncancel()
            send_error(self, self._stop_error)
            return
        self.status = CLIENT_LEFT
        self.error = "the client left"
        if not self.client_left:
            raise asyncio.CancelledError
        if self.task is not None:
            self.task.uncancel()
        self.gateway.metrics.values[self.gateway.metrics.client_left] += 1

    def respond(self, status: int, headers: HeaderList, data: bytes) -> None:
        self.writer.respond(status, [*headers, (b"x-request-id", self.id)], data)
