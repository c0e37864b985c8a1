"""How many tokens a request is, estimated without a tokenizer."""

from __future__ import annotations

from moongate.payload import JsonObject, dumps_text


def estimate(request: JsonObject) -> int:
    """The tokens of a chat request, roughly."""
    return max(1, len(dumps_text(request)) // 4)
