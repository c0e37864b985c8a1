"""The provider's bytes → items, whatever framing they came in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from moongate.chat.items import Item, Stretch
from moongate.chat.reading import EventReader, item_of, refusal_of
from moongate.errors import BadUpstream
from moongate.payload import JsonObject, object_of
from moongate.wire.frames import BOM, DOCUMENT_LIMIT, EVENT_LIMIT
from moongate.wire.framing import framing_of
from moongate.wire.ndjson import NdjsonDecoder
from moongate.wire.sse import SseDecoder

_BLANKS: Final = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class Document:
    """One whole answer."""

    data: bytes

    def body(self) -> JsonObject:
        """The answer. Raises the provider's error if it is one, BadUpstream if it is no JSON object."""
        body = object_of(self.data.removeprefix(BOM))
        if body is None:
            raise BadUpstream("the provider's answer is not a JSON object")
        if body.get("error"):
            raise refusal_of(body)
        return body


class Upstream:
    """One answer's bytes. The framing is chosen at the first byte that is not blank."""

    __slots__ = ("_content_type", "_document", "_events", "_head", "_limit", "_lines", "_size", "overflow")

    def __init__(self, content_type: str, limit: int = EVENT_LIMIT) -> None:
        self.overflow = False
        self._content_type = content_type
        self._limit = limit
        self._head: list[bytes] = []  # before the framing is known
        self._size = 0
        self._events: EventReader | None = None
        self._lines: NdjsonDecoder | None = None
        self._document: list[bytes] | None = None

    def stretch(self, data: bytes) -> Stretch | None:
        """The whole read as one stretch, which is what most reads are; None if it is not."""
        return None if self._events is None else self._events.stretch(data)

    def feed(self, data: bytes) -> list[Item | Stretch]:
        if self._events is not None:
            items = self._events.feed(data)
            self.overflow = self._events.overflow
            return items
        if self._lines is not None:
            frames = self._lines.feed(data)
            self.overflow = self._lines.overflow
            return [item_of(frame) for frame in frames]
        if self._document is not None:
            self._document.append(data)
            self._size += len(data)
            self.overflow = self._size > max(DOCUMENT_LIMIT, self._limit)
            return []
        return self._choose(data)

    def close(self) -> list[Item] | Document:
        """What the end completes: items of a stream, or the one document that it was."""
        if self._events is not None:
            return self._events.close()
        if self._lines is not None:
            return [item_of(frame) for frame in self._lines.close()]
        if self._document is None:
            return []
        document = Document(b"".join(self._document))
        return self._as_lines(document) or document

    def accepted(self) -> None:
        assert self._events is not None
        self._events.accepted()

    def refused(self, stretch: Stretch) -> list[Item]:
        assert self._events is not None
        return self._events.refused(stretch)

    def _choose(self, data: bytes) -> list[Item | Stretch]:
        self._head.append(data)
        self._size += len(data)
        if data.isspace() or not data:
            self.overflow = self._size > self._limit
            return []
        head = b"".join(self._head)
        first = head.removeprefix(BOM).lstrip(_BLANKS)[:1]
        if not first or BOM.startswith(head):
            return []
        self._head, self._size = [], 0
        framing = framing_of(self._content_type, first)
        if framing == "sse":
            self._events = EventReader(SseDecoder(self._limit))
        elif framing == "ndjson":
            self._lines = NdjsonDecoder(self._limit)
        else:
            self._document = []
        return self.feed(head)

    def _as_lines(self, document: Document) -> list[Item]:
        """The items of a stream of lines that was labelled as one document; none if it is not that."""
        first = document.data.partition(b"\n")[0]
        if object_of(document.data.removeprefix(BOM)) is not None or object_of(first.removeprefix(BOM)) is None:
            return []
        lines = NdjsonDecoder(self._limit)
        frames = [*lines.feed(document.data), *lines.close()]
        self.overflow = lines.overflow
        return [item_of(frame) for frame in frames]
