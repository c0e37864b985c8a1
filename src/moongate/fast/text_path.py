"""The way of text chunks with one envelope: past an exchange, into a front's stream, without JSON in between."""

from __future__ import annotations

from moongate.fast.envelope import ChunkEnvelope, text_value
from moongate.fast.rewriter import TextRewriter
from moongate.fast.shortcuts import TextShortcut
from moongate.fast.writers import TextWriter, WriteText
from moongate.payload import loads
from moongate.wire.fast import LastText, TextMatcher


class PassThrough:
    """Ordinary text: an event whose text `matcher` finds need not be fed to the session that has this.

    The client gets `write(text)` for it; without a `write` (None), the event itself.
    """

    __slots__ = ("last", "matcher", "prefix", "write")

    def __init__(self, matcher: TextMatcher, write: WriteText | None) -> None:
        self.matcher = matcher
        self.last = matcher.last
        self.prefix = matcher.prefix
        self.write = write


class TextPath:
    """One envelope, with the shortcut of the exchange and the writer of the front."""

    __slots__ = ("_any_text", "_ordinary_text", "_rewriter", "_shortcut", "_writer", "envelope", "pass_through")

    def __init__(self, envelope: ChunkEnvelope, shortcut: TextShortcut, writer: TextWriter) -> None:
        self.envelope = envelope
        self._shortcut = shortcut
        self._writer = writer
        last = LastText(shortcut.keeper(envelope))
        matcher = TextMatcher(envelope.prefix, envelope.suffix, shortcut.stops, envelope.limit, last)
        self._ordinary_text = PassThrough(matcher, writer.write_text)
        self._rewriter: TextRewriter | None = None  # both are made for the first text that may not pass
        self._any_text: TextMatcher | None = None
        self.pass_through: PassThrough | None = None  # for the next text, if it may pass unseen

    def update_pass_through(self) -> None:
        """Something else was read: may the next text pass unseen?"""
        passes = self._shortcut.passes(self.envelope, b"") and self._writer.is_open(self.envelope)
        self.pass_through = self._ordinary_text if passes else None

    def catch_up(self) -> None:
        """Report the text that passed unread to the exchange, before anything else is read."""
        last = self._ordinary_text.last
        if last.text:
            self._shortcut.passed(self.envelope, last.text)
            last.text = b""

    def feed(self, data: bytes) -> bytes | None:
        """Bytes to send for events of the envelope; None if there is anything else, or they have to be parsed."""
        out = self._feed_several(data)
        if out is not None:
            return out
        text = self._ordinary_text.matcher.text(data, self.envelope.prefix)
        if text is not None and self._shortcut.passes(self.envelope, text):
            return self._pass(data, text)
        rewriter = self._stop_passing()
        return None if rewriter is None else self._rewrite_event(rewriter, data)

    def feed_rewriter(self, data: bytes) -> bytes | None:
        """The same for one event behind a text that could not pass: most likely this one cannot either."""
        if self._rewriter is None or self.pass_through is not None:
            return None
        return self._rewrite_event(self._rewriter, data)

    def _feed_several(self, data: bytes) -> bytes | None:
        texts = self.envelope.texts(data)
        if texts is None:
            return None
        text = b"".join(texts)
        if self._shortcut.passes(self.envelope, text):
            return self._pass(data, text)
        rewriter = self._stop_passing()
        if rewriter is None or not rewriter.ready:
            return None
        return b"".join([self._rewrite(rewriter, each, text_value(each)) for each in texts])

    def _pass(self, data: bytes, text: bytes) -> bytes:
        self.envelope.used = True
        if text:
            last = self._ordinary_text.last
            last.text = text
            if last.keep is not None:
                last.keep(text)
        out = self._writer.write(self.envelope, data, text)
        if self.pass_through is None and text and self._writer.is_open(self.envelope):
            self.pass_through = self._ordinary_text
        return out

    def _stop_passing(self) -> TextRewriter | None:
        self.pass_through = None
        if self._rewriter is None:
            self._rewriter = self._shortcut.rewriter(self.envelope)
        return self._rewriter

    def _rewrite_event(self, rewriter: TextRewriter, data: bytes) -> bytes | None:
        matcher = self._any_text
        if matcher is None:
            envelope = self.envelope
            matcher = self._any_text = TextMatcher(envelope.prefix, envelope.suffix, None, envelope.limit)
        text = matcher.text(data, self.envelope.prefix)
        if text is None or not rewriter.ready:
            return None
        try:
            value: str = loads(b'"' + text + b'"')
        except ValueError:
            return None
        return self._rewrite(rewriter, text, value)

    def _rewrite(self, rewriter: TextRewriter, text: bytes, value: str) -> bytes:
        envelope = self.envelope
        envelope.used = True
        self.catch_up()
        made = rewriter.feed(value)
        if made is not None:
            self.pass_through = None
            return self._writer.rewrite(made)
        out = self._writer.write_value(envelope, envelope.prefix + text + envelope.suffix, value)
        self.update_pass_through()
        return out
