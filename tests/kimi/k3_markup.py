"""K3 markup, and a parser that reads it whole and at a few cuts."""

from __future__ import annotations

from tests.kimi.marker_reading import CUTS, ParsedCall, ParsedChoice, cut_in

from moongate.kimi.markers.k3_reader import K3Reader
from moongate.kimi.markers.pieces import Channel
from moongate.kimi.tool_set import ToolKeys, ToolSet

TOOL_SET = ToolSet({"calc": ToolKeys()})
NO_CALLS = ToolSet(TOOL_SET.tools, calls_allowed=False)


def opened(name: str, body: str = "", rest: str = "") -> str:
    return f"<|open|>{name}{rest}<|sep|>{body}<|close|>{name}<|sep|>"


def argument(body: str, key: str = "x", kind: str = "number") -> str:
    return opened("argument", body, f' key="{key}" type="{kind}"')


def call(*children: str, tool: str = "calc") -> str:
    return opened("call", "".join(children), f' tool="{tool}" index="1"')


def tools(*calls: str) -> str:
    return opened("tools", "".join(calls))


def parse(text: str, channel: Channel = "content", tool_set: ToolSet = TOOL_SET, repair: bool = False) -> ParsedChoice:
    """What the parser makes of the text; the same at every cut."""
    results: list[ParsedChoice] = []
    for pieces in ([text], *(cut_in(text, size) for size in CUTS)):
        parser = K3Reader(tool_set, repair)
        one = ParsedChoice()
        for piece in pieces:
            one.take(parser.feed(channel, piece))
        results.append(one.take(parser.close()))
        assert not parser.in_call
        assert parser.close() == []
    assert all(one == results[0] for one in results)
    return results[0]


def called(arguments: str = "{}", name: str = "calc", truncated: bool = False) -> ParsedCall:
    return ParsedCall("", name, arguments, truncated)
