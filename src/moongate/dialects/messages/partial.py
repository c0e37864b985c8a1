"""Arguments that were cut, as far as they can be read: what a client's own accumulator makes of the pieces."""

from __future__ import annotations

import re
from typing import Final

from moongate.payload import JsonObject, object_of

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:"]|[^\s{}\[\],:"]+', re.DOTALL)
_SCALAR: Final = re.compile(
    r'".*"\Z|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\Z|true\Z|false\Z|null\Z', re.ASCII | re.DOTALL
)
_CLOSER: Final = {"{": "}", "[": "]"}


def readable_object(text: str) -> JsonObject:
    """The JSON object that `text` is. Of one that was cut: the members that are whole. Of anything else: nothing.

    Linear in the length of the text.
    """
    whole = object_of(text)
    if whole is not None:
        return whole
    open_brackets: list[str] = []
    cut = 0  # up to here the text can be read, once the open brackets are closed
    previous = ""
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token in _CLOSER:
            open_brackets.append(token)
            cut = found.end()
        elif token in ("}", "]"):
            if open_brackets:
                open_brackets.pop()
            cut = found.end()
        elif token not in (",", ":"):
            if not open_brackets or not _SCALAR.match(token):
                break
            if previous == ":" or open_brackets[-1] == "[":
                cut = found.end()
        if cut and not open_brackets:
            break
        previous = token
    closers = "".join(_CLOSER[bracket] for bracket in reversed(open_brackets))
    return object_of(text[:cut] + closers) or {}
