"""Faults body by status: refusals, limits, redirects, error bodies of odd shapes."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Callable

from tests.support.faulty_upstream.payloads import error
from tests.support.faulty_upstream.response import FAULTS, FaultResponse, Headers, fault
from tests.support.faulty_upstream.sane import ok


@fault("status", "answers code=NNN (default 500) with an OpenAI error body")
async def status(p: FaultResponse) -> None:
    code = int(p.number("code", 500))
    kind = "server_error" if code >= 500 else "invalid_request_error"
    await p.body(error(f"upstream says {code}", kind), code, "Faulty")


@fault("leaky_401", "401 whose message repeats the key it was given")
async def leaky_401(p: FaultResponse) -> None:
    given = f"{p.request.headers.get('authorization', '')} {p.request.headers.get('x-api-key', '')}".strip()
    text = f"Incorrect API key provided: {given}. See your account page."
    await p.body(error(text, "invalid_request_error", "invalid_api_key"), 401, "Unauthorized")


def _limited(name: str, about: str, extra: Callable[[], Headers]) -> None:
    async def play(p: FaultResponse) -> None:
        body = error("Rate limit reached", "rate_limit_error", "rate_limit_exceeded")
        await p.body(body, 429, "Too Many Requests", extra=extra())

    FAULTS[name] = (play, about)


def _after(value: str) -> Callable[[], Headers]:
    return lambda: (("Retry-After", value),)


def _soon() -> Headers:
    return (("Retry-After", email.utils.formatdate(time.time() + 2, usegmt=True)),)


_limited("r429_seconds", "429, Retry-After: 1", _after("1"))
_limited("r429_date", "429, Retry-After an HTTP-date two seconds ahead", _soon)
_limited("r429_ms", "429, retry-after-ms: 250", lambda: (("retry-after-ms", "250"),))
_limited("r429_long", "429, Retry-After: 86400", _after("86400"))
_limited("r429_junk", "429, Retry-After: soon", _after("soon"))
_limited("r429_negative", "429, Retry-After: -5", _after("-5"))
_limited("r429_overflow", "429, Retry-After: 1e400", _after("1e400"))
_limited("r429_bare", "429 without Retry-After", tuple)


@fault("storm", "the first n (2) requests get code (500), then ok; counted a key= value")
async def storm(p: FaultResponse) -> None:
    key = "storm:" + p.request.params.get("key", "")
    p.server.storms[key] += 1
    await (status(p) if p.server.storms[key] <= int(p.number("n", 2)) else ok(p))


@fault("html_502", "502 with an HTML page")
async def html_502(p: FaultResponse) -> None:
    page = b"<html><head><title>502 Bad Gateway</title></head><body><center>nginx</center></body></html>"
    await p.body(page, 502, "Bad Gateway", "text/html")


@fault("html_200", "200 with an HTML page")
async def html_200(p: FaultResponse) -> None:
    page = b"<!doctype html><title>Sign in</title><form action=/login>"
    await p.body(page, content_type="text/html; charset=utf-8")


@fault("huge_error", "500 with an error body of mb=32 MiB")
async def huge_error(p: FaultResponse) -> None:
    size = int(p.number("mb", 32)) << 20
    await p.head(500, "Internal Server Error", length=size + 24)
    await p.raw(b'{"error":{"message":"')
    for _ in range(size >> 16):
        await p.raw(b"x" * 65536)
    await p.raw(b'"}}')


@fault("error_string", "400 whose error is a bare string")
async def error_string(p: FaultResponse) -> None:
    await p.body({"error": "model not found", "detail": ["x"]}, 400, "Bad Request")


@fault("error_in_200", "200 whose JSON is an error object without choices")
async def error_in_200(p: FaultResponse) -> None:
    await p.body({"error": {"message": "Provider returned error", "code": 502, "metadata": {"raw": "boom"}}})


async def _redirected(p: FaultResponse, code: int, where: str) -> None:
    await p.body(b"", int(p.number("code", code)), "Redirect", extra=(("Location", where),))


@fault("redirect", "code=307 to /__trap on another loopback host (Authorization must not follow)")
async def redirect(p: FaultResponse) -> None:
    await _redirected(p, 307, f"http://127.0.0.2:{p.server.port}/__trap")


@fault("redirect_same", "code=308 to the ok path of the same host")
async def redirect_same(p: FaultResponse) -> None:
    await _redirected(p, 308, "/ok/v1/chat/completions")


@fault("redirect_loop", "307 to itself")
async def redirect_loop(p: FaultResponse) -> None:
    await _redirected(p, 307, "/redirect_loop/v1/chat/completions")


@fault("redirect_file", "302 to file:///etc/hostname")
async def redirect_file(p: FaultResponse) -> None:
    await _redirected(p, 302, "file:///etc/hostname")
