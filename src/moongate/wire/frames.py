"""What decoders give: frames, each with its bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from moongate.payload import object_of

BOM: Final = b"\xef\xbb\xbf"
DONE: Final = b"[DONE]"
LF: Final = 0x0A  # as a number: `b"\n" in data` is five times slower
CR: Final = 0x0D
BACKSLASH: Final = 0x5C
EVENT_LIMIT: Final = 8 * 1024 * 1024  # one event; the largest answers are far below it
DOCUMENT_LIMIT: Final = 64 * 1024 * 1024  # one whole answer


@dataclass(slots=True, init=False)
class Frame:
    """One event. Made by hand, because one is made for every event: compiled, a generated `__init__` stays Python.

    `raw` is the event as server-sent events write it; the `raw` of all frames together is the stream. `data` is
    its payload, None if it has none (comments, blank lines).
    """

    raw: bytes
    data: bytes | None
    event: str

    def __init__(self, raw: bytes, data: bytes | None, event: str = "") -> None:
        self.raw = raw
        self.data = data
        self.event = event


class Decoder(Protocol):
    """Bytes → frames. `overflow`: an event was larger than the limit, nothing is read after it."""

    overflow: bool

    def feed(self, data: bytes) -> list[Frame]: ...

    def close(self) -> list[Frame]:
        """What the end of the input completes."""
        ...


def counts_at_the_end(data: bytes) -> bool:
    """Is a last event, which nothing closed, complete? Only a JSON object and `[DONE]` show it (section 11)."""
    data = data.strip()
    return data == DONE or (data.startswith(b"{") and object_of(data) is not None)


def without_bom(head: bytes) -> bytes | None:
    """The first bytes of a stream without their byte order mark; None while it may still be coming."""
    if head.startswith(BOM):
        return head[len(BOM) :]
    return None if BOM.startswith(head) else head
