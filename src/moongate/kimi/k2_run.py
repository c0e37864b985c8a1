"""Blocks that are all there, one after the other, read in one go (sections 5.3 to 5.5).

The usual case, and the only one that a flood of calls in one delta can afford. Whatever is not plain is left to the
table, which reads the same text step by step and comes to the same end.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from moongate import payload
from moongate.kimi.arguments import has_control, settled
from moongate.kimi.headers import Header, read_header
from moongate.kimi.json_scan import BROKEN
from moongate.kimi.k2_block import Desk
from moongate.kimi.markers import K2Markers
from moongate.kimi.pieces import WholeCall

_FORESIGHT: Final = 1024  # characters behind an end marker that may show that it was the end


class Run(NamedTuple):
    """Where it ended, and whether there was a call in it."""

    end: int
    called: bool


def read_run(data: str, begin: int, markers: K2Markers, desk: Desk) -> Run | None:
    """The blocks from the callBegin at `begin` on. None if not even the first can be read here."""
    if markers.block is None or not desk.offer.calls_allowed:
        return None
    match, call_begin = markers.block.match, markers.tokens.call_begin
    calls: list[WholeCall] = []
    at, text_from, called = begin, begin, False  # `text_from`: from here to `at` it is text
    while data.startswith(call_begin, at):
        block = match(data, at + len(call_begin))
        if block is None:
            break
        header = read_header(block[1], desk.offer)
        if block[2] is None:
            call = (header.given, header.name, "{}") if desk.offer.has(header.name) else None
        else:
            said = _arguments(data, block, desk.mend)
            if said is None:
                break
            call = _call(header, said, desk)
        if call is not None:
            if text_from < at:
                _pass(calls, data[text_from:at], desk)
            calls.append(call)
            called = True
            text_from = block.end()
        at = block.end()
    if at == begin:
        return None
    _pass(calls, data[text_from:at], desk)
    return Run(at, called)


def _pass(calls: list[WholeCall], text: str, desk: Desk) -> None:
    """These calls, then this text."""
    if calls:
        desk.visible.calls(calls[:])
        calls.clear()
    if text:
        desk.visible.say(text)


def _call(header: Header, said: str, desk: Desk) -> WholeCall | None:
    if header.name:
        return header.given, header.name, said
    if not header.by_keys:
        return None
    arguments = payload.object_of(said)
    name = None if arguments is None else desk.offer.only_fit(arguments.keys())
    return None if name is None else (header.given, name, said)


def _arguments(data: str, block: re.Match[str], mend: bool) -> str | None:
    """The arguments of a block as they leave. None if the marker behind them may stand inside a JSON string."""
    said, scanner = settled(block[2], mend)
    if scanner is None or not scanner.in_string:
        return said
    stop = block.end(2)
    following = data[stop : stop + _FORESIGHT]
    if has_control(following):
        return None
    read = scanner.feed(following)
    if scanner.shape is not BROKEN or (scanner.was_whole and following[read - 1] == "<"):
        return None
    return said
