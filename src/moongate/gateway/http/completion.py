"""One request to a model, from the body that the client sent to the end of the answer."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from time import perf_counter
from typing import Any

from moongate.chat.contracts import Dialect, Exchange, Note
from moongate.chat.note_sequences import joined_notes
from moongate.chat.requested_usage import UsageFilter
from moongate.chat.verdict import ReplacedAnswer
from moongate.errors import GatewayError
from moongate.gateway.http.answer_headers import JSON_TYPE, STREAM_HEADERS, answer_headers, model_header
from moongate.gateway.http.auth import Client
from moongate.gateway.http.further_tries import FurtherTries
from moongate.gateway.http.offload import takes_long
from moongate.gateway.http.provider_answer import content_type_of, error_of
from moongate.gateway.http.provider_errors import name_provider
from moongate.gateway.http.relay import Relay
from moongate.gateway.http.reservation import budget_warning, check_shared_limits, require_allowed, reserve
from moongate.gateway.http.sessions import new_session, read_body
from moongate.gateway.http.target_request import TargetRequest
from moongate.gateway.http.upstream_errors import AnswerableRefusal, client_retries, may_be_billed
from moongate.gateway.http.verdict_recorder import JudgedAnswer, VerdictRecorder
from moongate.gateway.http.whole_reader import WholeReader
from moongate.gateway.inspect.capture import Capture
from moongate.gateway.instrumented_upstream import instrumented_upstream
from moongate.gateway.limits.limiter import Admission
from moongate.gateway.routing.attempt import Attempt
from moongate.gateway.routing.selector import SelectedTarget
from moongate.gateway.server.response_writer import HeaderList, ResponseWriter
from moongate.gateway.server.ticker import Ticker
from moongate.gateway.state import GatewayState
from moongate.gateway.store.accounting import UsageEntry, UsageKey
from moongate.gateway.target import Target
from moongate.gateway.trace.request_trace import RequestTrace
from moongate.net.contract import Response
from moongate.payload import JsonObject


class Completion:
    """`await run(body)`; afterwards the attributes say what happened, for log and metrics."""

    __slots__ = (
        *("_activity", "_admission", "_body", "_chat", "_client", "_first", "_headers", "_left_out"),
        *("_request", "_request_id", "_route_targets", "_state", "_ticker", "_warnings", "_writer", "attempts"),
        *("billable", "capture", "client_request", "dialect", "failure", "first_byte_at", "judged", "named_error"),
        *("notes", "replaced", "requested_model", "response_started", "selected", "started_at", "streamed", "target"),
        *("trace", "usage", "usage_entry"),
    )

    def __init__(
        self,
        state: GatewayState,
        dialect: Dialect,
        writer: ResponseWriter,
        headers: Mapping[bytes, bytes],
        request_id: bytes,
        ticker: Ticker,
        client: Client,
        admission: Admission,
    ) -> None:
        self._headers, self._request_id, self._ticker, self._activity = headers, request_id, ticker, ticker.activity
        self._state, self._writer, self._client, self._admission = state, writer, client, admission
        self._warnings: HeaderList = []  # headers of the answer
        self._left_out: Sequence[Note] = ()
        self.usage_entry: UsageEntry | None = None  # what was reserved for it
        self.attempts, self.billable = 0, 0  # all, and those that may be billed: without usage at the estimate
        self.started_at = perf_counter()
        self.dialect, self.requested_model = dialect, ""
        self.streamed = self.response_started = False  # a status was sent
        self.first_byte_at: float | None = None
        self.target: Target | None = None
        self.selected: SelectedTarget | None = None  # of a route with several targets
        self.judged: JudgedAnswer | None = None  # the last answer of a provider
        self.named_error: GatewayError | None = None  # the error whose message names the provider already
        self.failure: GatewayError | None = None  # after the status was sent
        self.usage: JsonObject | None = None
        self.notes: Sequence[Note] = ()
        self.replaced: Sequence[ReplacedAnswer] = ()  # by further tries of the guard
        self.capture: Capture | None = None  # if the request is captured
        self.trace: RequestTrace | None = None  # if it is traced

    def run(self, body: bytes) -> Coroutine[Any, Any, None]:
        """Answer. Not async: a small body is parsed and routed before the await, so this may raise at once."""
        self._body = body
        if takes_long(body):
            return self._run_large()
        self._read(is_long=False)
        return self._route()

    async def _run_large(self) -> None:
        await self._activity.in_thread(self._read, is_long=True)
        await self._route()

    def _read(self, *, is_long: bool) -> None:
        """Raises GatewayError."""
        limits, has_store = self._state.limits, self._state.store is not None
        self.client_request = given = read_body(self._body, limits.json_depth, limits.json_values)
        self._request = TargetRequest(
            self._body, given, self.dialect, self._headers, self._activity, is_long=is_long, needs_usage=has_store
        )
        self._chat = self._request.chat

    def _route(self) -> Coroutine[Any, Any, None]:
        state, chat, model = self._state, self._chat, self._chat.get("model")
        self.requested_model, self.streamed = model if isinstance(model, str) else "", chat.get("stream") is True
        route = state.routes.find(model)
        require_allowed(self._client, self.requested_model, route)
        self._route_targets = targets = state.route_targets(route, priced=self._client.has_money_budget)
        if targets.reports is not None:
            self.selected = targets.choose(self._headers, chat, self._client.digest, streamed=self.streamed)
        self._first = targets.targets[0 if self.selected is None else self.selected.first]
        return self._run_attempts() if state.shared is None else self._run_shared()

    async def _run_shared(self) -> None:
        await check_shared_limits(self._state, self._admission, self._first, len(self._body), self._chat)
        await self._run_attempts()

    def _run_attempts(self) -> Coroutine[Any, Any, None]:
        """Reserve what the request may cost at its first target, then send it."""
        state, first, size = self._state, self._first, len(self._body)
        if state.store is not None:
            self.usage_entry = reserve(
                state, self._admission, self.usage_key(first), self._request_id, first, size, self._chat
            )
            self._warnings = budget_warning(state, self._admission)
        deadlines = state.stream_deadlines if self.streamed else state.whole_deadlines
        call = self._attempt if self.trace is None else self.trace.traced(self, self._attempt, self._chat)
        healths, retries = self._route_targets.healths, client_retries(self._headers)
        return state.attempts.run(healths, call, deadlines, retries, self.selected)

    def usage_key(self, target: Target) -> UsageKey:
        """Who asks whom, for the usage, and what the answer was worth."""
        worth = "" if self.judged is None else self.judged.verdict.worth
        return self._client.key_id, self._client.team_id, self.dialect.name, target.provider, target.model, worth

    async def _attempt(self, attempt: Attempt) -> None:
        self.target = target = self._route_targets.targets[attempt.index]
        self._route_targets.record_attempt(self.selected, attempt.index)
        request = self._request
        exchange, body = request.prepare_at_once(target) or await request.prepare(target)
        self._left_out = request.left_out(target)
        if self.capture is not None:
            self.capture.exchange = exchange
        with VerdictRecorder(self, target, exchange):
            response = await self._send(attempt, target, body)
            body = b""  # it is not sent again
            try:
                if response.status != 200:
                    self.billable -= 1
                    refusal = await error_of(response, self._state.redactor.redact)
                    answered = await request.answers(target, exchange, refusal)
                    raise AnswerableRefusal.of(refusal) if answered else refusal
                request.accepted(target)
                await self._respond(response, exchange, attempt, target)
            except BaseException:
                response.close()
                raise
            finally:
                self.notes = joined_notes(exchange.notes, self._left_out, request.learned)

    async def _respond(self, response: Response, exchange: Exchange, attempt: Attempt, target: Target) -> None:
        request, admission = self._request, self._admission
        tries = FurtherTries(self._state, target, attempt, request, admission, self.capture, self.trace)
        try:
            if self.streamed:
                await self._stream(response, exchange, attempt, target, tries)
            else:
                await self._respond_whole(response, exchange, target, tries)
        finally:
            tries.end()
            self.attempts += tries.count
            self.billable += tries.billable
            self.replaced = exchange.replaced

    async def _send(self, attempt: Attempt, target: Target, body: bytes) -> Response:
        headers = (*target.headers[attempt.key.header], *self._request.forwarded(target))
        self.billable += 1
        try:
            upstream = instrumented_upstream(target, self.capture, self.trace)
            return await upstream.send(
                "POST", target.path, headers, body, deadlines=attempt.deadlines, may_resend=attempt.may_resend
            )
        except GatewayError as error:
            self.billable -= not may_be_billed(error)
            raise
        finally:
            self.attempts = attempt.number

    async def _respond_whole(self, response: Response, exchange: Exchange, target: Target, tries: FurtherTries) -> None:
        reader = WholeReader(self.dialect, self.client_request, self._activity, self._state.limits.answer)
        try:
            data = await reader.read_best(response, exchange, tries)
        finally:  # a client that leaves is billed for what came
            self.usage = reader.usage
        self._mark_started()
        self._writer.respond(200, [JSON_TYPE, *self._answer_headers(target)], data)

    async def _stream(
        self, response: Response, exchange: Exchange, attempt: Attempt, target: Target, tries: FurtherTries
    ) -> None:
        encoder, limits = self.dialect.encoder(self.client_request), self._state.limits
        session = new_session(exchange, content_type_of(response), encoder, limits.event, limits.answer)
        session.usage_filter = UsageFilter() if self._request.adds_usage(target) else None

        def on_commit() -> None:
            if session.started:  # else only time has passed, and the provider may never answer
                attempt.succeeded()
            self._mark_started()
            self._body, self._chat, self.client_request = b"", {}, {}
            self._request.forget(exchange, captured=self.capture is not None)

        relay = Relay(
            session,
            self.dialect,
            self._writer,
            headers=[*STREAM_HEADERS, *self._answer_headers(target)],
            timeouts=self._state.stream_timeouts(self._ticker.seconds),
            ticker=self._ticker,
            on_commit=on_commit,
            redact=self._state.redactor.redact_events,
            name_provider=self.name_provider_once,
            next_try=lambda: tries.send_next(exchange, session.size),
            is_long=tries.is_long,
        )
        metrics = self._state.metrics
        metrics.values[metrics.streams] += 1
        try:
            await relay.run(response)
            if relay.failure is not None:
                attempt.failed(relay.failure)
        finally:
            metrics.values[metrics.streams] -= 1
            self.failure, self.usage = relay.failure, session.usage

    def name_provider_once(self, error: GatewayError) -> None:
        """Add to a provider's error which provider it is; once."""
        if self.target is not None and self.named_error is not error:
            self.named_error = error
            name_provider(error, self.target.provider, self.target.origins, self.target.model)

    def _answer_headers(self, target: Target) -> HeaderList:
        asked, route = self.requested_model, [] if self.selected is None else self.selected.headers
        model = [] if asked in target.names else model_header(asked, target.provider, target.model)
        return answer_headers(self._request_id, model, self._left_out, route, self._warnings)

    def _mark_started(self) -> None:
        self.response_started, self.first_byte_at = True, perf_counter()
