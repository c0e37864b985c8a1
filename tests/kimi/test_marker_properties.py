"""Properties of both grammars: cuts, parity, no loss, idempotence, bounded hold-back, no shared state."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kimi.marker_reading import ParsedChoice, cut_in, read
from tests.support.length import examples

from moongate.kimi.markers.first_markup import FirstMarkupParser
from moongate.kimi.markers.k2 import K2Parser
from moongate.kimi.markers.k3 import K3Parser
from moongate.kimi.markers.pieces import CallArguments, CallOpened, Channel, Parser, Text, WholeCalls
from moongate.kimi.tool_set import ToolKeys, ToolSet
from moongate.kimi.tool_tokens import K2_TOKENS, ToolTokens

EXAMPLES = settings(max_examples=examples(500))
TOOL_SET = ToolSet(
    {"bash": ToolKeys(frozenset({"command"}), frozenset({"command"})), "time": ToolKeys(frozenset({"zone"}))}
)
NO_CALLS = ToolSet({}, calls_allowed=False)
SQUARE = ToolTokens("[[T]]", "[[/T]]", "[[C]]", "[[/C]]", "[[A]]")
NESTED = ToolTokens("A", "AB", "B", "BA", "C")  # each begins another one

WORDS = ["text", " ", "\n", "x" * 300, "é🗼", "a < b", "<|", "<", "|>", '"', "\\", "\x01", "{}", "{", "}", "1"]
K3_MARKUP = [
    *("<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>", "think", "response", "tools", "call", "json", "argument"),
    *("<|open|>tools<|sep|>", "<|open|>think<|sep|>", "<|open|>response<|sep|>", "<|open|>json<|sep|>"),
    *('<|open|>call tool="bash"<|sep|>', "<|open|>call<|sep|>", '<|open|>argument key="k" type="string"<|sep|>'),
    *('<|open|>argument key="k" type="number"<|sep|>', "<|open|>argument<|sep|>", '<|open|>call tool="'),
    *(f"<|close|>{name}<|sep|>" for name in ("tools", "think", "response", "json", "call", "argument", "message")),
]


def k2_markup(tokens: ToolTokens) -> list[str]:
    call = f"{tokens.call_begin}functions.bash:0{tokens.arg_begin}"
    return [
        *(tokens.section_begin, tokens.section_end, tokens.call_begin, tokens.call_end, tokens.arg_begin),
        *("`", "``", "<|tool_call_section_begin|>", "<think>", "</think>", "<|im_end|>", "<|tool_call_", "<think"),
        *(call, f'{call}{{"command": "ls"}}{tokens.call_end}', f'{call}{{"command": "', f"{call}{{}}"),
        *(
            f"{tokens.call_begin}time{tokens.call_end}",
            f"{tokens.call_begin}7{tokens.arg_begin}",
            '{"command": "',
            '"}',
        ),
        *("functions.bash:0", "time", "0", "call_1", "no name"),
    ]


@dataclass(frozen=True)
class Grammar:
    name: str
    fragments: tuple[str, ...]
    parser: Callable[[ToolSet, bool], Parser]

    def texts(self, most: int = 10) -> st.SearchStrategy[str]:
        return st.lists(st.sampled_from(self.fragments), max_size=most).map("".join)


def k2(tokens: ToolTokens, name: str) -> Grammar:
    return Grammar(name, (*WORDS, *k2_markup(tokens)), lambda tool_set, repair: K2Parser(tokens, tool_set, repair))


K2 = k2(K2_TOKENS, "k2")
K3 = Grammar("k3", (*WORDS, *K3_MARKUP), K3Parser)
FIRST = Grammar(
    "first",
    (*WORDS, *k2_markup(K2_TOKENS)[:8], *K3_MARKUP),
    lambda tool_set, repair: FirstMarkupParser(K2_TOKENS, tool_set, repair),
)
GRAMMARS = pytest.mark.parametrize(
    "grammar", [K2, k2(SQUARE, "square"), k2(NESTED, "nested"), K3, FIRST], ids=lambda g: g.name
)
BOTH = pytest.mark.parametrize("grammar", [K2, K3, FIRST], ids=lambda g: g.name)
CHANNEL: st.SearchStrategy[Channel] = st.sampled_from(get_args(Channel))
TOOL_SETS = st.sampled_from([TOOL_SET, NO_CALLS])


def whole(parser: Parser, text: str, channel: Channel = "content") -> ParsedChoice:
    return read(parser, [(channel, text)])


@GRAMMARS
@EXAMPLES
@given(st.data())
def test_the_result_is_the_same_at_every_cut(grammar: Grammar, data: st.DataObject) -> None:
    text, channel, tool_set = data.draw(grammar.texts()), data.draw(CHANNEL), data.draw(TOOL_SETS)
    repair = data.draw(st.booleans())
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]
    expected = whole(grammar.parser(tool_set, repair), text, channel)
    for cut in (pieces, cut_in(text, 1), cut_in(text, 3)):
        assert read(grammar.parser(tool_set, repair), [(channel, piece) for piece in cut]) == expected


@BOTH
@EXAMPLES
@given(st.data())
def test_both_channels_streamed_equal_both_channels_whole(grammar: Grammar, data: st.DataObject) -> None:
    reasoning, content = data.draw(grammar.texts(8)), data.draw(grammar.texts(8))
    size = data.draw(st.integers(1, 9))
    streamed = read(
        grammar.parser(TOOL_SET, False),
        [("reasoning", piece) for piece in cut_in(reasoning, size)]
        + [("content", piece) for piece in cut_in(content, size)],
    )
    assert streamed == read(grammar.parser(TOOL_SET, False), [("reasoning", reasoning), ("content", content)])


@BOTH
@EXAMPLES
@given(st.data())
def test_fields_in_any_order_give_the_same_at_every_cut(grammar: Grammar, data: st.DataObject) -> None:
    texts = st.lists(st.tuples(CHANNEL, grammar.texts(4)), max_size=4)
    deltas = [delta for delta in data.draw(texts) if delta[1]]
    expected = read(grammar.parser(TOOL_SET, False), deltas)
    for size in (1, 3, 8):
        cut = [(channel, piece) for channel, text in deltas for piece in cut_in(text, size)]
        assert read(grammar.parser(TOOL_SET, False), cut) == expected


@BOTH
@EXAMPLES
@given(st.data())
def test_a_call_across_the_seam_equals_the_call_in_one_field(grammar: Grammar, data: st.DataObject) -> None:
    text = data.draw(grammar.texts(6))
    at = data.draw(st.integers(0, len(text)))
    whole_text = whole(grammar.parser(TOOL_SET, False), text, "reasoning")
    seam = read(grammar.parser(TOOL_SET, False), [("reasoning", text[:at]), ("content", text[at:])])
    if "`" not in text and "<|close|>" not in text and "</think>" not in text and "<think>" not in text:
        assert [(call.name, call.arguments) for call in seam.calls] == [
            (call.name, call.arguments) for call in whole_text.calls
        ]


@BOTH
@EXAMPLES
@given(st.data())
def test_two_interleaved_parsers_equal_two_separate_ones(grammar: Grammar, data: st.DataObject) -> None:
    texts = [data.draw(grammar.texts()) for _ in range(2)]
    parsers = [grammar.parser(TOOL_SET, True) for _ in texts]
    parsed = [ParsedChoice(), ParsedChoice()]
    for at in range(0, max(map(len, texts)), 5):
        for parser, text, one in zip(parsers, texts, parsed, strict=True):
            one.take(parser.feed("content", text[at : at + 5]))
    for parser, text, one in zip(parsers, texts, parsed, strict=True):
        assert one.take(parser.close()) == whole(grammar.parser(TOOL_SET, True), text)


MARKS = re.compile("|".join(map(re.escape, [*k2_markup(K2_TOKENS)[:11], "<|tool_call_section_end|>", "{}"])))


def essence(text: str) -> str:
    """The text without markers and whitespace."""
    before = None
    while before != text:
        before, text = text, "".join(MARKS.sub("", text).split())
    return text


@EXAMPLES
@given(K2.texts(), CHANNEL)
def test_nothing_is_lost(text: str, channel: Channel) -> None:
    text += "."  # so that it does not end with a partial marker
    parser = K2.parser(TOOL_SET, False)
    emitted = []
    for piece in [*parser.feed(channel, text), *parser.close()]:
        if isinstance(piece, Text | CallArguments):
            emitted.append(piece.text)
        elif isinstance(piece, CallOpened):
            emitted.append(piece.original_id)
        elif isinstance(piece, WholeCalls):
            emitted += [original_id + arguments for original_id, _, arguments in piece.calls]
    assert essence("".join(emitted)) == essence(text)


@pytest.mark.parametrize("grammar", [K2, K3], ids=lambda g: g.name)
@EXAMPLES
@given(st.data())
def test_parsing_the_result_again_changes_nothing(grammar: Grammar, data: st.DataObject) -> None:
    # Whole elements only: pieces of markers on both sides of a removed one would make a new one.
    solid = [one for one in grammar.fragments if "<" not in one or one.endswith(">")]
    text = data.draw(st.lists(st.sampled_from(solid), max_size=14).map("".join))
    once = whole(grammar.parser(TOOL_SET, False), text)
    if (
        not once.calls
        and "<|open|>" not in once.content
        and "<|close|>" not in once.content
        and CALL not in once.content
    ):
        twice = read(grammar.parser(TOOL_SET, False), [("reasoning", once.reasoning), ("content", once.content)])
        assert (twice.content, twice.reasoning, twice.calls) == (once.content, once.reasoning, [])


CALL = K2_TOKENS.call_begin
LONGEST = len(K2_TOKENS.section_begin)


@EXAMPLES
@given(
    st.lists(st.sampled_from([one for one in K2.fragments if CALL not in one and len(one) < 99]), max_size=8).map(
        "".join
    )
)
def test_outside_calls_less_than_one_marker_is_held_back(text: str) -> None:
    parser = K2.parser(TOOL_SET, False)
    parsed = ParsedChoice()
    for at, char in enumerate(text):
        parsed.take(parser.feed("content", char))
        closed = whole(K2.parser(TOOL_SET, False), text[: at + 1])
        for held, shown in ((closed.content, parsed.content), (closed.reasoning, parsed.reasoning)):
            assert held.startswith(shown)
            waiting = held[len(shown) :].lstrip()  # whitespace after a section waits for text (section 5.9)
            assert len(waiting) < LONGEST or "`" in shown  # a tag behind an open backtick waits for its end


@BOTH
@EXAMPLES
@given(st.data())
def test_where_the_parser_is_idle_text_need_not_be_fed(grammar: Grammar, data: st.DataObject) -> None:
    text, channel, plain = (
        data.draw(grammar.texts()),
        data.draw(CHANNEL),
        data.draw(st.sampled_from(["x", " ", "{}\n"])),
    )
    parser, unaware = grammar.parser(TOOL_SET, False), grammar.parser(TOOL_SET, False)
    parser.feed(channel, text)
    unaware.feed(channel, text)
    if parser.idle_for(channel):
        assert unaware.feed(channel, plain) == [Text(channel, plain)]
        parser.passed(channel, plain[-1])
        assert parser.feed(channel, text) == unaware.feed(channel, text)
        assert parser.close() == unaware.close()
