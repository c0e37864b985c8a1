"""The shared row of blocks, seen through a front that writes down what happens in plain words."""

from __future__ import annotations

from typing import Any

import pytest
from tests.dialects.talk import USAGE, argues, calls, chunk, counted, says, thinks

from moongate.chat.items import Chunk, Done, Failure, Item, Opaque, Stretch
from moongate.dialects import blocks
from moongate.dialects.answer import Finish, Head
from moongate.dialects.block import Block
from moongate.dialects.blocks import AnswerEncoder
from moongate.errors import BadUpstream, GatewayError

pytestmark = pytest.mark.interpreted("derives a class from ours")


class Script(AnswerEncoder):
    """`(text|a|b)` is a block with two pieces."""

    def _begin(self, head: Head) -> bytes:
        return f"<{head.id}".encode()

    def _open(self, block: Block) -> bytes:
        return f"({block.kind}{block.name and f'={block.id}:{block.name}'}".encode()

    def _add(self, text: bytes) -> bytes:
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


def stretch(text: bytes, field: str = "content", choice: int = 0) -> Stretch:
    return Stretch(b"", text, field, choice)


def test_reasoning_text_and_calls_are_blocks_in_order() -> None:
    items: list[Item] = [
        thinks("a"),
        thinks("b"),
        says("c"),
        calls(0, "1", "f"),
        argues(0, "{}"),
        chunk(finish="tool_calls"),
        Done(),
    ]
    assert script(*items) == "<chatcmpl-abc(reasoning|a|b)(text|c)(call=1:f|{})tool_calls>"


def test_one_chunk_may_say_everything() -> None:
    delta = {"reasoning": "r", "content": "t", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": {}}}]}
    assert script(chunk(delta, "stop"), counted(), Done()) == "<chatcmpl-abc(reasoning|r)(text|t)(call=1:f|{})stop$>"


def test_chunks_of_every_class_are_read() -> None:
    class Made(Chunk):
        """What a mould or a template gives is a chunk too."""

    assert script(Made(says("a").payload), Done()) == "<chatcmpl-abc(text|a)stop>"


def test_empty_deltas_say_nothing() -> None:
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


def test_the_end_without_a_reason_gets_one() -> None:
    assert script(says("a"), Done()) == "<chatcmpl-abc(text|a)stop>"
    assert script(calls(0, "1", "f", "{}"), Done()) == "<chatcmpl-abc(call=1:f|{})tool_calls>"
    assert script(Done()) == "<stop>"


def test_the_stop_text_is_passed_on() -> None:
    assert script(says("a"), chunk(finish="stop", stop_reason="END"), Done()) == "<chatcmpl-abc(text|a)stopEND>"


def test_a_failure_ends_the_answer() -> None:
    encoder = Script()
    assert encoder.feed(says("a")) == b"<chatcmpl-abc(text|a"
    assert encoder.feed(Failure(BadUpstream("cut"))) == b"!cut"
    assert encoder.failure is not None
    assert encoder.feed(says("b")) == encoder.feed(Done()) == encoder.plain(stretch(b"x")) == encoder.close() == b""


def test_an_input_that_ends_too_early_is_a_failure() -> None:
    encoder = Script()
    encoder.feed(says("a"))
    assert encoder.close() == b"!the provider's stream ended early"
    assert encoder.close() == b""


def test_nothing_follows_the_end() -> None:
    encoder = Script()
    encoder.feed(Done())
    assert encoder.close() == b""


# ---- plain stretches ------------------------------------------------------------------------------------------


def test_a_stretch_is_one_piece_as_json_wrote_it() -> None:
    encoder = Script()
    encoder.feed(says("a"))
    assert encoder.plain(stretch(b"b\\n\\u00e9")) == b"|b\\n\\u00e9"
    assert encoder.plain(stretch(b"of another", choice=1)) == b""
    assert encoder.plain(stretch(b"")) == b""


def test_a_stretch_of_another_field_begins_a_block() -> None:
    encoder = Script()
    encoder.feed(thinks("a"))
    assert encoder.plain(stretch(b"b", "reasoning")) == b"|b"
    assert encoder.plain(stretch(b"c\\n")) == b")(text|c\\n"
    assert encoder.plain(stretch(b"d", "reasoning_content")) == b")(reasoning|d"


def test_a_stretch_may_come_first_and_tells_who_answers() -> None:
    assert Script().plain(stretch(b"a")) == b"<(text|a"
    sample: dict[str, Any] = {"id": "7", "choices": [{"index": 0, "delta": {"content": "b"}}]}
    assert Script().plain(Stretch(b"", b"a", "content", 0, (), sample)) == b"<7(text|a"


def test_a_stretch_during_an_open_call_waits() -> None:
    encoder = Script()
    encoder.feed(calls(0, "1", "f", "{"))
    assert encoder.plain(stretch(b"a")) == encoder.plain(stretch(b"b")) == b""
    assert encoder.feed(argues(0, "}")) == b"|})(text|ab"
    assert encoder.plain(stretch(b"c")) == b"|c"


def test_a_stretch_that_is_too_much_is_a_failure() -> None:
    encoder = Script()
    encoder.feed(says("a"))
    assert encoder.plain(stretch(b"too much")) == b"!too much"
    assert encoder.feed(Done()) == b""


# ---- calls ----------------------------------------------------------------------------------------------------


def test_calls_one_after_the_other() -> None:
    items: list[Item] = [calls(0, "1", "f"), argues(0, '{"a":'), argues(0, "1}"), calls(1, "2", "g", "{}"), Done()]
    assert script(*items) == '<chatcmpl-abc(call=1:f|{\\"a\\":|1})(call=2:g|{})tool_calls>'


def test_interleaved_calls_wait_for_the_one_before() -> None:
    items = [calls(0, "1", "f", "{"), calls(1, "2", "g", "["), argues(0, '"}'), argues(1, "1"), argues(0, '":1}')]
    assert script(*items) == '<chatcmpl-abc(call=1:f|{|\\"}|\\":1})(call=2:g|[1'
    assert script(*items, argues(1, "]"), Done()).endswith("(call=2:g|[1|])tool_calls>")


def test_what_comes_after_the_json_of_a_call_that_ended_belongs_to_nothing() -> None:
    assert script(calls(0, "1", "f", "{}"), calls(1, "2", "g"), argues(0, "}"), Done()).endswith(
        "(call=1:f|{})(call=2:g)tool_calls>"
    )


def test_a_call_that_never_becomes_json_holds_the_rest_until_the_end() -> None:
    items = [calls(0, "1", "f", "oops"), says("a"), thinks("b"), thinks("c"), calls(1, "2", "g", "{}")]
    assert script(*items) == "<chatcmpl-abc(call=1:f|oops"
    assert script(*items, chunk(finish="length"), Done()).endswith(
        "(call=1:f|oops)(text|a)(reasoning|bc)(call=2:g|{})length>"
    )


def test_text_after_a_finished_call_is_a_block_of_its_own() -> None:
    assert script(calls(0, "1", "f", "{}"), says("a"), Done()) == "<chatcmpl-abc(call=1:f|{})(text|a)tool_calls>"


def test_a_call_waits_for_its_name() -> None:
    unnamed = chunk({"tool_calls": [{"index": 0, "id": "1", "function": {"arguments": "{"}}]})
    named = chunk({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "}"}}]})
    assert script(unnamed) == "<chatcmpl-abc"
    assert script(unnamed, named, Done()) == "<chatcmpl-abc(call=1:f|{})tool_calls>"
    assert script(unnamed, Done()) == "<chatcmpl-abc(call|{)tool_calls>"


