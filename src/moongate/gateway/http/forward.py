"""Ordinary text of a stream, forwarded from the provider's socket to the client's: it does not come to the relay."""

from __future__ import annotations

from collections.abc import Callable

from moongate.fast.session import FastSession
from moongate.fast.text_path import PassThrough
from moongate.fast.writers import WriteText
from moongate.gateway.server.response_writer import ResponseWriter
from moongate.net.contract import Response
from moongate.net.forward import ChunkForwarder


class TextForwarding:
    """Keeps the chunk forwarder of a response in step with the session's pass-through."""

    __slots__ = ("_forwarder", "_pass_through", "_response", "_session", "_writer")

    def __init__(self, session: FastSession, writer: ResponseWriter, response: Response) -> None:
        self._session = session
        self._writer = writer
        self._response = response
        self._pass_through: PassThrough | None = None
        self._forwarder: ChunkForwarder | None = None

    def update(self) -> None:
        """After a read that came to the session. Only behind the head of the answer."""
        passing = self._session.pass_through
        if passing is self._pass_through:
            return
        self._pass_through = passing
        self._forwarder = None
        if passing is not None:
            forward = self._writer.chunk_writer() if passing.write is None else self._text_sender(passing.write)
            if forward is not None:
                self._forwarder = ChunkForwarder(passing.matcher, forward, passing.write is not None)
        self._response.forward(self._forwarder)

    def suspend(self) -> None:
        """Until the next update all reads come to the session."""
        self._pass_through = self._forwarder = None
        self._response.forward(None)

    def forwarded(self) -> bool:
        """Was anything forwarded since this was last asked?"""
        forwarder = self._forwarder
        if forwarder is None or not forwarder.taken:
            return False
        forwarder.taken = False
        return True

    def _text_sender(self, write: WriteText) -> Callable[[bytes], None]:
        """Sends what the front writes for a text: where the writer allows it, without a step in between."""
        send_chunk, send, close = self._writer.chunk_writer(), self._writer.write, self._response.close

        def send_text(text: bytes) -> None:
            if text:
                out = write(text)
                if not out:
                    close()  # the encoder has ended the answer itself
                elif send_chunk is None:
                    send(out)
                else:
                    send_chunk(b"%x\r\n%b\r\n" % (len(out), out))

        return send_text
