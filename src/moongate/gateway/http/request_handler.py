"""One HTTP request of any kind: checked, answered, then recorded in log and metrics."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from moongate.aio.tasks import Cancellable
from moongate.chat.contracts import Dialect
from moongate.errors import GatewayError, MethodNotAllowed, NotFound, Overloaded
from moongate.gateway.http.answer_headers import JSON_TYPE, STREAM_HEADERS
from moongate.gateway.http.auth import Client
from moongate.gateway.http.body_reader import receive_body, within_limit
from moongate.gateway.http.completion import Completion
from moongate.gateway.http.front_paths import DEFAULT_FRONT, DIALECT_BY_PATH, front_of
from moongate.gateway.http.internal_errors import describe
from moongate.gateway.http.limit_errors import LimitExceeded, limit_error
from moongate.gateway.http.pages import COSTLY_PAGES, OPEN_PAGES, PAGES, PageRequest, one_model
from moongate.gateway.http.reservation import ask_all_gateways
from moongate.gateway.http.upstream_errors import error_headers, is_final
from moongate.gateway.limits.limit_set import Refusal
from moongate.gateway.limits.limiter import Admission
from moongate.gateway.record.messages import print_message
from moongate.gateway.server.response_writer import CopyingResponseWriter, HeaderList, Receive, ResponseWriter
from moongate.payload import JsonObject, dumps

if TYPE_CHECKING:
    from moongate.gateway.app import Gateway

CLIENT_LEFT: Final = 499  # status in log and metrics when the client disconnected before one was sent


class RequestHandler:
    """Handles one HTTP request; afterwards its attributes say what happened, for log and metrics."""

    __slots__ = (
        *("_admission", "_body", "_length", "_receive", "_stop_error"),
        *("client", "client_left", "completion", "dialect", "error", "forwarded_for", "gateway", "headers", "id"),
        "is_completion",
        *("method", "path", "request_body", "started_at", "state", "status", "task", "writer"),
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
    ) -> None:
        """If `body` is None it must be received; `length` is then its Content-Length, if there is one."""
        self.gateway = gateway
        self.state = state = gateway.state
        self.method = method
        self.path = path
        self.headers = headers
        self._body = body
        self._length = length
        self._receive = receive
        self.writer = CopyingResponseWriter(writer, bodiless=method == "HEAD") if state.log_bodies else writer
        self.id = gateway.request_id(headers)
        self.started_at = time.perf_counter()  # the event loop's clock is coarse
        self.dialect: Dialect = DEFAULT_FRONT.dialect
        self.is_completion = False
        self.client: Client | None = None
        self.completion: Completion | None = None
        self.status = 200
        self.error = ""
        self.request_body = b""
        self.client_left = False
        self.forwarded_for: str | None = None  # the address behind a trusted proxy
        self._admission: Admission | None = None
        self._stop_error: GatewayError | None = None
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
            self._send_error(error)
        except asyncio.CancelledError:
            self._cancelled()
        except Exception as error:  # a bug must neither end the worker nor show its text to a client
            self._send_error(self._internal_error(error))
        finally:
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
        if self.method != "POST":
            raise MethodNotAllowed(f"{self.path} takes POST")
        admission = self._admit(client)
        body = await self._read_body()
        self.request_body = body
        metrics.values[metrics.in_flight] += 1
        try:
            self.writer.on_disconnect(self._on_disconnect)
            ticker = self.gateway.ticker
            completion = Completion(state, dialect, self.writer, self.headers, self.id, ticker, client, admission)
            self.completion = completion
            await completion.run(body)
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
        if page is None:
            shown = self.state.redactor.redact(path)[:200]
            raise NotFound(f"There is nothing at {shown!r}", code="no_such_path")
        body = b""
        if path in COSTLY_PAGES and self.client is not None and method == "POST":
            admission = self._admit(self.client)
            body = await self._read_body()
            await ask_all_gateways(self.state, admission)
        self.status, headers, data = page(PageRequest(self.gateway, method, front, body, self.client))
        self._respond(self.status, headers, data)

    def _admit(self, client: Client) -> Admission:
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

    async def _read_body(self) -> bytes:
        """The whole body. A slot is taken only when the body is complete, so slow senders cannot exhaust them."""
        limits = self.state.limits
        if self._body is not None:
            return within_limit(self._body, limits)
        body = await receive_body(self._receive, self._length, limits, self.gateway.incoming)
        if body is None:
            self.client_left = True
            raise asyncio.CancelledError
        self._check_in_flight()
        return body

    def _on_disconnect(self) -> None:
        self.client_left = True
        if self.task is not None:
            self.task.cancel()

    def _cancelled(self) -> None:
        if self._stop_error is not None and self.task is not None:
            self.task.uncancel()
            self._send_error(self._stop_error)
            return
        self.status = CLIENT_LEFT
        self.error = "the client left"
        if not self.client_left:
            raise asyncio.CancelledError
        if self.task is not None:
            self.task.uncancel()
        self.gateway.metrics.values[self.gateway.metrics.client_left] += 1

    def _internal_error(self, error: Exception) -> GatewayError:
        """Report a bug to the operator in one line; the client only learns that there was one."""
        text = describe(error, self.state.redactor.redact)
        print_message(f"internal error in {self.id.decode()}: {text}")
        message = "Internal error of the gateway; its log has details under the id of this request"
        return GatewayError(message, code="internal")

    def _send_error(self, error: GatewayError) -> None:
        """Send an error to the client; inside the stream, if one has begun."""
        self.state.redactor.redact_error(error)  # a provider may have quoted our key
        completion = self.completion
        if completion is not None:
            completion.name_provider_once(error)
        self.error = str(error)
        if completion is not None and completion.response_started:
            self.writer.write(self.dialect.error_event(error))
            self.writer.finish()
            return
        mapped = self.dialect.map_error(error)
        self.status = mapped.status
        stream = self._failed_stream(error)
        headers = error.headers if isinstance(error, LimitExceeded) else []
        if stream is not None:
            self._respond(200, [*STREAM_HEADERS, *headers], stream)
        else:
            attempts = completion.attempts if completion is not None else 0
            headers = [JSON_TYPE, *error_headers(error, self.method, attempts), *headers]
            self._respond(mapped.status, headers, dumps(self.dialect.error(error)))

    def _failed_stream(self, error: GatewayError) -> bytes | None:
        """The stream that reports an error from before it, for a front whose clients expect it there."""
        accepts_events = b"text/event-stream" in self.headers.get(b"accept", b"")
        request: JsonObject = {}
        if self.completion is not None and self.completion.streamed:
            request = self.completion.client_request
        elif self.completion is None and self.is_completion and accepts_events:
            request = {"stream": True}  # refused before its body was read
        final = is_final(error, self.completion.attempts if self.completion is not None else 0)
        return self.dialect.failed_stream(error, request, accepts_events=accepts_events, final=final)

    def _respond(self, status: int, headers: HeaderList, data: bytes) -> None:
        self.writer.respond(status, [*headers, (b"x-request-id", self.id)], data)
