"""The K2 family."""

from __future__ import annotations

from tests.kimi.marker_reading import ParsedCall, ParsedChoice, read

from moongate.kimi.family import IdRule
from moongate.kimi.markers.k2 import K2, K2Parser
from moongate.kimi.markers.pieces import Channel
from moongate.kimi.tool_set import ToolKeys, ToolSet
from moongate.kimi.tool_tokens import K2_TOKENS, ToolTokens

TOOL_SET = ToolSet({"bash": ToolKeys(frozenset({"command"}))})


def test_calls_in_both_channels() -> None:
    call = f"{K2_TOKENS.call_begin}functions.bash:%d{K2_TOKENS.arg_begin}{{}}{K2_TOKENS.call_end}"
    parsed = read(K2Parser(K2_TOKENS, TOOL_SET, False), [("reasoning", "r" + call % 0), ("content", "c" + call % 1)])
    assert parsed == ParsedChoice(
        "c", "r", [ParsedCall(f"functions.bash:{n}", "bash", "{}", False) for n in (0, 1)], parsed.dropped
    )


def test_the_family_has_this_parser_and_ids_with_names() -> None:
    assert isinstance(K2.parser(K2_TOKENS, TOOL_SET, False), K2Parser)
    assert (K2.name, K2.id_rule) == ("k2", IdRule.TOOL_NAME)


def test_the_plain_parser_reads_the_same_step_by_step() -> None:
    assert K2.plain_parser is not None
    call = f"{K2_TOKENS.call_begin}functions.bash:%d{K2_TOKENS.arg_begin}{{}}{K2_TOKENS.call_end}"
    fed: list[tuple[Channel, str]] = [("content", "a" + call % 0 + call % 1)]
    assert read(K2.plain_parser(K2_TOKENS, TOOL_SET, False), fed) == read(K2.parser(K2_TOKENS, TOOL_SET, False), fed)


def test_the_markers_are_the_configured_texts_and_the_singular_section() -> None:
    assert "<|tool_call_section_begin|>" in K2.markers(K2_TOKENS)
    assert "[[T]]" in K2.markers(ToolTokens(section_begin="[[T]]"))
