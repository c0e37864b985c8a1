from __future__ import annotations

import pytest

from moongate.dialects.overflow import Overflow, as_bad_request, overflow_of
from moongate.errors import BadRequest, BadUpstream, GatewayError, TooLarge, UpstreamRefused

OVERFLOWS = [
    # OpenAI, OpenRouter, vLLM
    (
        "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens (136000 in the "
        "messages, 4000 in the completion). Please reduce the length of the messages or completion.",
        140000,
        131072,
    ),
    (
        "This endpoint's maximum context length is 262144 tokens. However, you requested about 300123 tokens",
        300123,
        262144,
    ),
    (
        "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 131072 "
        "tokens and your request has 120000 input tokens",
        None,
        131072,
    ),
    ("The decoder prompt (length 9000) is longer than the maximum model length of 8192.", 9000, 8192),
    ("The prompt exceeds the context length (.32768).", None, 32768),  # the only number is the limit, behind a dot
    # SGLang
    ("The input (40000 tokens) is longer than the model's context length (32768 tokens).", 40000, 32768),
    (
        "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested 40000",
        40000,
        32768,
    ),
    # Moonshot
    ("Invalid request: Your request exceeded model token limit: 262144", None, 262144),
    # Fireworks, Together, Anthropic's own words
    ("The prompt is too long: 300000, model maximum context length: 262143", 300000, 262143),
    ("`inputs` tokens + `max_new_tokens` must be <= 131073. Given: 140000 `inputs` tokens", 140000, 131073),
    ("prompt is too long: 210,000 tokens > 200,000 maximum", 210000, 200000),
    ("Input length 5000 exceeds maximum input length 5000", None, 5000),
    ("too many tokens", None, None),
    (f"context length {'9' * 5000} exceeded", None, 999_999_999_999_999),
]


@pytest.mark.parametrize(("message", "asked", "limit"), OVERFLOWS)
def test_overflow_messages_of_providers(message: str, asked: int | None, limit: int | None) -> None:
    assert overflow_of(UpstreamRefused(message, status=400)) == Overflow(message, asked, limit)


def test_the_code_alone_is_enough() -> None:
    assert overflow_of(UpstreamRefused("no", status=400, code="context_length_exceeded")) == Overflow("no")


def test_in_the_middle_of_a_stream_too() -> None:
    assert overflow_of(BadUpstream("the context window is exceeded")) is not None


@pytest.mark.parametrize(
    "error",
    [
        UpstreamRefused("rate limit: too many tokens per minute", status=429),
        UpstreamRefused("invalid temperature: only 1 is allowed for this model", status=400),
        UpstreamRefused("max_tokens must be at most 8192", status=400),
        UpstreamRefused("model not found: kimi-context-length", status=404),
        BadRequest("context_length is no parameter"),
        TooLarge("the request is longer than the maximum allowed length"),
    ],
)
def test_other_limits_are_no_overflow(error: GatewayError) -> None:
    assert overflow_of(error) is None


def test_an_overflow_becomes_a_bad_request() -> None:
    mapped = as_bad_request(UpstreamRefused("x", status=422, retry_after=3), "too long")
    assert (mapped.status, mapped.code) == (400, "context_length_exceeded")
    assert (mapped.message, mapped.retry_after) == ("too long", 3)
