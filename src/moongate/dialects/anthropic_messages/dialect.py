"""The Anthropic messages front as the gateway sees it."""

from __future__ import annotations

from collections.abc import Sequence

from moongate.chat.contracts import Encoder, Note
from moongate.dialects.anthropic_messages.errors import error_body, error_event, map_error
from moongate.dialects.anthropic_messages.non_stream import message
from moongate.dialects.anthropic_messages.request import chat_request, left_out
from moongate.dialects.anthropic_messages.stream import MessagesEncoder
from moongate.dialects.anthropic_messages.tokens import estimate
from moongate.errors import GatewayError
from moongate.payload import JsonObject


class MessagesDialect:
    """The front for `/v1/messages`. Stateless."""

    name = "messages"
    passes_bytes_through = False

    def decode(self, body: JsonObject) -> JsonObject:
        return chat_request(body)

    def left_out(self, body: JsonObject) -> list[Note]:
        return left_out(body)

    def encode(self, reply: JsonObject, client_request: JsonObject) -> JsonObject:
        return message(reply, client_request)

    def encoder(self, client_request: JsonObject) -> Encoder:
        return MessagesEncoder(client_request)

    def map_error(self, error: GatewayError) -> GatewayError:
        return map_error(error)

    def error(self, error: GatewayError) -> JsonObject:
        return error_body(error)

    def error_event(self, error: GatewayError) -> bytes:
        return error_event(error)

    def failed_stream(
        self, error: GatewayError, client_request: JsonObject, *, accepts_events: bool = False, final: bool = False
    ) -> bytes | None:
        """None: an error before the stream is an HTTP error response."""
        return None

    def keep_alive(self) -> bytes:
        return b'event: ping\ndata: {"type":"ping"}\n\n'

    def count_tokens(self, body: JsonObject) -> JsonObject:
        """The response of `/v1/messages/count_tokens`: an estimate, see docs/messages.md."""
        return {"input_tokens": estimate(self.decode(body))}

    def models(self, names: Sequence[str]) -> JsonObject:
        """The response of `GET /v1/models` for a client that sends `anthropic-version`."""
        listed = [
            {"type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z"} for name in names
        ]
        first, last = (names[0], names[-1]) if names else (None, None)
        return {"data": listed, "has_more": False, "first_id": first, "last_id": last}


MESSAGES = MessagesDialect()
