"""The fast path: chunks that differ in nothing but their text are not parsed.

Providers write every text chunk of a stream with the same envelope. A chunk that was read the long way and carries
nothing but text gives a mould: the bytes before the text and the bytes behind it. A network read that is

    prefix text suffix  prefix text suffix  prefix text suffix

is taken apart by these bytes. Each text is checked to be the inside of a JSON string and nothing more, so the
chunks are what the long way would have found.
"""

from __future__ import annotations

import re
from typing import Final

from moongate.chat.items import Chunk, LazyChunk, Stretch
from moongate.payload import JsonObject, loads
from moongate.wire.frames import BACKSLASH, EVENT_LIMIT, LF

TEXT_FIELDS: Final = ("content", "reasoning_content", "reasoning")

ENVELOPE: Final = ("id", "object", "created", "model", "system_fingerprint", "service_tier", "provider")

_USUAL: Final = frozenset((*ENVELOPE, "choices"))
_SUFFIX_CUT: Final = 4
_PREFIX_CUT: Final = 6
_MOST_TRIES: Final = 8  # a provider that writes something new into each chunk gives no mould
_PROBE: Final = b"\\\\~"
_PROBE_TEXT: Final = "\\~"
_FIELDS: Final = {field: re.compile(rb'"%b"[ \t]*:[ \t]*"' % field.encode()) for field in TEXT_FIELDS}
# The inside of a JSON string, spelt so that no byte of it means another character than itself: `\u00..` may be any
# ASCII character, a surrogate may be half of one. Those are read the long way.
ORDINARY: Final = bytes(code for code in range(0x20, 0x100) if code not in b'"\\')
_ESCAPE: Final = rb'\\(?:["\\/bfnrt]|u(?!00|[dD][89a-fA-F])[0-9a-fA-F]{4})'
_TEXT: Final = re.compile(rb'(?:[^"\\\x00-\x1f]++|' + _ESCAPE + rb")*+")
_TEXTS: Final = re.compile(rb'(?:[^"\\\x00-\x09\x0b-\x1f]++|' + _ESCAPE + rb")*+")  # joined by LF


class Mould:
    """What is the same in all text chunks of a stream. `limit`: bytes of an event, and so of what is read at once."""

    __slots__ = ("_joint", "_least", "_seam", "bare", "choice", "field", "limit", "prefix", "sample", "suffix")

    def __init__(
        self, prefix: bytes, suffix: bytes, payload: JsonObject, field: str, choice: int, limit: int = EVENT_LIMIT
    ) -> None:
        self.prefix = prefix
        self.suffix = suffix
        self.field = field
        self.choice = choice
        self.limit = limit
        self.sample = payload  # one of the chunks
        self.bare = _is_bare(payload, field)
        self._least = len(prefix) + len(suffix)
        self._joint = suffix + prefix
        # Long needles are slow to look for, so the joint is looked for by its middle.
        self._seam = suffix[-_SUFFIX_CUT:] + prefix[:_PREFIX_CUT]

    def is_of(self, event: bytes) -> bool:
        """May this event have come out of it, whatever its text?"""
        return event.startswith(self.prefix) and event.endswith(self.suffix)

    def whole(self, data: bytes) -> Stretch | None:
        """All of `data`, if it is chunks of this mould and nothing else."""
        if not data.startswith(self.prefix) or not data.endswith(self.suffix) or len(data) < self._least:
            return None
        inner = data[len(self.prefix) : -len(self.suffix)]
        if len(data) > self.limit:
            return None
        if LF in inner:
            texts = self._split(data, inner)
            if texts is None:
                return None
            return Stretch(data, b"".join(texts), self.field, self.choice, texts, self.sample)
        more = inner.translate(None, ORDINARY)
        if (more or not inner.isascii()) and not is_text(inner, more):
            return None
        return Stretch(data, inner, self.field, self.choice, (inner,), self.sample)

    def single(self, data: bytes) -> TextChunk | None:
        """The one chunk that `data` is, read at once; None if it is anything else."""
        if not data.startswith(self.prefix) or not data.endswith(self.suffix) or len(data) < self._least:
            return None
        inner = data[len(self.prefix) : -len(self.suffix)]
        if LF in inner or len(data) > self.limit:
            return None
        try:
            return TextChunk(self, loads(b'"' + inner + b'"'), data)
        except ValueError:
            return None

    def leading(self, data: bytes) -> Stretch | None:
        """The chunks of this mould at the beginning of `data`."""
        end = data.rfind(self.suffix) + len(self.suffix)
        return self.whole(data[:end]) if end >= self._least else None

    def _split(self, data: bytes, inner: bytes) -> list[bytes] | None:
        """The texts of several chunks; None if there is anything else between them."""
        head, tail = len(self.prefix) - _PREFIX_CUT, _SUFFIX_CUT - len(self.suffix)
        parts = data[_PREFIX_CUT:-_SUFFIX_CUT].split(self._seam)
        texts = [part[head:tail] for part in parts if len(part) >= head - tail]
        if len(texts) != len(parts):  # the seam stood in something else
            return None
        joined = b"\n".join(texts)
        more = joined.translate(None, ORDINARY)
        breaks = more.count(b"\n")
        if breaks != len(texts) - 1 or self._joint.join(texts) != inner:
            return None
        return texts if is_text(joined, more[breaks:], _TEXTS) else None

    def chunks(self, stretch: Stretch) -> list[TextChunk]:
        """The chunks of a stretch, one by one."""
        if len(stretch.texts) == 1:
            return [TextChunk(self, _value(stretch.text), stretch.raw)]
        return [TextChunk(self, _value(text), self.prefix + text + self.suffix) for text in stretch.texts]

    def payload(self, text: str) -> JsonObject:
        """What the long way would have found."""
        choice = self.sample["choices"][0]
        return {**self.sample, "choices": [{**choice, "delta": {**choice["delta"], self.field: text}}]}


