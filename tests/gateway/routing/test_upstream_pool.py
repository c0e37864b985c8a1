"""Several addresses as one upstream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import cast

import pytest

from moongate.errors import BadUpstream, GatewayError, Overloaded
from moongate.gateway.config.limit_settings import Retries
from moongate.gateway.routing.upstream_pool import UpstreamPool
from moongate.net.contract import Headers, Response
from moongate.net.deadlines import Deadlines

REFUSED = BadUpstream("no connection", code="connect")
CUT = BadUpstream("cut", code="cut")
FULL = Overloaded("busy", code="pool_full")


class Address:
    """Answers with a status, or raises."""

    def __init__(self, outcome: int | BaseException) -> None:
        self.outcome = outcome
        self.asked = 0
        self.closed = False

    async def send(
        self,
        method: str,
        path: str,
        headers: Headers,
        body: bytes,
        *,
        deadlines: Deadlines,
        may_resend: Callable[[], bool],
    ) -> Response:
        self.asked += 1
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return cast(Response, SimpleNamespace(status=self.outcome))

    async def upload(
        self,
        method: str,
        path: str,
        headers: Headers,
        length: int | None,
        pieces: AsyncIterator[bytes],
        *,
        deadlines: Deadlines,
    ) -> Response:
        return await self.send(method, path, headers, b"", deadlines=deadlines, may_resend=lambda: False)

    def close(self) -> None:
        self.closed = True


def send(pool: UpstreamPool, times: int = 1, *, resends: int = 9) -> list[int | str]:
    """The statuses and the codes of errors."""
    left = [resends]

    def may_resend() -> bool:
        left[0] -= 1
        return left[0] >= 0

    async def main() -> list[int | str]:
        found: list[int | str] = []
        for _ in range(times):
            try:
                answer = await pool.send("POST", "/", [], b"", deadlines=Deadlines(), may_resend=may_resend)
                found.append(answer.status)
            except GatewayError as error:
                found.append(error.code or "")
        return found

    return asyncio.run(main())


def test_addresses_are_asked_in_turn() -> None:
    addresses = [Address(200), Address(200), Address(200)]
    pool = UpstreamPool(addresses, Retries())
    assert send(pool, 9) == [200] * 9
    assert [each.asked for each in addresses] == [3, 3, 3]
    pool.close()
    assert all(each.closed for each in addresses)


@pytest.mark.parametrize("error", [REFUSED, FULL])
def test_one_that_cannot_be_reached_is_replaced(error: GatewayError) -> None:
    bad, good = Address(error), Address(200)
    assert send(UpstreamPool([bad, good], Retries()), 6) == [200] * 6
    assert good.asked == 6


def test_one_that_fails_rests() -> None:
    bad, good = Address(REFUSED), Address(200)
    send(UpstreamPool([bad, good], Retries(failures=2)), 20)
    assert bad.asked == 2
    late = Address(503)
    send(UpstreamPool([late, good], Retries(failures=2)), 20)
    assert late.asked == 2


def test_a_request_that_was_sent_is_not_sent_again_here() -> None:
    pool = UpstreamPool([Address(CUT), Address(CUT)], Retries())
    assert send(pool) == ["cut"]


def test_a_resend_must_be_allowed() -> None:
    addresses = [Address(REFUSED), Address(REFUSED), Address(REFUSED)]
    assert send(UpstreamPool(addresses, Retries()), resends=1) == ["connect"]
    assert sum(each.asked for each in addresses) == 2
    assert send(UpstreamPool(addresses, Retries())) == ["connect"]
    assert sum(each.asked for each in addresses) == 5


def test_a_client_that_leaves_says_nothing_about_an_address() -> None:
    gone, other = Address(asyncio.CancelledError()), Address(200)
    pool = UpstreamPool([other, gone], Retries(failures=1))
    with pytest.raises(asyncio.CancelledError):
        send(pool)
    gone.outcome = 200
    assert send(pool, 4) == [200] * 4
    assert gone.asked == 3


async def nothing() -> AsyncIterator[bytes]:
    yield b""


def upload(pool: UpstreamPool, times: int) -> list[int | str]:
    """The statuses, or the codes of errors."""

    async def main() -> list[int | str]:
        found: list[int | str] = []
        for _ in range(times):
            try:
                found.append((await pool.upload("POST", "/", [], None, nothing(), deadlines=Deadlines())).status)
            except GatewayError as error:
                found.append(str(error.code))
        return found

    return asyncio.run(main())


def test_an_upload_goes_to_an_address_that_can_be_reached() -> None:
    assert upload(UpstreamPool([Address(REFUSED), Address(200)], Retries()), 6) == [200] * 6
    assert upload(UpstreamPool([Address(REFUSED), Address(REFUSED)], Retries()), 1) == ["connect"]


def test_an_upload_is_not_sent_twice() -> None:
    assert sorted(map(str, upload(UpstreamPool([Address(CUT), Address(200)], Retries()), 2))) == ["200", "cut"]
