"""Blocks that are all there, one after the other, read in one go (sections 5.3 to 5.5).

The usual case, and the only one that a flood of calls in one delta can afford. Whatever is not plain is left to the
table, which reads the same text step by step and comes to the same end.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import Final, NamedTuple

from moongate import payload
from moongate.kimi.arguments import has_control, settled
from moongate.kimi.headers import Headers
from moongate.kimi.json_scan import BROKEN, JsonScanner
from moongate.kimi.k2_block import Desk
from moongate.kimi.markers import K2Markers
from moongate.kimi.options import ToolTokens
from moongate.kimi.pieces import WholeCall
from moongate.kimi.visible import Visible

_NO_JSON: Final = re.compile(r'"\s*+[^\s,:}\]<]').match  # the end of a string, and what cannot follow it in JSON
_FORESIGHT: Final = 1024  # characters behind an end marker that may show that it was the end
_MOST_KNOWN: Final = 256  # blocks that are remembered, in case that they repeat themselves


class Run(NamedTuple):
    """Where it ended, whether there was a call in it, and whether the block that follows is one for the table."""

    end: int
    called: bool
    stuck: bool = False


def read_run(data: str, begin: int, markers: K2Markers, desk: Desk) -> Run | None:
    """The blocks from the callBegin at `begin` on. None if not even the first can be read here."""
    if markers.blocks is None or not desk.offer.calls_allowed:
        return None
    match, call_begin = markers.blocks.match, markers.tokens.call_begin
    found = match(data, begin)
    if found is None:  # it comes in pieces, nearly always
        return None
    blocks = _Blocks(markers.tokens, desk)
    at, called = begin, False
    while found is not None:
        texts = data[at : found.end()].split(call_begin)[1:]
        read = [blocks[text] for text in texts]
        ended = blocks.ended(data, at, texts) if blocks.open else len(texts)
        called = _pass(read[:ended], texts, call_begin, desk.visible) or called
        if ended < len(texts):
            at += len(call_begin) * ended + sum(map(len, texts[:ended]))
            return Run(at, called, stuck=True) if at > begin else None
        at = found.end()
        if len(blocks) > _MOST_KNOWN:
            blocks = _Blocks(markers.tokens, desk)
        found = match(data, at)
    return Run(at, called)


class _Blocks(dict[str, WholeCall | None]):
    """Blocks by their texts from behind callBegin on: the call that each is, None if it is text.

    What repeats itself is read once.
    """

    def __init__(self, tokens: ToolTokens, desk: Desk) -> None:
        self._tokens = tokens
        self._desk = desk
        self._headers = Headers(desk.offer)
        self.open: dict[str, tuple[str, int]] = {}  # may go on behind their ends: arguments, length of the end marker
        self._neighbours: set[tuple[str, str | None]] = set()  # of which the first does not, because of the second

    def __missing__(self, block: str) -> WholeCall | None:
        tokens, desk = self._tokens, self._desk
        inner = block.removesuffix(tokens.call_end)
        text, marked, arguments = inner.partition(tokens.arg_begin)
        given, name, by_keys = self._headers.read(text)
        if marked:
            said, whole = settled(arguments, desk.mend)
            call = (given, name, said) if name else _named_by_keys(given, said, desk) if by_keys else None
            if not whole and ("\\" in said or said.count('"') % 2):
                self.open[block] = (said, len(block) - len(inner))
        else:
            call = (given, name, "{}") if desk.offer.has(name) else None
        self[block] = call
        return call

    def ended(self, data: str, at: int, blocks: list[str]) -> int:
        """How many of these blocks, the first of which begins at `at`, end where they seem to."""
        before, neighbours = len(self._tokens.call_begin), self._neighbours
        for number, pair in enumerate(zip_longest(blocks, blocks[1:])):
            block, following = pair
            at += before + len(block)
            if pair in neighbours or block not in self.open:
                continue
            said, behind = self.open[block]
            if following is not None and _is_hopeless(said, data, at - behind, at + before + len(following)):
                neighbours.add(pair)
            elif _goes_on(said, data, at - behind, self._desk.mend):
                return number
        return len(blocks)


def _pass(read: list[WholeCall | None], blocks: list[str], call_begin: str, visible: Visible) -> bool:
    """What these blocks are leaves. True: there was a call."""
    calls = [call for call in read if call is not None]
    if calls and len(calls) == len(read):
        visible.calls(calls)
        return True
    for call, block in zip(read, blocks, strict=False):
        if call is None:
            visible.say(call_begin + block)
        else:
            visible.calls([call])
    return bool(calls)


def _named_by_keys(given: str, said: str, desk: Desk) -> WholeCall | None:
    arguments = payload.object_of(said)
    name = None if arguments is None else desk.offer.only_fit(arguments.keys())
    return None if name is None else (given, name, said)


def _is_hopeless(text: str, data: str, stop: int, end: int) -> bool:
    """If `stop`, behind these arguments, stands inside a string: does it end before `end` in what is no JSON?"""
    quote = -1 if "\\" in text else data.find('"', stop, end)
    return quote >= 0 and data.find("\\", stop, quote) < 0 and _NO_JSON(data, quote, end) is not None


def _goes_on(text: str, data: str, stop: int, mend: bool) -> bool:
    """May the marker at `stop`, behind these arguments, stand inside a JSON string? True also if it is hard to say.

    The arguments have a backslash in them, or an odd number of quotes.
    """
    if _is_hopeless(text, data, stop, len(data)):
        return False
    scanner = JsonScanner()
    scanner.feed(text)
    if not scanner.in_string:
        return False
    following = data[stop : stop + _FORESIGHT]
    read = scanner.feed(following)
    last = following[read - 1]
    if scanner.shape is not BROKEN or (scanner.was_whole and (last == "<" or last.isspace())):
        return True  # blanks that JSON does not know are dropped behind arguments, too
    return mend and has_control(following[:read]) is not None
