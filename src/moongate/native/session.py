"""A streamed answer in the front's own dialect: events keep their bytes, unless an id is mended."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from moongate.chat.event_reader import MAX_ERROR_EVENT, shown_message, web_page
from moongate.chat.requested_usage import UsageFilter
from moongate.errors import BadUpstream, GatewayError
from moongate.native.exchange import NativeExchange
from moongate.payload import JsonObject, dumps, object_of
from moongate.wire.frames import Frame
from moongate.wire.sse import SseDecoder

_CUT: Final = "the provider's stream ended before the answer was complete"
_EMPTY: Final = "the provider's stream held no answer"


class NativeSession:
    """The same methods as `pipeline.session.Session`."""

    def __init__(self, exchange: NativeExchange, content_type: str, limit: int) -> None:
        self._exchange = exchange
        self._content_type = content_type
        self._decoder = SseDecoder(limit)
        self.started = False
        self.finished = False
        self.waiting = False
        self.failure: GatewayError | None = None
        self.usage_filter: UsageFilter | None = None

    @property
    def size(self) -> int:
        """The bytes of calls that its end has to look at."""
        return self._exchange.size

    @property
    def usage(self) -> JsonObject | None:
        return self._exchange.usage

    def feed(self, data: bytes) -> bytes:
        if self.finished:
            return b""
        out = self._passed(self._decoder.feed(data))
        if self._decoder.overflow and not self.finished:
            out += self.fail(BadUpstream("an event of the provider is too large", code="too_large"))
        return out

    def close(self) -> bytes:
        if self.finished:
            return b""
        out = self._passed(self._decoder.close())
        if self.finished:
            return out
        page = None if self.started else web_page(self._content_type)
        return out + self.fail(page or BadUpstream(_CUT if self.started else _EMPTY, code="cut"))

    def fail(self, error: GatewayError) -> bytes:
        if self.finished:
            return b""
        self.failure, self.finished = error, True
        self._exchange.fail(error)
        return self._exchange.dialect.error_event(error)

    def settle(self) -> bytes:
        return b""

    def abandon(self) -> None:
        """Nothing is held back."""

    def resume(self, content_type: str) -> None:
        """Never called: no further try is made."""

    def _passed(self, frames: Iterable[Frame]) -> bytes:
        out: list[bytes] = []
        for frame in frames:
            event = None if frame.data is None else object_of(frame.data)
            if event is None:
                out.append(frame.raw)
                continue
            self.started = True
            api = self._exchange.api
            if (failed := api.error(event)) is not None:
                self.failure = BadUpstream(shown_message(failed))
                self._exchange.fail(self.failure)
                if len(frame.raw) > MAX_ERROR_EVENT:
                    out.append(self._exchange.dialect.error_event(self.failure))
                    self.finished = True
                    break
            written = self._exchange.event(event)
            out.append(frame.raw if written is event else _frame(written))
            if self.failure is not None or api.is_end(event):
                self.finished = True
                break
        return b"".join(out)


def _frame(event: JsonObject) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (str(event.get("type", "message")).encode(), dumps(event))