def test_deltas_without_a_number() -> None:
    def delta(**call: Any) -> Chunk:
        return chunk({"tool_calls": [call]})

    items = [
        delta(id="1", function={"name": "f", "arguments": "{"}),
        delta(function={"arguments": "}"}),
        delta(id="2", function={"name": "g"}),
        delta(function=None),
    ]
    assert script(*items, Done()) == "<chatcmpl-abc(call=1:f|{|})(call=2:g)tool_calls>"


def test_held_back_text_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MAX_HELD", 4)
    encoder = Script()
    encoder.feed(calls(0, "1", "f", "{"))
    assert encoder.feed(calls(1, "2", "g", "{...")) == b""
    assert encoder.feed(argues(1, "5")) == b"!the provider's parallel calls interleave beyond the limit"
    assert isinstance(encoder.failure, BadUpstream)


def test_what_left_no_longer_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MAX_HELD", 4)
    items = [calls(0, "1", "f", "{"), calls(1, "2", "g", "{..."), argues(0, "}"), calls(2, "3", "h", "{..}")]
    assert script(*items, argues(1, "}")) == "<chatcmpl-abc(call=1:f|{|})(call=2:g|{...|})(call=3:h|{..}"


# ---- characters cut in half -----------------------------------------------------------------------------------


def test_the_halves_of_a_character_leave_together() -> None:
    assert script(says("a\ud83d"), says("\ude00b"), Done()) == "<chatcmpl-abc(text|a|😀b)stop>"
    assert script(says("\ud83d"), says("\ude00"), Done()) == "<chatcmpl-abc(text|😀)stop>"
    assert script(calls(0, "1", "f", '{"\ud83d'), argues(0, '\ude00":1}'), Done()).endswith(
        '|{\\"|😀\\":1})tool_calls>'
    )


def test_a_lone_half_is_not_lost() -> None:
    assert script(says("a\ud83d"), Done()) == "<chatcmpl-abc(text|a|\\ud83d)stop>"
    assert script(says("a\ud83d"), says("b"), Done()) == "<chatcmpl-abc(text|a|\\ud83db)stop>"


def test_halves_in_stretches() -> None:
    encoder = Script()
    encoder.feed(says("a"))
    assert encoder.plain(stretch(b"b\\uD83D")) == b"|b"
    assert encoder.plain(stretch(b"\\ude00c")) == "|😀c".encode()
    assert encoder.plain(stretch(b"d")) == b"|d"


def test_usage_is_the_last_one_told() -> None:
    seen: list[Finish] = []

    class Keeper(Script):
        def _finish(self, finish: Finish) -> bytes:
            seen.append(finish)
            return b""

    encoder = Keeper()
    for item in (counted({"prompt_tokens": 1}), counted(), chunk(finish="stop"), Done()):
        encoder.feed(item)
    assert [(finish.reason, finish.stop, finish.usage) for finish in seen] == [("stop", None, USAGE)]


def test_the_next_text_of_an_open_block_has_a_short_way() -> None:
    encoder = Script()
    assert encoder.writer(stretch(b"a")) is None  # nothing is open
    encoder.feed(says("a"))
    assert encoder.writer(stretch(b"a", "reasoning")) is None
    assert encoder.writer(stretch(b"a", choice=1)) is None
    write = encoder.writer(stretch(b"a"))
    assert write is not None
    assert write(b"b\\n") == b"|b\\n"
    assert write(b"too much") == b"!too much"
    assert write(b"c") == b""
    assert encoder.failure is not None
