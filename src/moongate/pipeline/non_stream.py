"""One whole answer for a client that asked for no stream, whatever framing came."""

from __future__ import annotations

from collections.abc import Iterable

from moongate.chat.accumulate import Accumulator
from moongate.chat.contracts import Exchange
from moongate.chat.event_reader import is_answer
from moongate.chat.items import Chunk, Done, Failure, Item
from moongate.chat.progress import Progress
from moongate.errors import BadUpstream, GatewayError
from moongate.payload import JsonObject, object_of
from moongate.pipeline.upstream_reader import AnswerDocument, UpstreamReader, checked_answer
from moongate.wire.frames import DOCUMENT_LIMIT, DONE
from moongate.wire.framing import decoder_for, framing_of


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
    upstream = UpstreamReader(content_type, DOCUMENT_LIMIT, DOCUMENT_LIMIT)
    items = upstream.feed(data)
    last = upstream.close()
    if upstream.overflow:
        raise BadUpstream("the provider's answer is too large")
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
        raise BadUpstream("the provider's stream ended before the answer was complete")
    # It ended without a finish reason, or names came in pieces: the rules for streams decide what that means.
    return _accumulated(_streamed(exchange, stream.chunks)).completion()


class EndWatch:
    """Finds the end-of-stream marker: a provider may keep the connection open long after it.

    >>> watch = EndWatch("text/event-stream")
    >>> [watch.feed(data) for data in (b"data: {}\\n\\ndata: [DO", b"NE]\\n\\n")]
    [False, True]
    """

    def __init__(self, content_type: str, limit: int = DOCUMENT_LIMIT) -> None:
        self._decoder = decoder_for(content_type, limit)

    def feed(self, data: bytes) -> bool:
        """Was that the end? Never for one document: it ends with its bytes."""
        if self._decoder is None or self._decoder.overflow:
            return False
        return any(frame.data is not None and frame.data.strip() == DONE for frame in self._decoder.feed(data))


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
