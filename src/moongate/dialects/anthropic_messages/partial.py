"""Truncated arguments, parsed as far as possible, as the SDKs' own accumulators parse a partial stream."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Final

from moongate.payload import JsonObject, loads_exactly, object_of

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:"]|[^\s{}\[\],:"]+', re.DOTALL)
_SCALAR: Final = re.compile(
    r'".*"\Z|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\Z|true\Z|false\Z|null\Z', re.ASCII | re.DOTALL
)
_LONG_NUMBER: Final = re.compile(r"\d{19}")  # perhaps beyond 64 bits, which `object_of` reads as a float
_CLOSER: Final = {"{": "}", "[": "]"}


def readable_object(text: str) -> JsonObject:
    """The JSON object in `text`; the complete members of a truncated object; an empty object for anything else.

    Linear in the length of the text.
    """
    complete = _exact_object(text)
    if complete is not None:
        return complete
    open_brackets: list[str] = []
    end = 0  # the text up to here is valid once the open brackets are closed
    previous = ""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in _CLOSER:
            open_brackets.append(token)
            end = match.end()
        elif token in ("}", "]"):
            if open_brackets:
                open_brackets.pop()
            end = match.end()
        elif token not in (",", ":"):
            if not open_brackets or not _SCALAR.match(token):
                break
            if previous == ":" or open_brackets[-1] == "[":
                end = match.end()
        if end and not open_brackets:
            break
        previous = token
    closers = "".join(_CLOSER[bracket] for bracket in reversed(open_brackets))
    return _exact_object(text[:end] + closers) or {}


def _exact_object(text: str) -> JsonObject | None:
    """The object with all digits of its integers: a stream shows them as well."""
    found = object_of(text)
    if found is not None and _LONG_NUMBER.search(text):
        with suppress(ValueError):  # it is nested too deeply to be read with all digits
            found = loads_exactly(text)
    return found
