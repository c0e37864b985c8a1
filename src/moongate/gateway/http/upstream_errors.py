"""What a provider's error means: its message, whether a retry makes sense, and when."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from moongate.dialects.fronts import FRONTS
from moongate.errors import (
    BadRequest,
    BadUpstream,
    GatewayError,
    MethodNotAllowed,
    NeedsStore,
    Overloaded,
    UpstreamRefused,
)
from moongate.gateway.http.error_page import page_text
from moongate.payload import object_of

MAX_MESSAGE: Final = 2000
MAX_WORD: Final = 512
MAX_CODE: Final = 200
MAX_BODY: Final = 256 * 1024  # bytes of an error's body
_NO_WORDS: Final = "The provider answered with status {}"
MIN_RETRY_AFTER: Final = 1.0  # seconds, as passed on to the client
MAX_RETRY_AFTER: Final = 60.0

_AFTER: Final = re.compile(
    r"(?:after|again in|retry in|wait)\s+(\d+(?:\.\d+)?)\s*(ms|s\b|sec|second|m\b|min|minute)", re.I
)
_QUOTA: Final = re.compile(
    r"insufficient[_ ]?(?:quota|balance|credit|fund)|exceeded[_ ](?:your )?current[_ ]quota|quota[_ ]exhausted|"
    r"out of credits|billing|account .{0,40}suspended|recharge|not enough (?:balance|credit)",
    re.I,
)
_UNREACHABLE: Final = frozenset({"address_refused", "certificate", "no_tls", "unknown_host"})
_MISCONFIGURED: Final = _UNREACHABLE | {"status", "web_page"}  # only the operator can change it
_NOT_SENT: Final = _UNREACHABLE | {"connect", "connect_timeout", "proxy"}
_LATE_STATUSES: Final = frozenset({408, 504, 524})  # a proxy gave up, but the model may have answered
_CONNECTION: Final = frozenset({"connect", "connect_timeout", "closed", "cut", "proxy", "bad_http"})


class FinalRefusal(UpstreamRefused):
    """The provider says itself (`x-should-retry: false`) that a retry is useless."""


class WrongFront(BadRequest):
    """The provider speaks another dialect than the client, which is not translated."""

    def __init__(self, target: str, dialect: str) -> None:
        path = next(front.path for front in FRONTS if front.dialect.name == dialect)
        super().__init__(f"{target} is served at {path} only: its provider speaks that dialect", code="wrong_front")


class AnswerableRefusal(UpstreamRefused):
    """The provider may accept the request with a rule that its refusal taught: it is worth sending again at once."""

    @classmethod
    def of(cls, error: GatewayError) -> AnswerableRefusal:
        return cls(error.message, status=error.status, code=error.code, retry_after=error.retry_after)


def upstream_error(
    status: int, headers: Mapping[bytes, bytes], body: bytes, redact: Callable[[str], str] = str
) -> UpstreamRefused:
    """The error for a provider's error answer: its status, message, code and Retry-After.

    `redact` masks secrets; it is called before anything is cut, because half of a secret is not recognised.
    """
    message, code = _message_and_code(body)
    message, code = _truncated(redact(message)), redact(code) if code else None
    message = message or _NO_WORDS.format(status)
    kind = FinalRefusal if headers.get(b"x-should-retry") == b"false" else UpstreamRefused
    return kind(message, status=status, code=code, retry_after=_retry_after(headers, message))


def words_of(error: UpstreamRefused) -> str:
    """What the provider said about it; "" if it sent nothing but the status."""
    return "" if error.message == _NO_WORDS.format(error.status) else error.message


def is_quota(error: GatewayError) -> bool:
    """No balance or no quota left: no retry helps."""
    if error.status == 402:
        return True
    return error.status in (400, 403, 429) and bool(_QUOTA.search(f"{error.code or ''} {error.message}"))


def may_retry(error: GatewayError) -> bool:
    """Could the same request succeed if it is sent again? (408, 409, 429, 5xx, lost connections.)"""
    if isinstance(error, UpstreamRefused):
        if isinstance(error, FinalRefusal) or is_quota(error):
            return False
        return error.status in (408, 409, 429) or error.status >= 500
    if isinstance(error, BadUpstream):
        return error.code in _CONNECTION
    return error.code == "keys_busy" or isinstance(error, Overloaded)


def may_fall_back(error: GatewayError) -> bool:
    """Could the request succeed at another target? (Not if the request itself is wrong.)"""
    if isinstance(error, UpstreamRefused):
        return error.status in (401, 402, 403, 404, 408, 409, 429) or error.status >= 500 or is_quota(error)
    return isinstance(error, BadUpstream | NeedsStore | WrongFront) or may_retry(error)


def is_failure(error: GatewayError) -> bool:
    """Does it count as a failure of the target? (A request that was rightly refused does not.)"""
    if isinstance(error, UpstreamRefused):
        return error.status in (408, 429) or error.status >= 500
    return isinstance(error, BadUpstream)


def may_get_better(error: GatewayError) -> bool:
    """Could the same request succeed later?"""
    if isinstance(error, UpstreamRefused):
        return may_retry(error)
    if isinstance(error, BadUpstream):
        return error.code not in _MISCONFIGURED
    return error.status in (408, 429, 503) and error.code != "insufficient_quota"


def may_be_billed(error: GatewayError) -> bool:
    """Has the provider had the request, so that it may have answered it, to a connection that was lost or too late?"""
    if isinstance(error, UpstreamRefused):
        return error.status in _LATE_STATUSES
    return isinstance(error, BadUpstream) and error.code not in _NOT_SENT


def is_unsent(error: GatewayError) -> bool:
    """Whether the request certainly reached no server, so that another address may be tried at once."""
    return error.code in _NOT_SENT or error.code == "pool_full"


def should_retry(error: GatewayError, attempts: int) -> bool:
    """The value of `x-should-retry`, after this number of upstream requests.

    SDKs ask twice more by default. After retries of ours that would multiply the requests, and what was billed once
    should not be billed again.
    """
    return attempts < 2 and not may_be_billed(error) and may_get_better(error)


def is_final(error: GatewayError, attempts: int) -> bool:
    """Is it useless to send the request again, for an agent that tries for most of a minute before it says why?

    So it is if nobody can be reached at the provider's address, though it was tried several times.
    """
    unreached = isinstance(error, BadUpstream) and not isinstance(error, UpstreamRefused) and error.code in _NOT_SENT
    return (unreached and attempts >= 2) or not may_get_better(error)


def client_retries(headers: Mapping[bytes, bytes]) -> int:
    """How often an SDK has sent this request before."""
    given = headers.get(b"x-stainless-retry-count")
    return int(given) if given is not None and len(given) <= 3 and given.isdigit() else 0


def clamp_retry_after(seconds: float) -> int:
    """Whole seconds within the limits above."""
    return round(min(max(seconds, MIN_RETRY_AFTER), MAX_RETRY_AFTER))


def error_headers(error: GatewayError, method: str, attempts: int = 0) -> list[tuple[bytes, bytes]]:
    """The headers that say whether and when to retry, or which method this path takes."""
    headers = [(b"x-should-retry", b"true" if should_retry(error, attempts) else b"false")]
    if error.retry_after is not None:
        headers.append((b"retry-after", b"%d" % clamp_retry_after(error.retry_after)))
    if isinstance(error, MethodNotAllowed):
        headers.append((b"allow", b"GET, HEAD" if method == "POST" else b"POST"))
    return headers


def _message_and_code(body: bytes) -> tuple[str, str | None]:
    """Message and code, from any of the shapes that providers use."""
    found = object_of(body)
    if found is None:
        return page_text(body[:MAX_BODY].decode("utf-8", "replace")), None
    inner = found.get("error")
    container = inner if isinstance(inner, dict) else found
    message = next(
        (container[key] for key in ("message", "msg", "detail", "error_msg") if isinstance(container.get(key), str)), ""
    )
    if not message and isinstance(inner, str):
        message = inner
    code = _code(container.get("code")) or _code(container.get("type"))
    return message, code


def _code(value: Any) -> str | None:
    # A longer text is no code.
    return value if isinstance(value, str) and 0 < len(value) <= MAX_CODE else None


def _truncated(text: str) -> str:
    if len(text) <= MAX_MESSAGE:
        return text
    return text[: max(text.rfind(" ", 0, MAX_MESSAGE), MAX_MESSAGE - MAX_WORD)] + "…"


def _retry_after(headers: Mapping[bytes, bytes], message: str) -> float | None:
    """Seconds; from `retry-after-ms`, `Retry-After` (seconds or a date), or the message's "after N seconds"."""
    given = headers.get(b"retry-after-ms", b"").decode("latin-1")
    if re.fullmatch(r"[0-9]{1,12}", given):
        return int(given) / 1000
    given = headers.get(b"retry-after", b"").decode("latin-1").strip()
    if re.fullmatch(r"\d{1,9}(\.\d+)?", given):
        return float(given)
    if given:
        return _seconds_until(given)
    match = _AFTER.search(message)
    if match is None:
        return None
    unit = match[2].lower()
    return float(match[1]) * (0.001 if unit == "ms" else 60 if unit.startswith("m") else 1)


def _seconds_until(date: str) -> float | None:
    from email.utils import parsedate_to_datetime  # rarely needed, and slow to import

    try:
        then = parsedate_to_datetime(date)
    except (TypeError, ValueError, OverflowError):
        return None
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    return max(0.0, (then - datetime.now(UTC)).total_seconds())
