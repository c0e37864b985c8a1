"""How the known fronts write text that did not become items.

The encoder's type says which writer it has. One of an unknown type has none: its answers are written the plain way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from moongate.chat.contracts import Encoder
from moongate.chat.items import Chunk
from moongate.dialects.answer_encoder import AnswerEncoder
from moongate.dialects.blocks import Kind
from moongate.dialects.openai_chat import ChatEncoder
from moongate.fast.envelope import ChunkEnvelope, text_value
from moongate.fast.rewriter import MadeChunk

WriteText = Callable[[bytes], bytes]


class TextWriter(ABC):
    """Text of one envelope → one front's bytes."""

    @abstractmethod
    def write(self, envelope: ChunkEnvelope, raw: bytes, text: bytes) -> bytes:
        """Bytes to send for chunks that nothing changed: `raw` is their bytes, `text` their texts, escaped."""

    @abstractmethod
    def write_value(self, envelope: ChunkEnvelope, raw: bytes, value: str) -> bytes:
        """The same for one chunk whose text had to be decoded."""

    @abstractmethod
    def rewrite(self, made: Sequence[MadeChunk]) -> bytes:
        """Bytes to send for chunks of our own."""

    def is_open(self, envelope: ChunkEnvelope) -> bool:
        """Can the next text be written by `write_text`, until anything else is written?"""
        return True

    @property
    def write_text(self) -> WriteText | None:
        """Writes the next text, which is never empty. None: its event leaves as it came."""
        return None


class ChatWriter(TextWriter):
    """The chat front: nothing is translated."""

    def write(self, envelope: ChunkEnvelope, raw: bytes, text: bytes) -> bytes:
        return raw

    def write_value(self, envelope: ChunkEnvelope, raw: bytes, value: str) -> bytes:
        return raw

    def rewrite(self, made: Sequence[MadeChunk]) -> bytes:
        return made[0].events() if len(made) == 1 else b"".join([each.events() for each in made])


class BlockWriter(TextWriter):
    """The fronts that answer in blocks: text goes on in the open block. They read the first choice alone."""

    def __init__(self, encoder: AnswerEncoder) -> None:
        self._encoder = encoder

    def write(self, envelope: ChunkEnvelope, raw: bytes, text: bytes) -> bytes:
        if text and self.is_open(envelope):
            return self._encoder.append(text)
        return self.write_value(envelope, raw, text_value(text))

    def write_value(self, envelope: ChunkEnvelope, raw: bytes, value: str) -> bytes:
        if envelope.choice or not value:
            return b""
        choice = {"index": 0, "delta": {envelope.field: value}}
        return self._encoder.feed(Chunk({**envelope.sample, "choices": [choice]}))

    def rewrite(self, made: Sequence[MadeChunk]) -> bytes:
        if len(made) == 1:
            return self._encoder.feed(Chunk(made[0].payload()))
        return b"".join([self._encoder.feed(Chunk(each.payload())) for each in made])

    def is_open(self, envelope: ChunkEnvelope) -> bool:
        return not envelope.choice and self._encoder.is_open(_kind_of(envelope))

    @property
    def write_text(self) -> WriteText | None:
        return self._encoder.append


def writer_of(encoder: Encoder) -> TextWriter | None:
    """The writer of this encoder, if it is of a known type."""
    cls: type[object] = type(encoder)
    if cls is ChatEncoder:
        return ChatWriter()
    return BlockWriter(encoder) if isinstance(encoder, AnswerEncoder) else None


def _kind_of(envelope: ChunkEnvelope) -> Kind:
    return "text" if envelope.field == "content" else "reasoning"
