"""One request of a client to a model, from its body to the end of its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from time import perf_counter
from typing import Any, Final

from moongate.chat.contracts import Dialect, Exchange, Note
from moongate.chat.reading import is_answer
from moongate.dialects import CHAT
from moongate.errors import BadUpstream, GatewayError
from moongate.gateway.attempts import Try
from moongate.gateway.outlet import Outlet
from moongate.gateway.pulse import Pulse
from moongate.gateway.reading import read_object
from moongate.gateway.refusals import MAX_BODY, refusal
from moongate.gateway.relay import Relay
from moongate.gateway.state import State, Target
from moongate.net.contract import Response
from moongate.payload import JsonObject, dumps, object_of
from moongate.pipeline.reply import EndWatch, read_reply
from moongate.pipeline.session import Session

ERROR_SECONDS: Final = 5.0  # for the body of a provider's error
JSON_TYPE: Final = (b"content-type", b"application/json")
STREAM_HEAD: Final = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
)


class Turn:
    """`await run(body)`; afterwards the attributes tell what happened, for log and metrics."""

    __slots__ = (
        *("_asked", "_body", "_chat", "_head", "_outlet", "_pulse", "_request_id", "_state", "_targets"),
        *("asked_model", "attempts", "began", "failure", "first", "front", "notes", "started", "streamed"),
        *("target", "usage"),
    )

    def __init__(
        self, state: State, front: Dialect, outlet: Outlet, head: Mapping[bytes, bytes], request_id: bytes, pulse: Pulse
    ) -> None:
        self._state = state
        self._outlet = outlet
        self._head = head
        self._request_id = request_id
        self._pulse = pulse
        self.began = perf_counter()
        self.asked_model = ""
        self.front = front
        self.started = False  # a status has left
        self.streamed = False
        self.first: float | None = None
        self.target: Target | None = None
        self.attempts = 0
        self.failure: GatewayError | None = None  # after the status left
        self.usage: JsonObject | None = None
        self.notes: Sequence[Note] = ()

    def run(self, body: bytes) -> Coroutine[Any, Any, None]:
        """Answer; to be awaited. Raises GatewayError only if no status has left."""
        state = self._state
        self._body = body
        self._asked = asked = read_object(body, state.limits.json_depth)
        self._chat = chat = self.front.decode(asked)
        asked_model = chat.get("model")
        if isinstance(asked_model, str):
            self.asked_model = asked_model
        route = state.routes.find(asked_model)
        self._targets, lanes = state.plan(route)
        self.streamed = chat.get("stream") is True
        deadlines = state.stream_deadlines if self.streamed else state.whole_deadlines
        return state.attempts.run(lanes, self._attempt, deadlines)

    async def _attempt(self, attempt: Try) -> None:
        target = self._targets[attempt.index]
        self.target = target
        self.attempts = attempt.number
        chat = self._chat
        if chat.get("model") != target.model:
            chat = {**chat, "model": target.model}
        exchange = target.chain.begin(chat)
        # Nobody changed anything: the client's own bytes go on.
        body = self._body if exchange.request is self._asked else dumps(exchange.request)
        head = target.heads[attempt.key.header]
        if not target.forwarded.isdisjoint(self._head):
            head = (*head, *((name, self._head[name]) for name in self._head.keys() & target.forwarded))
        response = await target.upstream.send("POST", target.path, head, body, deadlines=attempt.deadlines)
        try:
            if response.status != 200:
                raise await _refused(response)
            if self.streamed:
                await self._stream(response, exchange, attempt)
            else:
                limit = self._state.limits.answer
                content_type = response.headers.get(b"content-type", b"").decode("latin-1")
                data = response.at_once(limit)
                if data is None:
                    data = await response.read(limit, _end_of(content_type, limit))
                self._whole(data, content_type, exchange)
        except BaseException:
            response.close()
            raise
        finally:
            self.notes = exchange.notes
            if self.front is not CHAT and (left_out := self.front.left_out(self._asked)):
                self.notes = [*self.notes, *left_out]

    def _whole(self, data: bytes, content_type: str, exchange: Exchange) -> None:
        reply, unchanged = _reply(exchange, data, content_type)
        usage = reply.get("usage")
        self.usage = usage if isinstance(usage, dict) else None
        if self.front is not CHAT:
            data = dumps(self.front.encode(reply, self._asked))
        elif not unchanged:
            data = dumps(reply)
        self._begun()
        self._outlet.respond(200, [JSON_TYPE, (b"x-request-id", self._request_id)], data)

    async def _stream(self, response: Response, exchange: Exchange, attempt: Try) -> None:
        content_type = response.headers.get(b"content-type", b"").decode("latin-1")
        encoder = self.front.encoder(self._asked)
        limits = self._state.limits
        session = Session(exchange, content_type, encoder, limit=limits.event, document_limit=limits.answer)

        def begun() -> None:
            if session.started:  # else only time has passed, and the provider may never answer
                attempt.good()
            self._begun()

        relay = Relay(
            session,
            self.front,
            self._outlet,
            headers=[*STREAM_HEAD, (b"x-request-id", self._request_id)],
            patience=self._state.patience(self._pulse.seconds),
            pulse=self._pulse,
            begun=begun,
            clean=self._state.redactor.clean,
        )
        values, slot = self._state.metrics.values, self._state.metrics.streams
        values[slot] += 1
        try:
            await relay.run(response)
            if relay.failure is not None:
                attempt.bad(relay.failure)
        finally:
            values[slot] -= 1
            self.failure = relay.failure
            self.usage = session.usage

    def failed_stream(self, error: GatewayError) -> bytes | None:
        """The stream that tells an error, where this front wants it so."""
        return self.front.failed_stream(error, self._asked) if self.streamed else None

    def _begun(self) -> None:
        self.started = True
        self.first = perf_counter()


def _end_of(content_type: str, limit: int) -> Callable[[bytes], bool] | None:
    """A stream is read as far as the end that it says itself."""
    return None if content_type.startswith("application/json") else EndWatch(content_type, limit).feed


def _reply(exchange: Exchange, data: bytes, content_type: str) -> tuple[JsonObject, bool]:
    """The whole answer, and whether it is still what the provider's bytes say. Raises GatewayError."""
    if content_type.startswith("application/json"):
        body = object_of(data)
        if body is not None and not body.get("error") and is_answer(body):
            reply = exchange.reply(body)
            return reply, reply is body
    return read_reply(exchange, data, content_type), False


async def _refused(response: Response) -> GatewayError:
    """A provider's answer other than 200, as an error."""
    if response.status < 400:
        return BadUpstream(f"the provider answered with status {response.status}, which is not followed", code="status")
    try:
        async with asyncio.timeout(ERROR_SECONDS):
            body = await response.read(MAX_BODY)
    except (GatewayError, TimeoutError):
        body = b""  # the status says enough
    return refusal(response.status, response.headers, body)
