"""What flows between decoders, transformers and encoders.

    Item = Chunk | Done | Opaque | Failure

A chunk keeps the provider's bytes until somebody changes it: change builds a new chunk (`Chunk.of`), and the
encoder writes the original bytes of one that nobody changed. Payloads are never changed in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from moongate.errors import GatewayError
from moongate.payload import JsonObject, dumps

NO_SAMPLE: Final[JsonObject] = {}


class Chunk:
    """One `chat.completion.chunk`. `raw` is the event as the provider wrote it, None if made or changed here."""

    __slots__ = ("_payload", "raw")

    def __init__(self, payload: JsonObject, raw: bytes | None = None) -> None:
        self._payload: JsonObject | None = payload  # None: nobody has asked for it yet
        self.raw = raw

    @property
    def payload(self) -> JsonObject:
        payload = self._payload
        if payload is None:
            payload = self._payload = self.make_payload()
        return payload

    def make_payload(self) -> JsonObject:
        """The payload of a `LazyChunk`."""
        raise NotImplementedError

    @classmethod
    def of(cls, payload: JsonObject) -> Chunk:
        return cls(payload)

    def encode(self) -> bytes:
        """The server-sent event: the provider's own bytes if nothing was changed."""
        return self.raw if self.raw is not None else b"data: " + dumps(self.payload) + b"\n\n"

    def __repr__(self) -> str:
        return f"Chunk({self.payload!r}{'' if self.raw is None else ', raw'})"


class LazyChunk(Chunk):
    """A chunk that carries text and nothing else: no usage, no finish reason.

    Its payload is made when asked for: it begins with `_payload` None, and has a `make_payload` of its own.
    """

    __slots__ = ()


@dataclass(slots=True, init=False)
class Done:
    """The provider's `[DONE]` (or ours, where it forgot one). Nothing is read after it."""

    raw: bytes

    def __init__(self, raw: bytes = b"data: [DONE]\n\n") -> None:
        self.raw = raw


@dataclass(frozen=True, slots=True)
class Opaque:
    """Bytes without meaning for a transformer: comments, empty events. They travel on."""

    raw: bytes


@dataclass(frozen=True, slots=True)
class Failure:
    """The stream ends here with an error, told to the client in its own dialect; never a success marker after it.

    `raw` is the provider's own error event, if it sent one.
    """

    error: GatewayError
    raw: bytes | None = None


class Stretch:
    """A run of neighbouring chunks that carry nothing but plain text of one field of one choice (see chat/mould.py).

    `raw` is all their bytes, `text` their texts joined, still escaped as JSON wrote them: put between two quotes it
    is a JSON string.
    """

    __slots__ = ("choice", "field", "raw", "sample", "text", "texts")

    def __init__(
        self,
        raw: bytes,
        text: bytes,
        field: str,
        choice: int,
        texts: Sequence[bytes] = (),
        sample: JsonObject = NO_SAMPLE,
    ) -> None:
        self.raw = raw
        self.text = text
        self.field = field  # "content", "reasoning_content", "reasoning"
        self.choice = choice
        self.texts = texts  # the text of each chunk
        self.sample = sample  # what one of these chunks says, whatever its text


Item = Chunk | Done | Opaque | Failure
