from __future__ import annotations

from typing import Any

from moongate.chat.items import Chunk, Done, Failure, Opaque
from moongate.dialects.openai_chat import CHAT, model_list
from moongate.errors import BadRequest, BadUpstream, UpstreamRefused

REQUEST: dict[str, Any] = {"model": "kimi", "messages": []}


def test_requests_and_answers_are_the_same_objects() -> None:
    reply: dict[str, Any] = {"choices": []}
    assert CHAT.decode(REQUEST) is REQUEST
    assert CHAT.encode(reply, REQUEST) is reply
    assert CHAT.left_out(REQUEST) == []


def test_unchanged_items_keep_their_bytes() -> None:
    encoder = CHAT.encoder(REQUEST)
    assert encoder.feed(Chunk({"a": 1}, b'data:  {"a" : 1}\r\n\r\n')) == b'data:  {"a" : 1}\r\n\r\n'
    assert encoder.feed(Opaque(b": x\n\n")) == b": x\n\n"
    assert encoder.feed(Done(b"data:[DONE]\n\n")) == b"data:[DONE]\n\n"
    assert encoder.close() == b""


def test_changed_items_are_encoded() -> None:
    assert CHAT.encoder(REQUEST).feed(Chunk.of({"a": "é"})) == 'data: {"a":"é"}\n\n'.encode()


def test_errors() -> None:
    error = BadRequest("must be a list", path="messages", code="bad")
    body = {"message": "messages: must be a list", "type": "invalid_request_error", "param": "messages", "code": "bad"}
    assert CHAT.error(error) == {"error": body}
    assert CHAT.map_error(error) is error


def test_an_error_message_may_be_any_object() -> None:
    odd: Any = {"code": 1305, "path": None}
    error = UpstreamRefused(ValueError("no"), status=429, **odd)  # type: ignore[arg-type]
    body = {"message": "no", "type": "upstream_error", "param": None, "code": "1305"}
    assert CHAT.error(error) == {"error": body}
    assert (error.message, str(error)) == ("no", "no")


def test_errors_in_the_middle_of_a_stream() -> None:
    encoder = CHAT.encoder(REQUEST)
    assert encoder.feed(Failure(BadUpstream("cut"))) == (
        b'data: {"error":{"message":"cut","type":"upstream_error","param":null,"code":null}}\n\n'
    )
    assert encoder.feed(Failure(BadUpstream("x"), b'data: {"error": {}}\n\n')) == b'data: {"error": {}}\n\n'


def test_a_prompt_that_is_too_long_has_the_code() -> None:
    error = UpstreamRefused("the context window is exceeded", status=422)
    mapped = CHAT.map_error(error)
    assert (mapped.status, mapped.code) == (400, "context_length_exceeded")
    assert CHAT.error(error)["error"]["code"] == "context_length_exceeded"
    assert b'"context_length_exceeded"' in CHAT.encoder(REQUEST).feed(Failure(error, b'data: {"error": {}}\n\n'))
    assert CHAT.failed_stream(error, {"stream": True}) is None


def test_keep_alive_is_a_comment() -> None:
    assert CHAT.keep_alive() == b": keep-alive\n\n"


def test_models_are_listed_with_their_provider() -> None:
    assert model_list([("m", "p")]) == {
        "object": "list",
        "data": [{"id": "m", "object": "model", "created": 1_751_328_000, "owned_by": "p"}],
    }
    assert model_list([]) == {"object": "list", "data": []}
