"""Bytes of one streamed answer in, bytes for the client out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from moongate.chat.contracts import Encoder, Exchange
from moongate.chat.groove import Groove
from moongate.chat.items import Chunk, Done, Failure, Item, LazyChunk, Stretch
from moongate.chat.progress import Progress
from moongate.chat.reading import EventReader
from moongate.chat.replay import chunks_of
from moongate.dialects.openai_chat import ChatEncoder
from moongate.errors import BadUpstream, GatewayError
from moongate.payload import JsonObject
from moongate.pipeline.upstream import Document, Upstream
from moongate.wire.frames import DOCUMENT_LIMIT, EVENT_LIMIT

_CUT: Final = "the provider's stream ended before the answer was complete"
_EMPTY: Final = "the provider's stream ended before it began"
_TOO_LARGE: Final = "the provider sent an event or a document that is too large"


class Session:
    """Reads an answer in whatever framing it came, runs it through an exchange, writes server-sent events.

    One `feed` for one network read gives one write. A stream that breaks ends with an error and never looks like a
    success. `finished` says that reading can stop; `started` that something of the answer was seen.

    >>> from moongate import KimiTransformer
    >>> exchange = KimiTransformer().begin({"messages": [{"role": "user", "content": "Hi"}]})
    >>> session = Session(exchange, "text/event-stream")
    >>> session.feed(b'data: {"choices":[{"index":0,"delta":{"content":"Ho"},"finish_reason":"stop"}]}\\n\\n')
    b'data: {"choices":[{"index":0,"delta":{"content":"Ho"},"finish_reason":"stop"}]}\\n\\n'
    >>> session.close()
    b'data: [DONE]\\n\\n'
    """

    __slots__ = (
        *("_encoder", "_exchange", "_gate", "_progress", "_upstream"),
        *("failure", "finished", "groove", "started", "usage"),
    )

    def __init__(
        self,
        exchange: Exchange,
        content_type: str,
        encoder: Encoder | None = None,
        limit: int = EVENT_LIMIT,
        document_limit: int = DOCUMENT_LIMIT,
    ) -> None:
        self.started = False
        self.finished = False
        self.failure: GatewayError | None = None
        self.usage: JsonObject | None = None
        self._exchange: Any = exchange  # it may be somebody's own: what counts is whether `plain` is true, not a bool
        self._encoder: Encoder = encoder or ChatEncoder()
        self._gate: Any = getattr(exchange, "gate", None)  # None: every text is shown, there is no groove
        self.groove: Groove | None = None  # events that fit into it may leave without being fed
        self._upstream = Upstream(content_type, limit, document_limit)
        self._progress = Progress()

    def feed(self, data: bytes) -> bytes:
        """What leaves for these bytes."""
        if self.finished:
            return b""
        groove = self.groove
        if groove is not None and (text := groove.text(data)) is not None:
            return data if groove.write is None else self._written(groove.write, text)
        events = self._upstream.events
        if events is not None:
            stretch = events.stretch(data)
            if stretch is not None:
                if self._exchange.plain(stretch):
                    events.refusals = 0
                    out = self._encoder.plain(stretch)
                    if self._encoder.failure is not None:
                        return out + self._broken(self._encoder.failure)
                    if self.groove is None and self._gate is not None and stretch.text:
                        self.groove = self._groove(stretch, events, self._gate)
                    return out
                self.groove = None
                return b"".join(self._run(events.refused(stretch)))
        self.groove = None
        left = self._run(self._upstream.feed(data))
        if not self.finished:
            if self._upstream.overflow:
                left.append(self._fail(BadUpstream(_TOO_LARGE)))
            elif self._gate is not None:
                self.groove = self._next_groove(self._gate)
        return b"".join(left)

    def close(self) -> bytes:
        """What leaves at the end of the answer's bytes: it is whole, or it is an error."""
        if self.finished:
            return b""
        if self._encoder.failure is not None:  # what ran in the groove was too much for it
            return self._broken(self._encoder.failure)
        last = self._upstream.close()
        out = self._document(last) if isinstance(last, Document) else self._run(last)
        if not self.finished:
            whole = self._progress.whole
            began = self._progress.began
            out += self._end(Done()) if whole else [self._fail(BadUpstream(_CUT if began else _EMPTY))]
        return b"".join(out)

    def fail(self, error: GatewayError) -> bytes:
        """What leaves when the answer breaks off for a reason outside its bytes (a timeout, a lost connection)."""
        return b"" if self.finished else self._fail(error)

    def _written(self, write: Callable[[bytes], bytes], text: bytes) -> bytes:
        """What leaves for a text that runs in the groove."""
        out = write(text) if text else b""
        return out if self._encoder.failure is None else out + self._broken(self._encoder.failure)

    def _next_groove(self, gate: bytes) -> Groove | None:
        """A chunk that gave a mould may give a groove at once."""
        events = self._upstream.events
        stretch = events.next_stretch() if events is not None else None
        if events is None or stretch is None or not self._exchange.plain(stretch):
            return None
        return self._groove(stretch, events, gate)

    def _groove(self, stretch: Stretch, events: EventReader, gate: bytes) -> Groove | None:
        if self._encoder.verbatim:
            return events.groove(gate)
        write = self._encoder.writer(stretch)
        return None if write is None else events.groove(gate, write)

    def _run(self, items: Iterable[Item | Stretch]) -> list[bytes]:
        """Items through the exchange and the encoder."""
        out: list[bytes] = []
        for item in items:
            if isinstance(item, LazyChunk):  # its choice was seen before, so nothing is new to us
                fed = self._fed(item)
                if len(fed) == 1 and isinstance(fed[0], LazyChunk):
                    out.append(self._encoder.feed(fed[0]))
                    continue
                self._write(fed, out)
            elif isinstance(item, Chunk):
                self.started = True
                self._progress.saw(item.payload)
                self._write(self._fed(item), out)
            elif isinstance(item, Stretch):
                assert self._upstream.events is not None  # where stretches come from
                out += self._stretch(item, self._upstream.events)
            elif isinstance(item, Done):
                out += self._end(item) if self._progress.began else [self._fail(BadUpstream(_EMPTY))]
            elif isinstance(item, Failure):
                out.append(self._fail(item.error, item.raw))
            else:
                self._write(self._fed(item), out)
            if self.finished:
                break
        return out

    def _stretch(self, stretch: Stretch, events: EventReader) -> Sequence[bytes]:
        if self._exchange.plain(stretch):
            events.refusals = 0
            out = self._encoder.plain(stretch)
            return (out,) if self._encoder.failure is None else (out, self._broken(self._encoder.failure))
        return self._run(events.refused(stretch))

    def _broken(self, failure: GatewayError) -> bytes:
        """The encoder has ended the answer itself."""
        self.failure, self.finished, self.groove = failure, True, None
        return self._encoder.close()

    def _fed(self, item: Item) -> Sequence[Item]:
        try:
            fed: Sequence[Item] = self._exchange.feed(item)
            return fed
        except GatewayError as error:
            return (Failure(error),)

    def _write(self, items: Iterable[Item], out: list[bytes]) -> None:
        for item in items:
            if isinstance(item, LazyChunk):
                pass
            elif isinstance(item, Chunk):
                usage = item.payload.get("usage")
                if isinstance(usage, dict):
                    self.usage = usage
            elif isinstance(item, Failure):
                self.started = self.finished = True
                self.failure = item.error
            elif isinstance(item, Done):
                self.finished = True
            out.append(self._encoder.feed(item))
            if self._encoder.failure is not None and self.failure is None:
                self.failure = self._encoder.failure
                self.finished = True
            if self.finished:
                out.append(self._encoder.close())
                return

    def _end(self, done: Done) -> list[bytes]:
        """The answer is whole."""
        out: list[bytes] = []
        left = [*self._fed(done), *self._exchange.close()]
        ends = [item for item in left if isinstance(item, Done)]
        self._write([*(item for item in left if not isinstance(item, Done)), ends[0] if ends else Done()], out)
        return out

    def _fail(self, error: GatewayError, raw: bytes | None = None) -> bytes:
        """The answer is broken: what waits leaves, then the error."""
        out: list[bytes] = []
        failure = Failure(error, raw)
        self._write([*(item for item in self._fed(failure) if not isinstance(item, Done)), failure], out)
        return b"".join(out)

    def _document(self, document: Document) -> list[bytes]:
        """One document, told as a stream."""
        self.started = True
        try:
            body = self._exchange.reply(document.body())
            chunks = chunks_of(body, summaries=bool(getattr(self._exchange, "summaries", False)))
        except GatewayError as error:
            return [self._fail(error)]
        out: list[bytes] = []
        self._write([*chunks, Done()], out)
        return out
