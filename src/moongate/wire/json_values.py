"""Whether keys are repeated in a JSON text. Pure."""

from __future__ import annotations


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
