"""The envelope of text chunks: what of their bytes is the same in all of them.

Providers write every text chunk of a stream with the same bytes before the text and behind it. A chunk that was parsed
and carries nothing but text shows both. A network read that is

    prefix text suffix  prefix text suffix  prefix text suffix

is then split by these bytes instead of being parsed. Each text is checked to be the inside of a JSON string and nothing
more, so the chunks are the same that parsing would have found.
"""

from __future__ import annotations

import re
from typing import Final

from moongate.chat.items import STREAM_MEMBERS, Chunk
from moongate.payload import JsonObject, loads
from moongate.wire.fast import ESCAPE, JSON_TEXT, UNESCAPED, is_json_text
from moongate.wire.frames import BACKSLASH, EVENT_LIMIT

TEXT_FIELDS: Final = ("content", "reasoning_content", "reasoning")

_USUAL: Final = frozenset((*STREAM_MEMBERS, "choices"))
_SUFFIX_CUT: Final = 4
_PREFIX_CUT: Final = 6
_MOST_TRIES: Final = 8  # a provider that writes something new into each chunk has no envelope
_PROBE: Final = b"\\\\~"
_PROBE_TEXT: Final = "\\~"
_FIELDS: Final = {field: re.compile(rb'"%b"[ \t]*:[ \t]*"' % field.encode()) for field in TEXT_FIELDS}
_TEXTS: Final = re.compile(rb'(?:[^"\\\x00-\x09\x0b-\x1f]++|' + ESCAPE + rb")*+")  # joined by LF


class ChunkEnvelope:
    """What is the same in all text chunks of a stream. `limit`: bytes of an event, and so of what is read at once."""

    __slots__ = ("_joint", "_seam", "bare", "choice", "field", "limit", "prefix", "sample", "suffix", "used")

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
        self.used = False  # other chunks had it
        self._joint = suffix + prefix
        # Between two events. Long needles are slow to find, so the joint is found by its middle.
        self._seam = suffix[-_SUFFIX_CUT:] + prefix[:_PREFIX_CUT]

    def leading(self, data: bytes) -> int:
        """Where the last event in `data` that may have this envelope ends; 0 if there is none."""
        if data.endswith(self.suffix):  # nearly always, and quicker to see
            return len(data)
        end = data.rfind(self.suffix)
        return end + len(self.suffix) if end >= 0 else 0

    def texts(self, data: bytes) -> list[bytes] | None:
        """The texts, still escaped, if `data` is several events with this envelope and nothing else."""
        if len(data) > self.limit or len(data) < len(self._joint):
            return None
        head, tail = len(self.prefix) - _PREFIX_CUT, _SUFFIX_CUT - len(self.suffix)
        parts = data[_PREFIX_CUT:-_SUFFIX_CUT].split(self._seam)
        if len(parts) == 1:
            return None
        texts = [part[head:tail] for part in parts if len(part) >= head - tail]
        if len(texts) != len(parts):  # the seam was found in something else
            return None
        joined = b"\n".join(texts)
        odd = joined.translate(None, UNESCAPED)
        breaks = odd.count(b"\n")
        if breaks != len(texts) - 1:
            return None
        whole = self._joint.join([b"", *texts, b""])  # with the end of an event before it, the beginning of one behind
        if len(whole) != len(data) + len(self._joint) or not whole.startswith(data, len(self.suffix)):
            return None
        return texts if is_json_text(joined, odd[breaks:], _TEXTS) else None


def text_value(text: bytes) -> str:
    """What the inside of a JSON string means."""
    if BACKSLASH not in text:
        return text.decode("utf-8")
    value: str = loads(b'"' + text + b'"')
    return value


class EnvelopeLearner:
    """Finds envelopes. A provider that writes something new into each chunk is given up after a few, until two of its
    chunks in a row are alike."""

    __slots__ = ("_last", "_limit", "_prefix", "_suffix", "_tries")

    def __init__(self, limit: int = EVENT_LIMIT) -> None:
        self._limit = limit
        self._tries = _MOST_TRIES
        self._last: ChunkEnvelope | None = None
        self._prefix = self._suffix = b""  # of the last chunk, since the provider was given up

    def learn(self, chunk: Chunk) -> ChunkEnvelope | None:
        """The envelope of this chunk, if it carries nothing but text: the last one, if it has not changed."""
        raw = chunk.raw
        if raw is None or (place := text_place(chunk.payload)) is None:
            return None
        field, choice = place
        start, end = _text_in(raw, field)
        if start < 0:
            return None
        prefix, suffix = raw[:start], raw[end:]
        last = self._last
        if last is not None:
            if last.prefix == prefix and last.suffix == suffix:
                return last
            if last.used:
                self._tries = _MOST_TRIES
        if self._tries:
            self._tries -= 1
        elif prefix == self._prefix and suffix == self._suffix:
            self._tries = _MOST_TRIES
        else:
            self._prefix, self._suffix = prefix, suffix
            return None
        envelope = ChunkEnvelope(prefix, suffix, chunk.payload, field, choice, self._limit)
        self._last = envelope if _is_envelope(envelope) else None
        return self._last


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
    filled = [name for name in delta if delta[name] and name != "role"]
    if len(filled) != 1 or filled[0] not in TEXT_FIELDS or type(delta[filled[0]]) is not str:
        return None
    return filled[0], index


def _text_in(raw: bytes, field: str) -> tuple[int, int]:
    """Where the text of the first such field begins and ends; (-1, -1) if it is not found."""
    name = b'"%b":"' % field.encode("ascii")
    start = raw.find(name) + len(name)  # as most providers write it
    if start < len(name):
        found = _FIELDS[field].search(raw)
        if found is None:
            return -1, -1
        start = found.end()
    end = raw.find(b'"', start)
    if end >= 0 and BACKSLASH not in raw[start:end]:
        return start, end
    text = JSON_TEXT.match(raw, start)
    end = text.end() if text is not None else -1
    return (start, end) if raw[end : end + 1] == b'"' else (-1, -1)


def _is_bare(payload: JsonObject, field: str) -> bool:
    """Is there nothing in a text chunk but its text and what every chunk of the stream repeats?"""
    choice: JsonObject = payload["choices"][0]
    delta: JsonObject = choice["delta"]
    return not (
        any(value is not None and name not in _USUAL for name, value in payload.items())
        or any(value is not None and name != "index" and name != "delta" for name, value in choice.items())
        or any(value and name != field for name, value in delta.items())
    )


def _is_envelope(envelope: ChunkEnvelope) -> bool:
    """Does a probe in the place of the text change the text and nothing else?"""
    probe = envelope.prefix + _PROBE + envelope.suffix
    sample, choice = envelope.sample, envelope.sample["choices"][0]
    expected = {**sample, "choices": [{**choice, "delta": {**choice["delta"], envelope.field: _PROBE_TEXT}}]}
    try:
        found = loads(probe[probe.find(b"{") : probe.rfind(b"}") + 1])
        return bool(found == expected) and len(envelope.suffix) > _SUFFIX_CUT
    except (ValueError, RecursionError):  # a comparison fails at less depth than parsing
        return False
