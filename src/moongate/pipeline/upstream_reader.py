"""The provider's bytes → items, whatever framing they came in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from moongate.chat.event_reader import EventReader, is_answer, refusal_of, web_page
from moongate.chat.items import Item
from moongate.errors import BadUpstream
from moongate.payload import JsonObject, object_of
from moongate.wire.frames import BOM, DOCUMENT_LIMIT, EVENT_LIMIT
from moongate.wire.framing import framing_of
from moongate.wire.ndjson import NdjsonDecoder
from moongate.wire.sse import SseDecoder

_BLANKS: Final = b" \t\r\n"
_CUT: Final = "the provider's stream ended before the answer was complete"
_EMPTY: Final = "the provider's stream ended before it began"


@dataclass(frozen=True, slots=True)
class AnswerDocument:
    """One whole answer: `parsed` is None if it is no JSON object."""

    parsed: JsonObject | None

    @classmethod
    def of(cls, data: bytes) -> AnswerDocument:
        return cls(object_of(data.removeprefix(BOM)))

    def body(self) -> JsonObject:
        """The answer. Raises the provider's error if it is one, BadUpstream if it is no completion."""
        if self.parsed is None:
            raise BadUpstream("the provider's answer is not a JSON object")
        return checked_answer(self.parsed)


def checked_answer(parsed: JsonObject) -> JsonObject:
    """The document, if it is an answer. Raises the provider's error if it is one, BadUpstream for anything else."""
    if parsed.get("error"):
        raise refusal_of(parsed)
    if not is_answer(parsed):
        raise BadUpstream("the provider's answer has no choices")
    return parsed


class UpstreamReader:
    """One answer's bytes. The framing is chosen at the first byte that is not blank."""

    __slots__ = ("_content_type", "_document", "_document_limit", "_head", "_limit", "_size", "events", "overflow")

    def __init__(self, content_type: str, limit: int = EVENT_LIMIT, document_limit: int = DOCUMENT_LIMIT) -> None:
        self.overflow = False
        self._content_type = content_type
        self._limit = limit  # bytes of one event
        self._document_limit = document_limit
        self._head: list[bytes] = []  # before the framing is known
        self._size = 0
        self.events: EventReader | None = None  # if it is a stream
        self._document: list[bytes] | None = None  # if it is one document

    def feed(self, data: bytes) -> list[Item]:
        if self.events is not None:
            items = self.events.feed(data)
            self.overflow = self.events.decoder.overflow
            return items
        if self._document is not None:
            self._document.append(data)
            self._size += len(data)
            self.overflow = self._size > self._document_limit
            return []
        return self._choose(data)

    def close(self) -> list[Item] | AnswerDocument:
        """What the end completes: items of a stream, or the one document that it was."""
        if self.events is not None:
            return self.events.close()
        if self._document is None:
            return []
        data = b"".join(self._document)
        document = AnswerDocument.of(data)
        return document if document.parsed is not None else self._as_lines(data) or document

    def unfinished(self, *, began: bool) -> BadUpstream:
        """The error for an answer that has ended before it was complete, or before it began."""
        if began:
            return BadUpstream(_CUT)
        return web_page(self._content_type) or BadUpstream(_EMPTY)

    def _choose(self, data: bytes) -> list[Item]:
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
            self.events = EventReader(SseDecoder(self._limit))
        elif framing == "ndjson":
            self.events = EventReader(NdjsonDecoder(self._limit))
        else:
            self._document = []
        return self.feed(head)

    def _as_lines(self, data: bytes) -> list[Item]:
        """The items of a stream of lines that was labelled as one document; none if it is not that."""
        if object_of(data.removeprefix(BOM).lstrip().partition(b"\n")[0]) is None:
            return []
        lines = EventReader(NdjsonDecoder(self._limit))
        items = [*lines.feed(data), *lines.close()]
        self.overflow = lines.decoder.overflow
        return items
