"""What stands between a captured request and its two peers: a ResponseWriter, an Upstream and a Response."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final

from moongate.errors import GatewayError
from moongate.gateway.inspect.capture import Capture, CapturedAttempt
from moongate.gateway.server.response_writer import HeaderList, ResponseWriter
from moongate.net.contract import Headers, Response, Sink
from moongate.net.deadlines import Deadlines
from moongate.net.forward import ChunkForwarder
from moongate.wire.frames import BOM
from moongate.wire.framing import Framing, framing_of

if TYPE_CHECKING:
    from moongate.gateway.target import Target

EVENT_ENDS: Final[dict[Framing, tuple[bytes, ...]]] = {"sse": (b"\r\n\r\n", b"\n\n", b"\r\r"), "ndjson": (b"\n",)}
_EVENT_END: Final = {framing: re.compile(b"|".join(ends)) for framing, ends in EVENT_ENDS.items()}
SEAM: Final = 3  # an end has at most four bytes
MAX_SPLIT: Final = 256  # events of one read that are fed one by one: they are not read in a thread
MAX_HELD: Final = 64 * 1024  # bytes of an event without an end: the session must see them, because it has limits


class CapturingResponseWriter:
    """A ResponseWriter that also records in a capture what leaves for the client."""

    def __init__(self, writer: ResponseWriter, capture: Capture) -> None:
        self.wrapped = self._writer = writer
        self._capture = capture
        self.task = writer.task
        self.peer = writer.peer
        self.finish = writer.finish
        self.unread_bytes = writer.unread_bytes
        self.drop = writer.drop
        self.on_drain = writer.on_drain
        self.on_disconnect = writer.on_disconnect
        self.on_half_close = writer.on_half_close

    @property
    def paused(self) -> bool:
        return self._writer.paused

    def start(self, status: int, headers: HeaderList, data: bytes = b"") -> None:
        self._capture.status = status
        self._capture.write(data)
        self._writer.start(status, headers, data)

    def respond(self, status: int, headers: HeaderList, data: bytes) -> None:
        self._capture.status = status
        self._capture.write(data)
        self._writer.respond(status, headers, data)

    def write(self, data: bytes) -> None:
        self._capture.write(data)
        self._writer.write(data)

    def chunk_writer(self) -> None:
        return None


class CapturingUpstream:
    """An Upstream that also records in a capture what is sent to one target, and what it answers."""

    def __init__(self, capture: Capture, target: Target, *, further: bool = False) -> None:
        self._capture, self._target = capture, target
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
        capture, target = self._capture, self._target
        attempt = capture.begin_attempt(target, body, further=self._further)
        try:
            found = await target.upstream.send(method, path, headers, body, deadlines=deadlines, may_resend=may_resend)
        except BaseException as error:
            attempt.error, attempt.ended_at = _reason(error), capture.now()
            raise
        attempt.head_at, attempt.status = capture.now(), found.status
        attempt.content_type = found.headers.get(b"content-type", b"").decode("latin-1")
        return CapturedResponse(found, capture, attempt)

    def close(self) -> None:
        """The target's own upstream stays open for others."""


class CapturedResponse:
    """A Response whose body is also kept."""

    def __init__(self, response: Response, capture: Capture, attempt: CapturedAttempt) -> None:
        self._response, self._capture, self._attempt = response, capture, attempt
        self._rest: list[bytes] = []  # of an event that is not complete yet
        self._held = 0  # bytes of it
        self._seam = b""  # its last bytes
        self._framing: Framing | None = None  # known at the first byte that is not blank
        self.status = response.status
        self.headers: Mapping[bytes, bytes] = response.headers
        self.sent_at = response.sent_at
        self.pause, self.resume = response.pause, response.resume
        self.release, self.close = response.release, response.close

    def at_once(self, limit: int) -> bytes | None:
        data = self._response.at_once(limit)
        return None if data is None else self._whole(data)

    async def read(self, limit: int, ended: Callable[[bytes], bool] | None = None) -> bytes:
        try:
            return self._whole(await self._response.read(limit, ended))
        except BaseException as error:
            self._end(_reason(error))
            raise

    def pipe(self, sink: Sink) -> Awaitable[None]:
        return self._piped(self._response.pipe(lambda data: self._feed(sink, data)), sink)

    def forward(self, forwarder: ChunkForwarder | None) -> None:
        """Every event must come to the sink, so nothing is forwarded around it."""

    async def _piped(self, rest: Awaitable[None], sink: Sink) -> None:
        error = ""
        try:
            await rest
            if self._held:
                self._feed_event(sink, b"".join(self._rest))
        except BaseException as failure:
            error = _reason(failure)
            raise
        finally:
            self._capture.take_notes()
            self._end(error)

    def _feed(self, sink: Sink, data: bytes) -> None:
        """Give the sink whole events, one at a time; of anything but events, the reads as they come."""
        if self._framing is None and (first := data.removeprefix(BOM).lstrip()[:1]):
            self._framing = framing_of(self._attempt.content_type, first)
        if self._framing is None or self._framing == "document":
            self._feed_event(sink, data)
            return
        ends, event_end = EVENT_ENDS[self._framing], _EVENT_END[self._framing]
        seam = self._seam + data
        if not event_end.search(seam):
            self._hold(sink, data)
            return
        data = b"".join([*self._rest, data])
        self._rest, self._held, at = [], 0, 0
        for found in islice(event_end.finditer(data), MAX_SPLIT):
            self._feed_event(sink, data[at : found.end()])
            at = found.end()
        last = max(data.rfind(end, at) + len(end) if end in data[at:] else at for end in ends)
        if last > at:  # more events than are worth a look
            self._feed_event(sink, data[at:last])
        self._hold(sink, data[last:])

    def _hold(self, sink: Sink, data: bytes) -> None:
        """Keep the beginning of an event, or a piece of it."""
        self._rest.append(data)
        self._held += len(data)
        self._seam = (self._seam + data)[-SEAM:] if len(self._rest) > 1 else data[-SEAM:]
        if self._held > MAX_HELD:
            rest, self._rest, self._held = b"".join(self._rest), [], 0
            self._feed_event(sink, rest)

    def _feed_event(self, sink: Sink, data: bytes) -> None:
        capture = self._capture
        capture.event = self._attempt.answer.add(capture.now(), data)
        sink(data)
        capture.take_notes()

    def _whole(self, data: bytes) -> bytes:
        capture = self._capture
        capture.event = self._attempt.answer.add(capture.now(), data)
        self._end("")
        return data

    def _end(self, error: str) -> None:
        self._attempt.ended_at = self._capture.now()
        self._attempt.error = self._attempt.error or error


def _reason(error: BaseException) -> str:
    return str(error) if isinstance(error, GatewayError) else "it was ended, because the client left or time was up"
