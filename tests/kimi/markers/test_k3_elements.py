"""What tags open and close: every case whole and at a few cuts."""

from __future__ import annotations

import pytest
from tests.kimi.k3_markup import NO_CALLS, TOOL_SET, argument, call, called, opened, parse, tools

from moongate.kimi.markers.k3_reader import K3Reader
from moongate.kimi.markers.pieces import CallOpened, Channel, Dropped


def test_channels() -> None:
    text = opened("think", "hm") + opened("response", "Hi <3 ") + tools(call(argument("1.5"))) + "<|end_of_msg|>"
    parsed = parse(text)
    assert (parsed.reasoning, parsed.content, parsed.calls) == ("hm", "Hi <3 ", [called('{"x": 1.5}')])


def test_the_answer_may_start_inside_a_channel() -> None:
    parsed = parse(f"Plan.<|close|>think<|sep|>{opened('response', 'Hi')}", "reasoning")
    assert (parsed.reasoning, parsed.content) == ("Plan.", "Hi")
    assert parse(f"Hi<|close|>response<|sep|>{tools(call())}").content == "Hi"


def test_the_message_element_does_not_switch_the_channel() -> None:
    parsed = parse(
        f'<|open|>message role="assistant"<|sep|>Plan.{opened("response", "Hi")}<|close|>message<|sep|>', "reasoning"
    )
    assert (parsed.reasoning, parsed.content) == ("Plan.", "Hi")


def test_a_channel_ends_where_another_begins() -> None:
    parsed = parse("<|open|>think<|sep|>a<|open|>response<|sep|>b<|open|>think<|sep|>c<|close|>think<|sep|>d")
    assert (parsed.reasoning, parsed.content) == ("ac", "bd")


@pytest.mark.parametrize("channel", ["content", "reasoning"])
def test_tools_end_think(channel: Channel) -> None:
    parsed = parse(f"<|open|>think<|sep|>a{tools(call())}b<|close|>think<|sep|>c", channel)
    assert (parsed.reasoning, parsed.content, parsed.calls) == ("a", "b\n\nc", [called()])


def test_after_tools_whitespace_is_dropped() -> None:
    assert parse(f"A \n{tools(call(), ' ', call())}\n<|close|>message<|sep|> <|end_of_msg|>\n").content == "A \n"
    assert parse(f"{tools(call())}\n x <|end_of_msg|> ").content == "\n x "


def test_before_tools_whitespace_is_kept() -> None:
    assert parse(f"{opened('think', 't')}\n{opened('response', ' ')}\n").content == "\n \n"


def test_text_inside_tools_is_kept() -> None:
    assert parse(tools("one ", call(" two "), "three")).content == "one  two three"


def test_a_closing_tag_without_sep_counts_before_a_marker_and_at_the_end() -> None:
    parsed = parse("<|open|>think<|sep|>thought<|close|>think<|open|>response<|sep|>reply<|close|>response")
    assert (parsed.reasoning, parsed.content) == ("thought", "reply")
    for end in ("", "<|close|>", "<|close|>to", "<|close|>tools", "<|close|>tools<|se"):
        for text in (f"<|open|>tools<|sep|>{call()}{end}", f"Hi{end}", f"{opened('response', 'Hi')}{end}"):
            parsed = parse(text)
            assert (parsed.content, parsed.reasoning) == ("Hi" if "Hi" in text else "", "")
            assert len(parsed.calls) == text.count("<|open|>call")
    assert parse("thought<|close|>think", "reasoning").reasoning == "thought"
    assert parse("Hi<|close|>think<|end").content == "Hi\n\n<|end"
    assert parse("a<|close|>think b").content == "a<|close|>think b", "in the middle of text it is text"


def test_tags_that_ran_together() -> None:
    text = f'A<|open|>toolscall tool="calc" index="1"<|sep|>{argument("1")}<|close|>call<|sep|>'
    parsed = parse(f"{text}<|close|>toolsmessage<|sep|><|end_of_msg|>")
    assert (parsed.content, parsed.calls) == ("A", [called('{"x": 1}')])
    for name in ("<|close|>toolscall<|sep|>", "<|open|>toolsmessage<|sep|>"):
        assert parse(f"{name}x").content == f"{name}x"


