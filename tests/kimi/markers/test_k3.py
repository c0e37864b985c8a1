"""The K3 family."""

from __future__ import annotations

from tests.kimi.marker_reading import ParsedCall, ParsedChoice, read

from moongate.kimi.family import IdRule
from moongate.kimi.markers.k3 import K3, K3Parser
from moongate.kimi.markers.pieces import Channel
from moongate.kimi.tool_set import ToolSet
from moongate.kimi.tool_tokens import K2_TOKENS, ToolTokens

TOOL_SET = ToolSet({})


def test_calls_in_both_channels() -> None:
    call = '<|open|>call tool="bash" index="1"<|sep|><|close|>call<|sep|>'
    parsed = read(K3Parser(TOOL_SET, False), [("reasoning", "r" + call), ("content", "c" + call)])
    assert parsed == ParsedChoice("c", "r", [ParsedCall("", "bash", "{}", False)] * 2, parsed.dropped)


def test_the_family_has_this_parser_and_opaque_ids() -> None:
    assert isinstance(K3.parser(K2_TOKENS, TOOL_SET, False), K3Parser)
    assert (K3.name, K3.id_rule) == ("k3", IdRule.UNIQUE)


def test_the_plain_parser_reads_the_same_step_by_step() -> None:
    assert K3.plain_parser is not None
    call = '<|open|>call tool="bash"<|sep|><|close|>call<|sep|>'
    fed: list[tuple[Channel, str]] = [("content", "<|open|>tools<|sep|>" * 2 + call * 2)]
    assert read(K3.plain_parser(K2_TOKENS, TOOL_SET, False), fed) == read(K3.parser(K2_TOKENS, TOOL_SET, False), fed)


def test_the_markers_cannot_be_configured() -> None:
    assert K3.markers(ToolTokens(call_begin="[[C]]")) == ("<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>")
