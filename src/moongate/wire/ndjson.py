"""NDJSON: one JSON text per line. Frames come out as server-sent events, with the JSON as it was written."""

from __future__ import annotations

from moongate.wire.frames import EVENT_LIMIT, LF, Frame, counts_at_the_end, without_bom


class NdjsonDecoder:
    """Frames of one stream. A line larger than `limit` sets `overflow`."""

    __slots__ = ("_begun", "_limit", "_parts", "_size", "overflow")

    def __init__(self, limit: int = EVENT_LIMIT) -> None:
        self.overflow = False
        self._limit = limit
        self._begun = False  # the byte order mark, if there is one, was read
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[Frame]:
        if not data or self.overflow:
            return []
        if not self._begun:
            data = self._take() + data
            head = without_bom(data)
            if head is None:
                self._hold(data)
                return []
            self._begun, data = True, head
        if LF not in data:
            self._hold(data)
            return []
        lines = (self._take() + data).split(b"\n")
        rest = lines.pop()
        frames: list[Frame] = []
        for line in lines:
            if len(line) > self._limit:
                self.overflow = True
                return frames
            if text := line.strip():
                frames.append(_frame(text))
        self._hold(rest)
        return frames

    def close(self) -> list[Frame]:
        text = self._take().strip()
        if self.overflow or not self._begun or not text or not counts_at_the_end(text):
            return []
        return [_frame(text)]

    def _take(self) -> bytes:
        taken = b"".join(self._parts)
        self._parts, self._size = [], 0
        return taken

    def _hold(self, data: bytes) -> None:
        if data:
            self._parts.append(data)
            self._size += len(data)
            self.overflow = self._size > self._limit


def _frame(text: bytes) -> Frame:
    # A CR inside a line is layout between JSON values, but it would end a line of an event.
    data = text.replace(b"\r", b" ")
    return Frame(b"data: " + data + b"\n\n", data)
