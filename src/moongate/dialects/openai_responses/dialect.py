"""The OpenAI Responses front as the gateway sees it."""

from __future__ import annotations

from moongate.chat.contracts import Encoder, Note
from moongate.chat.items import Chunk, Failure
from moongate.dialects.openai_chat import error_body
from moongate.dialects.openai_responses.non_stream import response
from moongate.dialects.openai_responses.reply import map_error
from moongate.dialects.openai_responses.request import chat_request, left_out
from moongate.dialects.openai_responses.stream import ResponsesEncoder
from moongate.dialects.overflow import overflow_of
from moongate.errors import BadRequest, BadUpstream, GatewayError
from moongate.payload import JsonObject


class ResponsesDialect:
    """The front for `/v1/responses`. Stateless."""

    name = "responses"
    passes_bytes_through = False

    def decode(self, body: JsonObject) -> JsonObject:
        return chat_request(body)

    def left_out(self, body: JsonObject) -> list[Note]:
        return left_out(body)

    def encode(self, reply: JsonObject, client_request: JsonObject) -> JsonObject:
        return response(reply, client_request)

    def encoder(self, client_request: JsonObject) -> Encoder:
        return ResponsesEncoder(client_request)

    def map_error(self, error: GatewayError) -> GatewayError:
        return map_error(error)

    def error(self, error: GatewayError) -> JsonObject:
        return error_body(self.map_error(error))

    def error_event(self, error: GatewayError) -> bytes:
        """The last event of a stream that fails, without its encoder: only the fields of an unknown request."""
        encoder = ResponsesEncoder({})
        encoder.feed(Chunk.of({}))
        return encoder.feed(Failure(error))

    def failed_stream(
        self, error: GatewayError, client_request: JsonObject, *, accepts_events: bool = False, final: bool = False
    ) -> bytes | None:
        """A stream for the errors whose status Codex misreads.

        It compacts only if a stream fails with the code of a prompt that is too long. It asks five times more after a
        401, 403 or 404, thirty times after a 5xx, and hides the message of a 429 and a 500. Of a stream that failed
        with `invalid_prompt` it shows the message at once; if another code says that it may get better, it asks five
        times more and then shows it. Only for clients that accept events: SDKs want the status. So do proxies, which
        ask another gateway after a 503 of this one.
        """
        if not client_request.get("stream"):
            return None
        if overflow_of(error) is None:
            if not accepts_events or not (final or error.status == 429 or isinstance(error, BadUpstream)):
                return None
            if final:
                error = BadRequest(str(error), code="invalid_prompt")
        return ResponsesEncoder(client_request).feed(Failure(error))

    def keep_alive(self) -> bytes:
        return b": keep-alive\n\n"


RESPONSES = ResponsesDialect()
