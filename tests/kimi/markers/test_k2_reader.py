"""K2's markers: every case whole and at a few cuts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.kimi.k2_markup import ARGS, BEGIN, CALL, DONE, END, LS, NO_CALLS, TOOL_SET, called, parse, reader
from tests.kimi.marker_reading import ParsedCall, ParsedChoice, read, ways

from moongate.kimi.markers.call_headers import MAX_HEADER_CHARS
from moongate.kimi.markers.k2_markers import K2Markers
from moongate.kimi.markers.k2_reader import K2Reader
from moongate.kimi.markers.pieces import CallArguments, Channel, Dropped, Text
from moongate.kimi.tool_tokens import K2_TOKENS, ToolTokens


def test_markers_over_several_fields_are_read_alike_at_every_cut() -> None:
    deltas: list[tuple[Channel, str]] = [
        ("reasoning", "<|tool_c"),
        ("content", "all_begi"),
        ("reasoning", 'n|><|tool_call_begin|>{"command": "ls"}<|tool_call_end|><|tool_call_'),
        ("content", "end|><think>s<think><<</think></think"),
        ("reasoning", ">"),
    ]
    shown = '<|tool_cn|><|tool_call_begin|>{"command": "ls"}<|tool_call_end|><|tool_call_'
    for way in ways(deltas):
        parsed = read(reader(), way)
        assert (parsed.content, parsed.reasoning, parsed.calls) == ("all_begiend|>s<<", shown, [])


def test_plain_text() -> None:
    assert parse("Hello. \n") == ParsedChoice("Hello. \n")
    assert parse("", "reasoning") == ParsedChoice()


def test_a_section_with_calls() -> None:
    parsed = parse(f"Sure. {BEGIN}{LS}\n{CALL} time {DONE}{END}\n\nDone. \n")
    assert parsed.content == "Sure. \n\nDone. \n"
    assert parsed.calls == [called(), ParsedCall("time", "time", "{}", False)]


@pytest.mark.parametrize("end", [DONE, END, BEGIN, LS])
def test_what_ends_a_header(end: str) -> None:
    assert parse(f"{CALL}time:1{end}").calls[0] == ParsedCall("time:1", "time", "{}", False)
    parsed = parse(f"a {CALL}warp:1{end}")
    shown = {DONE: DONE, END: END}.get(end, "")
    assert parsed.content == f"a {CALL}warp:1{shown}"


def test_reasoning_ends_at_a_section_or_a_call() -> None:
    assert parse(f"Plan.{LS} Next", "reasoning") == ParsedChoice(" Next", "Plan.", [called()])
    parsed = parse(f"Plan.{BEGIN}x", "reasoning")
    assert (parsed.reasoning, parsed.content) == ("Plan.", "x")


def test_a_block_that_is_text_does_not_end_reasoning() -> None:
    block = f"{CALL}no name{ARGS}{{}}{DONE}"
    assert parse(f"a{block} b", "reasoning") == ParsedChoice("", f"a{block} b")


def test_a_header_without_a_tool_stays_visible() -> None:
    block = f'{CALL} no name {ARGS} {{"a": "{DONE}"}} {DONE}'
    assert parse(f"A {BEGIN}\n{block}\n{LS}").content == f"A \n{block}\n"
    assert parse(f"A {block}{DONE} {END}").content == f"A {block}{DONE} {END}", "nothing has begun yet"


def test_an_incomplete_header_at_the_end_is_shown() -> None:
    assert parse(f"See {BEGIN} {CALL}functions.bas").content == f"See  {CALL}functions.bas"
    assert parse(f"{CALL}<think>{ARGS[:4]}").content == f"{CALL}<think>{ARGS[:4]}"


@pytest.mark.parametrize("room", [0, 1])
def test_a_header_has_a_limit(room: int) -> None:
    name = "n" * (MAX_HEADER_CHARS - 2 + room)
    parsed = parse(f"{CALL}{name}:0{ARGS}{{}}{DONE}")
    assert len(parsed.calls) == (not room)
    assert parsed.content == (f"{CALL}{name}:0{ARGS}{{}}{DONE}" if room else "")


def test_beyond_the_limit_parsing_resumes_after_call_begin() -> None:
    prose = "n" * MAX_HEADER_CHARS
    assert parse(f"A {CALL}{prose}<think>.{LS}") == ParsedChoice(
        f"A {CALL}{prose}.", "", [called()], [("<think>", "a marker outside a call")]
    )
    assert parse(f"{CALL}{prose} and on").content == f"{CALL}{prose} and on"


def test_repeated_call_begins_are_text_but_for_the_last() -> None:
    assert parse(f"{CALL}{CALL}{LS}") == ParsedChoice(CALL * 2, "", [called()])
    assert parse(CALL * 3).content == CALL * 3


def test_think_at_the_very_start_of_content() -> None:
    parsed = parse("<think>plan <think>on</think>\nDone</think>.")
    assert (parsed.reasoning, parsed.content) == ("plan on", "\nDone\n\n.")
    assert parse("<think>plan").reasoning == "plan"
    assert parse(f"<think>plan{LS}x").content == "x"
    assert parse(f"<think>a{DONE}<|im_end|>{END}b{BEGIN}c").reasoning == f"a{DONE}{END}b"


@pytest.mark.parametrize("before", [" ", "<|im_end|>", "</think>", BEGIN, f"{LS}", "x"])
def test_think_anywhere_else_is_dropped(before: str) -> None:
    parsed = parse(f"{before}<think>a</think>b")
    assert parsed.reasoning == ""
    assert parsed.content.endswith("a\n\nb")


@pytest.mark.parametrize("before", [DONE, END, CALL])
def test_think_after_a_marker_that_is_text(before: str) -> None:
    assert parse(f"{before}<think>a").reasoning == ""


def test_tags_in_the_reasoning_channel_are_dropped() -> None:
    parsed = parse("<think>hm</think>ok<|im_end|>", "reasoning")
    assert (parsed.reasoning, parsed.content) == ("hm\n\nok", "")
    assert [text for text, _ in parsed.dropped] == ["<think>", "</think>", "<|im_end|>"]


def test_tags_do_not_split_whitespace() -> None:
    assert parse(f"{LS} <|im_end|> x").content == "  x"
    assert parse(f"{LS} <|im_end|> ").content == ""
    assert parse(f"{LS}x<|im_end|> ").content == "x "
    assert parse(f"{LS}x{DONE} {END} ").content == "x"


def test_tags_in_headers_and_arguments_are_text() -> None:
    arguments = '{"command": "<think></think><|im_end|>"}'
    assert parse(f"{CALL}functions.bash:0{ARGS}{arguments}{DONE}").calls == [called(arguments)]
    assert parse(f"{CALL}a<think>:0{ARGS}{{}}{DONE}").calls[0].name == "a<think>"


def test_where_no_call_is_allowed_markup_is_removed() -> None:
    parsed = parse(f"Done. {BEGIN}{LS}{CALL}2{ARGS}{{}}{DONE}{CALL}time:0{DONE}{END} Bye.", tool_set=NO_CALLS)
    assert (parsed.content, parsed.calls) == ("Done.  Bye.", [])
    assert parse(f"r{LS}", "reasoning", tool_set=NO_CALLS).reasoning == "r"


SQUARE = ToolTokens("[[T]]", "[[/T]]", "[[C]]", "[[/C]]", "[[A]]")
NESTED = ToolTokens("A", "AB", "B", "BA", "C")


def test_configured_markers() -> None:
    parsed = parse('a [b] [[T]][[C]]time[[A]]{"x": [[1]]}[[/C]] [[/T]]', tokens=SQUARE)
    assert parsed.content == "a [b] "
    assert parsed.calls == [ParsedCall("time", "time", '{"x": [[1]]}', False)]
    assert parse('[[C]]time[[A]]{"x": "[[/C]]"}[[/C]]', tokens=SQUARE).calls[0].arguments == '{"x": "[[/C]]"}'


def test_markers_that_are_prefixes_of_each_other() -> None:
    assert parse("xABAyBtimeC{}BAz", tokens=NESTED).calls == [ParsedCall("time", "time", "{}", False)]


def test_arguments_stream() -> None:
    parser = reader()
    parser.feed("content", f"{CALL}functions.bash:0{ARGS}")
    assert parser.in_call
    assert parser.feed("content", '{"command": "a') == [CallArguments('{"command": "a')]
    assert parser.feed("content", " ") == []
    assert parser.feed("content", "b") == [CallArguments(" b")]


def test_idle_means_that_text_without_markers_need_not_be_fed() -> None:
    parser = reader()
    assert not parser.idle_for("content"), "the very start of content matters"
    parser.feed("content", "a")
    assert parser.idle_for("content")
    assert not parser.idle_for("reasoning"), "the field changes"
    parser.feed("content", "<")
    assert not parser.idle_for("content")
    parser.feed("content", f"b{BEGIN}")
    assert not parser.idle_for("content"), "whitespace is held back"
    parser.feed("content", "x")
    assert parser.idle_for("content")
    parser.feed("content", "`")
    assert not parser.idle_for("content"), "more backticks may follow"
    parser.feed("content", "x</think>")
    assert not parser.idle_for("content"), "the tag may be code"
    parser.feed("content", "` x</think>")
    assert not parser.idle_for("content"), "the next character decides what the tag leaves"
    parser.feed("content", f"x{CALL}")
    assert not parser.idle_for("content")
    redirected = reader()
    redirected.feed("reasoning", "x")
    assert redirected.idle_for("reasoning")
    redirected.feed("reasoning", f"{LS}x")
    assert not redirected.idle_for("reasoning"), "it would come out as content"
    square = reader(SQUARE)
    square.feed("reasoning", "x")
    assert not square.idle_for("reasoning"), "text without < may hold a marker"


def test_repeated_sections_are_reported_once_per_kind() -> None:
    for text in ((BEGIN + END) * 3 + END + BEGIN * 2, BEGIN + END, f"{BEGIN}{END}after{END} it{BEGIN}{END}{LS}{END}"):
        parser = reader()
        pieces = [*parser.feed("content", text * 3), *parser.close()]
        assert sum(isinstance(piece, Dropped) for piece in pieces) == 2
        assert len(parse(text * 3).calls) == text.count(LS) * 3
    assert parse(f"{BEGIN}{END}{BEGIN}{END}after{END} it").content == "after it"


def test_overlapping_section_markers_are_read_one_by_one() -> None:
    tokens = replace(K2_TOKENS, section_begin="<<s>", section_end="<s>")
    assert K2Markers.of(tokens).sections is None
    assert parse("<<s><s><<s><s>a<s>b", tokens=tokens).content == "ab"


def test_empty_text_changes_nothing() -> None:
    parser = reader()
    parsed = ParsedChoice()
    for piece in ("", "<", "", f"{CALL[1:]}functions.", "", f"bash:0{ARGS}", "", '"', DONE, "", '"', "", DONE, ""):
        parsed.take(parser.feed("content", piece))
    assert parsed.take(parser.close()).calls == [called(f'"{DONE}"')]


def test_without_the_shortcut_whole_blocks_give_the_same_pieces() -> None:
    plain = K2Reader(K2Markers.of(K2_TOKENS), TOOL_SET, False, fast=False)
    assert plain.feed("content", f"a{LS}{LS}b") == reader().feed("content", f"a{LS}{LS}b")


def read_deltas(*deltas: tuple[Channel, str]) -> ParsedChoice:
    """What the parser makes of these; the same at every cut."""
    results = [read(reader(), way) for way in ways(list(deltas))]
    assert all(one == results[0] for one in results)
    return results[0]


@pytest.mark.parametrize("at", range(1, len(f"Plan.{BEGIN}{LS}{END}")))
def test_a_call_is_read_across_the_seam_of_the_fields(at: int) -> None:
    text = f"Plan.{BEGIN}{LS}{END}Done."
    parsed = read_deltas(("reasoning", text[:at]), ("content", text[at:]))
    if at < len("Plan."):
        assert (parsed.reasoning, parsed.content) == (text[:at], text[at : len("Plan.")] + "Done.")
    else:
        assert (parsed.reasoning, parsed.content) == ("Plan.", "Done.")
    assert parsed.calls == [called()]


TEXT_BLOCKS = [
    f"a{CALL}what is{ARGS}{{}}{DONE}b",
    f'a{CALL}7{ARGS} ["{DONE}" ]{DONE} b',
    f"a{CALL}what is{DONE}b",
    f"{CALL}{CALL}what is",
    f'{CALL}7{ARGS}["{DONE}"',
    f"{CALL}7{ARGS}[1]<|tool_call",
    f"a{DONE}{DONE} {END}b",
]


@pytest.mark.parametrize(("text", "at"), [(text, at) for text in TEXT_BLOCKS for at in range(1, len(text))])
def test_a_block_that_is_text_leaves_in_the_fields_it_stands_in(text: str, at: int) -> None:
    parsed = read_deltas(("reasoning", text[:at]), ("content", text[at:]))
    assert (parsed.reasoning, parsed.content) == (text[:at], text[at:])
    assert parsed.calls == []


def test_markers_in_a_block_that_is_text_leave_in_the_fields_they_stand_in() -> None:
    parsed = read_deltas(("reasoning", f"{CALL}what is"), ("content", f'{ARGS}{ARGS}["{DONE}"]{DONE}b'))
    assert parsed.reasoning + parsed.content == f'{CALL}what is{ARGS}{ARGS}["{DONE}"]{DONE}b'
    parsed = read_deltas(("reasoning", f'{CALL}what is{ARGS}["{DONE}'), ("content", f'"]{DONE}b'))
    assert (parsed.reasoning, parsed.content) == (f'{CALL}what is{ARGS}["{DONE}', f'"]{DONE}b')


def test_what_is_held_back_leaves_in_its_own_field_before_the_other_one() -> None:
    parser = reader()
    assert parser.feed("reasoning", "a <|tool_ca") == [Text("reasoning", "a ")]
    assert parser.feed("content", "t|> b") == [Text("reasoning", "<|tool_ca"), Text("content", "t|> b")]
    assert parser.feed("reasoning", "<") == []
    assert parser.feed("content", "|") == []
    assert parser.feed("reasoning", "t") == []
    pieces = parser.feed("content", "!")
    assert pieces == [Text("reasoning", "<"), Text("content", "|"), Text("reasoning", "t"), Text("content", "!")]


def test_the_very_start_of_content_may_stand_behind_reasoning() -> None:
    parsed = read_deltas(("reasoning", "r"), ("content", "<think>a</think>b"), ("reasoning", "s"), ("content", "c"))
    assert (parsed.reasoning, parsed.content) == ("ras", "bc")
    parsed = read_deltas(("content", "a"), ("reasoning", "r"), ("content", "<think>b"))
    assert (parsed.reasoning, parsed.content) == ("r", "ab")


def test_reasoning_behind_a_section_of_content_stays_reasoning() -> None:
    parsed = read_deltas(("content", f"{LS} "), ("reasoning", " r"), ("content", "c"))
    assert (parsed.reasoning, parsed.content) == (" r", " c")


def test_a_call_that_is_in_doubt_across_the_seam() -> None:
    opening = f'{CALL}functions.bash:0{ARGS}{{"command": "'
    parsed = read_deltas(("reasoning", f"{opening}a{DONE}b<"), ("content", f'c"}}{DONE}d'))
    assert parsed.calls == [called(f'{{"command": "a{DONE}b<c"}}')]
    assert parsed.content == "d"
    parsed = read_deltas(("reasoning", f"{opening}a{DONE}b<"), ("content", 'c" d'), ("reasoning", "e"))
    assert parsed.calls == [called('{"command": "a')]
    assert parsed.content == 'b<c" de'


def test_before_a_native_call_no_marker_is_held_back() -> None:
    parser = reader()
    assert parser.feed("content", "see <|tool") == [Text("content", "see ")]
    assert parser.release() == [Text("content", "<|tool")]
    assert parser.feed("content", f"_call_begin|>{CALL}functions.ba") == [Text("content", "_call_begin|>")]
    assert parser.release() == [Text("content", f"{CALL}functions.ba")]
    assert parser.feed("content", "`</think>") == [Text("content", "`")]
    assert parser.release() == [Dropped("</think>", "a marker outside a call")]
    parser.feed("content", LS.removesuffix(DONE))
    assert parser.release() == []
    assert parser.in_call


def test_text_that_passed_unread_counts_for_the_gap() -> None:
    parser = reader()
    parser.feed("content", "a ")
    parser.passed("content", "b")
    assert parser.feed("content", "</think>c")[-1] == Text("content", "\n\nc")
    parser.passed("reasoning", " ")
    parser.passed("content", " ")
    assert parser.feed("content", "</think>c") == [Text("content", "c")]


@pytest.mark.parametrize("content", ["ink><think>a", "ink><think>a</think>b", "ink></think>b", "ink>a"])
@pytest.mark.parametrize("size", [1, 5])
def test_equal_tags_in_a_row_over_both_fields_do_not_depend_on_the_cut(content: str, size: int) -> None:
    texts: list[tuple[Channel, str]] = [("reasoning", "x<think><th"), ("content", content)]
    cut = [(field, text[at : at + size]) for field, text in texts for at in range(0, len(text), size)]
    assert read(reader(), cut) == read(reader(), texts)


def test_nothing_gives_nothing() -> None:
    parser = reader()
    assert parser.feed("content", "") == []
    assert parser.feed("content", "a") == [Text("content", "a")]
    assert parser.feed("content", "") == []
