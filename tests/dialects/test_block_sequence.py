"""The blocks that messages and responses share, tested through a front that writes one character per hook."""

from __future__ import annotations

from typing import Any

import pytest
from tests.dialects.chat_answers import (
    USAGE,
    args_delta,
    call_delta,
    chunk,
    custom_delta,
    reasoning_delta,
    text_delta,
    usage_chunk,
)

from moongate.chat.items import Chunk, Done, Failure, Item, Opaque
from moongate.dialects.answer_encoder import AnswerEncoder
from moongate.dialects.block_sequence import MAX_HELD
from moongate.dialects.blocks import Block
from moongate.dialects.chat_answer import AnswerHead, Finish
from moongate.errors import BadUpstream, GatewayError

pytestmark = pytest.mark.interpreted("derives a class from ours")


class Script(AnswerEncoder):
    """`(text|a|b)` is a block with two pieces."""

    def _begin(self, head: AnswerHead) -> bytes:
        return f"<{head.id}".encode()

    def _open(self, block: Block) -> bytes:
        return f"({block.kind}{block.name and f'={block.id}:{block.name}'}".encode()

    def _add_json(self, text: bytes) -> bytes:
        if text == b"too much":
            raise BadUpstream("too much")
        return b"|" + text

    def _shut(self) -> bytes:
        return b")"

    def _finish(self, finish: Finish) -> bytes:
        return f"{finish.reason}{finish.stop or ''}{'$' if finish.usage else ''}>".encode()

    def _fail(self, error: GatewayError) -> bytes:
        return f"!{error.message}".encode()


def script(*items: Item) -> str:
    encoder = Script()
    return b"".join(encoder.feed(item) for item in items).decode()


def test_reasoning_text_and_calls_are_blocks_in_order() -> None:
    items: list[Item] = [
        reasoning_delta("a"),
        reasoning_delta("b"),
        text_delta("c"),
        call_delta(0, "1", "f"),
        args_delta(0, "{}"),
        chunk(finish="tool_calls"),
        Done(),
    ]
    assert script(*items) == "<chatcmpl-abc(reasoning|a|b)(text|c)(call=1:f|{})tool_calls>"


def test_one_chunk_may_hold_everything() -> None:
    delta = {"reasoning": "r", "content": "t", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": {}}}]}
    assert (
        script(chunk(delta, "stop"), usage_chunk(), Done()) == "<chatcmpl-abc(reasoning|r)(text|t)(call=1:f|{})stop$>"
    )


def test_empty_deltas_are_ignored() -> None:
    items: list[Item] = [
        Chunk.of({"id": "x", "choices": [{"delta": None}]}),
        chunk({"role": "assistant", "content": "", "tool_calls": None}),
        chunk({"tool_calls": {"index": 0}}),
        chunk({"tool_calls": [None]}),
        Chunk.of({"choices": [{"index": 1, "delta": {"content": "second choice"}}], "usage": None}),
        Opaque(b": comment\n\n"),
        Done(),
    ]
    assert script(*items) == "<xstop>"


def test_a_missing_finish_reason_is_filled_in() -> None:
    assert script(text_delta("a"), Done()) == "<chatcmpl-abc(text|a)stop>"
    assert script(call_delta(0, "1", "f", "{}"), Done()) == "<chatcmpl-abc(call=1:f|{})tool_calls>"
    assert script(Done()) == "<stop>"


def test_the_matched_stop_sequence_is_passed_on() -> None:
    assert script(text_delta("a"), chunk(finish="stop", stop_reason="END"), Done()) == "<chatcmpl-abc(text|a)stopEND>"


def test_a_failure_ends_the_answer() -> None:
    encoder = Script()
    assert encoder.feed(text_delta("a")) == b"<chatcmpl-abc(text|a"
    assert encoder.feed(Failure(BadUpstream("cut"))) == b"!cut"
    assert encoder.failure is not None
    assert encoder.feed(text_delta("b")) == encoder.feed(Done()) == encoder.close() == b""


def test_a_truncated_stream_is_a_failure() -> None:
    encoder = Script()
    encoder.feed(text_delta("a"))
    assert encoder.close() == b"!the provider's stream ended early"
    assert encoder.close() == b""


def test_nothing_is_written_after_the_end() -> None:
    encoder = Script()
    encoder.feed(Done())
    assert encoder.close() == b""


def test_text_that_a_front_cannot_take_is_a_failure() -> None:
    encoder = Script()
    encoder.feed(text_delta("a"))
    assert encoder.feed(text_delta("too much")) == b"!too much"
    assert encoder.feed(Done()) == b""


# ---- calls ----------------------------------------------------------------------------------------------------


def test_sequential_calls() -> None:
    items: list[Item] = [
        call_delta(0, "1", "f"),
        args_delta(0, '{"a":'),
        args_delta(0, "1}"),
        call_delta(1, "2", "g", "{}"),
        Done(),
    ]
    assert script(*items) == '<chatcmpl-abc(call=1:f|{\\"a\\":|1})(call=2:g|{})tool_calls>'


def test_interleaved_calls_are_held_back_until_the_previous_one_ends() -> None:
    items = [
        call_delta(0, "1", "f", "{"),
        call_delta(1, "2", "g", "["),
        args_delta(0, '"}'),
        args_delta(1, "1"),
        args_delta(0, '":1}'),
    ]
    assert script(*items) == '<chatcmpl-abc(call=1:f|{|\\"}|\\":1})(call=2:g|[1'
    assert script(*items, args_delta(1, "]"), Done()).endswith("(call=2:g|[1|])tool_calls>")


def test_arguments_after_the_end_of_a_call_are_dropped() -> None:
    assert script(call_delta(0, "1", "f", "{}"), call_delta(1, "2", "g"), args_delta(0, "}"), Done()).endswith(
        "(call=1:f|{})(call=2:g)tool_calls>"
    )


def test_a_call_that_is_no_json_holds_back_the_rest_until_the_end() -> None:
    items = [
        call_delta(0, "1", "f", "oops"),
        text_delta("a"),
        reasoning_delta("b"),
        reasoning_delta("c"),
        call_delta(1, "2", "g", "{}"),
    ]
    assert script(*items) == "<chatcmpl-abc(call=1:f|oops"
    assert script(*items, chunk(finish="length"), Done()).endswith(
        "(call=1:f|oops)(text|a)(reasoning|bc)(call=2:g|{})length>"
    )


def test_text_after_a_finished_call_is_a_new_block() -> None:
    assert (
        script(call_delta(0, "1", "f", "{}"), text_delta("a"), Done())
        == "<chatcmpl-abc(call=1:f|{})(text|a)tool_calls>"
    )


def test_a_call_is_held_back_until_its_name_comes() -> None:
    unnamed = chunk({"tool_calls": [{"index": 0, "id": "1", "function": {"arguments": "{"}}]})
    named = chunk({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "}"}}]})
    assert script(unnamed) == "<chatcmpl-abc"
    assert script(unnamed, named, Done()) == "<chatcmpl-abc(call=1:f|{})tool_calls>"
    assert script(unnamed, Done()) == "<chatcmpl-abc(call|{)tool_calls>"


