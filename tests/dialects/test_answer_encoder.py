"""Text for the open block of a stream, escaped as JSON writes it."""

from __future__ import annotations

import pytest
from tests.dialects.chat_answers import args_delta, call_delta, reasoning_delta, text_delta

from moongate.chat.items import Done, Failure, Opaque
from moongate.dialects.answer_encoder import AnswerEncoder
from moongate.dialects.blocks import Block
from moongate.dialects.chat_answer import AnswerHead, Finish
from moongate.errors import BadUpstream, GatewayError

pytestmark = pytest.mark.interpreted("derives a class from ours")


class Script(AnswerEncoder):
    """`(text|a|b)` is a block with two pieces."""

    def _begin(self, head: AnswerHead) -> bytes:
        return b"<"

    def _open(self, block: Block) -> bytes:
        return f"({block.kind}".encode()

    def _add_json(self, text: bytes) -> bytes:
        if text == b"too much":
            raise BadUpstream("too much")
        return b"|" + text

    def _shut(self) -> bytes:
        return b")"

    def _finish(self, finish: Finish) -> bytes:
        return b">"

    def _fail(self, error: GatewayError) -> bytes:
        return f"!{error.message}".encode()


def test_text_of_chunks_is_escaped() -> None:
    encoder = Script()
    assert encoder.feed(text_delta('a"\n')) == b'<(text|a\\"\\n'


def test_text_is_appended_to_the_open_block() -> None:
    encoder = Script()
    assert not encoder.is_open("text")
    encoder.feed(text_delta("a"))
    assert encoder.is_open("text")
    assert not encoder.is_open("reasoning")
    assert encoder.append(b"b\\n\\u00e9") == b"|b\\n\\u00e9"
    encoder.feed(reasoning_delta("c"))
    assert encoder.is_open("reasoning")
    assert not encoder.is_open("text")


def test_no_block_is_open_for_text_while_something_is_held_back() -> None:
    encoder = Script()
    encoder.feed(text_delta("a\ud83d"))
    assert not encoder.is_open("text"), "half a character"
    encoder.feed(text_delta("\ude00"))
    assert encoder.is_open("text")
    encoder.feed(call_delta(0, "1", "f", "{"))
    encoder.feed(text_delta("b"))
    assert not encoder.is_open("call"), "text is held back behind the call"
    assert encoder.feed(args_delta(0, "}")) == b"|})(text|b"
    assert encoder.is_open("text")


def test_an_answer_ends_once() -> None:
    encoder = Script()
    encoder.feed(text_delta("a"))
    assert encoder.feed(Opaque(b": comment\n\n")) == b""
    assert encoder.feed(Done()) == b")>"
    assert encoder.feed(text_delta("b")) == encoder.close() == b""
    broken = Script()
    assert broken.feed(Failure(BadUpstream("cut"))) == b"!cut"
    assert broken.close() == b""
    assert Script().close() == b"!the provider's stream ended early"
    refused = Script()
    assert refused.feed(text_delta("too much")) == b"!too much"


def test_text_that_is_too_much_is_a_failure() -> None:
    encoder = Script()
    encoder.feed(text_delta("a"))
    assert encoder.append(b"too much") == b"!too much"
    assert encoder.append(b"b") == encoder.feed(Done()) == b""
    assert encoder.failure is not None
