"""`encrypted_content`: reasoning that the client stores and sends back with its next request.

It is opaque, not secret, because the client has the summary anyway: a versioned prefix and the text in base64.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Final

from moongate.dialects.chat_answer import texts_of
from moongate.payload import JsonObject

_PREFIX: Final = "moongate1."


def sealed(text: str) -> str:
    """The reasoning as `encrypted_content`."""
    return _PREFIX + b64encode(text.encode("utf-8", "surrogatepass")).decode("ascii")


def unsealed(content: object) -> str | None:
    """The reasoning in an `encrypted_content` that `sealed` made; None if it has another origin."""
    if not isinstance(content, str) or not content.startswith(_PREFIX):
        return None
    try:
        return b64decode(content.removeprefix(_PREFIX), validate=True).decode("utf-8", "surrogatepass")
    except ValueError:
        return None


def reasoning_text(item: JsonObject) -> str:
    """The text of a reasoning item: its sealed reasoning, else its content, else its summary."""
    sealed_text = unsealed(item.get("encrypted_content"))
    return sealed_text or texts_of(item.get("content")) or texts_of(item.get("summary"))
