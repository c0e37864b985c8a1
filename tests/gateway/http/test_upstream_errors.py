from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from moongate.errors import (
    BadRequest,
    BadUpstream,
    GatewayError,
    Overloaded,
    TooManyRequests,
    UpstreamRefused,
    UpstreamTimeout,
)
from moongate.gateway.http.upstream_errors import (
    MAX_MESSAGE,
    clamp_retry_after,
    client_retries,
    is_failure,
    is_final,
    is_quota,
    may_be_billed,
    may_fall_back,
    may_get_better,
    may_retry,
    should_retry,
    upstream_error,
)
from moongate.payload import dumps


def refused(status: int, body: Any = b"", **headers: str) -> GatewayError:
    data = body if isinstance(body, bytes) else dumps(body)
    return upstream_error(
        status, {name.replace("_", "-").encode(): value.encode() for name, value in headers.items()}, data
    )


@pytest.mark.parametrize(
    ("body", "message", "code"),
    [
        ({"error": {"message": "no", "type": "t", "code": "c"}}, "no", "c"),
        ({"error": {"message": "no", "type": "t", "code": None}}, "no", "t"),
        ({"error": "flat"}, "flat", None),
        ({"message": "top", "code": 7}, "top", None),
        ({"detail": "fast"}, "fast", None),
        ({"error": {"msg": "short"}}, "short", None),
        ({}, "The provider answered with status 503", None),
        (b"", "The provider answered with status 503", None),
        (b"<html><head><title>x</title></head><body><h1>Bad  gateway</h1></body></html>", "Bad gateway", None),
        (b"upstream connect error\xff", "upstream connect error\ufffd", None),
        ([1], "[1]", None),
        ({"error": {"message": ["list"]}}, "The provider answered with status 503", None),
    ],
)
def test_a_providers_message_is_kept(body: Any, message: str, code: str | None) -> None:
    error = refused(503, body)
    assert (error.status, error.message, error.code) == (503, message, code)


def test_a_long_code_is_dropped_and_not_cut_within_a_secret() -> None:
    assert refused(400, {"error": {"message": "no", "code": "c" * 200}}).code == "c" * 200
    assert refused(400, {"error": {"message": "no", "code": "c" * 190 + "sk-secret-of-ours"}}).code is None


def test_messages_are_truncated() -> None:
    assert MAX_MESSAGE / 2 < len(refused(500, b"x" * 100_000).message) <= MAX_MESSAGE


@pytest.mark.parametrize(
    ("headers", "message", "seconds"),
    [
        ({"retry_after": "7"}, "", 7.0),
        ({"retry_after": "1.5"}, "", 1.5),
        ({"retry_after_ms": "250", "retry_after": "9"}, "", 0.25),
        ({"retry_after": "nonsense"}, "", None),
        ({"retry_after_ms": "9" * 400, "retry_after": "9"}, "", 9.0),
        ({"retry_after": "Wed, 21 Oct 2015 07:28:00 GMT"}, "", 0.0),
        ({"retry_after": "Wed, 21 Oct 2026 07:28:00 +99999999999999"}, "", None),
        ({}, "please try again after 3 seconds", 3.0),
        ({}, "Please try again in 20s.", 20.0),
        ({}, "try again in 250ms", 0.25),
        ({}, "wait 2 minutes", 120.0),
        ({}, "after all", None),
    ],
)
def test_retry_after(headers: dict[str, str], message: str, seconds: float | None) -> None:
    assert refused(429, {"error": {"message": message}}, **headers).retry_after == seconds


def test_retry_after_as_a_date() -> None:
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=3600), usegmt=True)
    seconds = refused(429, retry_after=then).retry_after
    assert seconds is not None
    assert 3000 < seconds <= 3600
    seconds = refused(429, retry_after=then.replace("GMT", "-0000")).retry_after
    assert seconds is not None


@pytest.mark.parametrize(("given", "clamped"), [(0, 1), (0.2, 1), (7.4, 7), (60, 60), (86_400, 60)])
def test_retry_after_is_clamped(given: float, clamped: int) -> None:
    assert clamp_retry_after(given) == clamped


