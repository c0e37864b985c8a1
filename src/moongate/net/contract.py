"""What the gateway asks of an upstream client; `net.client.Client` is ours, another can take its place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from moongate.net.deadlines import Deadlines
from moongate.net.lane import Lane

Headers = Sequence[tuple[bytes, bytes]]
Sink = Callable[[bytes], None]


class Response(Protocol):
    """One answer whose head has come. Whoever holds it must end it: read, pipe, release or close.

    Header names are lower-case; values of a repeated name are joined with a comma.
    """

    status: int
    headers: Mapping[bytes, bytes]

    def at_once(self, limit: int) -> bytes | None:
        """The whole body, if it has come with the head. None: wait for it, or for what is wrong, with `read`."""

    async def read(self, limit: int, ended: Callable[[bytes], bool] | None = None) -> bytes:
        """The whole body, or as much of it as has come when `ended`, asked about each piece, says that it is enough.

        Raises BadUpstream if it is cut, malformed or larger than `limit`.
        """

    def pipe(self, sink: Sink) -> Awaitable[None]:
        """Call `sink` with the body's bytes: now with those that have come, then as they arrive, from the socket's own
        callback. What it returns must be awaited.

        That returns at the end of the body, or after `release` or `close`. Raises BadUpstream
        (UpstreamTimeout) if the body is cut (stalls), and whatever the sink raises. If the
        caller is cancelled the socket closes at once.
        """

    def express(self, lane: Lane | None) -> None:
        """Reads that the lane takes need not come to the sink, until it is told otherwise. May be ignored."""

    def pause(self) -> None:
        """Stop reading from the socket; the silence deadline rests."""

    def resume(self) -> None:
        """Read on."""

    def release(self) -> None:
        """Nothing more is wanted. The connection is kept only if the body ends without another byte."""

    def close(self) -> None:
        """Nothing more is wanted, now: an unfinished answer closes the socket. May be called twice."""


class Upstream(Protocol):
    """A client of one origin."""

    async def send(self, method: str, path: str, headers: Headers, body: bytes, *, deadlines: Deadlines) -> Response:
        """Send one request and wait for the answer's head. Raises BadUpstream or UpstreamTimeout."""

    def close(self) -> None:
        """Close what is idle now, and what is busy when its exchange ends."""
