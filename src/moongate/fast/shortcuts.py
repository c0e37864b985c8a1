"""The shortcuts of the known exchanges: what text may pass them without becoming items.

An exchange is found by its type. One that is not in the table has no shortcut: its answers are read the plain way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Final, cast

from moongate.chat.base import BaseExchange
from moongate.chat.contracts import Exchange
from moongate.fast.envelope import ChunkEnvelope, text_value
from moongate.fast.rewriter import TextRewriter
from moongate.kimi.exchange import KimiExchange
from moongate.kimi.markers.pieces import Channel
from moongate.pipeline.chain import ChainExchange

if TYPE_CHECKING:
    from moongate.kimi.guard.exchange import GuardedExchange

_ANY_SPELLING: Final = '"\\/'  # JSON may write these in several ways


class TextShortcut(ABC):
    """May a text pass an exchange unread?

    Behind a text that passed, the next one of the same field passes too, unless one of the bytes `stops` is in it.
    """

    stops: bytes

    @abstractmethod
    def passes(self, envelope: ChunkEnvelope, text: bytes) -> bool:
        """May text chunks of this envelope, whose texts make up `text`, leave as they came?

        Only if no rule can apply to them and nothing has to be remembered. An empty text asks for the next one.
        """

    def passed(self, envelope: ChunkEnvelope, text: bytes) -> None:
        """Texts of this envelope have passed unread; `text`, which is not empty, was the last one."""
        return  # most exchanges need not know

    def rewriter(self, envelope: ChunkEnvelope) -> TextRewriter | None:
        """What reads the texts that may not pass; None: their chunks are read the plain way."""
        return None

    def keeper(self, envelope: ChunkEnvelope) -> Callable[[bytes], None] | None:
        """What keeps the texts that pass, for an exchange that may need them later."""
        return None


class NoOpShortcut(TextShortcut):
    """Of an exchange that does not look at chunks."""

    def __init__(self) -> None:
        self.stops = b""

    def passes(self, envelope: ChunkEnvelope, text: bytes) -> bool:
        return True


class KimiShortcut(TextShortcut):
    """Text without the first character of a marker passes while the choice's parser is between markers."""

    def __init__(self, exchange: KimiExchange, stops: bytes) -> None:
        self._exchange = exchange
        self.stops = stops

    def passes(self, envelope: ChunkEnvelope, text: bytes) -> bool:
        stops = self.stops
        if self._exchange.assembles_calls or (
            stops[0] in text if len(stops) == 1 else text.translate(None, stops) != text
        ):
            return False
        choice = self._exchange.choices.get(envelope.choice)
        if choice is None or choice.waits_for_name:
            return False
        channel: Channel = "content" if envelope.field == "content" else "reasoning"
        idle = not choice.is_watching(channel)
        if choice.parser is not None and not choice.finished:
            idle = idle and choice.parser.idle_for(channel)
        if idle and channel == "content":
            if not text:
                return choice.has_content  # else the next text has to be seen
            choice.has_content = True
        return idle

    def passed(self, envelope: ChunkEnvelope, text: bytes) -> None:
        choice = self._exchange.choices.get(envelope.choice)
        if choice is not None and choice.parser is not None:
            channel: Channel = "content" if envelope.field == "content" else "reasoning"
            choice.parser.passed(channel, text_value(text)[-1])

    def rewriter(self, envelope: ChunkEnvelope) -> TextRewriter | None:
        exchange, index = self._exchange, envelope.choice
        return TextRewriter(exchange.choice(index), envelope) if envelope.bare and exchange.repairs(index) else None


class GuardShortcut(TextShortcut):
    """Text flows under the guard as without it; chunks with anything else are read the plain way."""

    def __init__(self, exchange: GuardedExchange, inner: KimiShortcut) -> None:
        self._exchange = exchange
        self._inner = inner
        self.stops = inner.stops

    def passes(self, envelope: ChunkEnvelope, text: bytes) -> bool:
        return self._exchange.is_first_try and self._inner.passes(envelope, text)

    def passed(self, envelope: ChunkEnvelope, text: bytes) -> None:
        self._inner.passed(envelope, text)

    def keeper(self, envelope: ChunkEnvelope) -> Callable[[bytes], None] | None:
        return self._exchange.keeper(envelope.choice, envelope.field)


class ChainShortcut(TextShortcut):
    """What may pass all exchanges of a chain."""

    def __init__(self, shortcuts: list[TextShortcut]) -> None:
        self._shortcuts = shortcuts
        self.stops = b"".join(each.stops for each in shortcuts)

    def passes(self, envelope: ChunkEnvelope, text: bytes) -> bool:
        return all(each.passes(envelope, text) for each in self._shortcuts)

    def passed(self, envelope: ChunkEnvelope, text: bytes) -> None:
        for each in self._shortcuts:
            each.passed(envelope, text)

    def keeper(self, envelope: ChunkEnvelope) -> Callable[[bytes], None] | None:
        return next((keep for each in self._shortcuts if (keep := each.keeper(envelope)) is not None), None)


def shortcut_of(exchange: Exchange) -> TextShortcut | None:
    """The shortcut of this exchange, if it is of a known type."""
    cls: type[object] = type(exchange)
    if cls is KimiExchange:
        return _of_kimi(cast(KimiExchange, exchange))
    if cls is ChainExchange:
        return _of_chain(cast(ChainExchange, exchange))
    if isinstance(exchange, BaseExchange):
        return NoOpShortcut() if _ignores_chunks(type(exchange)) else None
    return _of_guarded(exchange)


def _of_guarded(exchange: Exchange) -> GuardShortcut | None:
    from moongate.kimi.guard.exchange import GuardedExchange

    if not isinstance(exchange, GuardedExchange) or type(exchange.current.exchange) is not KimiExchange:
        return None
    inner = _of_kimi(exchange.current.exchange)
    return None if inner is None else GuardShortcut(exchange, inner)


def _of_kimi(exchange: KimiExchange) -> KimiShortcut | None:
    stops = _stop_bytes(exchange.answer.stop_characters)
    return None if stops is None else KimiShortcut(exchange, stops)


def _of_chain(exchange: ChainExchange) -> ChainShortcut | None:
    known: list[TextShortcut] = []
    for each in exchange.exchanges:
        shortcut = shortcut_of(each)
        if shortcut is None:
            return None
        known.append(shortcut)
    return ChainShortcut(known)


def _ignores_chunks(cls: type[BaseExchange]) -> bool:
    return cls.feed is BaseExchange.feed and cls.chunk is BaseExchange.chunk


@cache
def _stop_bytes(starts: str) -> bytes | None:
    """The bytes of these characters; None if JSON may write one of them in several ways."""
    if any(not " " <= char <= "~" or char in _ANY_SPELLING for char in starts):
        return None
    return starts.encode("ascii")