def test_a_lone_closing_tag_parts_words() -> None:
    for close in ("<|close|>think<|sep|>", "<|close|>think<|open|>response<|sep|>", "<|close|>think<|sep|>" * 2):
        assert parse(f"thought{close}answer").content == "thought\n\nanswer"
        assert parse(f"thought\n{close}answer").content == "thought\nanswer"
        assert parse(f"thought{close} answer").content == "thought answer"
        assert parse(f"thought{close}").content == "thought"
    assert parse(f"a<|close|>think<|sep|>{tools(call())}b").content == "ab"
    assert parse("a<|close|>response<|sep|>b").content == "ab"


@pytest.mark.parametrize(
    "end",
    [call(), "<|close|>tools<|sep|>", "<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|end_of_msg|>"],
)
def test_what_ends_a_call(end: str) -> None:
    parsed = parse(f'<|open|>tools<|sep|><|open|>call tool="calc"<|sep|>{argument("1")}{end}')
    assert parsed.calls[0] == called('{"x": 1}')


def test_stray_closing_tags_inside_a_call() -> None:
    assert parse(call("<|close|>argument<|sep|>", argument("1"), "<|close|>json<|sep|>")).calls == [called('{"x": 1}')]


@pytest.mark.parametrize(
    ("end", "arguments", "truncated"),
    [
        ("<|open|>argument key='", '{"x": 1', True),
        ("<|open|>", '{"x": 1', True),
        ("<|op", '{"x": 1', True),
        ("", '{"x": 1', True),
        ("<|", '{"x": 1', True),
        ("<|clo", '{"x": 1', True),
        ("<|close|>", '{"x": 1}', False),
        ("<|close|>call<", '{"x": 1}', False),
        ('<|open|>argument key="y" type="string"<|sep|>a', '{"x": 1, "y": "a', True),
        ('<|open|>argument key="y" type="string"<|sep|>a<|clo', '{"x": 1, "y": "a', True),
        ('<|open|>argument key="y" type="string"<|sep|>a<|close|>', '{"x": 1, "y": "a"', True),
        ('<|open|>argument key="y" type="string"<|sep|>a<|close|>argument', '{"x": 1, "y": "a"', True),
        ('<|open|>argument key="y" type="string"<|sep|>a<|close|>call', '{"x": 1, "y": "a<|close|>call', True),
    ],
)
def test_where_the_text_ends_inside_a_call(end: str, arguments: str, truncated: bool) -> None:
    assert parse(f'<|open|>call tool="calc"<|sep|>{argument("1")}{end}').calls == [
        called(arguments, truncated=truncated)
    ]


def test_a_call_truncated_in_the_tag_of_its_first_argument() -> None:
    assert parse('<|open|>call tool="calc"<|sep|><|open|>argument ke').calls == [called("{}", truncated=True)]
    assert parse('<|open|>call tool="calc"<|sep|>').calls == [called(truncated=True)]


def test_a_call_without_a_tool_name_is_dropped_and_reported() -> None:
    parsed = parse(f"A{tools(call(argument('1'), tool=' '), '<|open|>call<|sep|>x', call())}")
    assert (parsed.content, parsed.calls) == ("Ax", [called()])
    assert [why for text, why in parsed.dropped if "call" in text] == ["the call names no tool"] * 2
    assert parse('<|open|>call tool=""<|sep|><|open|>argument key="x"<|sep|>1').calls == []


def test_where_no_call_is_allowed() -> None:
    parsed = parse(f"A{tools(call(argument('1')))} B", tool_set=NO_CALLS)
    assert (parsed.content, parsed.calls) == ("A B", [])


def test_stray_tags_are_reported_once() -> None:
    parser = K3Reader(TOOL_SET, False)
    assert parser.feed("content", "<|end_of_msg|>") == [Dropped("<|end_of_msg|>", "a marker outside a call")]
    assert parser.feed("content", "<|end_of_msg|>") == []
    assert parser.feed("content", '<|open|>call tool="a"<|sep|>')[-1] == CallOpened("", "a")


@pytest.mark.parametrize("text", ["<|open|>door<|sep|>", "<|open|>to<|sep|>", "<|open|>json<|sep|>{}", argument("1")])
def test_an_unknown_tag_and_an_argument_outside_a_call_are_text(text: str) -> None:
    assert parse(text).content == text.replace("<|close|>argument<|sep|>", "")
