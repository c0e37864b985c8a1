"""OpenAI chat completions: the middle language itself, so that nothing is translated and bytes stay bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from moongate.chat.contracts import Encoder, Note
from moongate.chat.items import Chunk, Failure, Item
from moongate.dialects.overflow import as_bad_request, overflow_of
from moongate.errors import GatewayError
from moongate.payload import JsonObject, dumps

_CREATED: Final = 1_751_328_000  # the time is not known; clients only need a number


class ChatEncoder:
    """Items → the server-sent events of a chat stream. Unchanged items keep the provider's bytes."""

    failure: GatewayError | None = None

    def feed(self, item: Item) -> bytes:
        if isinstance(item, Chunk):
            return item.encode()
        if not isinstance(item, Failure):
            return item.raw
        if item.raw is not None and overflow_of(item.error) is None:
            return item.raw
        return CHAT.error_event(item.error)

    def close(self) -> bytes:
        return b""


class ChatDialect:
    """The dialect of `/v1/chat/completions`."""

    name = "chat"
    passes_bytes_through = True

    def decode(self, body: JsonObject) -> JsonObject:
        return body

    def left_out(self, body: JsonObject) -> list[Note]:
        return []

    def encode(self, reply: JsonObject, client_request: JsonObject) -> JsonObject:
        return reply

    def encoder(self, client_request: JsonObject) -> Encoder:
        return ChatEncoder()

    def map_error(self, error: GatewayError) -> GatewayError:
        """The error as this front's clients understand it best: its status, message and code."""
        overflow = overflow_of(error)
        return error if overflow is None else as_bad_request(error, overflow.message)

    def error(self, error: GatewayError) -> JsonObject:
        return error_body(self.map_error(error))

    def error_event(self, error: GatewayError) -> bytes:
        return b"data: " + dumps(self.error(error)) + b"\n\n"

    def failed_stream(
        self, error: GatewayError, client_request: JsonObject, *, accepts_events: bool = False, final: bool = False
    ) -> bytes | None:
        """A stream that reports an error from before it; None: the HTTP status and body report it."""
        return None

    def keep_alive(self) -> bytes:
        return b": keep-alive\n\n"


def error_body(error: GatewayError) -> JsonObject:
    """OpenAI's shape of an error, the same for chat and responses."""
    return {
        "error": {
            "message": str(error),
            "type": error.kind,
            "param": error.path or None,
            "code": error.code,
        }
    }


def model_list(models: Sequence[tuple[str, str]]) -> JsonObject:
    """The answer of `GET /v1/models`, from the name and the provider of each model."""
    entries = [{"id": name, "object": "model", "created": _CREATED, "owned_by": provider} for name, provider in models]
    return {"object": "list", "data": entries}


CHAT = ChatDialect()
