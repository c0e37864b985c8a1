"""The OpenAI Responses front: `/v1/responses`."""

from __future__ import annotations

from moongate.chat.contracts import Encoder, Note
from moongate.chat.items import Chunk, Failure
from moongate.dialects.openai_chat import error_body
from moongate.dialects.overflow import overflow_of
from moongate.dialects.responses import reply as replies
from moongate.dialects.responses import request, whole
from moongate.dialects.responses.stream import ResponsesEncoder
from moongate.errors import GatewayError
from moongate.payload import JsonObject


class ResponsesDialect:
    """The front door `/v1/responses`. Stateless."""

    name = "responses"

    def decode(self, body: JsonObject) -> JsonObject:
        return request.chat_request(body)

    def left_out(self, body: JsonObject) -> list[Note]:
        return request.left_out(body)

    def encode(self, reply: JsonObject, asked: JsonObject) -> JsonObject:
        return whole.response(reply, asked)

    def encoder(self, asked: JsonObject) -> Encoder:
        return ResponsesEncoder(asked)

    def told(self, error: GatewayError) -> GatewayError:
        return replies.told(error)

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
