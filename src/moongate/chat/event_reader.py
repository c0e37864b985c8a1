"""Frames → items."""

from __future__ import annotations

from typing import Final

from moongate.chat.items import Chunk, Done, Failure, Item, Opaque
from moongate.errors import MAX_CODE, MAX_MESSAGE, BadUpstream, UpstreamRefused
from moongate.payload import MAX_VALUES, JsonObject, loads, more_values_than
from moongate.wire.frames import DONE, Decoder, Frame

MAX_ERROR_EVENT: Final = 16 * 1024  # bytes of an event with an error that is passed on as it came
REPORTED: Final = "the provider reported an error"


def web_page(content_type: str) -> BadUpstream | None:
    """The error for a web page in place of an answer, as a wrong base URL gives it; None for another content type."""
    if not content_type.lower().startswith("text/html"):
        return None
    return BadUpstream("the provider answered with a web page (text/html)", code="web_page")


def item_of(frame: Frame) -> Item:
    """What a frame means."""
    data = frame.data
    if data is None:
        return Opaque(frame.raw)
    if data[:1] == b"[" and data.strip() == DONE:
        return Done(frame.raw)
    raw: bytes | None = frame.raw
    if more_values_than(data, MAX_VALUES):
        return Failure(BadUpstream("the provider sent an event with too many JSON values"))
    try:
        payload = loads(data, len(data))  # they are counted
    except ValueError:
        if data.isspace():
            return Opaque(frame.raw)
        # The WHATWG decodes broken UTF-8 to U+FFFD, so a provider that cuts a character in two does not end the stream.
        payload, raw = _loads_leniently(data), None
    if frame.event == "error":
        return Failure(refusal_of(payload if isinstance(payload, dict) else {"error": data.decode("utf-8", "replace")}))
    if not isinstance(payload, dict):
        return Failure(BadUpstream("the provider sent an event that is not a JSON object"))
    if payload.get("error"):
        return Failure(refusal_of(payload), raw if len(data) <= MAX_ERROR_EVENT else None)
    return Chunk(payload, raw)


def _loads_leniently(data: bytes) -> object:
    try:
        return loads(data.decode("utf-8", "replace"))
    except ValueError:
        return None


def is_answer(body: JsonObject) -> bool:
    """Does this document hold choices with messages, of the types that every client relies on?"""
    choices = body.get("choices")
    if not isinstance(choices, list):
        return False
    for choice in choices:  # (a generator costs more)
        if not _is_choice(choice):
            return False
    return bool(choices)


def _is_choice(choice: object) -> bool:
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        return False
    content, calls = message.get("content"), message.get("tool_calls")
    return (content is None or isinstance(content, (str, list))) and (calls is None or isinstance(calls, list))


def refusal_of(payload: JsonObject) -> UpstreamRefused:
    """The provider's own error, with its message and its status."""
    error = payload.get("error", payload)
    if not isinstance(error, dict):
        return UpstreamRefused(shown_message(error))
    code = error.get("code")
    statuses = (error.get("status"), error.get("status_code"), code, payload.get("status"), payload.get("code"))
    return UpstreamRefused(
        shown_message(error.get("message")),
        status=next((n for n in statuses if type(n) is int and 400 <= n < 600), None),
        code=_shown_code(code),
    )


def _shown_code(code: object) -> str | None:
    if isinstance(code, int | float):
        return str(code)
    return code if isinstance(code, str) and len(code) <= MAX_CODE else None


def shown_message(message: object) -> str:
    """A provider's message. One that is too long is not cut: half of a secret would not be recognised as one."""
    if not isinstance(message, str) or not message:
        return REPORTED
    return message if len(message) <= MAX_MESSAGE else f"{REPORTED} of {len(message)} characters"


class EventReader:
    """Bytes of a stream → its items. `decoder.overflow`: an event was too large, nothing is read after it."""

    __slots__ = ("decoder",)

    def __init__(self, decoder: Decoder) -> None:
        self.decoder = decoder

    def feed(self, data: bytes) -> list[Item]:
        """The items of a read. A failure is the last one: nothing is read after it."""
        return _items_of(self.decoder.feed(data))

    def close(self) -> list[Item]:
        """What the end of the stream completes."""
        return _items_of(self.decoder.close())


def _items_of(frames: list[Frame]) -> list[Item]:
    items: list[Item] = []
    for frame in frames:
        item = item_of(frame)
        items.append(item)
        if isinstance(item, Failure):
            break
    return items
