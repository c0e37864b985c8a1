"""Where the arguments of a block end: every case whole and at a few cuts."""

from __future__ import annotations

import pytest
from tests.kimi.k2_markup import ARGS, BEGIN, CALL, DONE, END, LS, called, parse, reader
from tests.kimi.marker_reading import ParsedCall, ParsedChoice, cut_in, read

from moongate.kimi.markers.k2_block_reader import MAX_AMBIGUOUS_CHARS
from moongate.kimi.markers.pieces import Text


def test_a_bare_call_that_ends_with_the_text() -> None:
    assert parse(LS.removesuffix(DONE)).calls == [called()]


@pytest.mark.parametrize("end", [DONE, END, BEGIN, "<|tool_call_section_end|>", LS])
def test_what_ends_a_call(end: str) -> None:
    parsed = parse(f"{CALL}functions.bash:1{ARGS} {{}} {end} x")
    assert parsed.calls[0] == called("{}", "functions.bash:1")
    assert parsed.content == " x"


def test_a_marker_inside_a_json_string_does_not_end_the_call() -> None:
    arguments = f'{{"command": "echo {DONE} {CALL}x:1{ARGS}{{}}{DONE}{END}"}}'
    assert parse(f"{CALL}functions.bash:0{ARGS}{arguments}{DONE}y") == ParsedChoice("y", "", [called(arguments)])
    assert parse(f"{CALL}functions.bash:0{ARGS}{arguments}") == ParsedChoice("", "", [called(arguments)])


def test_without_later_json_the_first_end_marker_counts() -> None:
    parsed = parse(f'{CALL}functions.bash:0{ARGS}{{"a{DONE}b{END}c')
    assert parsed.calls == [called('{"a')]
    assert parsed.content == "bc"


def test_the_ambiguity_ends_as_soon_as_the_text_can_no_longer_be_json() -> None:
    parser = reader()
    parser.feed("content", f'{CALL}functions.bash:0{ARGS}{{"a{DONE}b')
    assert parser.in_call
    assert parser.feed("content", '" c')[-1] == Text("content", 'b" c')
    assert not parser.in_call


@pytest.mark.parametrize(("room", "kept"), [(0, True), (1, False)])
def test_the_ambiguity_has_a_limit(room: int, kept: bool) -> None:
    inside = DONE + "x" * (MAX_AMBIGUOUS_CHARS - len(DONE) - 1 + room) + '"'
    for pieces in ([inside], cut_in(inside, 4096)):
        parser = reader()
        parsed = ParsedChoice().take(parser.feed("content", f'{CALL}functions.bash:0{ARGS}"'))
        for piece in pieces:
            parsed.take(parser.feed("content", piece))
        parsed.take(parser.feed("content", f"{DONE}!")).take(parser.close())
        assert parsed.calls[0].arguments == (f'"{inside}' if kept else '"')
        assert parsed.content == ("!" if kept else inside.removeprefix(DONE) + "!")


def test_an_end_marker_that_is_no_call_end_is_read_again() -> None:
    parsed = parse(f'{CALL}functions.bash:0{ARGS}"a{CALL}time{DONE}\n"x')
    assert parsed.calls == [called('"a'), ParsedCall("time", "time", "{}", False)]
    assert parsed.content == '\n"x'


def test_a_partial_marker_at_the_end() -> None:
    assert parse(f"{LS}{BEGIN[:9]}").content == BEGIN[:9]
    assert parse(f"{LS[: -len(DONE)]} {DONE[:5]}").calls == [called()]
    assert parse(f'{CALL}functions.bash:0{ARGS}{{"a": "x <').calls == [called('{"a": "x', truncated=True)]
    assert parse(f'{CALL}functions.bash:0{ARGS}{{"a": "x <|im_').calls == [called('{"a": "x <|im_', truncated=True)]
    assert parse(f'{CALL}functions.bash:0{ARGS}"x{DONE}<').content == "<"
    assert parse(f'{CALL}functions.bash:0{ARGS}"x{DONE}"{DONE[:3]}').calls == [called(f'"x{DONE}"')]
    assert parse(f'{CALL}functions.bash:0{ARGS}"x{DONE}"<|im').content == '"<|im'
    assert parse(f"{CALL}no name{ARGS}{{}}{DONE[:3]}").content == f"{CALL}no name{ARGS}{{}}{DONE[:3]}"


def test_a_number_is_resolved_by_argument_keys() -> None:
    assert parse(f'{CALL}3{ARGS}{{"command": "{DONE}"}}{DONE}').calls == [called(f'{{"command": "{DONE}"}}', "3")]
    block = f'{CALL}3{ARGS} {{"x": 1}} {DONE}'
    assert parse(f"a{block}b").content == f"a{block}b"
    assert parse(f'{CALL}3{ARGS}{{"x": <').content == f'{CALL}3{ARGS}{{"x": <'


def test_repair() -> None:
    parsed = parse(f'{CALL}functions.bash:0{ARGS}{{"a": "x\n{DONE}\ty"}} {ARGS}{DONE}z', repair=True)
    assert parsed.calls == [called(f'{{"a": "x\\n{DONE}\\ty"}}')]
    assert parsed.content == "z"
    assert parse(f'{CALL}functions.bash:0{ARGS}"{{\\"a\\": 1}}"{DONE}', repair=True).calls == [called('{"a": 1}')]
    assert parse(f"{LS[: -len(DONE)]}<|im_end|>", repair=True).calls == [called()]
    assert parse(f'{CALL}functions.bash:0{ARGS}"a{DONE}"{ARGS}{DONE}', repair=True).calls == [called(f'"a{DONE}"')]


def test_without_repair_arguments_pass_as_they_are() -> None:
    assert parse(f'{CALL}functions.bash:0{ARGS}{{"a": "\n"}}{ARGS}{DONE}').calls == [called(f'{{"a": "\n"}}{ARGS}')]


BLOCKS = [f"a{CALL}what is{ARGS}{{}}{DONE}b", f'a{CALL}7{ARGS}["{DONE}"]{DONE}b', f"{CALL}7{ARGS}[1]<|tool_call"]


@pytest.mark.parametrize(("text", "at"), [(text, at) for text in BLOCKS for at in range(1, len(text))])
def test_a_block_that_is_text_stays_in_the_fields_it_came_in(text: str, at: int) -> None:
    parsed = read(reader(), [("reasoning", text[:at]), ("content", text[at:])])
    assert (parsed.reasoning, parsed.content, parsed.calls) == (text[:at], text[at:], [])


@pytest.mark.parametrize("at", range(1, len(LS)))
def test_a_call_that_goes_on_in_the_other_field(at: int) -> None:
    assert read(reader(), [("reasoning", LS[:at]), ("content", LS[at:])]).calls == [called()]


def test_a_block_that_is_text_may_end_with_the_text() -> None:
    assert parse(f"{CALL}what is{ARGS}{{}}").content == f"{CALL}what is{ARGS}{{}}"
