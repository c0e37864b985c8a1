"""Frames → items, and bytes → items and stretches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from moongate.chat.groove import Groove
from moongate.chat.items import Chunk, Done, Failure, Item, Opaque, Stretch
from moongate.chat.mould import Mould, Moulder
from moongate.errors import BadUpstream, UpstreamRefused
from moongate.payload import JsonObject, loads
from moongate.wire.frames import DONE, LF, Frame
from moongate.wire.sse import SseDecoder

_LONGEST_WAIT: Final = 4096  # more than this waits in the decoder: to try the mould would copy it again and again
_MOST_REFUSALS: Final = 6


def item_of(frame: Frame) -> Item:
    """What a frame means."""
    data = frame.data
    if data is None:
        return Opaque(frame.raw)
    if data[:1] == b"[" and data.strip() == DONE:
        return Done(frame.raw)
    raw: bytes | None = frame.raw
    try:
        payload = loads(data)
    except ValueError:
        if data.isspace():
            return Opaque(frame.raw)
        # The WHATWG decodes broken UTF-8 to U+FFFD, so a provider that cuts a character in two is no reason to stop.
        payload, raw = _loads_leniently(data), None
    if frame.event == "error":
        return Failure(refusal_of(payload if isinstance(payload, dict) else {"error": data.decode("utf-8", "replace")}))
    if not isinstance(payload, dict):
        return Failure(BadUpstream("the provider sent an event that is not a JSON object"))
    if payload.get("error"):
        return Failure(refusal_of(payload), raw)
    return Chunk(payload, raw)


def _loads_leniently(data: bytes) -> object:
    try:
        return loads(data.decode("utf-8", "replace"))
    except ValueError:
        return None


def is_answer(body: JsonObject) -> bool:
    """Does this document hold choices with messages, of the types that every client relies on?"""
    choices = body.get("choices")
    return isinstance(choices, list) and bool(choices) and all(_is_choice(choice) for choice in choices)


def _is_choice(choice: object) -> bool:
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        return False
    content, calls = message.get("content"), message.get("tool_calls")
    return (content is None or isinstance(content, (str, list))) and (calls is None or isinstance(calls, list))


def refusal_of(payload: JsonObject) -> UpstreamRefused:
    """The provider's own error, its words and its status kept."""
    error = payload.get("error", payload)
    if not isinstance(error, dict):
        return UpstreamRefused(error if isinstance(error, str) and error else "the provider reported an error")
    message, code = error.get("message"), error.get("code")
    statuses = (error.get("status"), error.get("status_code"), code, payload.get("status"), payload.get("code"))
    return UpstreamRefused(
        message if isinstance(message, str) and message else "the provider reported an error",
        status=next((n for n in statuses if type(n) is int and 400 <= n < 600), None),
        code=None if code is None else str(code),
    )


class EventReader:
    """Bytes of server-sent events → items, and stretches where chunks differ in nothing but their text."""

    __slots__ = ("_decoder", "_mould", "_moulder", "_pause", "_source", "refusals")

    def __init__(self, decoder: SseDecoder) -> None:
        self._decoder = decoder
        self._moulder = Moulder(decoder.limit)
        self._mould: Mould | None = None
        self._source: Mould | None = None  # what the last stretch came out of
        self._pause = 0  # for so many reads no stretch is tried, because the last ones were refused
        self.refusals = 0  # since a stretch was accepted

    @property
    def overflow(self) -> bool:
        return self._decoder.overflow

    def stretch(self, data: bytes) -> Stretch | None:
        """The whole read as one stretch, which is what most reads are; None if it is not."""
        mould = self._mould
        if mould is None or self._pause or self._decoder.waiting:
            return None
        self._source = mould
        found = mould.whole(data)
        if found is not None:
            self._moulder.was_right()
        return found

    def next_stretch(self) -> Stretch | None:
        """Where the last read gave a new mould, a stretch out of it, without a text: to ask what comes of the next."""
        if self._mould is self._source or self._mould is None or self._decoder.waiting:
            return None
        self._source = self._mould
        return Stretch(b"", b"", self._mould.field, self._mould.choice)

    def groove(self, gate: bytes, write: Callable[[bytes], bytes] | None = None) -> Groove:
        """What the last stretch came out of. Only if it was accepted, and was all of its read."""
        assert self._source is not None
        return Groove(self._source, gate, write)

    def feed(self, data: bytes) -> list[Item | Stretch]:
        mould, decoder = self._mould, self._decoder
        if mould is None:
            return self._read(data)
        if decoder.waiting:
            if decoder.waiting > _LONGEST_WAIT or LF not in data:
                return self._read(data)
            data = decoder.take() + data
        if not data.startswith(mould.prefix):
            return self._read(data)
        if self._pause:
            single = mould.single(data)
            if single is not None:
                self._pause -= 1
                return [single]
        stretch = mould.whole(data) or mould.leading(data)
        if stretch is None:
            return self._read(data)
        self._moulder.was_right()
        self._source = mould
        items: list[Item | Stretch] = [stretch]
        if self._pause:
            self._pause -= 1
            items = list(mould.chunks(stretch))
        if len(stretch.raw) < len(data):
            items += self._read(data[len(stretch.raw) :])
        return items

    def close(self) -> list[Item]:
        return [item_of(frame) for frame in self._decoder.close()]

    def refused(self, stretch: Stretch) -> Sequence[Item]:
        """The chunks of a stretch that may not leave in one piece. Refusals that repeat are worth a pause."""
        self._pause = (1 << self.refusals) - 1
        self.refusals = min(self.refusals + 1, _MOST_REFUSALS)
        assert self._source is not None
        return self._source.chunks(stretch)

    def _read(self, data: bytes) -> list[Item | Stretch]:
        items: list[Item | Stretch] = []
        for frame in self._decoder.feed(data):
            item = item_of(frame)
            items.append(item)
            if type(item) is Chunk and not (self._mould and self._mould.is_of(frame.raw)):
                self._mould = self._moulder.mould(item) or self._mould
        return items
