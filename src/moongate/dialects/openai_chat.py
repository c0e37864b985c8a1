"""OpenAI chat completions: the middle language itself, so that nothing is translated and bytes stay bytes."""

from __future__ import annotations

from moongate.chat.contracts import Encoder, Note
from moongate.chat.items import Chunk, Failure, Item, Stretch
from moongate.dialects.overflow import as_bad_request, overflow_of
from moongate.errors import GatewayError
from moongate.payload import JsonObject, dumps


class ChatEncoder:
    """Items → the server-sent events of a chat stream. What nobody changed leaves with the provider's own bytes."""

    verbatim = True
    failure: GatewayError | None = None

    def feed(self, item: Item) -> bytes:
        if isinstance(item, Chunk):
            return item.encode()
        if not isinstance(item, Failure):
            return item.raw
        if item.raw is not None and overflow_of(item.error) is None:
            return item.raw
        return CHAT.error_event(item.error)

    def plain(self, stretch: Stretch) -> bytes:
        return stretch.raw

    def writer(self, stretch: Stretch) -> None:
        return None

    def close(self) -> bytes:
        return b""


class ChatDialect:
    """The front door `/v1/chat/completions`."""

    name = "chat"

    def decode(self, body: JsonObject) -> JsonObject:
        return body

    def left_out(self, body: JsonObject) -> list[Note]:
        return []

    def encode(self, reply: JsonObject, asked: JsonObject) -> JsonObject:
        return reply

    def encoder(self, asked: JsonObject) -> Encoder:
        return ChatEncoder()

    def told(self, error: GatewayError) -> GatewayError:
        """The error as this front's clients understand it best: its status, message and code."""
        overflow = overflow_of(error)
        return error if overflow is None else as_bad_request(error, overflow.message)

    def error(self, error: GatewayError) -> JsonObject:
        return error_body(self.told(error))

    def error_event(self, error: GatewayError) -> bytes:
        return b"data: " + dumps(self.error(error)) + b"\n\n"

    def failed_stream(self, error: GatewayError, asked: JsonObject) -> bytes | None:
        """The whole stream that tells an error which came before it; None: the status and body tell it."""
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


CHAT = ChatDialect()
