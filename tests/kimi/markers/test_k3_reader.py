"""Tags and tokens: every case whole and at a few cuts."""

from __future__ import annotations

import pytest
from tests.kimi.k3_markup import NO_CALLS, TOOL_SET, argument, call, called, opened, parse, tools
from tests.kimi.marker_reading import ParsedChoice, read, ways

from moongate.kimi.markers.k3_reader import K3Reader
from moongate.kimi.markers.k3_tags import MAX_TAG_CHARS
from moongate.kimi.markers.pieces import CallArguments, Channel, Text


@pytest.mark.parametrize("at", range(1, len("<|close|>")))
@pytest.mark.parametrize("name", ["think", "response"])
def test_a_closing_tag_behind_a_token_across_the_seam_is_one_of_its_own_field(at: int, name: str) -> None:
    text = f"<|close|><|close|>{name}<|sep|>h"
    deltas: list[tuple[Channel, str]] = [("content", text[:at]), ("reasoning", text[at:])]
    for way in ways(deltas):
        assert read(K3Reader(TOOL_SET, False), way).content == "h"
    deltas = [("reasoning", text[:at]), ("content", text[at:])]
    for way in ways([*deltas, ("reasoning", "p")]):
        parsed = read(K3Reader(TOOL_SET, False), way)
        assert (parsed.content, parsed.reasoning) == ("h", "p")


def test_plain_text_stays() -> None:
    for text in ("a <|optional|> b <|o", "x <|sep|> y", "", "<"):
        assert parse(text) == ParsedChoice(text)
        assert parse(text, "reasoning") == ParsedChoice("", text)


@pytest.mark.parametrize(
    "text",
    [
        "Write <|close|> to end a tag.",
        "a<|close|>b",
        "<|open|> a door",
        "<|open|>door<|sep|>",
        "<|open|>to<|sep|>",
        "<|close|>door<|sep|>",
        "<|close|>call x<|sep|>",
        "<|open|>tools",
        '<|open|>call tool="a',
        "<|open|>call<|open|>",
        argument("1"),
        "<|open|>json<|sep|>{}",
        f"<|open|>call {'x' * MAX_TAG_CHARS}<|sep|>",
    ],
)
def test_what_is_no_tag_is_text(text: str) -> None:
    assert parse(text).content == text.replace("<|close|>argument<|sep|>", "")


def test_whitespace_inside_tags() -> None:
    text = '<|open|> tools <|sep|><|open|>\ncall tool = "calc" <|sep|><|open|>argument key="x" type="string" <|sep|>1'
    assert parse(f"{text}<|close|> argument <|sep|><|close|> call <|sep|><|close|>tools\n<|sep|>").calls == [
        called('{"x": "1"}')
    ]


@pytest.mark.parametrize("channel", ["content", "reasoning"])
def test_a_piece_of_a_closing_tag_before_a_piece_of_a_token_is_text(channel: Channel) -> None:
    """A second pass must find at the end what the first one left there, when it removed the last tag."""
    for text in ("a<|close|>thi<|clo", "<|close|><|o", "<|close|> <|en"):
        once, twice = parse(f"{text}<|close|>", channel), parse(text, channel)
        assert once.content + once.reasoning == twice.content + twice.reasoning == text
    assert parse("a<|close|>think<|op", channel).content.endswith("<|op")  # the next tag was cut
    cut = parse("a<|close|>thi<|s", channel)
    assert cut.content + cut.reasoning == "a"  # its own end was cut


@pytest.mark.parametrize("channel", ["content", "reasoning"])
@pytest.mark.parametrize("name", ["tools", "response", "think", "message", "call"])
def test_the_end_of_a_message_inside_an_opening_tag_is_removed_first(name: str, channel: Channel) -> None:
    """A second pass must not find a tag that arose from the removal."""
    for at in range(len(name) + 1):
        parsed = parse(f"a<|open|>{name[:at]}<|end_of_msg|>{name[at:]}<|sep|>", channel)
        assert (parsed.content + parsed.reasoning, parsed.calls) == ("a", [])
    for text in (f"a<|open|>{name}", f"a<|open|>x{name}<|sep|>", "a<|open|>" + " " * 600 + f"{name}<|sep|>"):
        parsed = parse(text.replace("<|open|>", "<|open|><|end_of_msg|>"), channel)
        assert parsed.content + parsed.reasoning == text


