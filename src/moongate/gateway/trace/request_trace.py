"""The spans of one request while it runs: one of the server, and one for each request to a provider."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final

from moongate.chat.contracts import Note
from moongate.errors import GatewayError
from moongate.gateway.trace.attribute_names import DAMAGE, FURTHER, NEWEST, REPAIR, WORTH
from moongate.gateway.trace.message_content import messages_text
from moongate.gateway.trace.otel_environment import TraceSettings
from moongate.gateway.trace.span import CLIENT, Attributes, Span, SpanEvent
from moongate.gateway.trace.trace_context import RemoteParent, traceparent
from moongate.net.contract import Headers, Response, Upstream
from moongate.net.deadlines import Deadlines
from moongate.payload import JsonObject
from moongate.prices.tokens import counts_of

if TYPE_CHECKING:
    from moongate.gateway.http.completion import Completion
    from moongate.gateway.routing.attempt import Attempt, Call
    from moongate.gateway.target import Target

MAX_TEXT: Final = 1024  # characters of an error, a place or a name
LEFT: Final = "cancelled"
_CONTEXT: Final = (b"traceparent", b"tracestate")
_PARAMETERS: Final = ("max_tokens", "temperature", "top_p", "stream")


class RequestTrace:
    """Of a request that is sampled. `spans` are those of the providers, in order."""

    __slots__ = (
        "_first",
        "_offset",
        "_parameters",
        "_settings",
        "messages",
        "parent",
        "redact",
        "span_id",
        "spans",
        "trace_id",
    )

    def __init__(
        self,
        parent: RemoteParent | None,
        trace_id: bytes,
        settings: TraceSettings,
        redact: Callable[[str], str],
        offset: int,
    ) -> None:
        """`offset` is added to the time of `perf_counter`."""
        self.parent, self.trace_id, self.span_id = parent, trace_id, new_id(8)
        self.redact, self.spans = redact, list[Span]()
        self._settings, self._offset = settings, offset
        self._parameters: JsonObject = {}
        self.messages = ""  # of the client, as JSON without secrets, if content is wanted
        self._first = 0  # the span that the attempt which runs began with

    def now(self) -> int:
        return perf_counter_ns() + self._offset

    def traced(self, completion: Completion, call: Call, chat: JsonObject) -> Call:
        """The same call, whose spans end when it ends."""
        self._parameters = {name: chat[name] for name in _PARAMETERS if name in chat}
        if self._settings.with_content:  # now: a request is forgotten when its answer has begun
            self.messages = messages_text(chat, self._settings.names is NEWEST, self.redact)

        async def attempt(each: Attempt) -> None:
            self._first = len(self.spans)
            before = completion.notes, completion.judged
            error: BaseException | None = None
            try:
                await call(each)
            except BaseException as raised:
                error = raised
                raise
            finally:
                self._end(completion, error or completion.failure, *before)

        return attempt

    def begin_span(self, target: Target, headers: Headers, *, further: bool) -> Headers:
        """Begin the span of a request to a provider. Gives its headers with `traceparent` and `tracestate`."""
        self._end_last()
        span = Span(self.trace_id, new_id(8), self.span_id, self.state, f"chat {target.model}", CLIENT, self.now())
        span.attributes = self._attributes(target)
        if further:
            span.attributes[FURTHER] = True
        self.spans.append(span)
        if b"traceparent" not in target.forwarded:
            return headers
        state = [(b"tracestate", self.state.encode())] if self.state else []
        kept = [each for each in headers if each[0] not in _CONTEXT]
        return [*kept, (b"traceparent", traceparent(self.trace_id, span.span_id)), *state]

    def answered(self, status: int) -> None:
        self.spans[-1].attributes["http.response.status_code"] = status

    def failed(self, error: BaseException) -> None:
        """No answer has come. For the guard's further tries this is no failure of the request."""
        self._fail(self.spans[-1], error)
        self._end_last()

    @property
    def state(self) -> str:
        return "" if self.parent is None else self.parent.state

    def _attributes(self, target: Target) -> Attributes:
        origin, names = target.origins[0], self._settings.names
        found: Attributes = {
            names["operation"]: "chat",
            names["provider"]: target.provider,
            names["model"]: target.model,
        }
        found |= {"server.address": origin.host, "server.port": origin.port}
        for name in _PARAMETERS:
            value = self._parameters.get(name)
            if isinstance(value, (bool, int, float)) and abs(value) < 1 << 62:
                found[names[name]] = value
        return found

    def _end_last(self) -> None:
        if self.spans and not self.spans[-1].end:
            self.spans[-1].end = self.now()

    def _end(self, completion: Completion, error: BaseException | None, notes: Sequence[Note], judged: object) -> None:
        self._end_last()
        spans = self.spans[self._first :]
        if not spans:
            return
        last = spans[-1]
        if error is not None:
            self._fail(last, error)
        if completion.notes is not notes:
            self._add_events(last, completion.notes)
        if completion.judged is not None and completion.judged is not judged:
            verdict = completion.judged.verdict
            last.attributes[WORTH] = verdict.worth
            if verdict.kinds:
                last.attributes[DAMAGE] = list(verdict.kinds)
        self._add_usage(last, completion.usage)
        for span, replaced in zip(spans[:-1], completion.replaced, strict=False):
            self._add_usage(span, replaced.usage)
        if completion.first_byte_at is not None and completion.target is not None:
            first = int(completion.first_byte_at * 1e9) + self._offset - last.start
            last.attributes[self._settings.names["first_chunk"]] = max(0, first) / 1e9

    def _fail(self, span: Span, error: BaseException) -> None:
        span.error, kind = LEFT, LEFT
        if isinstance(error, GatewayError):
            span.error, kind = self.redact(str(error))[:MAX_TEXT], self.redact(error.code or str(error.status))
        span.attributes["error.type"] = kind[:MAX_TEXT]

    def _add_events(self, span: Span, notes: Sequence[Note]) -> None:
        """Repairs of the request were made before it was sent, those of the answer until it ended."""
        limit = self._settings.events
        span.lost_events = max(0, len(notes) - limit)
        for note in notes[:limit]:
            about: Attributes = {"kind": note.kind}
            if isinstance(note, Note):
                about |= {"where": self.redact(note.where)[:MAX_TEXT], "mends": note.mends}
                if note.why:
                    about["why"] = self.redact(note.why)[:MAX_TEXT]
            span.events.append(SpanEvent(REPAIR, span.start if about.get("mends") == "client" else span.end, about))

    def _add_usage(self, span: Span, usage: JsonObject | None) -> None:
        counts = counts_of(usage)
        if counts is None:
            return
        tokens = {
            "input_tokens": counts.input + counts.cache_read + counts.cache_write,
            "output_tokens": counts.output,
            "cached_tokens": counts.cache_read,
            "cache_write_tokens": counts.cache_write,
            "reasoning_tokens": counts.reasoning,
        }
        always = ("input_tokens", "output_tokens")
        names = self._settings.names
        span.attributes |= {names[what]: count for what, count in tokens.items() if count or what in always}


class TracingUpstream:
    """An Upstream that also begins a span for each request to one target."""

    def __init__(self, trace: RequestTrace, target: Target, upstream: Upstream, *, further: bool) -> None:
        self._trace, self._target, self._upstream = trace, target, upstream
        self._further = further  # a further try of the guard

    async def send(
        self,
        method: str,
        path: str,
        headers: Headers,
        body: bytes,
        *,
        deadlines: Deadlines,
        may_resend: Callable[[], bool],
    ) -> Response:
        sent = self._trace.begin_span(self._target, headers, further=self._further)
        try:
            found = await self._upstream.send(method, path, sent, body, deadlines=deadlines, may_resend=may_resend)
        except BaseException as error:
            self._trace.failed(error)
            raise
        self._trace.answered(found.status)
        return found

    def close(self) -> None:
        """The target's own upstream stays open for others."""


def new_id(size: int) -> bytes:
    """Not all zeros, which is no id."""
    return random.randint(1, (1 << size * 8) - 1).to_bytes(size, "big")
