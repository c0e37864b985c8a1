"""The fast path: chunks that differ in nothing but their text are not parsed.

Providers write every text chunk of a stream with the same envelope. A chunk that was read the long way and
carries nothing but text gives a mould: the bytes before the text and the bytes behind it. A network read that is

    prefix text suffix  prefix text suffix  prefix text suffix

is split at `suffix + prefix`. Each text is checked to be the inside of a JSON string and nothing more, so the
chunks are what the long way would have found; together they are one `Stretch`.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from moongate.chat.items import Chunk, Stretch
from moongate.payload import JsonObject, loads
from moongate.wire.frames import EVENT_LIMIT, Frame

TEXT_FIELDS: Final = ("content", "reasoning_content", "reasoning")

_MOST_TRIES: Final = 8  # a provider that writes something new into each chunk gives no mould
_PROBE: Final = b"\\\\~"
_PROBE_TEXT: Final = "\\~"
_FIELD: Final = re.compile(rb'"(content|reasoning_content|reasoning)"[ \t]*:[ \t]*"')
# The inside of a JSON string, spelt so that no byte of it means another character than itself: `\u00..` may be any
# ASCII character, a surrogate may be half of one. Those are read the long way.
_ESCAPE: Final = rb'\\(?:["\\/bfnrt]|u(?!00|[dD][89a-fA-F])[0-9a-fA-F]{4})'
_TEXT: Final = re.compile(rb'(?:[^"\\\x00-\x1f]++|' + _ESCAPE + rb")*+")
_TEXTS: Final = re.compile(rb'(?:[^"\\\x00-\x09\x0b-\x1f]++|' + _ESCAPE + rb")*+")  # joined by LF


class Mould(NamedTuple):
    """What is the same in all text chunks of a stream."""

    prefix: bytes
    suffix: bytes
    joint: bytes
    data_start: int  # where the JSON begins and
    data_end: int  # ends (from behind) in a chunk's bytes
    field: str
    choice: int

    def stretch(self, data: bytes) -> Stretch | None:
        """The chunks at the beginning of `data` that came out of this mould; None if there are none."""
        prefix, suffix = self.prefix, self.suffix
        if not data.startswith(prefix):
            return None
        end = len(data) - len(suffix) if data.endswith(suffix) else data.rfind(suffix)
        if end < len(prefix):
            return None
        texts = data[len(prefix) : end].split(self.joint)
        joined = b"\n".join(texts)
        if joined.count(b"\n") != len(texts) - 1 or _TEXTS.fullmatch(joined) is None or len(joined) > EVENT_LIMIT:
            return None
        if not joined.isascii():
            try:
                joined.decode("utf-8")
            except UnicodeDecodeError:
                return None
        end += len(suffix)
        return Stretch(
            data if end == len(data) else data[:end],
            texts[0] if len(texts) == 1 else b"".join(texts),
            self.field,
            self.choice,
        )

    def frames(self, stretch: Stretch) -> list[Frame]:
        """The chunks of a stretch, one by one."""
        start, end = self.data_start, self.data_end
        inner = stretch.raw[len(self.prefix) : len(stretch.raw) - len(self.suffix)]
        raws = [self.prefix + text + self.suffix for text in inner.split(self.joint)]
        return [Frame(raw, raw[start : len(raw) - end]) for raw in raws]


class Candidate:
    """The last chunk that may give a mould. It becomes one when the next chunk fits."""

    __slots__ = ("_prefix", "_suffix", "_tries")

    def __init__(self) -> None:
        self._prefix = b""
        self._suffix = b""
        self._tries = _MOST_TRIES

    def offer(self, chunk: Chunk) -> Mould | None:
        """The mould that this chunk and the one before it came out of, if so."""
        raw = chunk.raw
        if raw is None or not self._tries or (place := text_place(chunk.payload)) is None:
            return None
        if self._prefix and raw.startswith(self._prefix) and raw.endswith(self._suffix):
            mould = _mould(self._prefix, self._suffix, chunk.payload, *place)
            if mould is not None:
                self._tries = _MOST_TRIES
                return mould
        found = next((each for each in _FIELD.finditer(raw) if each[1] == place[0].encode()), None)
        text = _TEXT.match(raw, found.end()) if found else None
        if found is None or text is None or raw[text.end() : text.end() + 1] != b'"':
            return None
        self._prefix, self._suffix = raw[: found.end()], raw[text.end() :]
        self._tries -= 1
        return None


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


def _mould(prefix: bytes, suffix: bytes, payload: JsonObject, field: str, index: int) -> Mould | None:
    """The mould, if a probe in the place of the text changes the text and nothing else."""
    start, end = _data_bounds(prefix, suffix)
    probe = prefix + _PROBE + suffix
    try:
        found = loads(probe[start : len(probe) - end])
    except ValueError:
        return None
    choice = payload["choices"][0]
    expected: Any = {**payload, "choices": [{**choice, "delta": {**choice["delta"], field: _PROBE_TEXT}}]}
    return Mould(prefix, suffix, suffix + prefix, start, end, field, index) if found == expected else None


def _data_bounds(prefix: bytes, suffix: bytes) -> tuple[int, int]:
    """Where the JSON begins in the prefix, and how many bytes of the suffix are behind it."""
    start = prefix.find(b"{")
    return start, len(suffix) - 1 - suffix.rfind(b"}")
