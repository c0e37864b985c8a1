"""One whole answer for a client that asked for no stream, whatever framing came."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from moongate.chat.accumulate import Accumulator
from moongate.chat.contracts import Exchange
from moongate.chat.event_reader import is_answer
from moongate.chat.items import Chunk, Done, Failure, Item
from moongate.chat.progress import Progress
from moongate.errors import BadUpstream, GatewayError
from moongate.payload import MAX_VALUES, JsonObject, more_values_than, object_of
from moongate.pipeline.upstream_reader import AnswerDocument, UpstreamReader, checked_answer
from moongate.wire.frames import DOCUMENT_LIMIT, DONE
from moongate.wire.framing import declared_framing, decoder_for, framing_of

MAX_STREAM_VALUES: Final = 2 * MAX_VALUES  # of JSON in a stream that is read as a whole: all are in memory at once
MAX_END_EVENT: Final = 1024  # bytes of an event that may be the marker of the end, and what is looked at around it
MAX_PLACES: Final = 16  # that may be the marker, in one read
_TOO_LARGE: Final = "the provider's answer is too large"
_EVENT_ENDS: Final = (b"\n\n", b"\r\r", b"\n\r")  # the last one is the middle of CR LF CR LF


def read_reply(exchange: Exchange, data: bytes, content_type: str) -> JsonObject:
    """The answer as one document. Raises GatewayError if it is broken, or if it is the provider's error; the exchange
    learns of it, too.

    >>> from moongate import KimiTransformer
    >>> exchange = KimiTransformer().begin({"messages": [{"role": "user", "content": "Hi"}]})
    >>> data = b'{"choices": [{"message": {"content": "Ho"}, "finish_reason": "stop"}]}'
    >>> read_reply(exchange, data, "application/json")
    {'choices': [{'message': {'content': 'Ho'}, 'finish_reason': 'stop'}]}
    """
    try:
        return _read(exchange, data, content_type)
    except GatewayError as error:
        exchange.feed(Failure(error))
        raise


def reply_of(exchange: Exchange, data: bytes, content_type: str) -> tuple[JsonObject, bool]:
    """The whole answer, and whether it is unchanged, so that the provider's bytes can be sent. Raises GatewayError."""
    if content_type.startswith("application/json"):
        body = object_of(data)
        if body is not None and not body.get("error") and is_answer(body):
            reply = exchange.reply(body)
            return reply, reply is body
    return read_reply(exchange, data, content_type), False


def _read(exchange: Exchange, data: bytes, content_type: str) -> JsonObject:
    if data[:1] == b"{" and framing_of(content_type, b"{") == "document" and len(data) <= DOCUMENT_LIMIT:
        parsed = object_of(data)
        if parsed is not None:
            return exchange.reply(checked_answer(parsed))
    if more_values_than(data, MAX_STREAM_VALUES):
        raise BadUpstream(_TOO_LARGE)
    upstream = UpstreamReader(content_type, DOCUMENT_LIMIT, DOCUMENT_LIMIT)
    items = upstream.feed(data)
    last = upstream.close()
    if upstream.overflow:
        raise BadUpstream(_TOO_LARGE)
    if isinstance(last, AnswerDocument):
        return exchange.reply(last.body())
    stream = _Stream()
    for item in (*items, *last):
        if stream.done:
            break
        stream.feed(item)
    if stream.progress.complete:
        accumulator = _accumulated(stream.chunks, late_ids=exchange.accepts_late_ids)
        if not accumulator.has_pieced_names:
            return exchange.reply(accumulator.completion())
    elif not stream.done or not stream.progress.began:
        raise upstream.unfinished(began=stream.progress.began)
    # It ended without a finish reason, or names came in pieces: the rules for streams decide what that means.
    return _accumulated(_streamed(exchange, stream.chunks)).completion()


class EndWatch:
    """Finds the end-of-stream marker: a provider may keep the connection open long after it.

    Only the events around the last places that look like the marker are read, so that a read of many small events
    costs next to nothing.

    >>> watch = EndWatch("text/event-stream")
    >>> [watch.feed(data) for data in (b"data: {}\\n\\ndata: [DO", b"NE]\\n\\n")]
    [False, True]
    """

    def __init__(self, content_type: str, limit: int = DOCUMENT_LIMIT) -> None:
        self._content_type = content_type
        self._limit = limit
        self._is_stream = decoder_for(content_type) is not None
        self._ends = (b"\n",) if declared_framing(content_type) == "ndjson" else _EVENT_ENDS
        self._last = b""  # the end of what came
        self._has_more = False  # more came before that
        self._size = 0  # bytes of the event that has no end yet

    def feed(self, data: bytes) -> bool:
        """Was that the end? Never for one document: it ends with its bytes. An event that is too large has none."""
        if not self._is_stream or self._size > self._limit:
            return False
        at = self._last_end(data)
        self._size = len(data) - at if at else self._size + len(data)
        data = self._last + data
        found = DONE in data and self._is_end(data)
        self._has_more = self._has_more or len(data) > MAX_END_EVENT
        self._last = data[-MAX_END_EVENT:]
        return found

    def _last_end(self, data: bytes) -> int:
        """Where the last event in `data` ends; 0 if none does."""
        return max(at + len(end) if (at := data.rfind(end)) >= 0 else 0 for end in self._ends)

    def _is_end(self, data: bytes) -> bool:
        """Is one of the last events of `data` the marker?"""
        place = len(data)
        for _ in range(MAX_PLACES):
            place = data.rfind(DONE, 0, place)
            if place < 0:
                break
            first = max(0, place - MAX_END_EVENT)
            begin = self._last_end(data[first:place])
            if not begin and (first or self._has_more):
                continue  # it belongs to an event that began long before
            decoder = decoder_for(self._content_type)
            frames = [] if decoder is None else decoder.feed(data[first + begin : place + MAX_END_EVENT])
            if any(frame.data is not None and frame.data.strip() == DONE for frame in frames):
                return True
        return False


class _Stream:
    """The chunks of a stream that is read as a whole."""

    def __init__(self) -> None:
        self.chunks: list[Chunk] = []
        self.done = False
        self.progress = Progress()

    def feed(self, item: Item) -> None:
        if isinstance(item, Failure):
            raise item.error
        if isinstance(item, Done):
            self.done = True
        elif isinstance(item, Chunk):
            self.progress.saw(item.payload)
            self.chunks.append(item)


def _accumulated(items: Iterable[Item], *, late_ids: bool = True) -> Accumulator:
    accumulator = Accumulator(late_ids=late_ids)
    for item in items:
        if isinstance(item, Chunk):
            accumulator.feed(item.payload)
    return accumulator


def _streamed(exchange: Exchange, chunks: list[Chunk]) -> list[Item]:
    fed: list[Item] = [*chunks, Done()]
    items = [left for item in fed for left in exchange.feed(item)]
    return [*items, *exchange.close()]
