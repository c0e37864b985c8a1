"""The OpenAI Responses front as the gateway sees it."""

from __future__ import annotations

from moongate.chat.contracts import Encoder, Note
from moongate.chat.items import Chunk, Failure
from moongate.dialects.openai_chat import error_body
from moongate.dialects.overflow import overflow_of
from moongate.dialects.responses.reply import told
from moongate.dialects.responses.request import chat_request, left_out
from moongate.dialects.responses.stream import ResponsesEncoder
from moongate.dialects.responses.whole import response
from moongate.errors import GatewayError
from moongate.payload import JsonObject


class ResponsesDialect:
    """The front door `/v1/responses`. Stateless."""

    name = "responses"

    def decode(self, body: JsonObject) -> JsonObject:
        return chat_request(body)

    def left_out(self, body: JsonObject) -> list[Note]:
        return left_out(body)

    def encode(self, reply: JsonObject, asked: JsonObject) -> JsonObject:
        return response(reply, asked)

    def encoder(self, asked: JsonObject) -> Encoder:
        return ResponsesEncoder(asked)

    def told(self, error: GatewayError) -> GatewayError:
        return told(error)

    def error(self, error: GatewayError) -> JsonObject:
        return error_body(self.told(error))

    def error_event(self, error: GatewayError) -> bytes:
        """The terminal event of a stream whose encoder is out of reach."""
        encoder = ResponsesEncoder({})
        encoder.feed(Chunk.of({}))
        return encoder.feed(Failure(error))

    def failed_stream(self, error: GatewayError, asked: JsonObject) -> bytes | None:
        """Codex makes room only when a stream fails with the code, so a prompt that is too long is told in one."""
        if not asked.get("stream") or overflow_of(error) is None:
            return None
        return ResponsesEncoder(asked).feed(Failure(error))

    def keep_alive(self) -> bytes:
        return b": keep-alive\n\n"


RESPONSES = ResponsesDialect()
