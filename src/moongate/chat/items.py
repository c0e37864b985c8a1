"""What flows between decoders, transformers and encoders.

    Item = Chunk | Done | Opaque | Failure

A chunk keeps the provider's bytes until it is changed, and is written with them while it has them. To change one, build
a new chunk (`Chunk.of`): payloads are never changed in place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from moongate.errors import GatewayError
from moongate.payload import JsonObject, dumps

# What every chunk of a stream repeats.
STREAM_MEMBERS: Final = ("id", "object", "created", "model", "system_fingerprint", "service_tier", "provider")


class Chunk:
    """One `chat.completion.chunk`. `raw` is the event as the provider wrote it, None if made or changed here."""

    __slots__ = ("payload", "raw")

    def __init__(self, payload: JsonObject, raw: bytes | None = None) -> None:
        self.payload = payload
        self.raw = raw

    @classmethod
    def of(cls, payload: JsonObject) -> Chunk:
        return cls(payload)

    def encode(self) -> bytes:
        """The server-sent event: the provider's own bytes if nothing was changed."""
        return self.raw if self.raw is not None else b"data: " + dumps(self.payload) + b"\n\n"

    def __repr__(self) -> str:
        return f"Chunk({self.payload!r}{'' if self.raw is None else ', raw'})"


@dataclass(slots=True, init=False)
class Done:
    """The provider's `[DONE]` (or ours, where it forgot one). Nothing is read after it."""

    raw: bytes

    def __init__(self, raw: bytes = b"data: [DONE]\n\n") -> None:
        self.raw = raw


@dataclass(frozen=True, slots=True)
class Opaque:
    """Bytes without meaning for a transformer: comments, empty events. They are passed on."""

    raw: bytes


@dataclass(frozen=True, slots=True)
class Failure:
    """The stream ends here with an error, which the client gets in its own dialect, and with no success marker.

    `raw` is the provider's own error event, if it sent one.
    """

    error: GatewayError
    raw: bytes | None = None


Item = Chunk | Done | Opaque | Failure
