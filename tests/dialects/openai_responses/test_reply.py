from __future__ import annotations

from typing import Any

import pytest

from moongate.dialects.chat_answer import AnswerHead, Finish
from moongate.dialects.openai_responses.reply import echo, ending, failure_body, is_cut, map_error, state, usage_body
from moongate.errors import (
    BadRequest,
    BadUpstream,
    GatewayError,
    Overloaded,
    RequestTimeout,
    TooManyRequests,
    UpstreamRefused,
)

HEAD = AnswerHead("chatcmpl-1.2", "kimi", 5)


def test_the_state_of_a_response() -> None:
    nothing = {"error": None, "incomplete_details": None, "usage": None}
    assert state("in_progress") == {"status": "in_progress", **nothing}
    assert state("failed", error={"code": "x"}) == {"status": "failed", **nothing, "error": {"code": "x"}}
    assert state("incomplete", details={"reason": "x"}, usage={}) == {
        "status": "incomplete",
        "error": None,
        "incomplete_details": {"reason": "x"},
        "usage": {},
    }


def test_the_echo_of_a_bare_request() -> None:
    assert echo(HEAD, {}) == {
        "id": "resp_1_2",
        "object": "response",
        "created_at": 5,
        "background": False,
        "instructions": None,
        "max_output_tokens": None,
        "metadata": {},
        "model": "kimi",
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "prompt_cache_key": None,
        "reasoning": {"effort": None, "summary": None},
        "store": False,
        "temperature": None,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "truncation": "disabled",
    }


def test_the_echo_of_a_full_request() -> None:
    request: dict[str, Any] = {
        "model": "gpt-x",
        "instructions": "be brief",
        "parallel_tool_calls": False,
        "reasoning": {"effort": "low", "summary": "auto"},
        "tools": [{"type": "web_search"}],
        "tool_choice": "required",
        "text": {"format": {"type": "json_object"}},
        "metadata": {"a": "b"},
        "max_output_tokens": 9,
    }
    found = echo(HEAD, request)
    assert {name: found[name] for name in request} == request


@pytest.mark.parametrize(
    ("reason", "status", "details"),
    [
        ("stop", "completed", None),
        ("tool_calls", "completed", None),
        ("unexpected_state", "completed", None),
        ("length", "incomplete", {"reason": "max_output_tokens"}),
        ("content_filter", "incomplete", {"reason": "content_filter"}),
    ],
)
def test_endings(reason: str, status: str, details: Any) -> None:
    assert ending(Finish(reason, None, None)) == (status, details)
    assert is_cut(reason) is (status == "incomplete")


def test_usage() -> None:
    usage = {
        "prompt_tokens": 20,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    assert usage_body(usage) == {
        "input_tokens": 20,
        "input_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 4},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 27,
    }
    assert usage_body(None) is None


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UpstreamRefused("the context window is exceeded", status=422), "context_length_exceeded"),
        (UpstreamRefused("no money", status=429, code="insufficient_quota"), "insufficient_quota"),
        (TooManyRequests("slow down"), "rate_limit_exceeded"),
        (BadRequest("no"), "invalid_prompt"),
        (UpstreamRefused("no", status=422, code="strange"), "invalid_prompt"),
        (RequestTimeout("late"), "server_error"),
        (BadUpstream("cut"), "server_error"),
        (Overloaded("full"), "server_error"),
        (GatewayError("oops"), "server_error"),
    ],
)
def test_the_code_of_a_failure(error: GatewayError, code: str) -> None:
    assert failure_body(error) == {"code": code, "message": str(error)}


def test_a_prompt_that_is_too_long_is_a_bad_request() -> None:
    assert map_error(UpstreamRefused("prompt is too long", status=500)).status == 400
    error = BadUpstream("cut")
    assert map_error(error) is error
