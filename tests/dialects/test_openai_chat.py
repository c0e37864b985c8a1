from __future__ import annotations

from typing import Any

from moongate.chat.contracts import Encoder
from moongate.chat.items import Chunk, Done, Failure, Opaque, Stretch
from moongate.dialects.openai_chat import CHAT, ChatEncoder
from moongate.errors import BadRequest, BadUpstream, UpstreamRefused

ASKED: dict[str, Any] = {"model": "kimi", "messages": []}


def test_requests_and_answers_are_the_same_objects() -> None:
    reply: dict[str, Any] = {"choices": []}
    assert CHAT.decode(ASKED) is ASKED
    assert CHAT.encode(reply, ASKED) is reply
    assert CHAT.left_out(ASKED) == []


def test_untouched_items_leave_with_their_own_bytes() -> None:
    encoder = CHAT.encoder(ASKED)
    assert encoder.feed(Chunk({"a": 1}, b'data:  {"a" : 1}\r\n\r\n')) == b'data:  {"a" : 1}\r\n\r\n'
    assert encoder.feed(Opaque(b": x\n\n")) == b": x\n\n"
    assert encoder.plain(Stretch(b"raw", b"text", "content", 0)) == b"raw"
    assert encoder.feed(Done(b"data:[DONE]\n\n")) == b"data:[DONE]\n\n"
    assert encoder.close() == b""


def test_changed_items_are_written() -> None:
    assert CHAT.encoder(ASKED).feed(Chunk.of({"a": "é"})) == 'data: {"a":"é"}\n\n'.encode()


def test_errors() -> None:
    error = BadRequest("must be a list", path="messages", code="bad")
    body = {"message": "messages: must be a list", "type": "invalid_request_error", "param": "messages", "code": "bad"}
    assert CHAT.error(error) == {"error": body}
    assert CHAT.told(error) is error


def test_an_error_may_be_said_with_anything() -> None:
    odd: Any = {"code": 1305, "path": None}
    error = UpstreamRefused(ValueError("no"), status=429, **odd)  # type: ignore[arg-type]
    body = {"message": "no", "type": "upstream_error", "param": None, "code": "1305"}
    assert CHAT.error(error) == {"error": body}
    assert (error.message, str(error)) == ("no", "no")


def test_errors_in_the_middle_of_a_stream() -> None:
    encoder = CHAT.encoder(ASKED)
    assert encoder.feed(Failure(BadUpstream("cut"))) == (
        b'data: {"error":{"message":"cut","type":"upstream_error","param":null,"code":null}}\n\n'
    )
    assert encoder.feed(Failure(BadUpstream("x"), b'data: {"error": {}}\n\n')) == b'data: {"error": {}}\n\n'


def test_a_prompt_that_is_too_long_has_the_code() -> None:
    error = UpstreamRefused("the context window is exceeded", status=422)
    told = CHAT.told(error)
    assert (told.status, told.code) == (400, "context_length_exceeded")
    assert CHAT.error(error)["error"]["code"] == "context_length_exceeded"
    assert b'"context_length_exceeded"' in CHAT.encoder(ASKED).feed(Failure(error, b'data: {"error": {}}\n\n'))
    assert CHAT.failed_stream(error, {"stream": True}) is None


def test_keep_alive_is_a_comment() -> None:
    assert CHAT.keep_alive() == b": keep-alive\n\n"


def test_a_chat_stream_needs_no_writer() -> None:
    encoder: Encoder = ChatEncoder()
    assert encoder.writer(Stretch(b"raw", b"a", "content", 0)) is None
