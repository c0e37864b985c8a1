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
from moongate.kimi.json_scan import BROKEN, JsonScanner
from moongate.kimi.k2_block import Desk
from moongate.kimi.markers import K2Markers
from moongate.kimi.pieces import WholeCall

# Behind an end marker inside a string: the string ends, and what follows it cannot follow a JSON string.
_HOPELESS: Final = re.compile(r'[^"\\]*+"\s*+[^\s,:}\]<]').match
_FORESIGHT: Final = 1024  # characters behind an end marker that may show that it was the end


class Run(NamedTuple):
    """Where it ended, and whether there was a call in it."""

    end: int
    called: bool


def read_run(data: str, begin: int, markers: K2Markers, desk: Desk) -> Run | None:
    """The blocks from the callBegin at `begin` on. None if not even the first can be read here."""
    if markers.block is None or not desk.offer.calls_allowed:
        return None
    match, call_begin, mend = markers.block.match, markers.tokens.call_begin, desk.mend
    if match(data, begin + len(call_begin)) is None:  # it comes in pieces, nearly always
        return None
    calls: list[WholeCall] = []
    headers: dict[str, Header] = {}  # what repeats itself is read once
    at, text_from, called = begin, begin, False  # `text_from`: from here to `at` it is text
    while data.startswith(call_begin, at):
        block = match(data, at + len(call_begin))
        if block is None:
            break
        text, arguments = block.groups()
        header = headers.get(text)
        if header is None:
            header = headers[text] = read_header(text, desk.offer)
        given, name, by_keys = header
        if arguments is None:
            call = (given, name, "{}") if desk.offer.has(name) else None
        else:
            said, whole = settled(arguments, mend)
            if not whole and _goes_on(said, data, block.end(2), mend):
                break
            call = (given, name, said) if name else _named_by_keys(given, said, desk) if by_keys else None
        end = block.end()
        if call is not None:
            if text_from < at:
                _pass(calls, data[text_from:at], desk)
                calls = []
            calls.append(call)
            called = True
            text_from = end
        at = end
    if at == begin:
        return None
    _pass(calls, data[text_from:at], desk)
    return Run(at, called)


def _pass(calls: list[WholeCall], text: str, desk: Desk) -> None:
    """These calls, then this text."""
    if calls:
        desk.visible.calls(calls)
    if text:
        desk.visible.say(text)


def _named_by_keys(given: str, said: str, desk: Desk) -> WholeCall | None:
    arguments = payload.object_of(said)
    name = None if arguments is None else desk.offer.only_fit(arguments.keys())
    return None if name is None else (given, name, said)


def _goes_on(text: str, data: str, stop: int, mend: bool) -> bool:
    """May the marker at `stop`, behind these arguments, stand inside a JSON string? True also if it is hard to say."""
    if "\\" not in text and (text.count('"') % 2 == 0 or _HOPELESS(data, stop)):
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
