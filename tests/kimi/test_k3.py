"""K3's grammar: every case whole and at a few cuts."""

from __future__ import annotations

import pytest
from tests.kimi.marker_reading import CUTS, Heard, Said, cut_in, read

from moongate.kimi.k3 import K3Lane, K3Parser
from moongate.kimi.k3_tags import MAX_TAG_CHARS
from moongate.kimi.offer import Offer, ToolKeys
from moongate.kimi.pieces import CallArguments, CallOpened, Channel, Dropped, Text

OFFER = Offer({"calc": ToolKeys()})
NO_CALLS = Offer(OFFER.tools, calls_allowed=False)


def opened(name: str, body: str = "", rest: str = "") -> str:
    return f"<|open|>{name}{rest}<|sep|>{body}<|close|>{name}<|sep|>"


def argument(body: str, key: str = "x", kind: str = "number") -> str:
    return opened("argument", body, f' key="{key}" type="{kind}"')


def call(*children: str, tool: str = "calc") -> str:
    return opened("call", "".join(children), f' tool="{tool}" index="1"')


def tools(*calls: str) -> str:
    return opened("tools", "".join(calls))


def hear(text: str, home: Channel = "content", offer: Offer = OFFER, mend: bool = False) -> Heard:
    """The same at every cut."""
    heard: list[Heard] = []
    for pieces in ([text], *(cut_in(text, size) for size in CUTS)):
        reader = K3Lane(home, offer, mend)
        one = Heard()
        for piece in pieces:
            one.take(reader.feed(piece))
        heard.append(one.take(reader.close()))
        assert not reader.calling
        assert reader.close() == []
    assert all(one == heard[0] for one in heard)
    return heard[0]


def said(arguments: str = "{}", name: str = "calc", cut: bool = False) -> Said:
    return Said("", name, arguments, cut)


def test_channels() -> None:
    text = opened("think", "hm") + opened("response", "Hi <3 ") + tools(call(argument("1.5"))) + "<|end_of_msg|>"
    heard = hear(text)
    assert (heard.reasoning, heard.content, heard.calls) == ("hm", "Hi <3 ", [said('{"x": 1.5}')])


def test_plain_text_stays() -> None:
    for text in ("a <|optional|> b <|o", "x <|sep|> y", "", "<"):
        assert hear(text) == Heard(text)
        assert hear(text, "reasoning") == Heard("", text)


def test_the_answer_may_start_inside_a_channel() -> None:
    heard = hear(f"Plan.<|close|>think<|sep|>{opened('response', 'Hi')}", "reasoning")
    assert (heard.reasoning, heard.content) == ("Plan.", "Hi")
    assert hear(f"Hi<|close|>response<|sep|>{tools(call())}").content == "Hi"


def test_the_message_itself_is_no_channel() -> None:
    heard = hear(
        f'<|open|>message role="assistant"<|sep|>Plan.{opened("response", "Hi")}<|close|>message<|sep|>', "reasoning"
    )
    assert (heard.reasoning, heard.content) == ("Plan.", "Hi")


def test_a_channel_ends_where_another_begins() -> None:
    heard = hear("<|open|>think<|sep|>a<|open|>response<|sep|>b<|open|>think<|sep|>c<|close|>think<|sep|>d")
    assert (heard.reasoning, heard.content) == ("ac", "bd")


@pytest.mark.parametrize("home", ["content", "reasoning"])
def test_tools_end_think(home: Channel) -> None:
    heard = hear(f"<|open|>think<|sep|>a{tools(call())}b<|close|>think<|sep|>c", home)
    assert (heard.reasoning, heard.content, heard.calls) == ("a", "bc", [said()])


def test_behind_tools_stretches_of_blanks_are_dropped() -> None:
    assert hear(f"A \n{tools(call(), ' ', call())}\n<|close|>message<|sep|> <|end_of_msg|>\n").content == "A \n"
    assert hear(f"{tools(call())}\n x <|end_of_msg|> ").content == "\n x "


