"""What a provider answered: one whole answer, or an error."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from moongate.chat.contracts import Exchange
from moongate.chat.event_reader import is_answer
from moongate.errors import BadUpstream, GatewayError
from moongate.gateway.http.upstream_errors import MAX_BODY, upstream_error
from moongate.net.contract import Response
from moongate.payload import JsonObject
from moongate.pipeline.non_stream import EndWatch, read_reply
from moongate.wire.json_values import bounded_object

ERROR_BODY_SECONDS: Final = 5.0  # to read the body of a provider's error


def content_type_of(response: Response) -> str:
    return response.headers.get(b"content-type", b"").decode("latin-1")


def end_of(content_type: str, limit: int) -> Callable[[bytes], bool] | None:
    """A stream is read up to its own end marker: the provider may keep the connection open after it."""
    return None if content_type.startswith("application/json") else EndWatch(content_type, limit).feed


def reply_of(exchange: Exchange, data: bytes, content_type: str) -> tuple[JsonObject, bool]:
    """The whole answer, and whether it is unchanged, so that the provider's bytes can be sent. Raises GatewayError."""
    if content_type.startswith("application/json"):
        body = bounded_object(data)
        if body is not None and not body.get("error") and is_answer(body):
            reply = exchange.reply(body)
            return reply, reply is body
    return read_reply(exchange, data, content_type), False


async def error_of(response: Response, redact: Callable[[str], str]) -> GatewayError:
    """The error that a provider's answer other than 200 stands for. `redact` masks secrets."""
    if response.status < 400:
        return BadUpstream(f"the provider answered with status {response.status}, which is not followed", code="status")
    try:
        async with asyncio.timeout(ERROR_BODY_SECONDS):
            body = await response.read(MAX_BODY)
    except (GatewayError, TimeoutError):
        body = b""  # the status alone must do
    return upstream_error(response.status, response.headers, body, redact)
