"""Further tries: an answer that the guard refuses is asked for again, within the limits of its request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from time import monotonic
from typing import Final

from moongate.chat.contracts import Exchange
from moongate.errors import GatewayError
from moongate.gateway.http.offload import OFFLOAD_ANSWER
from moongate.gateway.http.target_request import TargetRequest
from moongate.gateway.http.upstream_errors import may_be_billed
from moongate.gateway.inspect.capture import Capture
from moongate.gateway.instrumented_upstream import instrumented_upstream
from moongate.gateway.limits.limiter import Admission
from moongate.gateway.routing.attempt import Attempt
from moongate.gateway.state import GatewayState
from moongate.gateway.target import Target
from moongate.gateway.trace.request_trace import RequestTrace
from moongate.net.contract import Response
from moongate.payload import JsonObject, dumps
from moongate.prices.tokens import answer_limit, estimated_prompt

LEAST_SECONDS: Final = 0.05  # that must be left of the deadline


class FurtherTries:
    """Those of one request. `end` it when the answer is over; a client that leaves cancels what runs."""

    __slots__ = (
        *("_admission", "_attempt", "_capture", "_has_place", "_request", "_state", "_target"),
        *("_trace", "billable", "count"),
    )

    def __init__(
        self,
        state: GatewayState,
        target: Target,
        attempt: Attempt,
        request: TargetRequest,
        admission: Admission,
        capture: Capture | None = None,
        trace: RequestTrace | None = None,
    ) -> None:
        self._state = state
        self._target = target
        self._attempt = attempt
        self._request = request
        self._admission = admission
        self._capture, self._trace = capture, trace  # if the request is captured, or traced
        self._has_place = False
        self.count = 0
        self.billable = 0  # tries that the provider may have billed

    @property
    def is_long(self) -> bool:
        """Whether the request is: it is made and written in a thread."""
        return self._request.is_long

    def send_next(self, exchange: Exchange, size: int = 0) -> Awaitable[Response | None] | None:
        """To be awaited: the answer to the try that the exchange wants, None if it may not be made. None at once: the
        exchange wants none. `size` is that of the answer, whose calls the try may repeat."""
        if self.is_long or size > OFFLOAD_ANSWER:
            return self._send_long(exchange)
        request = exchange.next_request()
        return None if request is None else self._send(request, dumps(request))

    async def _send_long(self, exchange: Exchange) -> Response | None:
        wanted = await asyncio.to_thread(_wanted, exchange)
        return None if wanted is None else await self._send(*wanted)

    async def _send(self, request: JsonObject, body: bytes) -> Response | None:
        """The answer to a further try, whose status is 200; None if it may not be made, or fails before its answer."""
        hindrance = self._hindrance(request, len(body))
        if hindrance:
            self._count(hindrance)
            return None
        self.count += 1
        self.billable += 1
        deadlines = replace(self._attempt.deadlines, total=self._attempt.due - monotonic())
        target = self._target
        forwarded = self._request.forwarded(target, further=True)
        headers = (*target.headers[self._attempt.key.header], *forwarded)
        upstream = instrumented_upstream(target, self._capture, self._trace, further=True)
        try:
            response = await upstream.send(
                "POST", target.path, headers, body, deadlines=deadlines, may_resend=self._attempt.may_resend
            )
        except GatewayError as error:
            self.billable -= not may_be_billed(error)
            self._count("failed")
            return None
        if response.status == 200:
            self._count("sent")
            return response
        response.close()
        self.billable -= 1
        self._count("failed")
        return None

    def end(self) -> None:
        if self._has_place:
            self._has_place = False
            self._state.guard_budget.give_back()

    def _hindrance(self, request: JsonObject, size: int) -> str:
        """Why no further try may be made; "" if it may."""
        if self._attempt.due - monotonic() < LEAST_SECONDS:
            return "deadline"
        if not self._has_place:
            self._has_place = self._state.guard_budget.take()
            if not self._has_place:
                return "budget"
        prompt, answer, prices = estimated_prompt(size), answer_limit(request), self._target.prices
        cost = None if prices is None else prices.upper_bound(prompt, answer)
        return "" if self._admission.reserve_more(prompt + answer, prompt, cost) else "limit"

    def _count(self, result: str) -> None:
        labels = {"provider": self._target.provider, "model": self._target.model}
        self._state.metrics.count("moongate_guard_tries_total", **labels, result=result)


def _wanted(exchange: Exchange) -> tuple[JsonObject, bytes] | None:
    """The request of the try that the exchange wants, and its body."""
    request = exchange.next_request()
    return None if request is None else (request, dumps(request))
