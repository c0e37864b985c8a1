"""Transformers one after the other. Answers run in the exact mirror of requests.

request ──▶ first ──▶ second ──▶ provider
client  ◀── first ◀── second ◀── answer
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from moongate.chat.base import BaseExchange
from moongate.chat.contracts import (
    BeginsQuickly,
    Exchange,
    GuardsCalls,
    KnowsModel,
    LearnsFromRefusals,
    Note,
    Transformer,
)
from moongate.chat.items import Item
from moongate.chat.note_sequences import JoinedNotes
from moongate.chat.verdict import ReplacedAnswer, Verdict, worst
from moongate.payload import JsonObject

Begin = Callable[[Any], Exchange]


class Chain:
    """Some transformers as one."""

    __slots__ = (
        "_begin",
        "_begin_quickly",
        "_learners",
        "_unguarded",
        "streams_usage",
        "takes_message_tools",
        "transformers",
    )

    def __init__(self, transformers: Sequence[Transformer] = ()) -> None:
        self.transformers = tuple(transformers)
        self._unguarded: Chain | None = None
        self._begin = tuple(each.begin for each in self.transformers)
        self._begin_quickly = tuple(
            each.begin_quickly if isinstance(each, BeginsQuickly) else each.begin for each in self.transformers
        )
        self._learners = tuple(each for each in self.transformers if isinstance(each, LearnsFromRefusals))
        knowing = [each for each in self.transformers if isinstance(each, KnowsModel)]
        # Whether the model sees tools that are declared inside messages, as far as a transformer knows.
        self.takes_message_tools = any(each.takes_message_tools for each in knowing)
        # Whether the provider reports the usage of a stream unasked, likewise.
        self.streams_usage = any(each.streams_usage for each in knowing)

    def begin(self, request: Mapping[str, Any]) -> Exchange:
        return _begun(request, self._begin, self._begin)

    def begin_quickly(self, request: Mapping[str, Any]) -> Exchange:
        """The same, for an event loop. Raises TakesLong if one of the transformers needs a thread."""
        return _begun(request, self._begin_quickly, self._begin)

    @property
    def unguarded(self) -> Chain:
        """The same chain without a guard of calls (section 14)."""
        if self._unguarded is None:
            self._unguarded = Chain(
                [each.unguarded if isinstance(each, GuardsCalls) else each for each in self.transformers]
            )
        return self._unguarded

    def recognise_refusal(self, message: str) -> str | None:
        """The name of the rule of a transformer that answers a provider's 400 with this message, or None."""
        found = (each.recognise_refusal(message) for each in self._learners)
        return next((rule for rule in found if rule is not None), None)

    def with_rules(self, rules: Set[str]) -> Chain:
        """The same chain with rules that were learned from refusals."""
        return Chain(
            [each.with_rules(rules) if isinstance(each, LearnsFromRefusals) else each for each in self.transformers]
        )


def _begun(request: Any, begins: Sequence[Begin], again: Sequence[Begin]) -> Exchange:
    if len(begins) == 1:
        return begins[0](request)
    exchanges = _exchanges(request, begins)
    return ChainExchange(exchanges[-1].request, exchanges, again) if exchanges else BaseExchange(request)


def _exchanges(request: Any, begins: Sequence[Begin]) -> list[Any]:
    exchanges: list[Any] = []
    for begin in begins:
        exchange: Any = begin(request)
        exchanges.append(exchange)
        request = exchange.request
    return exchanges


class ChainExchange:
    """The exchanges of a chain as one. `begins` make those of another try.

    They may come from outside: what they hand to one another is not checked here, and so it is `Any`.
    """

    __slots__ = ("_begins", "_reversed", "_wanted", "accepts_late_ids", "assembles_calls", "exchanges", "request")

    def __init__(self, request: Any, exchanges: Sequence[Exchange], begins: Sequence[Begin] = ()) -> None:
        self.request: Any = request
        self._begins = begins
        self._wanted: Any = None  # the request of the last further try
        self.assembles_calls = any(each.assembles_calls for each in exchanges)
        self.accepts_late_ids = all(each.accepts_late_ids for each in exchanges)
        self.exchanges: tuple[Any, ...] = tuple(exchanges)
        self._reversed: tuple[Any, ...] = tuple(reversed(exchanges))

    @property
    def notes(self) -> Sequence[Note]:
        return JoinedNotes(exchange.notes for exchange in self.exchanges)

    def schema_check(self) -> Callable[[], Verdict] | None:
        """The one of the exchange that is nearest to the client."""
        checks = (exchange.schema_check() for exchange in self.exchanges)
        found: Callable[[], Verdict] | None = next((check for check in checks if check is not None), None)
        return found

    @property
    def replaced(self) -> Sequence[ReplacedAnswer]:
        return [replaced for exchange in self.exchanges for replaced in exchange.replaced]

    def next_request(self) -> JsonObject | None:
        """The request of the first exchange that wants another try, as the exchanges behind it change it.

        These begin anew: they have seen the end of their answer.
        """
        for at, exchange in enumerate(self.exchanges):
            wanted: Any = exchange.next_request()
            if wanted is None:
                continue
            if wanted is not self._wanted:
                self._wanted = wanted
                self.exchanges = (*self.exchanges[: at + 1], *_exchanges(wanted, self._begins[at + 1 :]))
                self._reversed = tuple(reversed(self.exchanges))
            sent: JsonObject = wanted if at + 1 == len(self.exchanges) else self.exchanges[-1].request
            return sent
        return None

    def settle(self) -> Sequence[Item]:
        items: Sequence[Any] = ()
        for exchange in self._reversed:
            items = [*_fed(exchange, items), *exchange.settle()]
        return items

    @property
    def verdict(self) -> Verdict:
        """The worst of what the exchanges say."""
        return worst(exchange.verdict for exchange in self.exchanges)

    def reply(self, body: JsonObject) -> JsonObject:
        reply: Any = body
        for exchange in self._reversed:
            reply = exchange.reply(reply)
        changed: JsonObject = reply
        return changed

    def feed(self, item: Item) -> Sequence[Item]:
        items: Sequence[Any] = (item,)
        for exchange in self._reversed:
            items = _fed(exchange, items)
        return items

    def close(self) -> Sequence[Item]:
        items: Sequence[Any] = ()
        for exchange in self._reversed:
            items = [*_fed(exchange, items), *exchange.close()]
        return items


def _fed(exchange: Any, items: Sequence[Any]) -> Sequence[Any]:
    """What one exchange makes of these items."""
    if len(items) == 1:
        fed: Sequence[Any] = exchange.feed(items[0])
        return fed
    return [left for item in items for left in exchange.feed(item)]
