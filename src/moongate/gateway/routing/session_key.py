"""Which session a request belongs to, so that its turns go to one target and find their prompt in its cache.

A client that names its session is taken at its word; else the beginning of the conversation is its name, because it
stays the same while the conversation grows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from zlib import crc32

from moongate.payload import JsonObject

HEADERS: Final = (
    b"x-session-id",
    b"x-session-affinity",
    b"x-claude-code-session-id",
    b"session_id",
    b"session-id",
)
_HEADERS: Final = frozenset(HEADERS)
_THIRTY_BITS: Final = 0x3FFFFFFF
MAX_HASHED: Final = 64  # characters at each end of a text that are hashed, and its length: two sessions may share a key
MAX_PARTS: Final = 64  # of a content in parts
MAX_LEADING: Final = 32  # messages in which the first one of the user is looked for


def session_key(headers: Mapping[bytes, bytes], chat: JsonObject, client: bytes) -> int:
    """62 bits, which machine code computes with at once. `client` tells the sessions of different clients apart."""
    if not _HEADERS.isdisjoint(headers):
        for name in HEADERS:
            given = headers.get(name)
            if given:
                return (crc32(given) & _THIRTY_BITS) << 32 | crc32(client)
    named = chat.get("prompt_cache_key")
    if not isinstance(named, str) or not named:
        named = _beginning(chat.get("messages"))
    return (crc32(named.encode("utf-8", "surrogatepass")) & _THIRTY_BITS) << 32 | crc32(client)


def _beginning(messages: object) -> str:
    """The system's text and the first message of the user, as far as they are hashed."""
    if not isinstance(messages, list):
        return ""
    found = ""
    for message in messages[:MAX_LEADING]:
        if not isinstance(message, dict):
            continue
        role = message.get("role")
        if role == "user":
            return f"{found}user\0{_ends(message.get('content'))}"
        if role == "system" or role == "developer":
            found = f"{found}{role}\0{_ends(message.get('content'))}\0"
    return found


def _ends(content: object) -> str:
    if isinstance(content, str):
        size = len(content)
        return content if size <= 2 * MAX_HASHED else f"{size}{content[:MAX_HASHED]}{content[-MAX_HASHED:]}"
    if not isinstance(content, list):
        return ""
    texts = [part.get("text") for part in content[:MAX_PARTS] if isinstance(part, dict)]
    return "\0".join([_ends(text) for text in texts if isinstance(text, str)])
