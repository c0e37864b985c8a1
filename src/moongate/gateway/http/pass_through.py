"""A request that is passed through to a provider: no transformer, no retry, bodies that stream both ways.

Permissions, limits, costs and log lines are as for a model; the path takes the place of the model's name.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Final

from moongate.chat.contracts import Note
from moongate.chat.verdict import ReplacedAnswer
from moongate.errors import BadRequest, Forbidden, GatewayError, MethodNotAllowed
from moongate.gateway.config.passthrough_settings import is_plain
from moongate.gateway.http.auth import Client
from moongate.gateway.http.provider_answer import error_of
from moongate.gateway.http.provider_errors import name_provider
from moongate.gateway.http.reservation import budget_warning, check_shared_limits, reserve
from moongate.gateway.http.upstream_errors import client_retries
from moongate.gateway.http.usage_watch import UsageWatch
from moongate.gateway.limits.limiter import Admission
from moongate.gateway.routing.attempt import Attempt, AttemptRun
from moongate.gateway.routing.pass_through_routes import PassThroughRoute
from moongate.gateway.server.response_writer import HeaderList
from moongate.gateway.store.accounting import UsageEntry, UsageKey
from moongate.gateway.target import Target
from moongate.net.contract import Response
from moongate.payload import JsonObject

if TYPE_CHECKING:
    from moongate.gateway.http.request_handler import RequestHandler

FRONT: Final = "passthrough"  # in log, metrics and usage
METHODS: Final = frozenset({"DELETE", "GET", "PATCH", "POST", "PUT"})
WHOLE_BODY: Final = 256 * 1024  # bytes up to which a body is received before it is sent
# Headers that pass, beside those that every provider gets. All others stay here: some frame messages, some are secrets.
REQUEST_HEADERS: Final = (b"accept", b"content-type", b"range")
ANSWER_HEADERS: Final = (
    *(b"accept-ranges", b"cache-control", b"content-disposition", b"content-language", b"content-length"),
    *(b"content-range", b"content-type", b"etag", b"last-modified"),
)


class PassThroughRequest:
    """`await run()`; afterwards the attributes say what happened, for log and metrics, as those of a `Completion`."""

    __slots__ = (
        *("_body", "_handler", "_path", "_route", "_warnings", "_watch", "attempts", "billable", "failure"),
        *("_watches_client", "first_byte_at", "response_started", "started_at", "target", "usage", "usage_entry"),
    )
    streamed = False
    client_request: JsonObject = {}  # noqa: RUF012 (nobody changes it)
    selected = None
    judged = None
    notes: Sequence[Note] = ()
    replaced: Sequence[ReplacedAnswer] = ()

    def __init__(self, handler: RequestHandler, route: PassThroughRoute) -> None:
        self._handler, self._route = handler, route
        self._body: bytes | None = None  # None: it is sent while it comes
        self._path = ""
        self._warnings: HeaderList = []
        self._watch = UsageWatch()
        self._watches_client = False
        self.started_at = perf_counter()
        self.target: Target | None = None
        self.attempts = 0
        self.billable = 0
        self.response_started = False
        self.first_byte_at: float | None = None
        self.failure: GatewayError | None = None  # after the status was sent
        self.usage: JsonObject | None = None
        self.usage_entry: UsageEntry | None = None

    @property
    def requested_model(self) -> str:
        return self._route.path

    def usage_key(self, target: Target) -> UsageKey:
        client = self._client
        return client.key_id, client.team_id, FRONT, target.provider, target.model, ""

    def name_provider_once(self, error: GatewayError) -> None:
        """Called once, with the error that ends the request."""
        if self.target is not None:
            name_provider(error, self.target.provider, self.target.origins, self.target.model)

    @property
    def _client(self) -> Client:
        assert self._handler.client is not None
        return self._handler.client

    async def run(self) -> None:
        handler, route = self._handler, self._route
        if handler.method not in METHODS:
            raise MethodNotAllowed(f"{route.path} takes {', '.join(sorted(METHODS))}")
        if not is_plain(handler.path):
            raise BadRequest("a path that is passed through has no empty, dotted or escaped parts", code="bad_path")
        self._path = route.upstream_path(handler.path, handler.query.decode("ascii"))
        names = (route.path, route.target.name)
        if self._client.allowed and not self._client.may_use(*names):
            raise Forbidden(f"This client key may not use the path {route.path!r}", code="model_not_allowed")
        admission = handler.admit(self._client)
        await self._reserve(admission)
        if handler.body is not None or (handler.length is not None and handler.length <= WHOLE_BODY):
            self._body = handler.request_body = await handler.read_body()
        metrics = handler.gateway.metrics
        metrics.values[metrics.in_flight] += 1
        try:
            await self._ask()
        finally:
            metrics.values[metrics.in_flight] -= 1

    async def _reserve(self, admission: Admission) -> None:
        """Reserve what a JSON request may cost; files cost no tokens."""
        handler, state, target = self._handler, self._handler.state, self._route.target
        size = 0
        if b"json" in handler.headers.get(b"content-type", b""):
            length = WHOLE_BODY if handler.length is None else handler.length  # that of a chunked one is not known
            size = length if handler.body is None else len(handler.body)
        chat: JsonObject = {} if size else {"max_tokens": 1}
        await check_shared_limits(state, admission, target, size, chat)
        if state.store is not None:
            key = self.usage_key(target)
            self.usage_entry = reserve(state, admission, key, handler.id, target, size, chat)
            self._warnings = budget_warning(state, admission)
        self.billable = 1 if size else 0

    async def _ask(self) -> None:
        self.target = target = self._route.target
        deadlines = self._handler.state.stream_deadlines
        now = monotonic()
        run = AttemptRun((target.health,), self._attempt, deadlines, now + deadlines.total, 1)
        # A kept connection may be dead; an SDK's second retry is the third request already.
        run.max_sends = 2 if client_retries(self._handler.headers) < 2 else 1
        error = await run.attempt(0, deadlines, now)
        if error is not None:
            raise error

    async def _attempt(self, attempt: Attempt) -> None:
        try:
            response = await self._send(attempt)
        finally:
            self.attempts = attempt.number
        try:
            if not 200 <= response.status < 300:
                self.billable = 0
                raise await error_of(response, self._handler.state.redactor.redact)
            await self._relay(response)
        except BaseException:
            response.close()
            raise

    async def _send(self, attempt: Attempt) -> Response:
        handler, target = self._handler, self._route.target
        given = handler.headers
        own = target.headers[attempt.key.header]
        headers = [
            *own,
            *((name, given[name]) for name in (*REQUEST_HEADERS, *sorted(target.forwarded)) if name in given),
        ]
        if self._body is None:
            pieces = self._pieces()
            return await target.upstream.upload(
                handler.method, self._path, headers, handler.length, pieces, deadlines=attempt.deadlines
            )
        self._watch_client()
        return await target.upstream.send(
            *(handler.method, self._path, headers, self._body),
            deadlines=attempt.deadlines,
            may_resend=attempt.may_resend,
        )

    async def _pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes, no more than the server reads ahead."""
        handler, more = self._handler, True
        while more:
            message = await handler.receive()
            if message["type"] == "http.disconnect":
                handler.on_disconnect()
                await asyncio.sleep(0)  # the cancellation comes first
                return
            more = bool(message.get("more_body", False))
            yield message.get("body", b"")
        self._watch_client()

    def _watch_client(self) -> None:
        """Notice when the client leaves. The rest of its body, if there is any, is not wanted any more."""
        if not self._watches_client:
            self._watches_client = True
            self._handler.writer.on_disconnect(self._handler.on_disconnect)

    async def _relay(self, response: Response) -> None:
        writer = self._handler.writer

        def on_data(data: bytes) -> None:
            self._watch.feed(data)
            if self.response_started:
                writer.write(data)
            else:
                self._start(response, data)

        self._watch_client()
        writer.on_drain(response.pause, response.resume)
        try:
            await response.pipe(on_data)
            if not self.response_started:
                self._start(response, b"")
            self.billable = 0  # the answer is complete: its own usage counts
            writer.finish()
        except GatewayError as error:
            if self.response_started:
                self.failure = error
                writer.drop()  # the client must not take it for complete
            raise
        finally:
            self.usage = self._watch.usage()

    def _start(self, response: Response, data: bytes) -> None:
        handler = self._handler
        self.response_started = True
        self.first_byte_at = perf_counter()
        handler.status = response.status
        found = [(name, response.headers[name]) for name in ANSWER_HEADERS if name in response.headers]
        handler.writer.start(response.status, [*found, (b"x-request-id", handler.id), *self._warnings], data)
