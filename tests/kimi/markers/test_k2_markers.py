"""Which texts are looked for where."""

from __future__ import annotations

import pytest

from moongate.kimi.markers.k2_markers import MAX_BLOCKS, K2Markers, Marker
from moongate.kimi.tool_tokens import K2_TOKENS, ToolTokens

SQUARE = ToolTokens("[[TOOLS]]", "[[/TOOLS]]", "[[CALL]]", "[[/CALL]]", "[[ARGS]]")


def kinds(text: str, tokens: ToolTokens = K2_TOKENS) -> list[Marker | None]:
    """What the text is outside, in a header, in arguments."""
    markers = K2Markers.of(tokens)
    found = []
    for lexer in (markers.outside, markers.header, markers.arguments):
        match = lexer.find(text, 0, True)
        found.append(lexer.kind(match) if match is not None and match.group() == text else None)
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<|tool_calls_section_begin|>", [Marker.SECTION_BEGIN] * 3),
        ("<|tool_call_section_begin|>", [Marker.SECTION_BEGIN] * 3),
        ("<|tool_calls_section_end|>", [Marker.SECTION_END] * 3),
        ("<|tool_call_section_end|>", [Marker.SECTION_END] * 3),
        ("<|tool_call_begin|>", [Marker.CALL_BEGIN] * 3),
        ("<|tool_call_end|>", [Marker.CALL_END] * 3),
        ("<|tool_call_argument_begin|>", [None, Marker.ARG_BEGIN, Marker.ARG_BEGIN]),
        ("<think>", [Marker.THINK, None, None]),
        ("</think>", [Marker.THINK_END, None, None]),
        ("<|im_end|>", [Marker.IM_END, None, Marker.IM_END]),
        ("<|im_start|>", [None, None, None]),
    ],
)
def test_markers_and_tags(text: str, expected: list[Marker | None]) -> None:
    assert kinds(text) == expected


def test_configured_texts_replace_the_defaults() -> None:
    assert kinds("[[CALL]]", SQUARE) == [Marker.CALL_BEGIN] * 3
    assert kinds("<|tool_call_begin|>", SQUARE) == [None] * 3
    assert kinds("<think>", SQUARE) == [Marker.THINK, None, None]


def test_lexers_are_built_once() -> None:
    assert K2Markers.of(ToolTokens()) is K2Markers.of(K2_TOKENS)


def test_complete_blocks_are_one_match() -> None:
    begin, arguments, end = "<|tool_call_begin|>", "<|tool_call_argument_begin|>{}", "<|tool_call_end|>"
    tokens = ToolTokens(section_begin="<|a_section_begins|>")  # a set of its own: patterns are made once
    pattern = K2Markers.of(tokens).blocks
    assert pattern is not None

    def length(text: str) -> int:
        found = pattern.match(text)
        return 0 if found is None else found.end()

    block, bare = f"{begin}a:0{arguments}{end}", f"{begin}a:0"
    assert length(f"{block}{bare}{bare}{arguments}{block}tail") == len(block + bare + bare + arguments + block)
    assert length(f"{bare}<|tool_call_section_end|>") == len(bare)
    assert length(f"{block}{bare}") == len(block)
    assert length(f"{begin}{'n' * 513}{arguments}{end}") == 0
    assert length(f"{bare}{arguments}<|im_end|>") == 0
    assert length(block * 2 * MAX_BLOCKS) == len(block) * MAX_BLOCKS


@pytest.mark.parametrize(
    "tokens",
    [
        SQUARE,
        ToolTokens(call_end="<e", section_end="<e>"),
        ToolTokens(call_begin="<<"),
        ToolTokens(arg_begin="<|tool_call_end|>"),
    ],
)
def test_no_block_pattern_where_markers_may_overlap(tokens: ToolTokens) -> None:
    assert K2Markers.of(tokens).blocks is None


def test_the_common_first_character() -> None:
    assert K2Markers.of(K2_TOKENS).first == "<"
    assert K2Markers.of(SQUARE).first is None
    assert K2Markers.of(ToolTokens(arg_begin="[[ARGS]]")).first is None


def test_prefixes_of_markers_but_not_of_tags() -> None:
    prefixes = K2Markers.of(K2_TOKENS).prefixes
    assert {"<", "<|", "<|tool_call_argument_begi"} <= prefixes
    assert prefixes.isdisjoint({"<t", "<|im", "<|tool_call_end|>", ""})


def test_labels_are_those_of_the_options() -> None:
    assert Marker.SECTION_BEGIN.label == "sectionBegin"
    assert Marker.THINK.label == "think"
