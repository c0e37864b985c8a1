"""K2's markers and tags, and the lexers that find them in each state."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise
from typing import Final

from moongate.kimi.markers.call_headers import MAX_HEADER_CHARS
from moongate.kimi.markers.lexer import Lexer
from moongate.kimi.tool_tokens import ToolTokens


class Marker(IntEnum):
    SECTION_BEGIN = 0
    SECTION_END = 1
    CALL_BEGIN = 2
    CALL_END = 3
    ARG_BEGIN = 4
    THINK = 5
    THINK_END = 6
    IM_END = 7

    @property
    def label(self) -> str:
        """The name of its option: sectionBegin, callEnd ..."""
        first, *others = self.name.lower().split("_")
        return first + "".join(word.capitalize() for word in others)


CALL_END, ARG_BEGIN = Marker.CALL_END, Marker.ARG_BEGIN
SECTION_BEGIN, SECTION_END = Marker.SECTION_BEGIN, Marker.SECTION_END  # a lookup in the class is slow

MAX_BLOCKS: Final = 32  # read at once: if the first turns out to be none, reading the others was wasted

TAG_TEXTS: Final = {Marker.THINK: "<think>", Marker.THINK_END: "</think>", Marker.IM_END: "<|im_end|>"}
_TAGS: Final = {text: marker for marker, text in TAG_TEXTS.items()}


@dataclass(frozen=True, slots=True)
class K2Markers:
    """The lexers of one set of tokens. Built once, shared by all parsers."""

    tokens: ToolTokens
    outside: Lexer[Marker]  # in text: all but argBegin, which has no meaning there
    header: Lexer[Marker]  # after callBegin: all but tags
    arguments: Lexer[Marker]  # the same and <|im_end|>, which is dropped after a repaired value
    first: str | None  # the first character of all of them, if it is the same
    prefixes: frozenset[str]  # proper prefixes of the markers, without tags
    sections: re.Pattern[str] | None  # any number of section markers in sequence
    blocks: re.Pattern[str] | None  # complete calls in sequence: the usual case

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
        (singular(tokens.section_begin), Marker.SECTION_BEGIN),
        (singular(tokens.section_end), Marker.SECTION_END),
    ):
        texts.setdefault(text, marker)
    outside = {text: marker for text, marker in texts.items() if marker is not ARG_BEGIN}
    firsts = {text[0] for text in (*texts, *_TAGS)}
    return K2Markers(
        tokens=tokens,
        outside=Lexer({**_TAGS, **outside}, merge_repeats=True),
        header=Lexer(texts),
        arguments=Lexer({"<|im_end|>": Marker.IM_END, **texts}),
        first=firsts.pop() if len(firsts) == 1 else None,
        prefixes=frozenset(text[:end] for text in texts for end in range(1, len(text))),
        sections=_sections(texts),
        blocks=_blocks(texts),
    )


def _sections(texts: dict[str, Marker]) -> re.Pattern[str] | None:
    """None where markers may overlap."""
    if not _are_disjoint(texts):
        return None
    return re.compile(f"(?:{_any_of(texts, {SECTION_BEGIN, SECTION_END})})*+")


def _are_disjoint(texts: dict[str, Marker]) -> bool:
    """No marker is a prefix of another, and only their first character may be `<`."""
    nested = any(after.startswith(before) for before, after in pairwise(sorted(texts)))
    return not nested and all(text.rfind("<") == 0 for text in texts)


def _blocks(texts: dict[str, Marker]) -> re.Pattern[str] | None:
    """Complete blocks without any other `<`: callBegin, header, argBegin and arguments if there are any, callEnd."""
    texts = dict(sorted(texts.items()))
    if not _are_disjoint(texts) or ARG_BEGIN not in texts.values():
        return None
    ends, others = _any_of(texts, {CALL_END}), _any_of(texts, set(Marker) - {CALL_END, ARG_BEGIN})
    header = f"{_any_of(texts, {Marker.CALL_BEGIN})}[^<]{{0,{MAX_HEADER_CHARS}}}+"
    arguments = f"(?:{_any_of(texts, {ARG_BEGIN})}[^<]*+)?"
    return re.compile(f"(?:{header}{arguments}(?:{ends}|(?={others}))){{1,{MAX_BLOCKS}}}+")


def _any_of(texts: dict[str, Marker], markers: set[Marker]) -> str:
    return "(?:" + "|".join(re.escape(text) for text, marker in texts.items() if marker in markers) + ")"


def singular(text: str) -> str:
    """`<|tool_call_section_begin|>` for `<|tool_calls_section_begin|>`: models write both spellings."""
    return text.replace("tool_calls_section", "tool_call_section")
