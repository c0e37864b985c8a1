"""Receives the body of a request, within the limits of one body and of all bodies that are being received."""

from __future__ import annotations

from moongate.errors import Overloaded, TooLarge
from moongate.gateway.config.limit_settings import Limits
from moongate.gateway.server.response_writer import Receive


class IncomingBodies:
    """The bodies that a worker is receiving."""

    __slots__ = ("size",)

    def __init__(self) -> None:
        self.size = 0  # bytes of all of them


async def receive_body(receive: Receive, length: int | None, limits: Limits, incoming: IncomingBodies) -> bytes | None:
    """The whole body, None if the client leaves. `length` is its Content-Length, if there is one.

    Raises TooLarge, or Overloaded if there are too many bytes of other bodies.
    """
    limit = limits.request_body
    if length is not None and length > limit:
        raise TooLarge(f"The body is larger than {limit} bytes", code="too_large")
    pieces, size, more = [], 0, True
    try:
        while more and size <= limit:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
            incoming.size += len(pieces[-1])
            if incoming.size > limits.incoming_bodies:
                raise Overloaded("Too many bytes of bodies at the same time", code="overloaded", retry_after=1)
            more = bool(message.get("more_body", False))
    finally:
        incoming.size -= size
    return within_limit(b"".join(pieces), limits)


def within_limit(body: bytes, limits: Limits) -> bytes:
    """The body. Raises TooLarge."""
    if len(body) > limits.request_body:
        raise TooLarge(f"The body is larger than {limits.request_body} bytes", code="too_large")
    return body
