"""Several addresses of one provider as one upstream: round robin, with a circuit breaker for each address."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from time import monotonic

from moongate.errors import BadUpstream, GatewayError
from moongate.gateway.config.limit_settings import Retries
from moongate.gateway.http.upstream_errors import is_unsent
from moongate.gateway.routing.circuit_breaker import CircuitBreaker
from moongate.net.contract import Headers, Response, UploadingUpstream
from moongate.net.deadlines import Deadlines


@dataclass(frozen=True, slots=True)
class PoolMember:
    """One address. Its breaker counts connection errors and 5xx; other errors count at the breaker of the target."""

    upstream: UploadingUpstream
    breaker: CircuitBreaker


class UpstreamPool:
    """Implements `contract.UploadingUpstream`."""

    def __init__(self, upstreams: Sequence[UploadingUpstream], rules: Retries) -> None:
        self._members = [PoolMember(each, CircuitBreaker(rules)) for each in upstreams]
        self._next = 0

    async def send(
        self,
        method: str,
        path: str,
        headers: Headers,
        body: bytes,
        *,
        deadlines: Deadlines,
        may_resend: Callable[[], bool] = lambda: True,
    ) -> Response:
        """An address that cannot be reached is replaced by the next, which counts as a resend."""
        order = self._order(monotonic())
        for left, member in zip(range(len(order) - 1, -1, -1), order, strict=True):
            try:
                pending = member.upstream.send(method, path, headers, body, deadlines=deadlines, may_resend=may_resend)
                return await _with_breaker(member.breaker, pending)
            except GatewayError as error:
                if not left or not is_unsent(error) or not may_resend():
                    raise
        raise AssertionError("unreachable")

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
        """To the first address that can be reached: the body is a stream and cannot be sent twice."""
        order = self._order(monotonic())
        for left, member in zip(range(len(order) - 1, -1, -1), order, strict=True):
            try:
                pending = member.upstream.upload(method, path, headers, length, pieces, deadlines=deadlines)
                return await _with_breaker(member.breaker, pending)
            except GatewayError as error:
                if not left or not is_unsent(error):
                    raise
        raise AssertionError("unreachable")

    def close(self) -> None:
        for member in self._members:
            member.upstream.close()

    def _order(self, now: float) -> list[PoolMember]:
        """All members in round-robin order, those in cool-down last, by the end of their cool-down."""
        at = self._next = (self._next + 1) % len(self._members)
        turn = [*self._members[at:], *self._members[:at]]
        return sorted(turn, key=lambda each: 0.0 if each.breaker.available(now) else each.breaker.until)


async def _with_breaker(breaker: CircuitBreaker, pending: Awaitable[Response]) -> Response:
    """The response of an address, counted by its breaker."""
    breaker.begin(monotonic())
    try:
        response = await pending
    except BadUpstream:
        breaker.failed(monotonic())
        raise
    except BaseException:
        breaker.abandoned()
        raise
    if response.status >= 500:
        breaker.failed(monotonic())
    else:
        breaker.succeeded(monotonic())
    return response
