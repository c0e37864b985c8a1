from __future__ import annotations

import pytest

from moongate.dialects.anthropic_messages.errors import error_body, error_event, map_error
from moongate.errors import (
    BadRequest,
    BadUpstream,
    Forbidden,
    GatewayError,
    NotFound,
    Overloaded,
    TooLarge,
    TooManyRequests,
    Unauthorized,
    UpstreamRefused,
    UpstreamTimeout,
)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (BadRequest("x"), "invalid_request_error"),
        (Unauthorized("x"), "authentication_error"),
        (UpstreamRefused("x", status=402), "billing_error"),
        (Forbidden("x"), "permission_error"),
        (NotFound("x"), "not_found_error"),
        (TooLarge("x"), "request_too_large"),
        (TooManyRequests("x"), "rate_limit_error"),
        (UpstreamRefused("x", status=422), "invalid_request_error"),
        (GatewayError("x"), "api_error"),
        (BadUpstream("x"), "api_error"),
        (Overloaded("x"), "overloaded_error"),
        (UpstreamTimeout("x"), "timeout_error"),
        (UpstreamRefused("x", status=529), "overloaded_error"),
    ],
)
def test_the_type_follows_the_status(error: GatewayError, kind: str) -> None:
    assert error_body(error) == {"type": "error", "error": {"type": kind, "message": "x"}}
    assert map_error(error) is error


def test_claude_code_shows_what_a_provider_says_of_a_model() -> None:
    error = UpstreamRefused("provider 'p' does not know the model 'm'", status=404, path="x")
    mapped = map_error(error)
    assert (mapped.status, str(mapped)) == (400, str(error))
    assert error_body(error)["error"] == {"type": "invalid_request_error", "message": str(error)}


def test_the_message_names_the_field() -> None:
    assert error_body(BadRequest("must be a list", path="tools"))["error"]["message"] == "tools: must be a list"


def test_the_message_says_that_a_quota_is_used_up() -> None:
    used_up = TooManyRequests("the budget is used up", code="insufficient_quota")
    assert error_body(used_up)["error"]["message"] == "the budget is used up (insufficient_quota)"
    named = TooManyRequests("insufficient_quota: pay", code="insufficient_quota")
    assert error_body(named)["error"]["message"] == "insufficient_quota: pay"


def test_in_the_middle_of_a_stream() -> None:
    assert error_event(BadUpstream("cut")) == (
        b'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"cut"}}\n\n'
    )


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens",
            "prompt is too long: 140000 tokens > 131072 maximum",
        ),
        (
            "Your request exceeded model token limit: 262144",
            "prompt is too long: Your request exceeded model token limit: 262144",
        ),
        ("Prompt is too long", "Prompt is too long"),
    ],
)
def test_a_prompt_that_is_too_long_gets_the_message_that_makes_agents_compact(message: str, expected: str) -> None:
    error = UpstreamRefused(message, status=413)
    assert map_error(error).status == 400
    assert error_body(error) == {"type": "error", "error": {"type": "invalid_request_error", "message": expected}}