def test_before_them_blanks_stay() -> None:
    assert hear(f"{opened('think', 't')}\n{opened('response', ' ')}\n").content == "\n \n"


def test_other_text_inside_tools_stays() -> None:
    assert hear(tools("one ", call(" two "), "three")).content == "one  two three"


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
        "<|close|>think<|end",
        argument("1"),
        "<|open|>json<|sep|>{}",
        f"<|open|>call {'x' * MAX_TAG_CHARS}<|sep|>",
    ],
)
def test_what_is_no_tag_is_text(text: str) -> None:
    assert hear(text).content == text.replace("<|close|>argument<|sep|>", "")


def test_a_closing_tag_without_sep_counts_at_the_end_only() -> None:
    heard = hear("<|open|>think<|sep|>thought<|close|>think<|open|>response<|sep|>reply<|close|>response")
    assert (heard.reasoning, heard.content) == ("thought<|close|>think", "reply")
    for end in ("<|close|>", "<|close|>to", "<|close|>tools", "<|close|>tools<|se"):
        heard = hear(f"<|open|>tools<|sep|>{call()}{end}")
        assert (heard.content, heard.calls) == ("", [said()])
    assert hear("Hi<|close|>response").content == "Hi", "the answer may start inside a channel"


def test_a_closing_tag_that_may_be_prose_closes_only_what_is_open() -> None:
    assert hear("<|open|>response<|sep|>a<|close|>").content == "a"
    assert hear("<|open|>response<|sep|>a<|close|>res").content == "a"
    assert hear("<|open|>response<|sep|>a<|close|>to").content == "a<|close|>to"
    assert hear(f"{opened('response', 'a')}<|close|>").content == "a<|close|>"
    assert hear("Write <|close|>").content == "Write <|close|>"
    assert hear("thought<|close|>think", "reasoning").reasoning == "thought<|close|>think", "read once, it stays"
    assert hear("<|open|>think<|sep|>thought<|close|>think", "reasoning").reasoning == "thought"


def test_blanks_inside_tags() -> None:
    text = '<|open|> tools <|sep|><|open|>\ncall tool = "calc" <|sep|><|open|>argument key="x" type="string" <|sep|>1'
    assert hear(f"{text}<|close|> argument <|sep|><|close|> call <|sep|><|close|>tools\n<|sep|>").calls == [
        said('{"x": "1"}')
    ]


def test_a_body_ends_at_its_own_tag_only() -> None:
    body = "a<|close|>b<|close|>call<|sep|><|open|>tools<|sep|><|end_of_msg|><|sep|><|close|> c"
    assert hear(tools(call(argument(body, "t", "string")))).calls == [said(f'{{"t": "{body}"}}')]
    body = '{"a": "<|close|>argument<|sep|>"}'
    assert hear(tools(call(opened("json", body)))).calls == [said(body)]


@pytest.mark.parametrize(
    "end",
    [call(), "<|close|>tools<|sep|>", "<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|end_of_msg|>", ""],
)
def test_what_ends_a_call(end: str) -> None:
    heard = hear(f'<|open|>tools<|sep|><|open|>call tool="calc"<|sep|>{argument("1")}{end}')
    assert heard.calls[0] == said('{"x": 1}')


def test_stray_closing_tags_inside_a_call() -> None:
    assert hear(call("<|close|>argument<|sep|>", argument("1"), "<|close|>json<|sep|>")).calls == [said('{"x": 1}')]


