"""Which bodies are parsed and transformed in a thread, so that they do not block the event loop.

The loop then waits for the GIL only as long as one call of the JSON parser takes.
"""

from __future__ import annotations

from typing import Final

OFFLOAD_BYTES: Final = 512 * 1024
# Bytes of an answer: its text and its arguments may be read character by character, and checked against a schema.
OFFLOAD_ANSWER: Final = 32 * 1024
OFFLOAD_OBJECTS: Final = (
    4000  # a message, a call or a part of a text takes up to 10 µs of CPU time, however small it is
)


def takes_long(body: bytes) -> bool:
    """Whether a body would block the event loop for long. Braces in strings count, too: that does no harm."""
    size = len(body)
    return size > OFFLOAD_BYTES or (size > 2 * OFFLOAD_OBJECTS and _has_many_objects(body))


def _has_many_objects(body: bytes) -> bool:
    # `replace` looks for a byte with memchr, where `count` looks at each: a sixth of the time for a long history.
    return len(body) - len(body.replace(b"{", b"", OFFLOAD_OBJECTS + 1)) > OFFLOAD_OBJECTS