def test_deltas_without_an_index() -> None:
    def delta(**call: Any) -> Chunk:
        return chunk({"tool_calls": [call]})

    items = [
        delta(id="1", function={"name": "f", "arguments": "{"}),
        delta(function={"arguments": "}"}),
        delta(id="2", function={"name": "g"}),
        delta(function=None),
    ]
    assert script(*items, Done()) == "<chatcmpl-abc(call=1:f|{|})(call=2:g)tool_calls>"


def test_held_back_text_has_a_limit() -> None:
    encoder = Script()
    encoder.feed(call_delta(0, "1", "f", "{"))
    assert encoder.feed(call_delta(1, "2", "g", "{" + "." * (MAX_HELD - 1))) == b""
    assert encoder.feed(args_delta(1, "5")) == b"!the provider's parallel calls interleave beyond the limit"
    assert isinstance(encoder.failure, BadUpstream)


def test_released_arguments_no_longer_count() -> None:
    dots = "." * (MAX_HELD // 2)
    items = [
        call_delta(0, "1", "f", "{"),
        call_delta(1, "2", "g", "{" + dots),
        args_delta(0, "}"),
        call_delta(2, "3", "h", "{" + dots + "}"),
    ]
    expected = f"<chatcmpl-abc(call=1:f|{{|}})(call=2:g|{{{dots}|}})(call=3:h|{{{dots}}}"
    assert script(*items, args_delta(1, "}")) == expected


# ---- surrogate halves -----------------------------------------------------------------------------------------


def test_surrogate_halves_are_joined() -> None:
    assert script(text_delta("a\ud83d"), text_delta("\ude00b"), Done()) == "<chatcmpl-abc(text|a|😀b)stop>"
    assert script(text_delta("\ud83d"), text_delta("\ude00"), Done()) == "<chatcmpl-abc(text|😀)stop>"
    assert script(call_delta(0, "1", "f", '{"\ud83d'), args_delta(0, '\ude00":1}'), Done()).endswith(
        '|{\\"|😀\\":1})tool_calls>'
    )


def test_a_lone_surrogate_is_kept() -> None:
    assert script(text_delta("a\ud83d"), Done()) == "<chatcmpl-abc(text|a|\\ud83d)stop>"
    assert script(text_delta("a\ud83d"), text_delta("b"), Done()) == "<chatcmpl-abc(text|a|\\ud83db)stop>"


def test_the_last_usage_counts() -> None:
    seen: list[Finish] = []

    class Keeper(Script):
        def _finish(self, finish: Finish) -> bytes:
            seen.append(finish)
            return b""

    encoder = Keeper()
    for item in (usage_chunk({"prompt_tokens": 1}), usage_chunk(), chunk(finish="stop"), Done()):
        encoder.feed(item)
    assert [(finish.reason, finish.stop, finish.usage) for finish in seen] == [("stop", None, USAGE)]


def test_the_text_of_a_custom_call_is_the_input_of_an_object() -> None:
    items: list[Item] = [
        custom_delta(0, "", id="1", name="f"),
        custom_delta(0, 'a"'),
        custom_delta(0, "{\n"),
        chunk(finish="tool_calls"),
        Done(),
    ]
    inner = (r"{\"input\":\"", r"a\\\"", r"{\\n", r"\"}")
    assert script(*items) == f"<chatcmpl-abc(call=1:f|{'|'.join(inner)})tool_calls>"


def test_a_custom_call_ends_with_the_answer() -> None:
    """Its text has no end of its own, so what comes for it later must not be lost."""
    items: list[Item] = [
        custom_delta(0, "{}", id="1", name="f"),
        call_delta(1, "2", "g", "{}"),
        text_delta("t"),
        custom_delta(0, "b"),
        chunk(finish="stop"),
        Done(),
    ]
    assert script(*items) == (r"<chatcmpl-abc(call=1:f|{\"input\":\"{}|b|\"})(call=2:g|{})(text|t)stop>")


def test_a_call_without_a_body_is_no_custom_call() -> None:
    delta = {"tool_calls": [{"index": 0, "id": "1", "custom": None}]}
    assert script(chunk(delta, "stop"), Done()) == "<chatcmpl-abc(call)stop>"