def test_inside_a_call_the_end_of_the_message_ends_it() -> None:
    parsed = parse('<|open|>tools<|sep|><|open|>call tool="bash"<|sep|><|open|>argument key="t"<|end_of_msg|><|sep|>b')
    assert [call.truncated for call in parsed.calls] == [False]


def test_a_body_ends_at_its_own_tag_only() -> None:
    body = "a<|close|>b<|close|>call<|sep|><|open|>tools<|sep|><|end_of_msg|><|sep|><|close|> c"
    assert parse(tools(call(argument(body, "t", "string")))).calls == [called(f'{{"t": "{body}"}}')]
    body = '{"a": "<|close|>argument<|sep|>"}'
    assert parse(tools(call(opened("json", body)))).calls == [called(body)]


def test_repair() -> None:
    assert parse(call(opened("json", '{"a": "x\ny"}')), repair=True).calls == [called('{"a": "x\\ny"}')]


def test_repeated_tokens() -> None:
    assert parse(f"<|open|><|open|>{tools(call())[8:]}").content == "<|open|>"
    assert parse("<|close|>" * 3 + "x").content == "<|close|>x"
    assert parse("a<|close|>to<|close|> <|end_of_msg|>b<|close|><|sep|>").content == "ab<|close|><|sep|>"


def test_a_closing_tag_that_is_cut_before_another_token_closes() -> None:
    assert parse("a<|close|>thi<|s<|open|>response<|sep|>b").content == "ab"
    assert parse("a<|close|><|<|open|>tools<|sep|>b").content == "ab"
    assert parse("a<|close|>think<|se<|end_of_msg|>").content == "a"
    assert parse("a<|close|><|<|op").content == "a<|close|><|<|op"
    assert parse(f"<|open|>tools<|sep|>{call(argument('1')[:-7])}").calls == [called('{"x": 1}')]


def test_arguments_stream() -> None:
    parser = K3Reader(TOOL_SET, False)
    parser.feed("content", '<|open|>call tool="calc"<|sep|>')
    assert parser.in_call
    assert parser.feed("content", '<|open|>argument key="t" type="string"<|sep|>a') == [CallArguments('{"t": "a')]
    assert parser.feed("content", "\n") == [CallArguments("\\n")]
    assert parser.feed("content", "<") == []
    assert parser.feed("content", "b") == [CallArguments("<b")]


def test_idle_means_that_text_without_markers_need_not_be_fed() -> None:
    parser = K3Reader(TOOL_SET, False)
    assert parser.idle_for("content")
    parser.feed("content", "<")
    assert not parser.idle_for("content")
    parser.feed("content", "a<|open|>")
    assert not parser.idle_for("content")
    parser.feed("content", "think<|sep|>")
    assert not parser.idle_for("content"), "it would come out as reasoning"
    parser.feed("content", "<|close|>think<|sep|>")
    assert parser.idle_for("content")
    parser.feed("content", tools(call()))
    assert not parser.idle_for("content"), "whitespace is held back"
    assert parser.feed("content", "x") == [Text("content", "x")]
    assert parser.idle_for("content")
    parser.feed("content", '<|open|>call tool="a"<|sep|>')
    assert not parser.idle_for("content")


def test_the_end_of_the_message_ends_a_call() -> None:
    parsed = parse(f'<|open|>call tool="calc"<|sep|>{argument("1")}<|end_of_msg|>Bye')
    assert (parsed.content, parsed.calls) == ("Bye", [called('{"x": 1}')])


def test_complete_calls_are_not_read_in_one_step_where_no_call_is_allowed() -> None:
    assert parse(tools(call(), call()), tool_set=NO_CALLS).calls == []


def read_deltas(*deltas: tuple[Channel, str]) -> ParsedChoice:
    """What the parser makes of these; the same at every cut."""
    results = [read(K3Reader(TOOL_SET, False), way) for way in ways(list(deltas))]
    assert all(one == results[0] for one in results)
    return results[0]


CALLING = tools(call(argument("hi", "t", "string")))
RUN_TOGETHER = CALLING.replace("<|sep|><|open|>call", "call").replace("<|close|>tools", "<|close|>toolsmessage")


