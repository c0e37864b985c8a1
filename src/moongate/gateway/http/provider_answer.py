"""What a provider answered: its framing, or its error."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from moongate.errors import BadUpstream, GatewayError
from moongate.gateway.http.upstream_errors import MAX_BODY, upstream_error
from moongate.net.contract import Response
from moongate.pipeline.non_stream import EndWatch

ERROR_BODY_SECONDS: Final = 5.0  # to read the body of a provider's error
OFFLOAD_ERROR: Final = 64 * 1024  # bytes of that body; a longer one is read in a thread, since secrets are looked for


def content_type_of(response: Response) -> str:
    return response.headers.get(b"content-type", b"").decode("latin-1")


def end_of(content_type: str, limit: int) -> Callable[[bytes], bool] | None:
    """A stream is read up to its own end marker: the provider may keep the connection open after it."""
    return None if content_type.startswith("application/json") else EndWatch(content_type, limit).feed


async def error_of(response: Response, redact: Callable[[str], str]) -> GatewayError:
    """The error that a provider's answer other than 200 stands for. `redact` masks secrets."""
    if response.status < 400:
        return BadUpstream(f"the provider answered with status {response.status}, which is not followed", code="status")
    try:
        async with asyncio.timeout(ERROR_BODY_SECONDS):
            body = await response.read(MAX_BODY)
    except (GatewayError, TimeoutError):
        body = b""  # the status alone must do
    if len(body) <= OFFLOAD_ERROR:
        return upstream_error(response.status, response.headers, body, redact)
    return await asyncio.to_thread(upstream_error, response.status, response.headers, body, redact)
