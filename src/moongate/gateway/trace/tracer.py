"""Decides which requests are traced, and hands their spans to the exporter when they are finished."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final

from moongate.gateway.http.pages import own_version
from moongate.gateway.record.log_lines import Entry
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.record.recording import bodies_of
from moongate.gateway.server.response_writer import CopyingResponseWriter
from moongate.gateway.trace import attribute_names as names
from moongate.gateway.trace.message_content import answer_text
from moongate.gateway.trace.otel_environment import TraceSettings
from moongate.gateway.trace.request_trace import MAX_TEXT, RequestTrace, new_id
from moongate.gateway.trace.span import SERVER, Attributes, Span
from moongate.gateway.trace.span_exporter import SpanExporter, nanoseconds_offset
from moongate.gateway.trace.trace_context import RemoteParent, remote_parent

if TYPE_CHECKING:
    from moongate.gateway.http.request_handler import RequestHandler

_LOW_HALF: Final = (1 << 64) - 1


class Tracer:
    """One worker's. `begin` and `finish` in the event loop."""

    def __init__(self, settings: TraceSettings, metrics: Metrics, warn: Callable[[str], None]) -> None:
        self._settings = settings
        self._exporter = SpanExporter(settings, own_version(), metrics, warn)

    def begin(self, handler: RequestHandler) -> None:
        """Trace the request, if it is sampled."""
        parent, trace_id = remote_parent(handler.headers), new_id(16)
        if parent is not None:
            trace_id = parent.trace_id
        if not self._samples(parent, trace_id):
            return
        handler.trace = RequestTrace(
            parent, trace_id, self._settings, handler.state.redactor.redact, nanoseconds_offset()
        )
        if self._settings.with_content and not handler.state.log_bodies:
            handler.writer = CopyingResponseWriter(handler.writer, bodiless=False)

    def finish(self, handler: RequestHandler, trace: RequestTrace, entry: Entry) -> None:
        """Export its spans."""
        now = perf_counter_ns()
        offset = trace.now() - now
        parent = b"" if trace.parent is None else trace.parent.span_id
        name = f"{handler.method} {handler.path}"
        began = int(handler.started_at * 1e9) + offset
        span = Span(trace.trace_id, trace.span_id, parent, trace.state, name, SERVER, began, now + offset)
        span.attributes = _attributes(handler, entry)
        if entry.error and (entry.status >= 500 or entry.status == 200):
            span.error = entry.error[:MAX_TEXT]
        if trace.spans:
            self._add_cost(trace.spans[-1], entry)
            if self._settings.with_content:
                self._add_content(trace, handler)
        self._exporter.add([*trace.spans, span])

    def close(self) -> None:
        self._exporter.close()

    def _samples(self, parent: RemoteParent | None, trace_id: bytes) -> bool:
        settings = self._settings
        if parent is not None and settings.obeys_parent:
            return parent.is_sampled
        return int.from_bytes(trace_id, "big") & _LOW_HALF < settings.ratio * (_LOW_HALF + 1)

    def _add_cost(self, span: Span, entry: Entry) -> None:
        name = self._settings.names.get("cost")
        if name is not None and entry.cost is not None:
            span.attributes[name] = entry.cost / 1e6

    def _add_content(self, trace: RequestTrace, handler: RequestHandler) -> None:
        """The client's messages and the answer that left, without secrets, at the last span of a provider."""
        bodies = bodies_of(handler)
        if bodies is None:
            return
        attributes, is_newest = trace.spans[-1].attributes, self._settings.names is names.NEWEST
        attributes[self._settings.names["input"]] = trace.messages
        attributes[self._settings.names["output"]] = answer_text(bodies[1], is_newest, trace.redact)


def _attributes(handler: RequestHandler, entry: Entry) -> Attributes:
    found: Attributes = {
        "http.request.method": handler.method,
        "http.route": handler.path,
        "url.path": handler.path,
        "http.response.status_code": entry.status,
        names.REQUEST_ID: handler.id.decode(),
        names.CLIENT_NAME: entry.client,
        names.FRONT: entry.front,
        names.ATTEMPTS: entry.attempts,
    }
    agent = _text(handler.headers, b"user-agent")
    if agent:
        found["user_agent.original"] = handler.state.redactor.redact(agent)[:MAX_TEXT]
    if entry.cost is not None:
        found[names.COST] = entry.cost / 1e6
    if entry.route is not None:
        found[names.ROUTE] = entry.route.text
    if entry.judged is not None:
        found[names.WORTH] = entry.judged.verdict.worth
    if entry.status >= 500:
        found["error.type"] = str(entry.status)
    return found


def _text(headers: Mapping[bytes, bytes], name: bytes) -> str:
    return headers.get(name, b"").decode("latin-1")
