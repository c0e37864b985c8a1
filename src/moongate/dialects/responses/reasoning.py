"""Reasoning that travels through the client and comes back: `encrypted_content` of our own making.

Not a secret (the client reads the summary anyway), only opaque: a versioned mark and the text in base64.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any, Final

from moongate.dialects.answer import texts_of
from moongate.payload import JsonObject

_MARK: Final = "moongate1."


def sealed(text: str) -> str:
    """The reasoning as `encrypted_content`."""
    return _MARK + b64encode(text.encode("utf-8", "surrogatepass")).decode("ascii")


def unsealed(content: Any) -> str | None:
    """The reasoning in an `encrypted_content` that we made; None if another did."""
    if not isinstance(content, str) or not content.startswith(_MARK):
        return None
    try:
        return b64decode(content.removeprefix(_MARK), validate=True).decode("utf-8", "surrogatepass")
    except ValueError:
        return None


def reasoning_text(item: JsonObject) -> str:
    """The reasoning of a reasoning item: what we sealed, else its content, else its summary."""
    sealed_text = unsealed(item.get("encrypted_content"))
    return sealed_text or texts_of(item.get("content")) or texts_of(item.get("summary"))
