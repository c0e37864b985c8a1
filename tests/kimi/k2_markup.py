"""K2 markup, and a parser that reads it whole and at a few cuts."""

from __future__ import annotations

from tests.kimi.marker_reading import CUTS, ParsedCall, ParsedChoice, cut_in

from moongate.kimi.markers.k2_markers import K2Markers
from moongate.kimi.markers.k2_reader import K2Reader
from moongate.kimi.markers.pieces import Channel
from moongate.kimi.tool_set import ToolKeys, ToolSet
from moongate.kimi.tool_tokens import K2_TOKENS, ToolTokens

BEGIN, END = K2_TOKENS.section_begin, K2_TOKENS.section_end
CALL, DONE, ARGS = K2_TOKENS.call_begin, K2_TOKENS.call_end, K2_TOKENS.arg_begin
LS = f'{CALL}functions.bash:0{ARGS}{{"command": "ls"}}{DONE}'
TOOL_SET = ToolSet(
    {
        "bash": ToolKeys(frozenset({"command"}), frozenset({"command"})),
        "time": ToolKeys(frozenset({"zone"})),
    }
)
NO_CALLS = ToolSet({}, calls_allowed=False)


def reader(tokens: ToolTokens = K2_TOKENS, tool_set: ToolSet = TOOL_SET, repair: bool = False) -> K2Reader:
    return K2Reader(K2Markers.of(tokens), tool_set, repair)


def parse(
    text: str,
    channel: Channel = "content",
    tokens: ToolTokens = K2_TOKENS,
    tool_set: ToolSet = TOOL_SET,
    repair: bool = False,
) -> ParsedChoice:
    """What the parser makes of the text; the same at every cut."""
    results: list[ParsedChoice] = []
    for pieces in ([text], *(cut_in(text, size) for size in CUTS)):
        parser = reader(tokens, tool_set, repair)
        one = ParsedChoice()
        for piece in pieces:
            one.take(parser.feed(channel, piece))
        results.append(one.take(parser.close()))
        assert not parser.in_call
        assert parser.close() == []
    assert all(one == results[0] for one in results)
    return results[0]


def called(
    arguments: str = '{"command": "ls"}', original_id: str = "functions.bash:0", truncated: bool = False
) -> ParsedCall:
    return ParsedCall(original_id, "bash", arguments, truncated)
