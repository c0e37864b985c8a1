"""The K2 family: calls written between special tokens (sections 5.1 to 5.6).

`k2_table` is the grammar, `k2_reader` parses text with it.
"""

from __future__ import annotations

from typing import Final

from moongate.kimi.family import Family, IdRule
from moongate.kimi.markers.k2_markers import K2Markers, singular
from moongate.kimi.markers.k2_reader import K2Reader
from moongate.kimi.tool_set import ToolSet
from moongate.kimi.tool_tokens import ToolTokens


class K2Parser(K2Reader):
    """The parser of one choice of a K2 model's answer (`pieces.Parser`)."""

    __slots__ = ()

    def __init__(self, tokens: ToolTokens, tool_set: ToolSet, repair_arguments: bool, fast: bool = True) -> None:
        super().__init__(K2Markers.of(tokens), tool_set, repair_arguments, fast)


def _plain_parser(tokens: ToolTokens, tool_set: ToolSet, repair_arguments: bool) -> K2Parser:
    return K2Parser(tokens, tool_set, repair_arguments, fast=False)


def _markers(tokens: ToolTokens) -> tuple[str, ...]:
    return (
        tokens.section_begin,
        singular(tokens.section_begin),
        tokens.section_end,
        tokens.call_begin,
        tokens.call_end,
        tokens.arg_begin,
    )


K2: Final = Family("k2", K2Parser, _markers, IdRule.TOOL_NAME, grammar="K2 markers", plain_parser=_plain_parser)
