"""Server-sent events by the rules of the WHATWG, bytes in, frames out.

Lines end at LF, CR or CRLF and nowhere else. An event ends at a blank line. Blank lines where no event has begun
leave at once, as frames without data. So the frames do not depend on how the bytes were cut, with one exception
that nobody can see: frames without data may come in one piece or in several.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from moongate.wire.frames import CR, EVENT_LIMIT, LF, Frame, counts_at_the_end, without_bom

# A line's end, then a blank line. A CR at the very end may be half of a CRLF, so it waits for the next byte; only
# after a line that a bare CR ended is the next CR known to be an end of its own.
_EVENT_END: Final = re.compile(rb"\r\r|\r?\n(?:\r?\n|\r(?=[^\n]))")
_LAST_END: Final = re.compile(rb"\r?\n\r\Z")
_BLANK_LINES: Final = re.compile(rb"[\r\n]*")
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_LARGE: Final = 4096  # in an event of this size the lines are not looked at one by one
_FIELD: Final = re.compile(rb"\n(data|event)(?::([^\n]*))?(?![^\n])")
_EMPTY: Final = (b"data:\n", b"data: \n", b"\n")
_EMPTY_EVENTS: Final = re.compile(rb"(?:data: ?\n\n|\n)*+").match
_SEAM: Final = 3  # a line's end and a blank line are at most four bytes


class SseDecoder:
    """Frames of one stream. An event larger than `limit` sets `overflow`."""

    __slots__ = ("_begun", "_has_cr", "_parts", "_seam", "buffered", "limit", "overflow")

    def __init__(self, limit: int = EVENT_LIMIT) -> None:
        self.overflow = False
        self.limit = limit
        self._begun = False  # the byte order mark, if there is one, was read
        self._has_cr = False
        self._parts: list[bytes] = []  # the event that has no end yet; joined once, when it ends
        self.buffered = 0  # bytes of the event that has no end yet
        self._seam = b""

    def take(self) -> bytes:
        """The buffered bytes. They leave the buffer: the caller feeds them again."""
        taken = b"".join(self._parts)
        self._hold(b"")
        return taken

    def feed(self, data: bytes) -> list[Frame]:
        if not data or self.overflow:
            return []
        if not self._begun:
            data = self.take() + data
            head = without_bom(data)
            if head is None:
                self._hold(data)
                return []
            self._begun, data = True, head
        if not self._has_cr and CR in data:
            self._has_cr = True
        if self._parts:
            seam = self._seam + data
            if not (_EVENT_END.search(seam) if self._has_cr else seam.find(b"\n\n") >= 0):
                self._parts.append(data)
                self.buffered += len(data)
                self._seam = seam[-_SEAM:]
                self.overflow = self.buffered > self.limit
                return []
            data = self.take() + data
        return self._split_any(data) if self._has_cr else self._split(data)

    def close(self) -> list[Frame]:
        data = self.take()
        if self.overflow or not self._begun or not data:
            return []
        if _LAST_END.search(data[-_SEAM:]):
            return [_frame(data, data)]
        frame = _frame(data, data)
        if frame.data is None or not counts_at_the_end(frame.data):
            return []
        # Behind a CR an LF would only complete the line's end, and no blank line would close the event.
        end = b"\r" if data.endswith(b"\r") else b"\n" if data.endswith(b"\n") else b"\n\n"
        return [Frame(data + end, frame.data, frame.event)]

    def _hold(self, data: bytes) -> None:
        self._parts = [data] if data else []
        self.buffered = len(data)
        self._seam = data[-_SEAM:]

    def _split(self, data: bytes) -> list[Frame]:
        """The events of bytes without CR, which is nearly all of them."""
        frames: list[Frame] = []
        if data.startswith(_EMPTY):  # keep-alives: as many as there are, in one frame
            end = _EMPTY_EVENTS(data).end()  # type: ignore[union-attr]  # it matches nothing as well
            if end:
                frames.append(Frame(data[:end], None))
                data = data[end:]
        events = data.split(b"\n\n")
        rest = events.pop()
        at = idle = 0  # bytes from `idle` on have no event yet
        for event in events:
            end = at + len(event) + 2
            if event.startswith(b"data: ") and LF not in event and len(event) > 6 and end - at <= self.limit:
                if idle < at:
                    frames.append(Frame(data[idle:at], None))
                frames.append(Frame(data[at:end], event[6:]))
                at = idle = end
                continue
            if event.startswith(b"\n"):
                event, at = event[1:], at + 1
            if event and event != b"data:" and event != b"data: ":
                if idle < at:
                    frames.append(Frame(data[idle:at], None))
                if end - at > self.limit:
                    self.overflow = True
                    return frames
                frames.append(_frame(data[at:end], event))
                idle = end
            at = end
        if rest[:1] == b"\n":
            rest, at = rest[1:], at + 1
        if idle < at:
            frames.append(Frame(data[idle:at], None))
        self._hold(rest)
        self.overflow = len(rest) > self.limit
        return frames

    def _split_any(self, data: bytes) -> list[Frame]:
        """The events of bytes whose lines may end in all three ways."""
        frames: list[Frame] = []
        at = 0
        while True:
            begin = _BLANK_LINES.match(data, at).end()  # type: ignore[union-attr]  # it matches nothing as well
            if begin > at:
                frames.append(Frame(data[at:begin], None))
            found = _EVENT_END.search(data, begin)
            if found is None:
                break
            at = found.end()
            if at - begin > self.limit:
                self.overflow = True
                return frames
            frames.append(_frame(data[begin:at], data[begin : found.start()]))
        self._hold(data[begin:])
        self.overflow = self.buffered > self.limit
        return frames


def _frame(raw: bytes, event: bytes) -> Frame:
    """The frame of one event, from its lines."""
    if len(event) > _LARGE:
        data = _data_of(event.removesuffix(b"\n"))
        if data is not None:
            return Frame(raw, data or None)
    lines: list[bytes] = []
    name = b""
    for field, value in _fields(event):
        if field == b"data":
            lines.append(value[1:] if value[:1] == b" " else value)
        elif field == b"event":
            name = value[1:] if value[:1] == b" " else value
    data = b"\n".join(lines)
    return Frame(raw, data or None, name.decode("utf-8", "replace"))


def _fields(event: bytes) -> Iterable[tuple[bytes, bytes]]:
    """The lines as names and values; of a large event only those that mean something to us."""
    if CR in event:
        event = _LINE_END.sub(b"\n", event)
    if len(event) > _LARGE:
        # One after the other: to find all at once would hold the interpreter for as long as there are lines.
        return ((found[1], found[2] or b"") for found in _FIELD.finditer(b"\n" + event))
    parts = (line.partition(b":") for line in event.split(b"\n"))
    return ((name, value) for name, _, value in parts)


def _data_of(event: bytes) -> bytes | None:
    """The data of an event that has nothing but data, in a few steps however many lines it has; None for any other."""
    if CR in event or 0 in event:
        return None
    marked = (b"\n" + event).replace(b"\ndata: ", b"\n\0").replace(b"\ndata:", b"\n\0")
    if marked.count(b"\0") != marked.count(b"\n"):
        return None
    return marked.replace(b"\0", b"")[1:]
