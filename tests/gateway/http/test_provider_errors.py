"""Errors of providers name the provider, its address and what to do."""

from __future__ import annotations

import pytest

from moongate.errors import BadRequest, BadUpstream, GatewayError, UpstreamRefused, UpstreamTimeout
from moongate.gateway.http.provider_errors import address_of, name_provider
from moongate.gateway.http.upstream_errors import upstream_error
from moongate.net.dial import Origin

MOONSHOT = Origin("api.moonshot.ai", 443, tls=True)


def named(error: GatewayError) -> str:
    name_provider(error, "moonshot", [MOONSHOT], "kimi-k9")
    assert str(error) == error.message
    return error.message


@pytest.mark.parametrize(
    ("status", "message", "beginning"),
    [
        (401, "Invalid Authentication", "provider 'moonshot' refused its API key; your moongate key is fine"),
        (403, "no", "provider 'moonshot' (https://api.moonshot.ai) refused access with its API key; your moongate key"),
        (402, "no", "provider 'moonshot' (https://api.moonshot.ai) says that the quota or balance of its API key"),
        (429, "exceeded your current quota", "provider 'moonshot' (https://api.moonshot.ai) says that the quota"),
        (400, "Insufficient balance", "provider 'moonshot' (https://api.moonshot.ai) says that the quota"),
        (404, "no", "provider 'moonshot' (https://api.moonshot.ai) does not know the model 'kimi-k9', or its api_base"),
        (500, "oops", "provider 'moonshot' (https://api.moonshot.ai) answered with status 500: oops"),
    ],
)
def test_a_refusal_says_who_refused_and_keeps_the_words(status: int, message: str, beginning: str) -> None:
    text = named(UpstreamRefused(message, status=status))
    assert text.startswith(beginning)
    assert text.endswith(message)


@pytest.mark.parametrize(
    ("status", "ending"), [(404, "correct the configuration"), (503, "status 503"), (403, "may use")]
)
def test_a_provider_that_says_nothing_is_not_quoted(status: int, ending: str) -> None:
    assert named(upstream_error(status, {}, b"")).endswith(ending)


def test_a_rate_limit_says_when_in_words_that_codex_reads() -> None:
    assert "try again later. It said: slow" in named(UpstreamRefused("slow", status=429))
    assert "try again in 3s. It said: slow" in named(UpstreamRefused("slow", status=429, retry_after=3))


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            BadUpstream("no connection: refused", code="connect"),
            "no connection: refused; is it running, and is its api",
        ),
        (UpstreamTimeout("too long", code="head_timeout"), "too long; try again, or raise timeouts.head"),
        (UpstreamTimeout("too long"), "too long; try again"),
        (BadUpstream("cut", code="cut"), "cut"),
    ],
)
def test_a_failure_names_the_address_and_what_to_do(error: GatewayError, text: str) -> None:
    assert named(error).startswith(f"provider 'moonshot' (https://api.moonshot.ai): {text}")


@pytest.mark.parametrize(
    "error",
    [
        BadRequest("is missing", path="model"),
        UpstreamRefused("invalid temperature", status=400),
        UpstreamRefused("prompt is too long: 900 tokens > 800", status=500),
    ],
)
def test_other_errors_keep_their_words(error: GatewayError) -> None:
    before = str(error)
    name_provider(error, "moonshot", [MOONSHOT], "kimi-k9")
    assert str(error) == before


def test_the_path_stays_in_front() -> None:
    error = BadUpstream("cut", path="stream")
    name_provider(error, "p", [MOONSHOT], "m")
    assert str(error) == "stream: provider 'p' (https://api.moonshot.ai): cut"


def test_addresses() -> None:
    assert address_of(Origin("h", 80, tls=False)) == "http://h"
    assert address_of(Origin("::1", 8000, tls=False)) == "http://[::1]:8000"
    assert address_of(Origin("h", 443, tls=False)) == "http://h:443"
