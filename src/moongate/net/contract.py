"""What the gateway expects of an upstream client. `net.client.HttpClient` is one; another can take its place."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from moongate.net.deadlines import Deadlines
from moongate.net.forward import ChunkForwarder

Headers = Sequence[tuple[bytes, bytes]]
Sink = Callable[[bytes], None]


class Response(Protocol):
    """One answer whose head has arrived. Whoever holds it must end it: read, pipe, release or close.

    Header names are lower-case; values of a repeated name are joined with a comma.
    """

    status: int
    headers: Mapping[bytes, bytes]
    sent_at: float  # when its request was sent, by the loop's clock

    def at_once(self, limit: int) -> bytes | None:
        """The whole body, if it has arrived with the head. None: wait for it (or its error) with `read`."""

    async def read(self, limit: int, ended: Callable[[bytes], bool] | None = None) -> bytes:
        """The whole body, or its beginning up to the piece for which `ended` returns True.

        Raises BadUpstream if it is cut, malformed or larger than `limit`.
        """

    def pipe(self, sink: Sink) -> Awaitable[None]:
        """Call `sink` with the body's bytes: now with those that have arrived, then with the rest as it arrives, in the
        socket's own callback. The result must be awaited.

        It is done at the end of the body, or after `release` or `close`. Raises BadUpstream (UpstreamTimeout) if the
        body is cut (stalls), and whatever the sink raises. If the caller is cancelled the socket closes at once.
        """

    def forward(self, forwarder: ChunkForwarder | None) -> None:
        """Offer reads to the forwarder first; those that it takes do not reach the sink. May be ignored."""

    def pause(self) -> None:
        """Stop reading from the socket; the silence deadline rests."""

    def resume(self) -> None:
        """Continue reading."""

    def release(self) -> None:
        """The rest is not needed. The connection is kept only if the body ends without another byte."""

    def close(self) -> None:
        """The rest is not needed: an unfinished answer closes the socket at once. May be called twice."""


class Upstream(Protocol):
    """A client of one origin."""

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
        """Send one request and wait for the head of its answer. Raises BadUpstream or UpstreamTimeout.

        `may_resend` is asked before the request is sent once more, because a reused connection was dead.
        """

    def close(self) -> None:
        """Close idle connections now, busy ones when their exchange ends."""


class UploadingUpstream(Upstream, Protocol):
    """One that also sends bodies while they come."""

    async def upload(
        self,
        method: str,
        path: str,
        headers: Headers,
        length: int | None,
        pieces: AsyncIterator[bytes],
        *,
        deadlines: Deadlines,
    ) -> Response:
        """`send` with a body that is sent while it comes, on a connection of its own, once. None: of unknown length.

        Raises also what `pieces` raises. An answer that comes before the end of the body ends the sending.
        """
