"""What leaves when: commands that somebody waits for, and those that may linger."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from moongate.gateway.limits.account import Account
from moongate.gateway.limits.limit_set import LimitSet
from moongate.gateway.limits.shared_table import SharedTable
from moongate.gateway.shared.connection import RedisConnection
from moongate.gateway.shared.script import ClientCommands
from moongate.gateway.shared.shared_request import SharedRequest


class Written:
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.ended = ""

    def write(self, data: bytes) -> None:
        self.writes.append(data)

    def close(self) -> None:
        self.ended = "closed"

    def abort(self) -> None:
        self.ended = "aborted"


def connected() -> tuple[RedisConnection, Written]:
    connection, transport = RedisConnection(60.0, lambda: None), Written()
    connection.connection_made(cast("Any", transport))
    return connection, transport


async def until_written(transport: Written) -> list[bytes]:
    async with asyncio.timeout(60):
        while not transport.writes:
            await asyncio.sleep(0.001)
    return transport.writes


def test_what_may_linger_leaves_with_the_next_command_and_before_it() -> None:
    async def test() -> None:
        connection, transport = connected()
        connection.call(b"end1 ", lingers=True)
        connection.call(b"end2 ", lingers=True)
        connection.call(b"begin ")
        connection.call(b"end3", lingers=True)
        assert await until_written(transport) == [b"end1 end2 begin end3"]

    asyncio.run(test())


def test_what_may_linger_leaves_alone_if_nothing_follows() -> None:
    async def test() -> None:
        connection, transport = connected()
        ends = [connection.call(b"end1", lingers=True), connection.call(b"end2", lingers=True)]
        assert await until_written(transport) == [b"end1end2"]
        connection.data_received(b":1\r\n:2\r\n")
        assert [end.reply for end in ends] == [1, 2]

    asyncio.run(test())


def test_what_lingers_leaves_before_the_connection_is_closed_at_the_end() -> None:
    async def test() -> None:
        connection, transport = connected()
        connection.call(b"end", lingers=True)
        connection.close(after_sending=True)
        assert (transport.writes, transport.ended) == ([b"end"], "closed")

    asyncio.run(test())


@pytest.mark.parametrize(
    ("concurrency", "in_flight", "gateways", "scarce"),
    [
        (0, 50, 9, False),
        (1, 0, 1, True),
        (100, 0, 2, False),
        (100, 12, 2, True),
        (100, 24, 1, True),
        (100, 23, 1, False),
    ],
)
def test_a_place_is_given_back_at_once_where_places_are_scarce(
    concurrency: int, in_flight: int, gateways: int, *, scarce: bool
) -> None:
    account = Account(SharedTable(), bytes(32), LimitSet(rpm=1, concurrency=concurrency), "key")
    for _ in range(in_flight):
        account.take_request(0)
    commands = ClientCommands((account,), "moongate")
    request = SharedRequest(b"r", commands, (0, 0, 0), (0,), lambda *_: None)
    assert request.frees_scarce_place(gateways) == scarce
