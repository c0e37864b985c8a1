"""A model whose name tells no generation: the first markup decides which grammar reads its answer."""

from __future__ import annotations

import pytest
from tests.kimi.k2_markup import ARGS, BEGIN, CALL, DONE, LS, TOOL_SET
from tests.kimi.k3_markup import argument, call, opened, tools
from tests.kimi.marker_reading import ParsedCall, ParsedChoice, read, ways

from moongate.kimi.markers.first_markup import FIRST_MARKUP, MAX_BLANKS, FirstMarkupParser
from moongate.kimi.markers.pieces import Channel, Text
from moongate.kimi.tool_tokens import K2_TOKENS

BASH = tools(call(argument("ls", "command", "string"), tool="bash"))
K2_CALL = ParsedCall("functions.bash:0", "bash", '{"command": "ls"}', truncated=False)
K3_CALL = ParsedCall("", "bash", '{"command": "ls"}', truncated=False)


def parser() -> FirstMarkupParser:
    return FirstMarkupParser(K2_TOKENS, TOOL_SET, repair_arguments=False)


def parse(*deltas: tuple[Channel, str]) -> ParsedChoice:
    """What the parser makes of these; the same at every cut, with shortcuts and without."""
    assert FIRST_MARKUP.plain_parser is not None
    results = [read(parser(), way) for way in ways(list(deltas))]
    results.append(read(FIRST_MARKUP.plain_parser(K2_TOKENS, TOOL_SET, False), deltas))
    assert all(one == results[0] for one in results)
    return results[0]


def test_k2_first() -> None:
    parsed = parse(("content", f"a <b{BEGIN}{LS}{BASH}"))
    assert parsed.calls == [K2_CALL]
    assert parsed.content == f"a <b{BASH}"


def test_k3_first() -> None:
    parsed = parse(("content", f"a <b{BASH}{LS}"))
    assert parsed.calls == [K3_CALL]
    assert parsed.content == f"a <b{LS}"


def test_text_without_markup_is_read_by_k2() -> None:
    parsed = parse(("content", "<think>a</think>b <|open|>the door<|sep|> <|close|> c<|im_end|>"))
    assert (parsed.reasoning, parsed.content) == ("a", "b <|open|>the door<|sep|> <|close|> c")


@pytest.mark.parametrize("channel", ["content", "reasoning"])
def test_closing_tags_decide(channel: Channel) -> None:
    parsed = parse((channel, "Plan.<|close|>think<|sep|>Hi"))
    assert parsed.reasoning + parsed.content in ("Plan.Hi", "Plan.\n\nHi")
    assert parse((channel, "Hi<|close|>thi")).dropped == [("<|close|>thi", "a marker outside a call")]
    assert parse((channel, "Hi<|end_of_msg|>")).dropped == [("<|end_of_msg|>", "a marker outside a call")]
    assert parse((channel, "Hi<|op")).dropped == []


def test_the_gap_of_a_closing_tag_sees_the_text_before_it() -> None:
    assert parse(("content", "a<|close|>think<|sep|>b")).content == "a\n\nb"
    assert parse(("content", "a <|close|>think<|sep|>b")).content == "a b"
    one = parser()
    assert one.idle_for("content") is False, "at the very start a think tag may follow"
    assert one.feed("content", "a") == [Text("content", "a")]
    assert one.idle_for("content")
    one.passed("content", "b")
    assert one.feed("content", "") == []
    assert one.feed("content", "<|") == []
    assert not one.idle_for("content")
    pieces = one.feed("content", "close|>think<|sep|>c")
    assert pieces[-1] == Text("content", "\n\nc")


def test_markup_across_the_fields() -> None:
    for at in range(1, len(BASH)):
        assert parse(("reasoning", BASH[:at]), ("content", BASH[at:])).calls == [K3_CALL]
    for at in range(1, len(LS)):
        assert parse(("reasoning", LS[:at]), ("content", LS[at:])).calls == [K2_CALL]
    parsed = parse(("reasoning", "a <|"), ("content", "b"))
    assert (parsed.reasoning, parsed.content) == ("a <|", "b")


def test_before_a_native_call_nothing_is_held_back() -> None:
    one = parser()
    assert one.feed("content", "a <|o") == [Text("content", "a ")]
    assert one.release() == [Text("content", "<|o")]


def test_blanks_before_the_name_are_bounded() -> None:
    blanks = " " * MAX_BLANKS
    assert parse(("content", f"<|open|>{blanks}tools<|sep|>a")).content == "a"
    assert parse(("content", f"<|open|>{blanks} tools<|sep|>a")).content == f"<|open|>{blanks} tools<|sep|>a"


def test_markers_of_both_grammars_are_known() -> None:
    markers = FIRST_MARKUP.markers(K2_TOKENS)
    assert {CALL, DONE, ARGS, BEGIN, "<|open|>", "<|end_of_msg|>"} <= {*markers}
    assert opened("response", "Hi")[:8] in markers
