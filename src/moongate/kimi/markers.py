"""The texts that mark K2's calls and tags, and which of them are looked for in which state."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise
from typing import Final

from moongate.kimi.headers import MAX_HEADER_CHARS
from moongate.kimi.lexer import Lexer
from moongate.kimi.options import ToolTokens


class Marker(IntEnum):
    SECTION_BEGIN = 0
    SECTION_END = 1
    CALL_BEGIN = 2
    CALL_END = 3
    ARG_BEGIN = 4
    THINK = 5
    THINK_END = 6
    TURN_END = 7  # <|im_end|>

    @property
    def label(self) -> str:
        """As the option is called: sectionBegin, callEnd ..."""
        first, *others = self.name.lower().split("_")
        return first + "".join(word.capitalize() for word in others)


CALL_END, ARG_BEGIN = Marker.CALL_END, Marker.ARG_BEGIN
SECTION_BEGIN, SECTION_END = Marker.SECTION_BEGIN, Marker.SECTION_END  # to look a member up in its class is slow

MOST_BLOCKS: Final = 32  # read at once: if the first turns out to be none, the others were looked at in vain

_TAGS: Final = {"<think>": Marker.THINK, "</think>": Marker.THINK_END, "<|im_end|>": Marker.TURN_END}


@dataclass(frozen=True, slots=True)
class K2Markers:
    """The lexers of one set of tokens. Made once, shared by all parsers."""

    tokens: ToolTokens
    outside: Lexer[Marker]  # in text: everything but argBegin, which means nothing there
    header: Lexer[Marker]  # after callBegin: everything but tags
    arguments: Lexer[Marker]  # the same and <|im_end|>, so that it can be cut behind a repaired value
    first: str | None  # the character that all of them begin with, if there is one
    pieces: frozenset[str]  # what a marker may begin with, tags left out
    sections: re.Pattern[str] | None  # any number of them, one after the other
    blocks: re.Pattern[str] | None  # calls that are all there, one after the other: the usual case

    @classmethod
    def of(cls, tokens: ToolTokens) -> K2Markers:
        return _markers(tokens)


@lru_cache(maxsize=64)
def _markers(tokens: ToolTokens) -> K2Markers:
    texts: dict[str, Marker] = {}
    for text, marker in (
        (tokens.call_begin, Marker.CALL_BEGIN),
        (tokens.call_end, Marker.CALL_END),
        (tokens.arg_begin, Marker.ARG_BEGIN),
        (tokens.section_begin, Marker.SECTION_BEGIN),
        (tokens.section_end, Marker.SECTION_END),
        (_singular(tokens.section_begin), Marker.SECTION_BEGIN),
        (_singular(tokens.section_end), Marker.SECTION_END),
    ):
        texts.setdefault(text, marker)
    outside = {text: marker for text, marker in texts.items() if marker is not ARG_BEGIN}
    firsts = {text[0] for text in (*texts, *_TAGS)}
    return K2Markers(
        tokens=tokens,
        outside=Lexer({**_TAGS, **outside}, runs=True),
        header=Lexer(texts),
        arguments=Lexer({"<|im_end|>": Marker.TURN_END, **texts}),
        first=firsts.pop() if len(firsts) == 1 else None,
        pieces=frozenset(text[:end] for text in texts for end in range(1, len(text))),
        sections=_sections(texts),
        blocks=_blocks(texts),
    )


def _sections(texts: dict[str, Marker]) -> re.Pattern[str] | None:
    """None where a marker may hide in another."""
    if not _are_apart(texts):
        return None
    return re.compile(f"(?:{_any_of(texts, {SECTION_BEGIN, SECTION_END})})*+")


def _are_apart(texts: dict[str, Marker]) -> bool:
    """No marker begins another, and none has a `<` but its first character."""
    nested = any(after.startswith(before) for before, after in pairwise(sorted(texts)))
    return not nested and all(text.rfind("<") == 0 for text in texts)


def _blocks(texts: dict[str, Marker]) -> re.Pattern[str] | None:
    """Some of: callBegin, header, argBegin and arguments if there are any, with no other `<`. callEnd is part of it."""
    texts = dict(sorted(texts.items()))
    if not _are_apart(texts) or ARG_BEGIN not in texts.values():
        return None
    ends, others = _any_of(texts, {CALL_END}), _any_of(texts, set(Marker) - {CALL_END, ARG_BEGIN})
    header = f"{_any_of(texts, {Marker.CALL_BEGIN})}[^<]{{0,{MAX_HEADER_CHARS}}}+"
    arguments = f"(?:{_any_of(texts, {ARG_BEGIN})}[^<]*+)?"
    return re.compile(f"(?:{header}{arguments}(?:{ends}|(?={others}))){{1,{MOST_BLOCKS}}}+")


def _any_of(texts: dict[str, Marker], markers: set[Marker]) -> str:
    return "(?:" + "|".join(re.escape(text) for text, marker in texts.items() if marker in markers) + ")"


def _singular(text: str) -> str:
    """`<|tool_call_section_begin|>` for `<|tool_calls_section_begin|>`: models write both."""
    return text.replace("tool_calls_section", "tool_call_section")
