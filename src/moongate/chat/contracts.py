"""The contracts between the parts: transformers, exchanges, dialects, encoders."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any, Final, Literal, NamedTuple, Protocol, Self, runtime_checkable

from moongate.chat.items import Item
from moongate.chat.verdict import ReplacedAnswer, Verdict
from moongate.errors import GatewayError
from moongate.payload import JsonObject

_ANSWER_MEMBERS: Final = ("choices", "usage")  # no request has these


class Note(NamedTuple):
    """One repair: what kind, where, what stood there before and what stands there now.

    >>> Note("finish_reason", "choices[0].finish_reason", "stop", "tool_calls").mends
    'vendor'
    """

    kind: str
    where: str
    before: Any = None
    after: Any = None
    why: str = ""  # where the kind alone does not tell

    @property
    def mends(self) -> Literal["vendor", "client"]:
        """Whose work is repaired: an answer is the vendor's, a request the client's. The path tells which it is."""
        return "vendor" if is_of_answer(self.where) else "client"


def is_of_answer(where: str) -> bool:
    """Whether a note's place is in the answer, not in the request."""
    return where.startswith(_ANSWER_MEMBERS)


class Exchange(Protocol):
    """One request and its one answer, then dropped. `BaseExchange` is one that changes nothing."""

    request: JsonObject  # what goes upstream; the same object if nothing changed
    assembles_calls: bool  # the last chunk of a choice with calls also carries its whole message
    accepts_late_ids: bool  # an id that comes after the name of its call counts

    @property
    def notes(self) -> Sequence[Note]: ...

    @property
    def verdict(self) -> Verdict:
        """What the answer was worth, when it is over; until then it counts as aborted, or as clean where the exchange
        does not judge."""
        ...

    def schema_check(self) -> Callable[[], Verdict] | None:
        """For a thread, when the answer is over: the verdict with every call checked against the client's own schema.

        None: there is nothing to check, or it was done before the calls left.
        """
        ...

    @property
    def replaced(self) -> Sequence[ReplacedAnswer]:
        """The answers in whose place another one left."""
        ...

    def next_request(self) -> JsonObject | None:
        """What to send for another try, None if there is none. Its answer is fed to this exchange, too.

        Asked when an answer is over. Of a whole one `reply` has returned the best so far; the end of a streamed one is
        held back until a further try is over, or `settle` says that there is none.
        """
        ...

    def settle(self) -> Sequence[Item]:
        """No further try is made: the end of the streamed answer."""
        ...

    def reply(self, body: JsonObject) -> JsonObject:
        """The whole answer, repaired; the same object if nothing changed."""
        ...

    def feed(self, item: Item) -> Sequence[Item]: ...

    def close(self) -> Sequence[Item]: ...


class TakesLong(Exception):
    """A request needs more work than fits between two events: `begin` belongs in a thread."""


class Transformer(Protocol):
    """Frozen, one per chain entry, shared by all requests."""

    def begin(self, request: JsonObject) -> Exchange: ...


@runtime_checkable
class LearnsFromRefusals(Protocol):
    """A transformer that knows what answers some refusals of providers. It stays frozen: its caller remembers rules."""

    def recognise_refusal(self, message: str) -> str | None:
        """The name of the rule that answers a 400 with this message, or None."""
        ...

    def with_rules(self, rules: Set[str]) -> Self:
        """The same transformer with the rules of these names."""
        ...


@runtime_checkable
class KnowsModel(Protocol):
    """A transformer that knows the model and who serves it."""

    @property
    def takes_message_tools(self) -> bool:
        """Whether the model sees tools that are declared inside messages."""
        ...

    @property
    def streams_usage(self) -> bool:
        """Whether the provider reports the usage of a stream unasked."""
        ...


@runtime_checkable
class BeginsQuickly(Protocol):
    """A transformer whose `begin` may take long, and that can say so instead of blocking an event loop."""

    def begin_quickly(self, request: JsonObject) -> Exchange:
        """The same as `begin`. Raises TakesLong if the request needs a thread."""
        ...


@runtime_checkable
class GuardsCalls(Protocol):
    """A transformer that may check calls and ask for further tries (section 14)."""

    @property
    def unguarded(self) -> Transformer:
        """The same transformer without its guard."""
        ...


class Encoder(Protocol):
    """Items of one answer → the bytes of one front's stream."""

    failure: GatewayError | None  # why the encoder itself ended the answer, if it did; its error event has left

    def feed(self, item: Item) -> bytes: ...

    def close(self) -> bytes: ...


class Dialect(Protocol):
    """One front's translation to and from chat completions. Stateless: what belongs to one request is in
    `client_request`, the client's own body.
    """

    name: str  # "chat", "messages", "responses"
    passes_bytes_through: bool  # `decode` and `encode` change nothing: an answer that nobody changed keeps its bytes

    def decode(self, body: JsonObject) -> JsonObject:
        """The front's request → a chat request. Raises BadRequest with the path of the invalid field."""
        ...

    def left_out(self, body: JsonObject) -> Sequence[Note]:
        """What of a good request does not reach the model."""
        ...

    def encode(self, reply: JsonObject, client_request: JsonObject) -> JsonObject:
        """A whole chat completion → the front's answer."""
        ...

    def encoder(self, client_request: JsonObject) -> Encoder: ...

    def map_error(self, error: GatewayError) -> GatewayError:
        """The error as this front's clients understand it best; its status is the answer's status."""
        ...

    def error(self, error: GatewayError) -> JsonObject:
        """The body of an error answer."""
        ...

    def error_event(self, error: GatewayError) -> bytes:
        """The same in the middle of a stream: one terminal event."""
        ...

    def failed_stream(
        self, error: GatewayError, client_request: JsonObject, *, accepts_events: bool = False, final: bool = False
    ) -> bytes | None:
        """For an error before the stream that clients understand only inside one: that stream (status 200)."""
        ...

    def keep_alive(self) -> bytes:
        """What may be written during silence."""
        ...