@pytest.mark.parametrize(
    ("end", "arguments", "cut"),
    [
        ("<|open|>argument key='", '{"x": 1', True),
        ("<|open|>", '{"x": 1', True),
        ("<|op", '{"x": 1', True),
        ("<|", '{"x": 1}', False),
        ("<|clo", '{"x": 1}', False),
        ("<|close|>", '{"x": 1}', False),
        ("<|close|>call<", '{"x": 1}', False),
        ('<|open|>argument key="y" type="string"<|sep|>a', '{"x": 1, "y": "a', True),
        ('<|open|>argument key="y" type="string"<|sep|>a<|clo', '{"x": 1, "y": "a', True),
        ('<|open|>argument key="y" type="string"<|sep|>a<|close|>', '{"x": 1, "y": "a"}', False),
        ('<|open|>argument key="y" type="string"<|sep|>a<|close|>argument', '{"x": 1, "y": "a"}', False),
        ('<|open|>argument key="y" type="string"<|sep|>a<|close|>call', '{"x": 1, "y": "a<|close|>call', True),
    ],
)
def test_where_the_text_ends_inside_a_call(end: str, arguments: str, cut: bool) -> None:
    assert hear(f'<|open|>call tool="calc"<|sep|>{argument("1")}{end}').calls == [said(arguments, cut=cut)]


def test_a_call_that_is_cut_in_the_tag_of_its_first_argument() -> None:
    assert hear('<|open|>call tool="calc"<|sep|><|open|>argument ke').calls == [said("{", cut=True)]
    assert hear('<|open|>call tool="calc"<|sep|>').calls == [said()]


def test_a_call_without_a_tool_name_is_dropped_with_a_word() -> None:
    heard = hear(f"A{tools(call(argument('1'), tool=' '), '<|open|>call<|sep|>x', call())}")
    assert (heard.content, heard.calls) == ("Ax", [said()])
    assert [why for text, why in heard.dropped if "call" in text] == ["the call names no tool"] * 2
    assert hear('<|open|>call tool=""<|sep|><|open|>argument key="x"<|sep|>1').calls == []


def test_where_no_call_may_be_made() -> None:
    heard = hear(f"A{tools(call(argument('1')))} B", offer=NO_CALLS)
    assert (heard.content, heard.calls) == ("A B", [])


def test_repair() -> None:
    assert hear(call(opened("json", '{"a": "x\ny"}')), mend=True).calls == [said('{"a": "x\\ny"}')]


def test_repeated_tokens_are_text_but_for_the_last() -> None:
    assert hear(f"<|open|><|open|>{tools(call())[8:]}").content == "<|open|>"
    assert hear("<|close|>" * 3 + "x").content == "<|close|>" * 3 + "x"


def test_arguments_flow() -> None:
    reader = K3Lane("content", OFFER, False)
    reader.feed('<|open|>call tool="calc"<|sep|>')
    assert reader.calling
    assert reader.feed('<|open|>argument key="t" type="string"<|sep|>a') == [CallArguments('{"t": "a')]
    assert reader.feed("\n") == [CallArguments("\\n")]
    assert reader.feed("<") == []
    assert reader.feed("b") == [CallArguments("<b")]


def test_idle_means_that_plain_text_leaves_unseen() -> None:
    reader = K3Lane("content", OFFER, False)
    assert reader.idle
    reader.feed("<")
    assert not reader.idle
    reader.feed("a<|open|>")
    assert not reader.idle
    reader.feed("think<|sep|>")
    assert not reader.idle, "it would leave as reasoning"
    reader.feed("<|close|>think<|sep|>")
    assert reader.idle
    reader.feed(tools(call()))
    assert not reader.idle, "blanks would wait"
    assert reader.feed("x") == [Text("content", "x")]
    assert reader.idle
    reader.feed('<|open|>call tool="a"<|sep|>')
    assert not reader.idle


def test_both_fields() -> None:
    heard = read(K3Parser(OFFER, False), [("reasoning", "r"), ("content", tools(call())), ("reasoning", tools(call()))])
    assert (heard.reasoning, heard.calls) == ("r", [said(), said()])


def test_stray_tags_are_named_once() -> None:
    reader = K3Lane("content", OFFER, False)
    assert reader.feed("<|end_of_msg|>") == [Dropped("<|end_of_msg|>", "a marker outside a call")]
    assert reader.feed("<|end_of_msg|>") == []
    assert reader.feed('<|open|>call tool="a"<|sep|>')[-1] == CallOpened("", "a")
