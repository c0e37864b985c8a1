"""The Anthropic messages front as the gateway sees it."""

from __future__ import annotations

from collections.abc import Sequence

from moongate.chat.contracts import Encoder, Note
from moongate.dialects.messages.errors import error_body, error_event, told
from moongate.dialects.messages.request import chat_request, left_out
from moongate.dialects.messages.stream import MessagesEncoder
from moongate.dialects.messages.tokens import estimate
from moongate.dialects.messages.whole import message
from moongate.errors import GatewayError
from moongate.payload import JsonObject


class MessagesDialect:
    """The front door `/v1/messages`. Stateless."""

    name = "messages"

    def decode(self, body: JsonObject) -> JsonObject:
        return chat_request(body)

    def left_out(self, body: JsonObject) -> list[Note]:
        return left_out(body)

    def encode(self, reply: JsonObject, asked: JsonObject) -> JsonObject:
        return message(reply, asked)

    def encoder(self, asked: JsonObject) -> Encoder:
        return MessagesEncoder(asked)

    def told(self, error: GatewayError) -> GatewayError:
        return told(error)

    def error(self, error: GatewayError) -> JsonObject:
        return error_body(error)

    def error_event(self, error: GatewayError) -> bytes:
        return error_event(error)

    def failed_stream(self, error: GatewayError, asked: JsonObject) -> bytes | None:
        """None: before a stream the status and the body tell an error."""
        return None

    def keep_alive(self) -> bytes:
        return b'event: ping\ndata: {"type":"ping"}\n\n'

    def count_tokens(self, body: JsonObject) -> JsonObject:
        """The answer of `/v1/messages/count_tokens`: an estimate, see docs/messages.md."""
        return {"input_tokens": estimate(self.decode(body))}

    def models(self, names: Sequence[str]) -> JsonObject:
        """The answer of `GET /v1/models` for a client that sends `anthropic-version`."""
        listed = [
            {"type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z"} for name in names
        ]
        first, last = (names[0], names[-1]) if names else (None, None)
        return {"data": listed, "has_more": False, "first_id": first, "last_id": last}


MESSAGES = MessagesDialect()
