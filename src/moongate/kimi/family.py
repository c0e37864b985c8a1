"""What a model family is: the grammar of its marker calls and the rule for its call ids (sections 3 and 5).

A new family is one file, with the parser and its `Family`, and one row of `generations.GENERATIONS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from moongate.kimi.markers.pieces import Parser
from moongate.kimi.tool_set import ToolSet
from moongate.kimi.tool_tokens import ToolTokens


class IdRule(Enum):
    """What an id has to look like. The value is the text for the docs."""

    TOOL_NAME = "`functions.NAME:N`"  # the model's prompt shows the id instead of the name, so the id carries the name
    UNIQUE = "any, but unique"  # the prompt shows no ids


@dataclass(frozen=True, slots=True)
class Family:
    """Frozen and shared. The tokens are the configured marker texts; a grammar with fixed markers ignores them."""

    name: str  # a value of the option `family`
    parser: Callable[[ToolTokens, ToolSet, bool], Parser]  # tokens, offered tools, repair arguments
    markers: Callable[[ToolTokens], tuple[str, ...]]  # the texts that show that a call was written into text
    id_rule: IdRule
    grammar: str  # for the docs
    plain_parser: Callable[[ToolTokens, ToolSet, bool], Parser] | None = (
        None  # the same without shortcuts, if it has any
    )
