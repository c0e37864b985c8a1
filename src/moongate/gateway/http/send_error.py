"""Sends an error to the client, in the form of its front; inside the stream, if one has begun."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moongate.errors import GatewayError
from moongate.gateway.http.answer_headers import JSON_TYPE, STREAM_HEADERS, model_header
from moongate.gateway.http.limit_errors import LimitExceeded
from moongate.gateway.http.upstream_errors import error_headers, is_final
from moongate.payload import JsonObject, dumps

if TYPE_CHECKING:
    from moongate.gateway.http.request_handler import RequestHandler


def send_error(handler: RequestHandler, error: GatewayError) -> None:
    handler.state.redactor.redact_error(error)  # a provider may have quoted our key
    completion = handler.completion
    if completion is not None:
        completion.name_provider_once(error)
    handler.error = str(error)
    if completion is not None and completion.response_started:
        handler.writer.write(handler.dialect.error_event(error))
        handler.writer.finish()
        return
    mapped = handler.dialect.map_error(error)
    handler.status = mapped.status
    attempts = completion.attempts if completion is not None else 0
    stream = _failed_stream(handler, error, attempts)
    headers = list(error.headers) if isinstance(error, LimitExceeded) else []
    if completion is not None and completion.target is not None:
        headers += model_header(completion.requested_model, completion.target.provider, completion.target.model)
        headers += completion.selected.headers if completion.selected is not None else []
    if stream is not None:
        handler.respond(200, [*STREAM_HEADERS, *headers], stream)
    else:
        headers = [JSON_TYPE, *error_headers(error, handler.method, attempts), *headers]
        handler.respond(mapped.status, headers, dumps(handler.dialect.error(error)))


def _failed_stream(handler: RequestHandler, error: GatewayError, attempts: int) -> bytes | None:
    """The stream that reports an error from before it, for a front whose clients expect it there."""
    accepts_events = b"text/event-stream" in handler.headers.get(b"accept", b"")
    request: JsonObject = {}
    if handler.completion is not None and handler.completion.streamed:
        request = handler.completion.client_request
    elif handler.completion is None and handler.is_completion and accepts_events:
        request = {"stream": True}  # refused before its body was read
    final = is_final(error, attempts)
    return handler.dialect.failed_stream(error, request, accepts_events=accepts_events, final=final)
