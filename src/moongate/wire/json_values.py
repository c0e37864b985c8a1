"""What a JSON text holds beyond its value: how many values, and whether keys are repeated. Pure.

Values are counted before the text is parsed: a value costs the parser up to 80 bytes of memory, so that a text of
`[],[],…` would take thirty times its size.
"""

from __future__ import annotations

from typing import Final

from moongate.payload import JsonObject, object_of

MAX_VALUES: Final = 1_000_000
SLICE: Final = 1 << 20  # bytes that are looked at together; bounds what the count itself takes


def more_values_than(data: bytes, limit: int) -> bool:
    """Does the text hold more than `limit` values? The keys of objects are not counted, nor is text within strings.

    Of a text that is not JSON it may say either. Linear in the size, and mostly one look at the bytes.
    """
    # A value that is not the first of its list or object has a comma before it; a first one has a bracket.
    if len(data) <= limit or _marks(data) < limit:
        return False
    found, in_string, rest = 1, False, b""
    for at in range(0, len(data), SLICE):
        piece = (rest + data[at : at + SLICE]).replace(b"\\\\", b"").replace(b'\\"', b"")
        rest = b"\\" if piece.endswith(b"\\") else b""
        parts = piece.removesuffix(b"\\").split(b'"')
        found += sum(map(_marks, parts[in_string::2]))
        in_string ^= len(parts) % 2 == 0
        if found > limit:
            return True
    return False


def bounded_object(data: bytes) -> JsonObject | None:
    """The JSON object that `data` is; None if it is anything else or holds more than MAX_VALUES values."""
    return None if more_values_than(data, MAX_VALUES) else object_of(data)


def has_no_duplicate_keys(data: bytes, written: bytes) -> bool:
    """Is no key repeated in this JSON text? `written` is the value that it was read as, written anew.

    Of a repeated key one value is dropped, and its colon with it; all other colons are in both. Readers differ in which
    value they drop, so what was judged is not what another reader would see.
    """
    colons = data.count(b":")
    if b"\\u003a" in data or b"\\u003A" in data:
        texts = data.replace(b"\\\\", b"")  # a backslash that is left begins an escape
        colons += texts.count(b"\\u003a") + texts.count(b"\\u003A")
    return colons == written.count(b":")


def _marks(data: bytes) -> int:
    return data.count(b",") + data.count(b"[") + data.count(b"{")
