"""The responses front as the gateway uses it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.dialects.chat_answers import chunk, completion, encoded, events, text_delta

from moongate.dialects.openai_responses import RESPONSES
from moongate.dialects.openai_responses.stream import MAX_ANSWER
from moongate.errors import BadRequest, BadUpstream, GatewayError, Overloaded, UpstreamRefused

REQUEST: dict[str, Any] = {"model": "gpt-x", "input": "hi"}
OVERFLOW = UpstreamRefused("This model's maximum context length is 1000 tokens", status=400)


def test_errors() -> None:
    error = BadRequest("not stored", path="previous_response_id")
    assert RESPONSES.map_error(error) is error
    assert RESPONSES.error(error)["error"]["param"] == "previous_response_id"
    assert RESPONSES.error(OVERFLOW)["error"]["code"] == "context_length_exceeded"
    (event,) = events(RESPONSES.error_event(BadUpstream("cut")))
    assert event["type"] == "response.failed"
    assert event["response"]["error"] == {"code": "server_error", "message": "cut"}


def test_a_prompt_that_is_too_long_is_a_failed_stream() -> None:
    data = RESPONSES.failed_stream(OVERFLOW, {**REQUEST, "stream": True})
    assert data is not None
    found = events(data)
    assert [event["type"] for event in found] == ["response.created", "response.in_progress", "response.failed"]
    assert found[-1]["response"]["error"]["code"] == "context_length_exceeded"
    assert RESPONSES.failed_stream(OVERFLOW, REQUEST) is None
    assert RESPONSES.failed_stream(BadUpstream("cut"), {"stream": True}) is None


@pytest.mark.parametrize(
    ("error", "final", "code"),
    [
        (UpstreamRefused("who", status=401), True, "invalid_prompt"),
        (UpstreamRefused("who", status=429), True, "invalid_prompt"),
        (UpstreamRefused("who", status=429), False, "rate_limit_exceeded"),
        (BadUpstream("who"), True, "invalid_prompt"),
        (BadUpstream("who"), False, "server_error"),
        (UpstreamRefused("who", status=500), False, "server_error"),
    ],
)
def test_codex_gets_in_a_stream_what_it_misreads_as_a_status(error: GatewayError, final: bool, code: str) -> None:
    data = RESPONSES.failed_stream(error, {"stream": True}, accepts_events=True, final=final)
    assert data is not None
    assert events(data)[-1]["response"]["error"] == {"code": code, "message": "who"}
    assert RESPONSES.failed_stream(error, {"stream": True}, final=final) is None
    assert RESPONSES.failed_stream(error, {}, accepts_events=True, final=final) is None


def test_an_overloaded_gateway_keeps_its_status_for_the_proxy_in_front_of_it() -> None:
    assert RESPONSES.failed_stream(Overloaded("full"), {"stream": True}, accepts_events=True) is None


def test_a_completion_that_is_too_long_is_an_error() -> None:
    with pytest.raises(BadUpstream):
        RESPONSES.encode(completion({"content": "x" * (MAX_ANSWER + 1)}), REQUEST)


def test_requests_and_streams() -> None:
    assert RESPONSES.decode(REQUEST) == {"model": "gpt-x", "messages": [{"role": "user", "content": "hi"}]}
    assert RESPONSES.left_out(REQUEST) == []
    found = events(encoded(RESPONSES.encoder(REQUEST), [text_delta("a"), chunk(finish="stop")]))
    assert found[-1]["type"] == "response.completed"
    assert RESPONSES.keep_alive() == b": keep-alive\n\n"
