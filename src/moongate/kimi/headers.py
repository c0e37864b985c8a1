"""Whom does a call's header name? (section 5.4)"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from moongate.kimi.offer import Offer

MAX_HEADER_CHARS: Final = 512  # past this it is prose, not a header

_USUAL: Final = re.compile(r"functions\.([^:\s]+):[0-9]+").fullmatch
_SANITISED: Final = re.compile(r"functions_(.+)_[0-9]+", re.DOTALL).fullmatch
_SQUEEZED: Final = re.compile(r"functions(.*[^0-9])([0-9]+)", re.DOTALL).fullmatch


class Header(NamedTuple):
    """`given` is the header's text. No name: it names nothing, unless `by_keys`, then the argument keys may tell."""

    given: str
    name: str = ""
    by_keys: bool = False


def read_header(text: str, offer: Offer) -> Header:
    usual = _USUAL(text)
    if usual is not None and offer.has(usual[1]):  # what follows finds the same, in more steps
        return Header(text, usual[1])
    given = text.strip()
    rest = given.removeprefix("functions.")
    name, colon, index = rest.rpartition(":")
    indexed = index.isdigit() and index.isascii() and colon != ""
    if not indexed:
        name = rest
    if offer.has(name):
        return Header(given, name)
    if name.startswith("functions") and (mimicked := _mimicked(name, offer)):
        return Header(given, mimicked)
    if indexed:
        return Header(given, name)
    return Header(given, by_keys=name.startswith("call_") or (name.isascii() and name.isdigit()))


class Headers:
    """Reads many headers. Those that are the same, or differ in nothing but their index, are read once."""

    __slots__ = ("_names", "_offer", "_others")

    def __init__(self, offer: Offer) -> None:
        self._offer = offer
        self._names: dict[str, str] = {}  # by what stands before the index
        self._others: dict[str, Header] = {}  # without one

    def read(self, text: str) -> tuple[str, str, bool]:
        """The same as `read_header`."""
        head, colon, index = text.rpartition(":")
        if not (colon and index.isdigit() and index.isascii()):
            other = self._others.get(text)
            if other is None:
                other = self._others[text] = read_header(text, self._offer)
            return other
        name = self._names.get(head)
        if name is None:
            header = read_header(text, self._offer)
            if header.given != text:  # blanks before it
                return header
            name = self._names[head] = header.name
        return text, name, False


def _mimicked(name: str, offer: Offer) -> str:
    """The offered tool in an id that somebody sanitised: `functions_NAME_N`, `functionsNAMEN`."""
    found = _SANITISED(name)
    if found is not None and offer.has(found[1]):
        return found[1]
    found = _SQUEEZED(name)
    if found is not None:
        stem, digits = found[1], found[2]
        # The name may end in digits itself: the longest one that was offered.
        for end in range(len(digits) - 1, -1, -1):
            if offer.has(stem + digits[:end]):
                return stem + digits[:end]
    return ""