QUOTA = refused(429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}})
CASES: list[tuple[GatewayError, bool, bool, bool, bool]] = [
    # error, may_retry, may_fall_back, is_failure, may_get_better
    (refused(408), True, True, True, True),
    (refused(409), True, True, False, True),
    (refused(429), True, True, True, True),
    (refused(500), True, True, True, True),
    (refused(529), True, True, True, True),
    (refused(400), False, False, False, False),
    (refused(422), False, False, False, False),
    (refused(401), False, True, False, False),
    (refused(404), False, True, False, False),
    (refused(402), False, True, False, False),
    (QUOTA, False, True, True, False),
    (refused(503, x_should_retry="false"), False, True, True, False),
    (BadUpstream("x", code="connect"), True, True, True, True),
    (BadUpstream("x", code="cut"), True, True, True, True),
    (BadUpstream("not JSON"), False, True, True, True),
    (BadUpstream("x", code="no_tls"), False, True, True, False),
    (BadUpstream("x", code="status"), False, True, True, False),
    (BadUpstream("x", code="web_page"), False, True, True, False),
    (UpstreamTimeout("x", code="connect_timeout"), True, True, True, True),
    (UpstreamTimeout("x", code="head_timeout"), False, True, True, True),
    (TooManyRequests("x", code="keys_busy"), True, True, False, True),
    (Overloaded("x", code="pool_full"), True, True, False, True),
    (BadRequest("x"), False, False, False, False),
    (GatewayError("ours"), False, False, False, False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{type(case[0]).__name__}-{case[0].status}-{case[0].code}")
def test_retry_and_fallback_decisions(case: tuple[GatewayError, bool, bool, bool, bool]) -> None:
    error, *expected = case
    assert [may_retry(error), may_fall_back(error), is_failure(error), may_get_better(error)] == expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (BadUpstream("x", code="connect"), [False, True, True]),
        (UpstreamTimeout("x", code="connect_timeout"), [False, True, True]),
        (BadUpstream("x", code="closed"), [False, False, False]),
        (BadUpstream("x", code="unknown_host"), [True, True, True]),
        (UpstreamRefused("x", status=500, code="connect"), [False, False, False]),
        (refused(503), [False, False, False]),
        (refused(401), [True, True, True]),
    ],
)
def test_what_an_agent_need_not_send_again(error: GatewayError, expected: list[bool]) -> None:
    assert [is_final(error, attempts) for attempts in (1, 2, 3)] == expected


@pytest.mark.parametrize(
    ("error", "first", "billed"),
    [
        (refused(503), True, False),
        (refused(429), True, False),
        (refused(500), True, False),
        (refused(400), False, False),
        (refused(504), False, True),
        (refused(408), False, True),
        (BadUpstream("x", code="connect"), True, False),
        (BadUpstream("x", code="unknown_host"), False, False),
        (UpstreamTimeout("x", code="connect_timeout"), True, False),
        (UpstreamTimeout("x", code="head_timeout"), False, True),
        (BadUpstream("x", code="closed"), False, True),
        (BadUpstream("x", code="cut"), False, True),
        (BadUpstream("not JSON"), False, True),
        (Overloaded("x", code="pool_full"), True, False),
        (TooManyRequests("x", code="keys_busy"), True, False),
    ],
)
def test_an_sdk_may_retry_what_was_sent_once_and_not_billed(error: GatewayError, first: bool, billed: bool) -> None:
    assert may_be_billed(error) is billed
    assert [should_retry(error, attempts) for attempts in (0, 1, 2, 3)] == [first, first, False, False]


@pytest.mark.parametrize(
    ("header", "count"), [(b"0", 0), (b"2", 2), (b"-1", 0), (b"1e3", 0), (b"9" * 5000, 0), (b"\xb2", 0), (b"", 0)]
)
def test_the_retries_of_an_sdk(header: bytes, count: int) -> None:
    assert client_retries({b"x-stainless-retry-count": header}) == count
    assert client_retries({}) == 0


@pytest.mark.parametrize(
    "message", ["Insufficient balance", "exceeded_current_quota_error", "Your account is suspended, please recharge"]
)
def test_quota_errors_are_recognised_by_their_message(message: str) -> None:
    assert is_quota(refused(403, {"error": {"message": message}}))
    assert not is_quota(refused(500, {"error": {"message": message}}))


@pytest.mark.parametrize("before", range(1960, 2001, 4))
@pytest.mark.parametrize("blank", [b" ", b":"])
def test_a_long_message_is_not_cut_within_a_word(before: int, blank: bytes) -> None:
    message = refused(401, b"x" * before + blank + b"sk-canary-0123456789 is revoked" + b" y" * 50).message
    assert message.endswith("…")
    assert "sk-canary-0123456789" in message or "sk" not in message
