"""The ways back to the client that are not our own server's."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from moongate.gateway.outlet import MAX_COPY, AsgiOutlet, Copying, Message


def sent(bodiless: bool, copying: bool) -> tuple[list[Any], bytes]:
    """What a whole answer looks like to a server, and what a log would show of it."""
    told: list[Message] = []

    async def send(message: Message) -> None:
        told.append(message)

    async def receive() -> Message:
        raise AssertionError

    async def main() -> bytes:
        plain = AsgiOutlet(receive, send, bodiless=bodiless)
        outlet = Copying(plain, bodiless=bodiless) if copying else plain
        outlet.respond(200, [(b"x", b"y")], b"hello" * MAX_COPY)
        await plain.pump()
        return bytes(outlet.copy) if isinstance(outlet, Copying) else b""

    copy = asyncio.run(main())
    assert told[0] == {
        "type": "http.response.start",
        "status": 200,
        "headers": [(b"x", b"y"), (b"content-length", b"%d" % (5 * MAX_COPY))],
    }
    assert told[-1]["more_body"] is False
    return [message["body"] for message in told[1:] if message["body"]], copy


@pytest.mark.parametrize("copying", [False, True])
def test_a_whole_answer_and_the_beginning_of_it_for_a_log(copying: bool) -> None:
    assert sent(False, copying) == ([b"hello" * MAX_COPY], (b"hello" * MAX_COPY)[:MAX_COPY] if copying else b"")


@pytest.mark.parametrize("copying", [False, True])
def test_the_answer_to_head_has_a_length_and_no_body(copying: bool) -> None:
    assert sent(True, copying) == ([], b"")
