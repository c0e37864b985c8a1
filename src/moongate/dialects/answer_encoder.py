"""The blocks of one answer as the events of a stream: what the encoders of messages and responses share."""

from __future__ import annotations

from abc import abstractmethod

from moongate.chat.items import Chunk, Done, Failure, Item
from moongate.dialects.block_sequence import BlockSequence
from moongate.dialects.blocks import Kind
from moongate.errors import BadUpstream, GatewayError
from moongate.payload import dumps


class AnswerEncoder(BlockSequence):
    """The items of one answer → one front's bytes (`Encoder`). It ends with `_finish` or with `_fail`, once."""

    failure: GatewayError | None = None  # why the answer ended early, if it did

    @abstractmethod
    def _add_json(self, text: bytes) -> bytes:
        """More text of the open block, as JSON writes it: escaped, without the quotes."""

    @abstractmethod
    def _fail(self, error: GatewayError) -> bytes: ...

    def feed(self, item: Item) -> bytes:
        """The bytes for one item. Nothing leaves after the end."""
        if self._ended:
            return b""
        if isinstance(item, Chunk):
            try:
                return self._read(item.payload, "delta")
            except BadUpstream as error:
                return self._break(error)
        if isinstance(item, Done):
            return self._end()
        if isinstance(item, Failure):
            return self._break(item.error)
        return b""  # the provider's comments mean nothing on another front

    def close(self) -> bytes:
        """The input is over. An answer that has not ended by now was cut."""
        return b"" if self._ended else self._break(BadUpstream("the provider's stream ended early"))

    def _add(self, text: str) -> bytes:
        return self._add_json(dumps(text)[1:-1])

    def is_open(self, kind: Kind) -> bool:
        """Is a block of this kind open, with nothing held back behind it?"""
        return self._current is not None and self._current.kind == kind and not (self._half or self._held)

    def append(self, text: bytes) -> bytes:
        """The bytes for more text of the open block, as JSON writes it. Only while `is_open`."""
        if self._ended:
            return b""
        try:
            return self._add_json(text)
        except BadUpstream as error:
            return self._break(error)

    def _break(self, error: GatewayError) -> bytes:
        self._ended = True
        self.failure = error
        return self._fail(error)
