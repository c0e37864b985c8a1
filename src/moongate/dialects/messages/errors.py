"""Errors as Anthropic's clients read them."""

from __future__ import annotations

from typing import Final

from moongate.dialects.overflow import as_bad_request, overflow_of
from moongate.errors import GatewayError
from moongate.payload import JsonObject, dumps

_TYPES: Final = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def told(error: GatewayError) -> GatewayError:
    """The error as Claude Code understands it best: a prompt that is too long in the words that make it compact."""
    overflow = overflow_of(error)
    if overflow is None:
        return error
    if overflow.asked and overflow.limit:
        return as_bad_request(error, f"prompt is too long: {overflow.asked} tokens > {overflow.limit} maximum")
    message = overflow.message
    if "prompt is too long" not in message.lower():
        message = f"prompt is too long: {message}"
    return as_bad_request(error, message)


def error_body(error: GatewayError) -> JsonObject:
    """Anthropic's shape of an error; its type follows the status."""
    error = told(error)
    kind = _TYPES.get(error.status) or ("invalid_request_error" if error.status < 500 else "api_error")
    return {"type": "error", "error": {"type": kind, "message": str(error)}}


def error_event(error: GatewayError) -> bytes:
    """The same in the middle of a stream. Nothing follows it."""
    return b"event: error\ndata: " + dumps(error_body(error)) + b"\n\n"
