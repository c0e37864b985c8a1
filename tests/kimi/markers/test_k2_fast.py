"""Complete blocks are read in one step; everything else is left to the table."""

from __future__ import annotations

import pytest

from moongate.kimi.markers.k2_block import BlockContext
from moongate.kimi.markers.k2_fast import Run, read_run
from moongate.kimi.markers.k2_markers import K2Markers
from moongate.kimi.markers.piece_builder import PieceBuilder
from moongate.kimi.markers.pieces import Piece, Text, WholeCall, WholeCalls
from moongate.kimi.tool_set import ToolKeys, ToolSet
from moongate.kimi.tool_tokens import K2_TOKENS, ToolTokens

TOOL_SET = ToolSet(
    {
        "bash": ToolKeys(frozenset({"command"}), frozenset({"command"})),
        "time": ToolKeys(frozenset({"zone"})),
    }
)
BEGIN, ARGS, END = K2_TOKENS.call_begin, K2_TOKENS.arg_begin, K2_TOKENS.call_end
SECTION_END = K2_TOKENS.section_end


def block(header: str, arguments: str, end: str = END) -> str:
    return f"{BEGIN}{header}{ARGS}{arguments}{end}"


def read(
    text: str, *, tool_set: ToolSet = TOOL_SET, repair: bool = False, tokens: ToolTokens = K2_TOKENS
) -> tuple[Run | None, list[Piece]]:
    context = BlockContext(tool_set, PieceBuilder("content"), repair)
    run = read_run(text, 0, K2Markers.of(tokens), context)
    return run, context.builder.take()


def calls(text: str, *, repair: bool = False) -> list[WholeCall]:
    """The calls of a text that is nothing but calls."""
    run, pieces = read(text, repair=repair)
    assert run == Run(len(text), True)
    (piece,) = pieces
    assert isinstance(piece, WholeCalls)
    return piece.calls


def test_calls_with_arguments_and_without() -> None:
    text = block(" bash:0 ", ' {"command": "ls"} ') + f"{BEGIN}time{END}{BEGIN}time:2" + block("warp:3", "")
    assert calls(text) == [
        ("bash:0", "bash", '{"command": "ls"}'),
        ("time", "time", "{}"),
        ("time:2", "time", "{}"),
        ("warp:3", "warp", "{}"),
    ]


def test_a_call_ends_at_any_marker_that_ends_one() -> None:
    text = block("bash:0", "{}", "") + block("bash:1", "{}", "")
    run, pieces = read(text + SECTION_END)
    assert run == Run(len(text), True)
    assert pieces == [WholeCalls([("bash:0", "bash", "{}"), ("bash:1", "bash", "{}")])]


def test_calls_named_by_their_keys() -> None:
    assert calls(block("7", '{"command": "ls"}')) == [("7", "bash", '{"command": "ls"}')]
    assert calls(block("call_7", "")) == [("call_7", "time", "{}")]


@pytest.mark.parametrize(
    "text",
    [block("7", '{"x": 1}'), block("7", "[1]"), block("warp", " {} "), f"{BEGIN} a {END}", f"{BEGIN}{BEGIN}7{END}"],
)
def test_a_block_without_a_tool_is_text(text: str) -> None:
    assert read(text) == (Run(len(text), False), [Text("content", text)])
    both = text + block("bash:0", "{}") + text
    assert read(both) == (
        Run(len(both), True),
        [Text("content", text), WholeCalls([("bash:0", "bash", "{}")]), Text("content", text)],
    )


def test_arguments_are_repaired() -> None:
    assert calls(block("bash:0", '{"command": "a\nb"}'), repair=True) == [("bash:0", "bash", '{"command": "a\\nb"}')]
    assert calls(block("bash:0", '"{}"'), repair=True) == [("bash:0", "bash", "{}")]
    assert calls(block("bash:0", '"{}"')) == [("bash:0", "bash", '"{}"')]


@pytest.mark.parametrize(
    ("broken", "following"),
    [
        ("{", ""),
        ("x", ""),
        ("[1,", ""),
        ('{"a', block("bash:1", '{"a"}')),
        ('"xy', block("bash:1", '"xy"')),
        ('{"a": "x', block("bash:1", '{"a": 1}')),
        ('[",', block("bash:1", '["x"]')),
        ('["a\\', ""),
        ('{"a\\n', block("bash:1", '{"a"}')),
        ('{"a\\"', block("bash:1", '["a"]')),
    ],
)
def test_arguments_that_can_never_become_json(broken: str, following: str) -> None:
    assert calls(block("bash:0", broken) + following)[0] == ("bash:0", "bash", broken)


@pytest.mark.parametrize(
    "following",
    ["", "x", f'"}}{END}', f'"}} {END}', f'"}}\u2028{END}', f'"}}\x0c{END}', f'", "b{END}', '", "' + " " * 2000],
)
def test_an_ambiguous_end_marker_is_left_to_the_table(following: str) -> None:
    before = block("bash:1", "{}")
    assert read(block("bash:0", '{"a": "') + following) == (None, [])
    assert read(before + block("bash:0", '{"a": "') + following)[0] == Run(len(before), True, ambiguous=True)


def test_a_string_that_ends_long_after_the_marker() -> None:
    text = block("bash:0", '{"a": "')
    assert read(text + '"' + " " * 2000 + "x")[0] == Run(len(text), True)


@pytest.mark.parametrize("broken", ['{"a', '"x', '{"a\\n'])
def test_broken_calls_in_a_row(broken: str) -> None:
    blocks = [block(f"bash:{at % 3}", broken) for at in range(50)]
    last = block("bash:0", '{"a": "')
    assert read("".join((*blocks, last))) == (
        Run(len("".join(blocks)), True, ambiguous=True),
        [WholeCalls([(f"bash:{at % 3}", "bash", broken) for at in range(50)])],
    )


def test_more_blocks_than_are_cached() -> None:
    many = [(f"bash:{at}", "bash", "{}") for at in range(1000)]
    assert calls("".join(block(original_id, arguments) for original_id, _, arguments in many)) == many


def test_the_end_of_repaired_arguments_may_be_ambiguous() -> None:
    text = block("bash:0", '{"a": "x\ny') + f'"}}{END}'
    assert read(text, repair=True) == (None, [])
    assert read(text)[0] == Run(len(block("bash:0", '{"a": "x\ny')), True)


@pytest.mark.parametrize("following", ["\n", "x\ty", '"\n:'])
def test_an_end_marker_before_control_characters_is_ambiguous_with_repair(following: str) -> None:
    text = block("bash:0", '{"a": "')
    assert read(text + following) == (Run(len(text), True), [WholeCalls([("bash:0", "bash", '{"a": "')])])
    assert read(text + following, repair=True) == (None, [])


@pytest.mark.parametrize("text", [BEGIN, f"{BEGIN}bash:0", block("bash:0", "{}", ""), block("bash:0", '"<"')])
def test_an_incomplete_block_is_left_to_the_table(text: str) -> None:
    assert read(text) == (None, [])
    before = block("bash:1", "{}")
    assert read(before + text)[0] == Run(len(before), True)


def test_all_blocks_are_left_to_the_table_where_no_call_is_allowed_and_with_other_markers() -> None:
    assert read(block("bash:0", "{}"), tool_set=ToolSet(TOOL_SET.tools, calls_allowed=False)) == (None, [])
    assert read("[C]bash:0[A]{}[/C]", tokens=ToolTokens("[T]", "[/T]", "[C]", "[/C]", "[A]")) == (None, [])
