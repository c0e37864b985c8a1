"""The session that does not parse ordinary text. What it gives is what `Session` gives.

A text chunk goes one of three ways: from socket to socket (`net/forward.py`), past the JSON parser (here), or through
`Session`. The first two recognise it by its envelope, the bytes that all text chunks of a stream share.
"""

from __future__ import annotations

from typing import Final

from moongate.chat.contracts import Encoder, Exchange
from moongate.chat.items import Chunk, Item
from moongate.errors import GatewayError
from moongate.fast.envelope import ChunkEnvelope, EnvelopeLearner
from moongate.fast.shortcuts import TextShortcut, shortcut_of
from moongate.fast.text_path import PassThrough, TextPath
from moongate.fast.writers import TextWriter, writer_of
from moongate.pipeline.session import Session
from moongate.wire.frames import DOCUMENT_LIMIT, EVENT_LIMIT, LF
from moongate.wire.sse import SseDecoder

# Bytes of an unfinished event that are joined with the next read, to match the envelope.
_MAX_PARTIAL_EVENT: Final = 4096


class FastSession(Session):
    """A session with a shortcut for text. It is learnt from the text chunks that are read the plain way.

    `pass_through`: events that match it need not be fed at all, the caller may write the bytes for them itself.
    """

    __slots__ = ("_decoder", "_learner", "_path", "_shortcut", "_writer", "pass_through")

    def __init__(
        self,
        exchange: Exchange,
        content_type: str,
        encoder: Encoder | None = None,
        limit: int = EVENT_LIMIT,
        document_limit: int = DOCUMENT_LIMIT,
    ) -> None:
        super().__init__(exchange, content_type, encoder, limit, document_limit)
        self._learner: EnvelopeLearner | None = EnvelopeLearner(limit)
        self._shortcut: TextShortcut | None = None  # these are looked up for the first envelope
        self._writer: TextWriter | None = None
        self._decoder: SseDecoder | None = None
        self._path: TextPath | None = None
        self.pass_through: PassThrough | None = None

    def feed(self, data: bytes) -> bytes:
        """Bytes to send to the client for this network read."""
        passing = self.pass_through
        if passing is not None:  # never behind the end
            text = passing.matcher.text(data, passing.prefix)
            if text is not None:
                if text:
                    passing.last.text = text
                    if passing.last.keep is not None:
                        passing.last.keep(text)
                write = passing.write
                return data if write is None else self._checked(write(text) if text else b"")
        path = self._path
        return super().feed(data) if path is None or self.finished or self.waiting else self._feed_text(path, data)

    def close(self) -> bytes:
        """Bytes to send at the end of the provider's body: the end of a complete answer, or an error."""
        self.pass_through = None
        return super().close() if self.finished else self._checked(b"") or super().close()

    def fail(self, error: GatewayError) -> bytes:
        """Bytes to send when the answer breaks off for a reason outside its bytes (a timeout, a lost connection)."""
        self.pass_through = None
        return super().fail(error)

    def resume(self, content_type: str) -> None:
        """The same; further tries are rare and have no shortcut."""
        super().resume(content_type)
        self._learner = self._path = self.pass_through = None

    def _feed_text(self, path: TextPath, data: bytes) -> bytes:
        """A read that begins with text of the envelope, or not."""
        decoder = self._decoder
        if decoder is not None and decoder.buffered:
            if decoder.buffered > _MAX_PARTIAL_EVENT or LF not in data:
                return super().feed(data)
            data = decoder.take() + data
        end = len(data)
        out = path.feed_rewriter(data)
        if out is None:
            end = path.envelope.leading(data)
            out = path.feed(data if end == len(data) else data[:end]) if end else None
        if out is None:
            return super().feed(data)
        self.pass_through = path.pass_through
        if self._encoder.failure is not None:
            out = self._checked(out)
        return out if end == len(data) else out + super().feed(data[end:])

    def _run(self, items: list[Item]) -> list[bytes]:
        """The plain way, which shows what the next text chunks look like."""
        if self._path is not None:
            self._path.catch_up()
        out = super()._run(items)
        self.pass_through = None
        if self._path is not None:
            self._path.pass_through = None
        if items and not self.finished and not self.waiting and self._learner is not None:
            self._learn(items, self._learner)
        return out

    def _learn(self, items: list[Item], learner: EnvelopeLearner) -> None:
        for item in reversed(items):
            if isinstance(item, Chunk):
                envelope = learner.learn(item)
                if envelope is not None:
                    self._expect(envelope)
                return

    def _expect(self, envelope: ChunkEnvelope) -> None:
        """Text chunks with this envelope are expected next."""
        path = self._path
        if path is None or path.envelope is not envelope:
            path = self._path = self._path_for(envelope)
        if path is not None and self._decoder is not None and not self._decoder.buffered:
            path.update_pass_through()
            self.pass_through = path.pass_through

    def _path_for(self, envelope: ChunkEnvelope) -> TextPath | None:
        if self._shortcut is None or self._writer is None:
            decoder = None if self._reader.events is None else self._reader.events.decoder
            self._decoder = decoder if isinstance(decoder, SseDecoder) else None
            self._shortcut, self._writer = shortcut_of(self._exchange), writer_of(self._encoder)
            if self._shortcut is None or self._writer is None or self._decoder is None:
                self._learner = None  # there is no shortcut for this stream
                return None
        return TextPath(envelope, self._shortcut, self._writer)

    def _checked(self, out: bytes) -> bytes:
        """Text may be too much for the encoder, which then ends the answer itself."""
        failure: GatewayError | None = self._encoder.failure
        if failure is None:
            return out
        self.failure, self.finished, self.pass_through = failure, True, None
        return out + self._encoder.close()