def _value(text: bytes) -> str:
    """What the inside of a JSON string says."""
    if BACKSLASH not in text:
        return text.decode("utf-8")
    value: str = loads(b'"' + text + b'"')
    return value


def is_text(text: bytes, more: bytes, pattern: re.Pattern[bytes] = _TEXT) -> bool:
    """Is it the inside of a JSON string? `more` is what is not ordinary in it."""
    if more and pattern.fullmatch(text) is None:
        return False
    if text.isascii():
        return True
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


class TextChunk(LazyChunk):
    """A provider's chunk that came out of a mould."""

    __slots__ = ("mould", "text")

    def __init__(self, mould: Mould, text: str, raw: bytes) -> None:
        self.mould = mould
        self.text = text
        self.raw = raw
        self._payload = None

    def make_payload(self) -> JsonObject:
        return self.mould.payload(self.text)


class Moulder:
    """Makes moulds. A provider that writes something new into each chunk is given up after a few, until two of its
    chunks in a row are alike."""

    __slots__ = ("_limit", "_prefix", "_suffix", "_tries")

    def __init__(self, limit: int = EVENT_LIMIT) -> None:
        self._limit = limit
        self._tries = _MOST_TRIES
        self._prefix = self._suffix = b""  # of the last chunk, since it was given up

    def mould(self, chunk: Chunk) -> Mould | None:
        """The mould that this chunk came out of, if it carries nothing but text."""
        raw = chunk.raw
        if raw is None or (place := text_place(chunk.payload)) is None:
            return None
        field, choice = place
        start, end = _text_in(raw, field)
        if start < 0:
            return None
        prefix, suffix = raw[:start], raw[end:]
        if self._tries:
            self._tries -= 1
        elif prefix == self._prefix and suffix == self._suffix:
            self._tries = _MOST_TRIES
        else:
            self._prefix, self._suffix = prefix, suffix
            return None
        return _mould(prefix, suffix, chunk.payload, field, choice, self._limit)

    def was_right(self) -> None:
        """More came out of the last mould."""
        self._tries = _MOST_TRIES


def text_place(payload: JsonObject) -> tuple[str, int] | None:
    """The field and the choice of a chunk that carries nothing but text; None for any other chunk."""
    choices = payload.get("choices")
    if type(choices) is not list or len(choices) != 1 or payload.get("usage") is not None:
        return None
    choice = choices[0]
    if type(choice) is not dict or choice.get("finish_reason") is not None or choice.get("usage") is not None:
        return None
    delta, index = choice.get("delta"), choice.get("index")
    if type(delta) is not dict or type(index) is not int or "message" in choice:
        return None
    said = [name for name in delta if delta[name] and name != "role"]
    if len(said) != 1 or said[0] not in TEXT_FIELDS or type(delta[said[0]]) is not str:
        return None
    return said[0], index


def _text_in(raw: bytes, field: str) -> tuple[int, int]:
    """Where the text of the first such field begins and ends, as JSON wrote it; (-1, -1) if it cannot be told."""
    name = b'"%b":"' % field.encode("ascii")
    start = raw.find(name) + len(name)  # as most write it
    if start < len(name):
        found = _FIELDS[field].search(raw)
        if found is None:
            return -1, -1
        start = found.end()
    end = raw.find(b'"', start)
    if end >= 0 and BACKSLASH not in raw[start:end]:
        return start, end
    text = _TEXT.match(raw, start)
    end = text.end() if text is not None else -1
    return (start, end) if raw[end : end + 1] == b'"' else (-1, -1)


def _is_bare(payload: JsonObject, field: str) -> bool:
    """Is there nothing in a text chunk but its text and what every chunk of the stream has?"""
    choice: JsonObject = payload["choices"][0]
    delta: JsonObject = choice["delta"]
    return not (
        any(value is not None and name not in _USUAL for name, value in payload.items())
        or any(value is not None and name != "index" and name != "delta" for name, value in choice.items())
        or any(value and name != field for name, value in delta.items())
    )


def _mould(prefix: bytes, suffix: bytes, payload: JsonObject, field: str, choice: int, limit: int) -> Mould | None:
    """The mould, if a probe in the place of the text changes the text and nothing else."""
    probe = prefix + _PROBE + suffix
    mould = Mould(prefix, suffix, payload, field, choice, limit)
    try:
        found = loads(probe[probe.find(b"{") : probe.rfind(b"}") + 1])
        return mould if found == mould.payload(_PROBE_TEXT) and len(suffix) > _SUFFIX_CUT else None
    except (ValueError, RecursionError):  # to compare goes less deep than to read
        return None
