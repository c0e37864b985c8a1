"""Faults of streams in the formats of Anthropic and of the Responses API."""

from __future__ import annotations

from tests.support.faulty_upstream.payloads import error
from tests.support.faulty_upstream.response import FaultResponse, fault
from tests.support.faulty_upstream.sane import anthropic, responses


@fault("anthropic_error_mid", "Anthropic dialect: error event after four events")
async def anthropic_error_mid(p: FaultResponse) -> None:
    failed = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    await anthropic(p, 4, (failed,))


@fault("anthropic_cut", "Anthropic dialect: clean end without message_delta and message_stop")
async def anthropic_cut(p: FaultResponse) -> None:
    await anthropic(p, 5)


@fault("responses_failed_mid", "Responses dialect: response.failed after five events")
async def responses_failed_mid(p: FaultResponse) -> None:
    boom = {"code": "server_error", "message": "boom"}
    failed = {"status": "failed", "error": boom}
    await responses(p, 5, (lambda base: {"type": "response.failed", "response": base | failed},))


@fault("responses_error_mid", "Responses dialect: an 'error' event after five events")
async def responses_error_mid(p: FaultResponse) -> None:
    body = error("overloaded", code="server_is_overloaded")["error"]
    await responses(p, 5, (lambda _: {**body, "type": "error"},))


@fault("responses_cut", "Responses dialect: clean end without a terminal event")
async def responses_cut(p: FaultResponse) -> None:
    await responses(p, 6)
