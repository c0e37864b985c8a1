"""What a provider's error means: its words, whether another try makes sense, and when."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from moongate.errors import BadUpstream, GatewayError, MethodNotAllowed, Overloaded, UpstreamRefused, UpstreamTimeout
from moongate.payload import object_of

MAX_MESSAGE: Final = 2000
LONGEST_WORD: Final = 512
MAX_BODY: Final = 256 * 1024  # of an error; more is not an explanation
SHORTEST: Final = 1.0  # seconds of Retry-After that are passed on
LONGEST: Final = 60.0

_AFTER: Final = re.compile(
    r"(?:after|again in|retry in|wait)\s+(\d+(?:\.\d+)?)\s*(ms|s\b|sec|second|m\b|min|minute)", re.I
)
_QUOTA: Final = re.compile(
    r"insufficient[_ ]?(?:quota|balance|credit|fund)|exceeded[_ ](?:your )?current[_ ]quota|quota[_ ]exhausted|"
    r"out of credits|billing|account .{0,40}suspended|recharge|not enough (?:balance|credit)",
    re.I,
)
_TAG: Final = re.compile(r"<(script|style|head)\b.*?</\1>|<[^>]*>", re.S | re.I)
_CONNECTION: Final = frozenset({"connect", "connect_timeout", "closed", "cut", "proxy", "bad_http"})


class FinalRefusal(UpstreamRefused):
    """The provider says itself that asking again is of no use."""


def refusal(status: int, headers: Mapping[bytes, bytes], body: bytes) -> UpstreamRefused:
    """A provider's error answer as an error of ours: its status, its words, its Retry-After."""
    message, code = _words(body)
    message = message or f"The provider answered with status {status}"
    kind = FinalRefusal if headers.get(b"x-should-retry") == b"false" else UpstreamRefused
    return kind(message, status=status, code=code, retry_after=_retry_after(headers, message))


def is_quota(error: GatewayError) -> bool:
    """No money or no quota left: no retry helps."""
    if error.status == 402:
        return True
    return error.status in (400, 403, 429) and bool(_QUOTA.search(f"{error.code or ''} {error.message}"))


def may_retry(error: GatewayError) -> bool:
    """Could the same request, sent again, fare better? (408, 409, 429, 5xx, lost connections.)"""
    if isinstance(error, UpstreamRefused):
        if isinstance(error, FinalRefusal) or is_quota(error):
            return False
        return error.status in (408, 409, 429) or error.status >= 500
    if isinstance(error, BadUpstream):
        return error.code in _CONNECTION
    return error.code == "keys_busy" or isinstance(error, Overloaded)


def may_fall_back(error: GatewayError) -> bool:
    """Could another target do what this one did not? (Not where the request itself is at fault.)"""
    if isinstance(error, UpstreamRefused):
        return error.status in (401, 402, 403, 404, 408, 409, 429) or error.status >= 500 or is_quota(error)
    return isinstance(error, BadUpstream) or may_retry(error)


def is_failure(error: GatewayError) -> bool:
    """Does it say that the target is ill? (A request that was rightly refused does not.)"""
    if isinstance(error, UpstreamRefused):
        return error.status in (408, 429) or error.status >= 500
    return isinstance(error, BadUpstream)


def should_retry(error: GatewayError) -> bool:
    """What `x-should-retry` tells the client about an error that is final here."""
    if isinstance(error, UpstreamRefused):
        return may_retry(error)
    if isinstance(error, UpstreamTimeout | BadUpstream):
        return True
    return error.status in (408, 429, 503)


def clamped(seconds: float) -> int:
    """As it is passed on."""
    return round(min(max(seconds, SHORTEST), LONGEST))


def advice(error: GatewayError, method: str) -> list[tuple[bytes, bytes]]:
    """The headers that tell a client what to do about our answer to its request with this method."""
    headers = [(b"x-should-retry", b"true" if should_retry(error) else b"false")]
    if error.retry_after is not None:
        headers.append((b"retry-after", b"%d" % clamped(error.retry_after)))
    if isinstance(error, MethodNotAllowed):
        headers.append((b"allow", b"GET, HEAD" if method == "POST" else b"POST"))
    return headers


def _words(body: bytes) -> tuple[str, str | None]:
    """Message and code, from any of the shapes that providers use."""
    found = object_of(body)
    if found is None:
        text = " ".join(_TAG.sub(" ", body[:MAX_BODY].decode("utf-8", "replace")).split())
        return _shortened(text), None
    inner = found.get("error")
    holder = inner if isinstance(inner, dict) else found
    message = next(
        (holder[key] for key in ("message", "msg", "detail", "error_msg") if isinstance(holder.get(key), str)), ""
    )
    if not message and isinstance(inner, str):
        message = inner
    code = _code(holder.get("code")) or _code(holder.get("type"))
    return _shortened(message), code


def _code(value: Any) -> str | None:
    return value[:200] if isinstance(value, str) and value else None


def _shortened(text: str) -> str:
    if len(text) <= MAX_MESSAGE:
        return text
    # Not within a word: a secret that was cut would not be known for one.
    return text[: max(text.rfind(" ", 0, MAX_MESSAGE), MAX_MESSAGE - LONGEST_WORD)] + "…"


def _retry_after(headers: Mapping[bytes, bytes], message: str) -> float | None:
    """Seconds; from `retry-after-ms`, `Retry-After` (seconds or a date), or the message's "after N seconds"."""
    given = headers.get(b"retry-after-ms", b"").decode("latin-1")
    if re.fullmatch(r"[0-9]{1,12}", given):
        return int(given) / 1000
    given = headers.get(b"retry-after", b"").decode("latin-1").strip()
    if re.fullmatch(r"\d{1,9}(\.\d+)?", given):
        return float(given)
    if given:
        return _until(given)
    match = _AFTER.search(message)
    if match is None:
        return None
    unit = match[2].lower()
    return float(match[1]) * (0.001 if unit == "ms" else 60 if unit.startswith("m") else 1)


def _until(date: str) -> float | None:
    from email.utils import parsedate_to_datetime  # dates are rare here, and this is slow to import

    try:
        then = parsedate_to_datetime(date)
    except (TypeError, ValueError):
        return None
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    return max(0.0, (then - datetime.now(UTC)).total_seconds())
