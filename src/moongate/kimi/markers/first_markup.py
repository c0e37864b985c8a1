"""A model whose name tells no generation: the first markup in its answer decides which grammar reads it (section 2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from moongate.kimi.family import Family, IdRule
from moongate.kimi.markers.k2 import K2, K2Parser
from moongate.kimi.markers.k3 import K3, K3Parser
from moongate.kimi.markers.k3_tags import CLOSED, OPENED
from moongate.kimi.markers.pieces import Channel, Parser, Piece, Text
from moongate.kimi.tool_set import ToolSet
from moongate.kimi.tool_tokens import ToolTokens

MAX_BLANKS: Final = 64  # between a token of K3 and the name of its tag

_END: Final = "<|end_of_msg|>"


class FirstMarkupParser:
    """The parser of one choice (`pieces.Parser`): K2's, until markup of K3 comes first."""

    __slots__ = ("_decided", "_held", "_last", "_make_k3", "_parser", "_search")

    def __init__(self, tokens: ToolTokens, tool_set: ToolSet, repair_arguments: bool, fast: bool = True) -> None:
        self._parser: Parser = K2Parser(tokens, tool_set, repair_arguments, fast)
        self._make_k3: Callable[[], Parser] = lambda: K3Parser(tool_set, repair_arguments, fast)
        self._search = _first_markup(tokens)
        self._decided = False
        self._held: list[tuple[Channel, str]] = []  # what may become the first markup
        self._last: tuple[Channel, str] | None = None  # the last text that came out: its channel and last character

    def idle_for(self, channel: Channel) -> bool:
        return not self._held and self._parser.idle_for(channel)

    def passed(self, channel: Channel, last: str) -> None:
        self._last = (channel, last)
        self._parser.passed(channel, last)

    def feed(self, channel: Channel, text: str) -> list[Piece]:
        if self._decided:
            return self._parser.feed(channel, text)
        if not text:
            return []
        parts = [*self._held, (channel, text)]
        self._held = []
        found = self._search("".join([part for _, part in parts]))
        if found is None:
            return self._read(parts)
        before, behind = _split(parts, found.start())
        pieces = self._read(before)
        if found["held"] is not None:
            self._held = behind
            return pieces
        return [*pieces, *self._decide(behind, found["k3"] is not None)]

    def release(self) -> list[Piece]:
        held, self._held = self._held, []
        return [*self._read(held), *self._parser.release()]

    def close(self) -> list[Piece]:
        held, self._held = self._held, []
        closes = "".join([part for _, part in held]).startswith("<|close|>")
        return [*(self._decide(held, True) if closes else self._read(held)), *self._parser.close()]

    def _read(self, parts: list[tuple[Channel, str]]) -> list[Piece]:
        """Text before any markup."""
        pieces = [piece for channel, text in parts for piece in self._parser.feed(channel, text)]
        last = next((piece for piece in reversed(pieces) if isinstance(piece, Text)), None)
        if last is not None:
            self._last = (last.channel, last.text[-1])
        return pieces

    def _decide(self, parts: list[tuple[Channel, str]], k3: bool) -> list[Piece]:
        """The markup begins with these parts."""
        self._decided = True
        pieces: list[Piece] = []
        if k3:
            pieces += self._parser.close()
            self._parser = self._make_k3()
            self._parser.feed(parts[0][0], "")
            if self._last is not None:
                self._parser.passed(*self._last)
        return [*pieces, *(piece for channel, text in parts for piece in self._parser.feed(channel, text))]


def _split(parts: list[tuple[Channel, str]], at: int) -> tuple[list[tuple[Channel, str]], list[tuple[Channel, str]]]:
    """The parts before a position, and those behind it."""
    before: list[tuple[Channel, str]] = []
    behind: list[tuple[Channel, str]] = []
    for channel, text in parts:
        if text[:at]:
            before.append((channel, text[:at]))
        if text[at:]:
            behind.append((channel, text[at:]))
        at = max(0, at - len(text))
    return before, behind


@lru_cache(maxsize=64)
def _first_markup(tokens: ToolTokens) -> Callable[[str], re.Match[str] | None]:
    """Finds the first markup: `k2`, `k3`, or `held`, the end of a text that may become such."""
    k2 = K2.markers(tokens)
    blanks = rf"\s{{0,{MAX_BLANKS}}}+"
    k3, begun = [re.escape(_END)], {*_prefixes(_END), *(part for text in k2 for part in _prefixes(text))}
    held: list[str] = []
    for token, names in (("<|open|>", OPENED), ("<|close|>", CLOSED)):
        k3.append(rf"{re.escape(token)}{blanks}{_any_of(names)}(?=[\s<])")
        begun.update(_prefixes(token))
        begun_names = {*names, *(part for name in names for part in _prefixes(name)), ""}
        held.append(rf"{re.escape(token)}{blanks}{_any_of(begun_names)}")
    held.append(_any_of(begun))
    return re.compile(rf"(?P<k2>{_any_of(k2)})|(?P<k3>{'|'.join(k3)})|(?P<held>(?:{'|'.join(held)})\Z)").search


def _prefixes(text: str) -> list[str]:
    return [text[:end] for end in range(1, len(text))]


def _any_of(texts: Iterable[str]) -> str:
    return "(?:" + "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True)) + ")"


def _markers(tokens: ToolTokens) -> tuple[str, ...]:
    return (*K2.markers(tokens), *K3.markers(tokens))


def _plain_parser(tokens: ToolTokens, tool_set: ToolSet, repair_arguments: bool) -> FirstMarkupParser:
    return FirstMarkupParser(tokens, tool_set, repair_arguments, fast=False)


FIRST_MARKUP: Final = Family(
    K2.name,
    FirstMarkupParser,
    _markers,
    IdRule.TOOL_NAME,
    grammar="K2 markers or XTML channels, whichever comes first",
    plain_parser=_plain_parser,
)
