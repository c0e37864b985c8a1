"""The K3 family: calls written as XTML elements (section 5.8).

    <|open|>think<|sep|>Hm.<|close|>think<|sep|><|open|>response<|sep|>Hi.<|close|>response<|sep|>
    <|open|>tools<|sep|><|open|>call tool="bash" index="1"<|sep|><|open|>argument key="command" type="string"<|sep|>ls
    <|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>

`k3_reader` parses it.
"""

from __future__ import annotations

from typing import Final

from moongate.kimi.family import Family, IdRule
from moongate.kimi.markers.k3_reader import K3Reader
from moongate.kimi.markers.k3_tags import TEXTS
from moongate.kimi.tool_set import ToolSet
from moongate.kimi.tool_tokens import ToolTokens


class K3Parser(K3Reader):
    """The parser of one choice of a K3 model's answer (`pieces.Parser`)."""

    __slots__ = ()

    def __init__(self, tool_set: ToolSet, repair_arguments: bool, fast: bool = True) -> None:
        super().__init__(tool_set, repair_arguments, fast)


def _parser(_: ToolTokens, tool_set: ToolSet, repair_arguments: bool) -> K3Parser:
    return K3Parser(tool_set, repair_arguments)


def _plain_parser(_: ToolTokens, tool_set: ToolSet, repair_arguments: bool) -> K3Parser:
    return K3Parser(tool_set, repair_arguments, fast=False)


def _markers(_: ToolTokens) -> tuple[str, ...]:
    return TEXTS


K3: Final = Family("k3", _parser, _markers, IdRule.UNIQUE, grammar="XTML channels", plain_parser=_plain_parser)
