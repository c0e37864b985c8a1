"""K2's grammar on one field: every case whole and at a few cuts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.kimi.marker_reading import CUTS, Heard, Said, cut_in

from moongate.kimi.headers import MAX_HEADER_CHARS
from moongate.kimi.k2_lane import MAX_DOUBT_CHARS, K2Lane
from moongate.kimi.markers import K2Markers
from moongate.kimi.offer import Offer, ToolKeys
from moongate.kimi.options import K2_TOKENS, ToolTokens
from moongate.kimi.pieces import CallArguments, Channel, Dropped, Text

BEGIN, END = K2_TOKENS.section_begin, K2_TOKENS.section_end
CALL, DONE, ARGS = K2_TOKENS.call_begin, K2_TOKENS.call_end, K2_TOKENS.arg_begin
LS = f'{CALL}functions.bash:0{ARGS}{{"command": "ls"}}{DONE}'
OFFER = Offer(
    {
        "bash": ToolKeys(frozenset({"command"}), frozenset({"command"})),
        "time": ToolKeys(frozenset({"zone"})),
    }
)
NO_CALLS = Offer({}, calls_allowed=False)


def lane(home: Channel = "content", tokens: ToolTokens = K2_TOKENS, offer: Offer = OFFER, mend: bool = False) -> K2Lane:
    return K2Lane(home, K2Markers.of(tokens), offer, mend)


def hear(
    text: str, home: Channel = "content", tokens: ToolTokens = K2_TOKENS, offer: Offer = OFFER, mend: bool = False
) -> Heard:
    """The same at every cut."""
    heard: list[Heard] = []
    for pieces in ([text], *(cut_in(text, size) for size in CUTS)):
        reader = lane(home, tokens, offer, mend)
        one = Heard()
        for piece in pieces:
            one.take(reader.feed(piece))
        heard.append(one.take(reader.close()))
        assert not reader.calling
        assert reader.close() == []
    assert all(one == heard[0] for one in heard)
    return heard[0]


def called(arguments: str = '{"command": "ls"}', given: str = "functions.bash:0", cut: bool = False) -> Said:
    return Said(given, "bash", arguments, cut)


def test_plain_text() -> None:
    assert hear("Hello. \n") == Heard("Hello. \n")
    assert hear("", "reasoning") == Heard()


def test_a_section_with_calls() -> None:
    heard = hear(f"Sure. {BEGIN}{LS}\n{CALL} time {DONE}{END}\n\nDone. \n")
    assert heard.content == "Sure. \n\nDone. \n"
    assert heard.calls == [called(), Said("time", "time", "{}", False)]


def test_a_bare_call_that_ends_with_the_text() -> None:
    assert hear(LS.removesuffix(DONE)).calls == [called()]


@pytest.mark.parametrize("end", [DONE, END, BEGIN, "<|tool_call_section_end|>", LS])
def test_what_ends_a_call(end: str) -> None:
    heard = hear(f"{CALL}functions.bash:1{ARGS} {{}} {end} x")
    assert heard.calls[0] == called("{}", "functions.bash:1")
    assert heard.content == " x"


@pytest.mark.parametrize("end", [DONE, END, BEGIN, LS])
def test_what_ends_a_header(end: str) -> None:
    assert hear(f"{CALL}time:1{end}").calls[0] == Said("time:1", "time", "{}", False)
    heard = hear(f"a {CALL}warp:1{end}")
    shown = {DONE: DONE, END: END}.get(end, "")
    assert heard.content == f"a {CALL}warp:1{shown}"


def test_reasoning_ends_at_a_section_or_a_call() -> None:
    assert hear(f"Plan.{LS} Next", "reasoning") == Heard(" Next", "Plan.", [called()])
    heard = hear(f"Plan.{BEGIN}x", "reasoning")
    assert (heard.reasoning, heard.content) == ("Plan.", "x")


def test_a_block_that_is_text_does_not_end_reasoning() -> None:
    block = f"{CALL}no name{ARGS}{{}}{DONE}"
    assert hear(f"a{block} b", "reasoning") == Heard("", f"a{block} b")


def test_a_marker_inside_a_json_string_does_not_cut() -> None:
    arguments = f'{{"command": "echo {DONE} {CALL}x:1{ARGS}{{}}{DONE}{END}"}}'
    assert hear(f"{CALL}functions.bash:0{ARGS}{arguments}{DONE}y") == Heard("y", "", [called(arguments)])
    assert hear(f"{CALL}functions.bash:0{ARGS}{arguments}") == Heard("", "", [called(arguments)])


def test_without_later_json_the_first_end_marker_counts() -> None:
    heard = hear(f'{CALL}functions.bash:0{ARGS}{{"a{DONE}b{END}c')
    assert heard.calls == [called('{"a')]
    assert heard.content == "bc"


def test_the_doubt_ends_as_soon_as_nothing_can_become_json() -> None:
    reader = lane()
    reader.feed(f'{CALL}functions.bash:0{ARGS}{{"a{DONE}b')
    assert reader.calling
    assert reader.feed('" c')[-1] == Text("content", 'b" c')
    assert not reader.calling


@pytest.mark.parametrize(("room", "kept"), [(0, True), (1, False)])
def test_the_doubt_has_a_limit(room: int, kept: bool) -> None:
    inside = DONE + "x" * (MAX_DOUBT_CHARS - len(DONE) - 1 + room) + '"'
    for pieces in ([inside], cut_in(inside, 4096)):
        reader = lane()
        heard = Heard().take(reader.feed(f'{CALL}functions.bash:0{ARGS}"'))
        for piece in pieces:
            heard.take(reader.feed(piece))
        heard.take(reader.feed(f"{DONE}!")).take(reader.close())
        assert heard.calls[0].arguments == (f'"{inside}' if kept else '"')
        assert heard.content == ("!" if kept else inside.removeprefix(DONE) + "!")


def test_a_retracted_end_that_is_no_call_end_is_read_again() -> None:
    heard = hear(f'{CALL}functions.bash:0{ARGS}"a{CALL}time{DONE}\n"x')
    assert heard.calls == [called('"a'), Said("time", "time", "{}", False)]
    assert heard.content == '\n"x'


def test_a_piece_of_a_marker_at_the_end() -> None:
    assert hear(f"{LS}{BEGIN[:9]}").content == BEGIN[:9]
    assert hear(f"{LS[: -len(DONE)]} {DONE[:5]}").calls == [called()]
    assert hear(f'{CALL}functions.bash:0{ARGS}{{"a": "x <').calls == [called('{"a": "x', cut=True)]
    assert hear(f'{CALL}functions.bash:0{ARGS}{{"a": "x <|im_').calls == [called('{"a": "x <|im_', cut=True)]
    assert hear(f'{CALL}functions.bash:0{ARGS}"x{DONE}<').content == "<"
    assert hear(f'{CALL}functions.bash:0{ARGS}"x{DONE}"{DONE[:3]}').calls == [called(f'"x{DONE}"')]
    assert hear(f'{CALL}functions.bash:0{ARGS}"x{DONE}"<|im').content == '"<|im'
    assert hear(f"{CALL}no name{ARGS}{{}}{DONE[:3]}").content == f"{CALL}no name{ARGS}{{}}{DONE[:3]}"


def test_a_header_that_names_nothing_stays_visible() -> None:
    block = f'{CALL} no name {ARGS} {{"a": "{DONE}"}} {DONE}'
    assert hear(f"A {BEGIN}\n{block}\n{LS}").content == f"A \n{block}\n"
    assert hear(f"A {block}{DONE} {END}").content == f"A {block}{DONE} {END}", "nothing has begun yet"


def test_a_header_cut_by_the_end_is_shown() -> None:
    assert hear(f"See {BEGIN} {CALL}functions.bas").content == f"See  {CALL}functions.bas"
    assert hear(f"{CALL}<think>{ARGS[:4]}").content == f"{CALL}<think>{ARGS[:4]}"


@pytest.mark.parametrize("room", [0, 1])
def test_a_header_has_a_limit(room: int) -> None:
    name = "n" * (MAX_HEADER_CHARS - 2 + room)
    heard = hear(f"{CALL}{name}:0{ARGS}{{}}{DONE}")
    assert len(heard.calls) == (not room)
    assert heard.content == (f"{CALL}{name}:0{ARGS}{{}}{DONE}" if room else "")


def test_past_the_limit_reading_goes_on_behind_call_begin() -> None:
    prose = "n" * MAX_HEADER_CHARS
    assert hear(f"A {CALL}{prose}<think>.{LS}") == Heard(
        f"A {CALL}{prose}.", "", [called()], [("<think>", "a marker outside a call")]
    )
    assert hear(f"{CALL}{prose} and on").content == f"{CALL}{prose} and on"


def test_repeated_call_begins_are_text_but_for_the_last() -> None:
    assert hear(f"{CALL}{CALL}{LS}") == Heard(CALL * 2, "", [called()])
    assert hear(CALL * 3).content == CALL * 3


def test_think_at_the_very_start_of_content() -> None:
    heard = hear("<think>plan <think>on</think>\nDone</think>.")
    assert (heard.reasoning, heard.content) == ("plan on", "\nDone.")
    assert hear("<think>plan").reasoning == "plan"
    assert hear(f"<think>plan{LS}x").content == "x"
    assert hear(f"<think>a{DONE}<|im_end|>{END}b{BEGIN}c").reasoning == f"a{DONE}{END}b"


@pytest.mark.parametrize("before", [" ", "<|im_end|>", "</think>", BEGIN, f"{LS}", "x"])
def test_think_anywhere_else_is_dropped(before: str) -> None:
    heard = hear(f"{before}<think>a</think>b")
    assert heard.reasoning == ""
    assert heard.content.endswith("ab")


@pytest.mark.parametrize("before", [DONE, END, CALL])
def test_think_behind_a_marker_that_is_text(before: str) -> None:
    assert hear(f"{before}<think>a").reasoning == ""


def test_tags_in_the_reasoning_field_are_dropped() -> None:
    heard = hear("<think>hm</think>ok<|im_end|>", "reasoning")
    assert (heard.reasoning, heard.content) == ("hmok", "")
    assert [text for text, _ in heard.dropped] == ["<think>", "</think>", "<|im_end|>"]


def test_tags_do_not_part_a_stretch_of_blanks() -> None:
    assert hear(f"{LS} <|im_end|> x").content == "  x"
    assert hear(f"{LS} <|im_end|> ").content == ""
    assert hear(f"{LS}x<|im_end|> ").content == "x "
    assert hear(f"{LS}x{DONE} {END} ").content == "x"


def test_tags_in_headers_and_arguments_are_ordinary() -> None:
    arguments = '{"command": "<think></think><|im_end|>"}'
    assert hear(f"{CALL}functions.bash:0{ARGS}{arguments}{DONE}").calls == [called(arguments)]
    assert hear(f"{CALL}a<think>:0{ARGS}{{}}{DONE}").calls[0].name == "a<think>"


def test_where_no_call_may_be_made_markup_is_removed() -> None:
    heard = hear(f"Done. {BEGIN}{LS}{CALL}2{ARGS}{{}}{DONE}{CALL}time:0{DONE}{END} Bye.", offer=NO_CALLS)
    assert (heard.content, heard.calls) == ("Done.  Bye.", [])
    assert hear(f"r{LS}", "reasoning", offer=NO_CALLS).reasoning == "r"


def test_a_number_names_the_tool_that_fits() -> None:
    assert hear(f'{CALL}3{ARGS}{{"command": "{DONE}"}}{DONE}').calls == [called(f'{{"command": "{DONE}"}}', "3")]
    block = f'{CALL}3{ARGS} {{"x": 1}} {DONE}'
    assert hear(f"a{block}b").content == f"a{block}b"
    assert hear(f'{CALL}3{ARGS}{{"x": <').content == f'{CALL}3{ARGS}{{"x": <'


def test_repair() -> None:
    heard = hear(f'{CALL}functions.bash:0{ARGS}{{"a": "x\n{DONE}\ty"}} {ARGS}{DONE}z', mend=True)
    assert heard.calls == [called(f'{{"a": "x\\n{DONE}\\ty"}}')]
    assert heard.content == "z"
    assert hear(f'{CALL}functions.bash:0{ARGS}"{{\\"a\\": 1}}"{DONE}', mend=True).calls == [called('{"a": 1}')]
    assert hear(f"{LS[: -len(DONE)]}<|im_end|>", mend=True).calls == [called()]
    assert hear(f'{CALL}functions.bash:0{ARGS}"a{DONE}"{ARGS}{DONE}', mend=True).calls == [called(f'"a{DONE}"')]


def test_without_repair_arguments_pass_as_they_are() -> None:
    assert hear(f'{CALL}functions.bash:0{ARGS}{{"a": "\n"}}{ARGS}{DONE}').calls == [called(f'{{"a": "\n"}}{ARGS}')]


SQUARE = ToolTokens("[[T]]", "[[/T]]", "[[C]]", "[[/C]]", "[[A]]")
NESTED = ToolTokens("A", "AB", "B", "BA", "C")


def test_other_markers() -> None:
    heard = hear('a [b] [[T]][[C]]time[[A]]{"x": [[1]]}[[/C]] [[/T]]', tokens=SQUARE)
    assert heard.content == "a [b] "
    assert heard.calls == [Said("time", "time", '{"x": [[1]]}', False)]
    assert hear('[[C]]time[[A]]{"x": "[[/C]]"}[[/C]]', tokens=SQUARE).calls[0].arguments == '{"x": "[[/C]]"}'


def test_markers_that_begin_with_each_other() -> None:
    assert hear("xABAyBtimeC{}BAz", tokens=NESTED).calls == [Said("time", "time", "{}", False)]


def test_arguments_flow() -> None:
    reader = lane()
    reader.feed(f"{CALL}functions.bash:0{ARGS}")
    assert reader.calling
    assert reader.feed('{"command": "a') == [CallArguments('{"command": "a')]
    assert reader.feed(" ") == []
    assert reader.feed("b") == [CallArguments(" b")]


def test_no_text_changes_nothing() -> None:
    reader = lane()
    heard = Heard()
    for piece in ("", "<", "", f"{CALL[1:]}functions.", "", f"bash:0{ARGS}", "", '"', DONE, "", '"', "", DONE, ""):
        heard.take(reader.feed(piece))
    assert heard.take(reader.close()).calls == [called(f'"{DONE}"')]


def test_idle_means_that_plain_text_leaves_unseen() -> None:
    reader = lane()
    assert not reader.idle, "the very start of content matters"
    reader.feed("a")
    assert reader.idle
    reader.feed("<")
    assert not reader.idle
    reader.feed(f"b{BEGIN}")
    assert not reader.idle, "blanks would wait"
    reader.feed("x")
    assert reader.idle
    reader.feed(CALL)
    assert not reader.idle
    assert lane("reasoning").idle
    redirected = lane("reasoning")
    redirected.feed(f"{LS}x")
    assert not redirected.idle, "it would leave as content"
    assert not lane("reasoning", SQUARE).idle, "text without < may hold a marker"


def test_sections_one_after_the_other_leave_a_word_of_each_kind_and_nothing_else() -> None:
    for text in ((BEGIN + END) * 3 + END + BEGIN * 2, BEGIN + END, f"{BEGIN}{END}after{END} it{BEGIN}{END}{LS}{END}"):
        reader = lane()
        pieces = [*reader.feed(text * 3), *reader.close()]
        assert sum(isinstance(piece, Dropped) for piece in pieces) == 2
        assert len(hear(text * 3).calls) == text.count(LS) * 3
    assert hear(f"{BEGIN}{END}{BEGIN}{END}after{END} it").content == "after it"


def test_sections_that_hide_in_one_another_are_read_one_by_one() -> None:
    tokens = replace(K2_TOKENS, section_begin="<<s>", section_end="<s>")
    assert K2Markers.of(tokens).sections is None
    assert hear("<<s><s><<s><s>a<s>b", tokens=tokens).content == "ab"
