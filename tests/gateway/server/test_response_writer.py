"""The response writers that are not our own server's."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from moongate.gateway.server.response_writer import MAX_COPY, AsgiResponseWriter, CopyingResponseWriter, Message


def sent(bodiless: bool, copying: bool) -> tuple[list[Any], bytes]:
    """The messages of a whole answer, and the copy for the log."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        raise AssertionError

    async def main() -> bytes:
        plain = AsgiResponseWriter(receive, send, bodiless=bodiless)
        writer = CopyingResponseWriter(plain, bodiless=bodiless) if copying else plain
        writer.respond(200, [(b"x", b"y")], b"hello" * MAX_COPY)
        await plain.pump()
        return bytes(writer.copy) if isinstance(writer, CopyingResponseWriter) else b""

    copy = asyncio.run(main())
    assert sent[0] == {
        "type": "http.response.start",
        "status": 200,
        "headers": [(b"x", b"y"), (b"content-length", b"%d" % (5 * MAX_COPY))],
    }
    assert sent[-1]["more_body"] is False
    return [message["body"] for message in sent[1:] if message["body"]], copy


@pytest.mark.parametrize("copying", [False, True])
def test_a_whole_answer_and_the_beginning_of_it_for_a_log(copying: bool) -> None:
    assert sent(False, copying) == ([b"hello" * MAX_COPY], (b"hello" * MAX_COPY)[:MAX_COPY] if copying else b"")


@pytest.mark.parametrize("copying", [False, True])
def test_the_answer_to_head_has_a_length_and_no_body(copying: bool) -> None:
    assert sent(True, copying) == ([], b"")
