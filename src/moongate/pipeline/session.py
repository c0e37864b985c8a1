"""Bytes of one streamed answer in, bytes for the client out: reader → exchange → encoder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from moongate.chat.contracts import Encoder, Exchange
from moongate.chat.items import Chunk, Done, Failure, Item
from moongate.chat.progress import Progress
from moongate.chat.replay import chunks_of
from moongate.chat.requested_usage import UsageFilter
from moongate.dialects.openai_chat import ChatEncoder
from moongate.errors import BadUpstream, GatewayError
from moongate.payload import JsonObject
from moongate.pipeline.upstream_reader import AnswerDocument, UpstreamReader
from moongate.wire.frames import DOCUMENT_LIMIT, EVENT_LIMIT

_TOO_LARGE: Final = "the provider sent an event or a document that is too large"
_TOO_LONG: Final = "the provider's answer is longer than the limit"


class Session:
    """Reads an answer in whatever framing it came, runs it through an exchange, writes server-sent events.

    One `feed` for one network read gives one write. A stream that breaks ends with an error and never looks like a
    success. `started`: a chunk, a document or an error has come, so there is something to send to the client.
    `finished`: the last bytes were returned, reading can stop. `usage_filter`: set it if the client has not asked for
    the usage chunk that will come; `usage` is known all the same. `waiting`: the answer is over, and the exchange wants
    another try: send its `next_request` and `resume`, or `settle`.

    >>> from moongate import KimiTransformer
    >>> exchange = KimiTransformer().begin({"messages": [{"role": "user", "content": "Hi"}]})
    >>> session = Session(exchange, "text/event-stream")
    >>> session.feed(b'data: {"choices":[{"index":0,"delta":{"content":"Ho"},"finish_reason":"stop"}]}\\n\\n')
    b'data: {"choices":[{"index":0,"delta":{"content":"Ho"},"finish_reason":"stop"}]}\\n\\n'
    >>> session.close()
    b'data: [DONE]\\n\\n'
    """

    __slots__ = (
        *("_encoder", "_exchange", "_limits", "_progress", "_reader", "_resumed"),
        *("failure", "finished", "started", "usage", "usage_filter", "waiting"),
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
        self.waiting = False
        self.failure: GatewayError | None = None
        self.usage: JsonObject | None = None
        self.usage_filter: UsageFilter | None = None
        self._limits = (limit, document_limit)
        self._resumed = False  # another try has begun
        self._reader = UpstreamReader(content_type, limit, document_limit)
        self._exchange = exchange
        self._encoder: Encoder = encoder or ChatEncoder()
        self._progress = Progress()

    @property
    def size(self) -> int:
        """Characters of the text and the calls that were read so far. Text on a fast path does not count."""
        return self._progress.size

    def feed(self, data: bytes) -> bytes:
        """Bytes to send to the client for this network read."""
        if self.finished or self.waiting:
            return b""
        out = self._run(self._reader.feed(data))
        if self._reader.overflow and not self.finished:
            out.append(self._fail(BadUpstream(_TOO_LARGE)))
        return b"".join(out)

    def close(self) -> bytes:
        """Bytes to send at the end of the provider's body: the end of a complete answer, or an error."""
        if self.finished or self.waiting:
            return b""
        last = self._reader.close()
        out = self._replay(last) if isinstance(last, AnswerDocument) else self._run(last)
        if not self.finished and not self.waiting:
            if self._progress.complete:
                out += self._end(Done())
            else:
                out.append(self._fail(self._reader.unfinished(began=self._progress.began)))
        return b"".join(out)

    def fail(self, error: GatewayError) -> bytes:
        """Bytes to send when the answer breaks off for a reason outside its bytes (a timeout, a lost connection)."""
        return b"" if self.finished else self._fail(error)

    def resume(self, content_type: str) -> None:
        """The answer to `next_request` of the exchange comes next, in this framing."""
        self.waiting = False
        self._resumed = True
        self._reader = UpstreamReader(content_type, *self._limits)
        self._progress = Progress(self._progress.size)

    def settle(self) -> bytes:
        """Bytes to send if no further try is made."""
        if not self.waiting:
            return b""
        self.waiting = False
        out: list[bytes] = []
        self._write(self._exchange.settle(), out)
        return b"".join(out)

    def abandon(self) -> None:
        """The client has left. The usage of an answer that was held back for another try is known all the same."""
        if self.waiting or (self._resumed and not self.finished):
            self.waiting = False
            self._write(self._exchange.settle(), [])

    def _run(self, items: list[Item]) -> list[bytes]:
        """Bytes to send for these items. Items behind the end of the answer are ignored."""
        out: list[bytes] = []
        for item in items:
            if isinstance(item, Chunk):
                self.started = True
                self._progress.saw(item.payload)
                if self._progress.exceeds(self._limits[1]):
                    out.append(self._fail(BadUpstream(_TOO_LONG)))
                else:
                    self._write(self._feed_exchange(item), out)
            elif isinstance(item, Done):
                out += self._end(item) if self._progress.began else [self._fail(self._reader.unfinished(began=False))]
            elif isinstance(item, Failure):
                out.append(self._fail(item.error, item.raw))
            else:
                self._write(self._feed_exchange(item), out)
            if self.finished or self.waiting:
                break
        return out

    def _feed_exchange(self, item: Item) -> Sequence[Item]:
        """The items that the exchange returns for this one; an error that it raises becomes a `Failure`."""
        try:
            return self._exchange.feed(item)
        except GatewayError as error:
            return (Failure(error),)

    def _write(self, items: Iterable[Item], out: list[bytes]) -> None:
        """Items of the exchange through the encoder. A `Done`, a `Failure` and a failed encoder end the answer."""
        for item in items if self.usage_filter is None else self._without_usage(items, self.usage_filter):
            if isinstance(item, Chunk):
                usage = item.payload.get("usage")
                if isinstance(usage, dict):
                    self.usage = usage
            elif isinstance(item, Failure):
                self.started = self.finished = True
                self.failure = item.error
            elif isinstance(item, Done):
                self.finished = True
            if written := self._encoder.feed(item):  # one that is alone need not be copied
                out.append(written)
            if self._encoder.failure is not None and self.failure is None:
                self.failure = self._encoder.failure
                self.finished = True
            if self.finished:
                if written := self._encoder.close():
                    out.append(written)
                return

    def _without_usage(self, items: Iterable[Item], usage_filter: UsageFilter) -> Iterator[Item]:
        """The items that the client has asked for."""
        for item in items:
            if isinstance(item, Chunk) and isinstance(usage := item.payload.get("usage"), dict):
                self.usage = usage
                left = usage_filter.filter(item)
                if left is not None:
                    yield left
            else:
                yield item

    def _end(self, done: Done) -> list[bytes]:
        """Bytes to send for an answer that is complete."""
        out: list[bytes] = []
        items = list(self._feed_exchange(done))
        self.waiting = self._exchange.next_request() is not None
        if self.waiting:
            self._write([item for item in items if not isinstance(item, Done)], out)
            return out
        items += self._exchange.close()
        ends = [item for item in items if isinstance(item, Done)]
        self._write([*(item for item in items if not isinstance(item, Done)), ends[0] if ends else Done()], out)
        return out

    def _fail(self, error: GatewayError, raw: bytes | None = None) -> bytes:
        """Bytes to send for an answer that is broken: what the exchange still held back, then the error."""
        out: list[bytes] = []
        failure = Failure(error, raw)
        left = self._feed_exchange(failure)
        if self._resumed and any(isinstance(item, Done) for item in left):  # an earlier answer leaves in its place
            self._write(left, out)
        else:
            self._write([*(item for item in left if not isinstance(item, Done)), failure], out)
        return b"".join(out)

    def _replay(self, document: AnswerDocument) -> list[bytes]:
        """Bytes to send for an answer that came as one document: it is written as a stream."""
        self.started = True
        try:
            if self._resumed:
                return self._run([*chunks_of(document.body()), Done()])
            body = self._exchange.reply(document.body())
            self.waiting = self._exchange.next_request() is not None
            if self.waiting:
                return []
            chunks = chunks_of(body, summaries=self._exchange.assembles_calls)
        except GatewayError as error:
            return [self._fail(error)]
        out: list[bytes] = []
        self._write([*chunks, Done()], out)
        return out
