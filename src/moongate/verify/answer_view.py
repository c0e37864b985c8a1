"""One answer of a vendor as a client sees it: as it came, or as an exchange makes it. Pure.

The same bytes are read as often as somebody looks at them: `view(BaseExchange(request), …)` is the answer as it came.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from moongate.chat.accumulate import Accumulator
from moongate.chat.contracts import Exchange, Note
from moongate.chat.items import Chunk, Done, Failure, Item, Opaque
from moongate.chat.verdict import Verdict
from moongate.errors import BadUpstream, GatewayError
from moongate.kimi.answer.usage import lift_usage
from moongate.kimi.notes import Notes
from moongate.payload import JsonObject
from moongate.pipeline.upstream_reader import AnswerDocument, UpstreamReader
from moongate.verify.observation import usage_due
from moongate.verify.stream_watch import StreamWatch
from moongate.wire.frames import DOCUMENT_LIMIT

NOT_A_STREAM: Final = "not_a_stream"
NOT_ASKED: Final = "stream_unasked"


@dataclass(frozen=True, slots=True)
class AnswerView:
    """`completion` is None if there is no answer; `error` says why. `faults`: of the stream. `usage`: what is billed,
    wherever in the answer it stands."""

    completion: JsonObject | None
    verdict: Verdict
    notes: Sequence[Note]
    error: str = ""
    faults: tuple[str, ...] = ()
    usage: JsonObject | None = None


def view(exchange: Exchange, data: bytes, content_type: str, *, streamed: bool) -> AnswerView:
    """The answer to the exchange's request. `streamed`: a stream was asked for."""
    try:
        completion, faults, usage = _read(exchange, data, content_type, streamed=streamed)
    except GatewayError as error:
        exchange.feed(Failure(error))
        return AnswerView(None, exchange.verdict, exchange.notes, error.message)
    check = exchange.schema_check()
    verdict = exchange.verdict if check is None else check()
    return AnswerView(completion, verdict, exchange.notes, faults=faults, usage=usage)


def _read(
    exchange: Exchange, data: bytes, content_type: str, *, streamed: bool
) -> tuple[JsonObject, tuple[str, ...], JsonObject | None]:
    upstream = UpstreamReader(content_type, DOCUMENT_LIMIT, DOCUMENT_LIMIT)
    items = upstream.feed(data)
    last = upstream.close()
    if upstream.overflow:
        raise BadUpstream("the answer is too large")
    if isinstance(last, AnswerDocument):
        completion = exchange.reply(last.body())
        return completion, (NOT_A_STREAM,) if streamed else (), _usage(completion)
    if all(isinstance(item, Opaque) for item in (*items, *last)):
        raise upstream.unfinished(began=False)
    usage: JsonObject | None = None
    watch, accumulator = StreamWatch(usage_due=streamed and usage_due(exchange.request)), Accumulator()
    for item in _left(exchange, [*items, *last]):
        if isinstance(item, Failure):
            raise item.error
        watch.see(item)
        if isinstance(item, Chunk):
            accumulator.feed(item.payload)
            usage = _usage(item.payload) or usage
    if not watch.began:
        raise BadUpstream("it is no answer: neither a completion nor an event of one")
    return accumulator.completion(), (*watch.faults(), *(() if streamed else (NOT_ASKED,))), usage


def _usage(payload: JsonObject) -> JsonObject | None:
    found = lift_usage(payload, Notes()).get("usage")
    return found if isinstance(found, dict) else None


def _left(exchange: Exchange, items: Iterable[Item]) -> Iterable[Item]:
    """What the exchange makes of the items of a stream; nothing is read behind its end."""
    for item in items:
        yield from exchange.feed(item)
        if isinstance(item, Done):
            break
    yield from exchange.close()
    yield from exchange.settle()