@pytest.mark.parametrize("calling", [CALLING, RUN_TOGETHER])
def test_a_call_is_read_across_the_seam_of_the_fields(calling: str) -> None:
    text = f"Plan.{calling}Done."
    for at in range(len("Plan."), len(text) - len("Done.") + 1):
        parsed = read_deltas(("reasoning", text[:at]), ("content", text[at:]))
        assert (parsed.reasoning, parsed.content, parsed.calls) == ("Plan.", "Done.", [called('{"t": "hi"}')])


@pytest.mark.parametrize("text", ["a <|open|>door<|sep|> b", "a<|close|>thin b", f"<|open|>call {'x' * 600}"])
def test_what_is_no_tag_leaves_in_the_fields_it_stands_in(text: str) -> None:
    for at in range(1, len(text)):
        parsed = read_deltas(("reasoning", text[:at]), ("content", text[at:]))
        assert (parsed.reasoning, parsed.content) == (text[:at], text[at:])


@pytest.mark.parametrize("end", ["<|close|>think", "<|close|>think ", "<|close|>message"])
def test_a_closing_tag_at_the_end_of_a_field_closes(end: str) -> None:
    parsed = read_deltas(("reasoning", f"Plan.{end}"), ("content", "Hi"))
    assert (parsed.reasoning, parsed.content) == ("Plan.", "Hi")
    parsed = read_deltas(("reasoning", f"Plan.{end}"), ("content", "<|sep|>Hi"))
    assert (parsed.reasoning, parsed.content) == ("Plan.", "Hi")
    parsed = read_deltas(("reasoning", f"Plan.{end}"), ("content", " <|open|>response<|sep|>Hi"))
    assert (parsed.reasoning, parsed.content) == ("Plan.", "Hi")


def test_an_argument_may_end_with_its_field() -> None:
    opening = '<|open|>call tool="calc"<|sep|><|open|>argument key="x" type="string"<|sep|>a'
    parsed = read_deltas(("reasoning", f"{opening}<|close|>argument"), ("content", "<|close|>call<|sep|>"))
    assert parsed.calls == [called('{"x": "a"}')]
    parsed = read_deltas(("reasoning", f"{opening}<|close|>call"), ("content", "b<|close|>argument<|close|>call"))
    assert parsed.calls == [called('{"x": "a<|close|>callb"}')]


def test_before_a_native_call_no_tag_is_held_back() -> None:
    parser = K3Reader(TOOL_SET, False)
    assert parser.feed("content", "see <|op") == [Text("content", "see ")]
    assert parser.release() == [Text("content", "<|op")]
    assert parser.feed("content", "en|>tools<|sep|>") == [Text("content", "en|>tools<|sep|>")]
    parser.feed("content", '<|open|>call tool="calc"<|sep|>')
    assert parser.release() == []
    assert parser.in_call


def test_text_that_passed_unread_counts_for_the_gap() -> None:
    parser = K3Reader(TOOL_SET, False)
    assert parser.feed("content", "") == []
    parser.passed("content", "b")
    assert parser.feed("content", "<|close|>think<|sep|>c")[-1] == Text("content", "\n\nc")


def test_the_beginning_of_a_token_at_the_end_is_text() -> None:
    assert parse("a <|clos").content == "a <|clos"
    assert parse("a<|open|>thi").content == "a<|open|>thi"


def test_reading_goes_on_behind_calls_that_were_read_in_one_step() -> None:
    assert len(parse(call() * 40 + call(argument("1"))).calls) == 41
    assert parse(f'{call()}<|open|>call tool="calc"<|sep|>').calls == [called(), called(truncated=True)]


def test_text_that_ends_in_an_opening_tag_inside_a_call() -> None:
    assert parse('<|open|>call tool="calc"<|sep|><|open|>argu').calls == [called(truncated=True)]


@pytest.mark.parametrize("behind", ["<|close|>call<|sep|>", "<|open|>think<|sep|>", "<|end_of_msg|>", ""])
def test_a_closing_tag_before_a_piece_of_a_token_closes_as_at_the_end_of_the_text(behind: str) -> None:
    """What stands behind the piece is removed, so that a second reading finds both at the end."""
    for piece in ("<|clo", "<|open|", "<|e"):
        assert parse(f"a<|close|>response{piece}{behind}").content == f"a{piece}"
    assert parse("a<|close|>response<|clo b") == ParsedChoice("a<|close|>response<|clo b")
