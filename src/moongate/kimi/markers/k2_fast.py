"""Reads complete blocks in sequence in one step (sections 5.3 to 5.5).

The usual case, and what keeps a delta with very many calls fast. Everything else is left to the table, which reads the
same text step by step with the same result.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import Final, NamedTuple

from moongate import payload
from moongate.kimi.markers.arguments import find_control, finished_arguments
from moongate.kimi.markers.call_headers import HeaderCache
from moongate.kimi.markers.json_scan import BROKEN, JsonScanner
from moongate.kimi.markers.k2_block import BlockContext
from moongate.kimi.markers.k2_markers import K2Markers
from moongate.kimi.markers.piece_builder import PieceBuilder
from moongate.kimi.markers.pieces import WholeCall
from moongate.kimi.tool_tokens import ToolTokens

_NO_JSON: Final = re.compile(r'"\s*+[^\s,:}\]<]').match  # the end of a string, and what cannot follow it in JSON
_LOOKAHEAD_CHARS: Final = 1024  # read behind an end marker to see whether it was the end
_MAX_CACHED: Final = 256  # blocks that are kept, in case they are repeated


class Run(NamedTuple):
    """The blocks that were read."""

    end: int  # where they end
    called: bool  # at least one was a call
    ambiguous: bool = False  # the end of the next block is ambiguous: that block is left to the table


def read_run(data: str, begin: int, markers: K2Markers, context: BlockContext) -> Run | None:
    """Read the blocks from the callBegin at `begin` on. None if not even the first can be read here."""
    if markers.blocks is None or not context.tool_set.calls_allowed:
        return None
    match, call_begin = markers.blocks.match, markers.tokens.call_begin
    found = match(data, begin)
    if found is None:  # nearly always: the block is not complete yet
        return None
    blocks = _BlockCache(markers.tokens, context)
    at, called = begin, False
    while found is not None:
        texts = data[at : found.end()].split(call_begin)[1:]
        read = [blocks[text] for text in texts]
        ended = blocks.ended(data, at, texts) if blocks.open else len(texts)
        called = _emit(read[:ended], texts, call_begin, context.builder) or called
        if ended < len(texts):
            at += len(call_begin) * ended + sum(map(len, texts[:ended]))
            return Run(at, called, ambiguous=True) if at > begin else None
        at = found.end()
        if len(blocks) > _MAX_CACHED:
            blocks = _BlockCache(markers.tokens, context)
        found = match(data, at)
    return Run(at, called)


class _BlockCache(dict[str, WholeCall | None]):
    """Block text (without callBegin) → its call, None if the block is text. Repeated blocks are read once."""

    def __init__(self, tokens: ToolTokens, context: BlockContext) -> None:
        self._tokens = tokens
        self._context = context
        self._headers = HeaderCache(context.tool_set)
        self.open: dict[str, tuple[str, int]] = {}  # may have an ambiguous end: arguments, marker length
        self._settled: set[tuple[str, str | None]] = set()  # pairs of blocks: the second shows that the first has ended

    def __missing__(self, block: str) -> WholeCall | None:
        tokens, context = self._tokens, self._context
        inner = block.removesuffix(tokens.call_end)
        header, marked, arguments = inner.partition(tokens.arg_begin)
        original_id, name, by_keys = self._headers.read(header)
        if marked:
            text, valid = finished_arguments(arguments, context.repair)
            name = name or (_named_by_keys(text, context) if by_keys else "")
            call = (original_id, name, text) if name else None
            if not valid and ("\\" in text or text.count('"') % 2):
                self.open[block] = (text, len(block) - len(inner))
        else:
            call = (original_id, name, "{}") if context.tool_set.has(name) else None
        self[block] = call
        return call

    def ended(self, data: str, at: int, blocks: list[str]) -> int:
        """How many of these blocks, the first of which begins at `at`, certainly end at their end marker."""
        before, settled = len(self._tokens.call_begin), self._settled
        for number, pair in enumerate(zip_longest(blocks, blocks[1:])):
            block, following = pair
            at += before + len(block)
            if pair in settled or block not in self.open:
                continue
            text, marker_chars = self.open[block]
            if following is not None and _cannot_continue(text, data, at - marker_chars, at + before + len(following)):
                settled.add(pair)
            elif _may_continue(text, data, at - marker_chars, self._context.repair):
                return number
        return len(blocks)


def _emit(read: list[WholeCall | None], blocks: list[str], call_begin: str, builder: PieceBuilder) -> bool:
    """Emit these blocks. Returns whether there was a call."""
    calls = [call for call in read if call is not None]
    if calls and len(calls) == len(read):
        builder.whole_calls(calls)
        return True
    for call, block in zip(read, blocks, strict=False):
        if call is None:
            builder.text(call_begin + block)
        else:
            builder.whole_calls([call])
    return bool(calls)


def _named_by_keys(text: str, context: BlockContext) -> str:
    """The tool that these arguments identify, "" if there is none."""
    arguments = payload.object_of(text)
    return "" if arguments is None else context.tool_set.only_match(arguments.keys()) or ""


def _cannot_continue(text: str, data: str, stop: int, end: int) -> bool:
    """Whether the JSON string that `stop`, behind these arguments, may be part of ends before `end` in broken JSON."""
    quote = -1 if "\\" in text else data.find('"', stop, end)
    return quote >= 0 and data.find("\\", stop, quote) < 0 and _NO_JSON(data, quote, end) is not None


def _may_continue(text: str, data: str, stop: int, repair: bool) -> bool:
    """Whether the marker at `stop`, behind these arguments, may be part of a JSON string. True also if unsure.

    Only for arguments with a backslash or an odd number of quotes.
    """
    if _cannot_continue(text, data, stop, len(data)):
        return False
    scanner = JsonScanner()
    scanner.feed(text)
    if not scanner.in_string:
        return False
    following = data[stop : stop + _LOOKAHEAD_CHARS]
    read = scanner.feed(following)
    last = following[read - 1]
    if scanner.completeness is not BROKEN or (scanner.was_complete and (last == "<" or last.isspace())):
        return True  # whitespace that is none in JSON is dropped after arguments, too
    return repair and find_control(following[:read]) is not None
