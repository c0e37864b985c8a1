"""The contracts between the parts: transformers, exchanges, dialects, encoders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from moongate.chat.items import Item, Stretch
from moongate.errors import GatewayError
from moongate.payload import JsonObject


class Note(NamedTuple):
    """One repair: what kind, where, what stood there before and what stands there now."""

    kind: str
    where: str
    before: Any = None
    after: Any = None


class Exchange(Protocol):
    """One request and its one answer, then dropped.

    It may have a `gate`: bytes. Then `plain` asks of a text only whether one of them is in it: behind a stretch that
    was plain, the next one of the same field without these bytes is plain too. Without it (None) every text is shown.
    """

    request: JsonObject  # what goes upstream; the same object if nothing changed

    @property
    def notes(self) -> Sequence[Note]: ...

    def reply(self, body: JsonObject) -> JsonObject:
        """The whole answer, repaired; the same object if nothing changed."""
        ...

    def feed(self, item: Item) -> Sequence[Item]: ...

    def close(self) -> Sequence[Item]: ...

    def plain(self, stretch: Stretch) -> bool:
        """May this stretch of plain text leave as it came? True only if no rule can fire in it and no state changes.

        An empty text asks for the next one too: without a byte of `gate` in it, it may leave without being shown here.
        """
        ...


class Transformer(Protocol):
    """Frozen, one per chain entry, shared by all requests."""

    def begin(self, request: JsonObject) -> Exchange: ...


class Encoder(Protocol):
    """Items of one answer → the bytes of one front door's stream."""

    verbatim: bool  # `plain` gives the stretch's own bytes and remembers nothing
    failure: GatewayError | None  # why the encoder itself ended the answer, if it did; its error event has left

    def feed(self, item: Item) -> bytes: ...

    def plain(self, stretch: Stretch) -> bytes:
        """The same for a stretch of plain text, in one go."""
        ...

    def writer(self, stretch: Stretch) -> Callable[[bytes], bytes] | None:
        """Behind a stretch: writes the next text of its kind (never empty) as `plain` would. Good until anything else
        is fed.

        None: there is no such short way here, or none is needed (`verbatim`).
        """
        ...

    def close(self) -> bytes: ...


class Dialect(Protocol):
    """One front door. Stateless; what belongs to one request is in `asked`, the client's own body."""

    name: str  # "chat", "messages", "responses"

    def decode(self, body: JsonObject) -> JsonObject:
        """The front's request → a chat request. Raises BadRequest with the path of the culprit."""
        ...

    def left_out(self, body: JsonObject) -> Sequence[Note]:
        """What of a good request does not reach the model."""
        ...

    def encode(self, reply: JsonObject, asked: JsonObject) -> JsonObject:
        """A whole chat completion → the front's answer."""
        ...

    def encoder(self, asked: JsonObject) -> Encoder: ...

    def told(self, error: GatewayError) -> GatewayError:
        """The error as this front's clients understand it best; its status is the answer's status."""
        ...

    def error(self, error: GatewayError) -> JsonObject:
        """The body of an error answer."""
        ...

    def error_event(self, error: GatewayError) -> bytes:
        """The same in the middle of a stream: one terminal event."""
        ...

    def failed_stream(self, error: GatewayError, asked: JsonObject) -> bytes | None:
        """For an error before the stream that clients understand only inside one: that stream (status 200)."""
        ...

    def keep_alive(self) -> bytes:
        """What may be written during silence."""
        ...
