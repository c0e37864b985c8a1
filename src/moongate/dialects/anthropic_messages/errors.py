"""Errors in Anthropic's format."""

from __future__ import annotations

from typing import Final

from moongate.dialects.overflow import as_bad_request, overflow_of
from moongate.errors import BadRequest, GatewayError, UpstreamRefused
from moongate.payload import JsonObject, dumps

QUOTA: Final = "insufficient_quota"  # the one code that clients of other fronts look for
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


def map_error(error: GatewayError) -> GatewayError:
    """The error for Claude Code, which compacts its history only if the message says that the prompt is too long.

    For a 404 it shows words of its own: its user should choose another model. That is right for a model that moongate
    does not know, but not for one that the provider does not know: then the configuration is wrong.
    """
    if isinstance(error, UpstreamRefused) and error.status == 404:
        return BadRequest(error.message, path=error.path, code=error.code)
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
    """The body of an error response; the error type depends on the status."""
    error = map_error(error)
    kind = _TYPES.get(error.status) or ("invalid_request_error" if error.status < 500 else "api_error")
    message = str(error)
    if error.code == QUOTA and QUOTA not in message:  # no type says it
        message = f"{message} ({QUOTA})"
    return {"type": "error", "error": {"type": kind, "message": message}}


def error_event(error: GatewayError) -> bytes:
    """The last event of a stream that fails."""
    return b"event: error\ndata: " + dumps(error_body(error)) + b"\n\n"
