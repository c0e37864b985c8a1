"""Secrets in requests, errors and headers must not appear in answers, logs, metrics or files."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode, urlsafe_b64encode
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from tests.soak.client import CHAT, KEY, MESSAGES, RESPONSES, RawClient, model_request, raw_request
from tests.soak.gateway_process import GatewayProcess, running
from tests.soak.upstream import STREAM, UpstreamRequest, chunked, event, listening

CLIENT = "client+canary/7f3a=&91"
FIRST, SECOND = "sk-canary+/=&first~4d2e", "sk-canary?second<8b1f>"
HEADER = "header-canary-0c5e7a31"
SECRETS = (CLIENT, FIRST, SECOND, HEADER)


def forms(secret: str) -> list[str]:
    """Encodings of a secret. Base64 without its last characters, which depend on what follows."""
    data = secret.encode()
    encoded = [b64encode(before + data)[len(before) * 4 // 3 + 2 : -4] for before in (b"", b"Bearer ", b"user:")]
    encoded += [urlsafe_b64encode(before + data)[len(before) * 4 // 3 + 2 : -4] for before in (b"", b"a")]
    return [secret, quote(secret), quote(secret, safe=""), quote_plus(secret), *(each.decode() for each in encoded)]


FORMS = {form: secret for secret in SECRETS for form in forms(secret)}
QUOTED = " | ".join([*SECRETS, *(quote(each, safe="") for each in SECRETS)])
QUOTED += " | " + " | ".join(
    b64encode(f"{before}{each}".encode()).decode() for each in SECRETS for before in ("", "a:")
)
TIMEOUT = 60.0
LEAKY = {"error": {"message": QUOTED, "code": FIRST, "type": SECOND, "param": HEADER}}


def document(status: int, body: bytes, *lines: str) -> bytes:
    head = [f"HTTP/1.1 {status} Such", f"content-length: {len(body)}", f"x-key: {FIRST}", *lines]
    return "\r\n".join([*head, "", ""]).encode() + body


def in_stream(*data: bytes) -> bytes:
    return STREAM + chunked(b"".join(data)) + b"0\r\n\r\n"


ERROR = json.dumps(LEAKY).encode()
JSON = "content-type: application/json"
ANSWERS: dict[str, bytes] = {
    **{f"status{status}": document(status, ERROR, JSON) for status in (400, 401, 403, 404, 413, 422, 429, 500, 503)},
    "status-text": document(500, QUOTED.encode(), "content-type: text/plain"),
    "status-html": document(502, f"<p>{QUOTED}</p>".encode(), "content-type: text/html"),
    "status-header": document(429, ERROR, JSON, f"retry-after: {FIRST}", f"x-should-retry: {FIRST}"),
    "redirect": document(302, b"", f"location: http://127.0.0.1/{quote(FIRST)}"),
    "whole-error": document(200, ERROR, JSON),
    "whole-broken": document(200, b'{"choices": "' + QUOTED.encode(), JSON),
    "whole-type": document(200, b"{}", f"content-type: {FIRST}"),
    "stream-error": in_stream(b"data: " + ERROR + b"\n\n"),
    "stream-late-error": in_stream(event("Hi"), b"data: " + ERROR + b"\n\n"),
    "stream-named-error": in_stream(event("Hi"), b"event: error\ndata: " + ERROR + b"\n\n"),
    "stream-broken": in_stream(event("Hi"), f"data: {{{QUOTED}\n\n".encode()),
    "stream-text": in_stream(f"data: {QUOTED}\n\n".encode()),
    "stream-cut": STREAM + chunked(event("Hi")),
    "bad-head": f"HTTP/1.1 200 OK\r\nx {FIRST}: {FIRST}\r\n\r\n".encode(),
    "not-http": QUOTED.encode(),
}


async def play(asked: UpstreamRequest) -> None:
    asked.write(ANSWERS[asked.body["model"]])
    asked.connection.transport.close()


def config(url: str, *, bodies: bool) -> dict[str, Any]:
    once = {"retries": {"retries": 0, "attempts": 1, "failures": 1_000_000}, "metrics": "clients"}
    provider = {
        "name": "up",
        "api_base_url": url,
        "api_key": [FIRST, SECOND],
        "headers": {"x-extra": HEADER},
        "models": list(ANSWERS),
        "transformer": {"use": ["Kimi"]},
    }
    return {
        "api_keys": [CLIENT],
        "providers": [provider],
        "log": {"format": "json", "bodies": bodies},
        "metrics": "clients",
        **once,
    }


def get(path: str, key: str = CLIENT) -> bytes:
    return f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {key}\r\n\r\n".encode()


def requests() -> list[bytes]:
    """Every answer of the upstream through every front, and careless uses of a key by clients."""
    asked = [
        model_request(model, "Hi", stream=stream, path=path)
        for model in ANSWERS
        for path in (CHAT, MESSAGES, RESPONSES)
        for stream in (True, False)
    ]
    for secret in SECRETS:
        plain = quote(secret, safe="")
        broken = f'{{"model": "{secret}", "messages": {secret}'.encode()
        asked += [model_request(secret, "Hi", stream=False, path=path) for path in (CHAT, MESSAGES, RESPONSES)]
        asked += [
            model_request("status400", "Hi", stream=False, tools=[secret]),
            model_request("status400", secret, stream=True),
            raw_request(CHAT, broken),
            *(get(f"{path}{plain}") for path in ("/", "/v1/models/", f"{CHAT}?key=", "/v1/models?key=")),
            get("/v1/models", f"{secret}x"),
            get("/v1/models").replace(b"\r\n", f"\r\nx-request-id: {secret}\r\n".encode(), 1),
            get("/health").replace(b"127.0.0.1", secret.encode()),
            get("/health").replace(b"GET", plain.encode()),
        ]
    return [each.replace(KEY.encode(), CLIENT.encode()) for each in asked]


async def walk(gateway: GatewayProcess) -> list[str]:
    """Everything that clients receive."""
    answers = []
    for each in [*requests(), get("/metrics")]:
        caller = await RawClient.open(gateway.port)
        caller.send(each.replace(b"HTTP/1.1\r\n", b"HTTP/1.1\r\nconnection: close\r\n", 1))
        answers.append((await caller.reader.read()).decode("latin-1"))
        caller.leave()
    return answers


def found_in(text: str) -> set[str]:
    return {f"{secret!r} as {form!r} in {text[:1000]}" for form, secret in FORMS.items() if form in text}


@pytest.mark.parametrize("bodies", [False, True], ids=["plain log", "log with bodies"])
def test_no_secret_appears_anywhere(bodies: bool) -> None:
    async def main() -> tuple[list[str], set[str], list[str]]:
        async with listening(play) as upstream, running(config(upstream.url, bodies=bodies)) as gateway:
            answers = await walk(gateway)
            async with asyncio.timeout(TIMEOUT):
                while '"path":"/metrics"' not in gateway.output_text:  # the last request: all lines are written
                    await asyncio.sleep(0.02)
            files = [each for each in gateway.folder.rglob("*") if each.is_file() and each.name != "config.json"]
            return answers, {asked.body["model"] for asked in upstream.seen}, [each.read_text() for each in files]

    answers, asked, files = asyncio.run(main())
    assert asked == ANSWERS.keys()
    assert all(each.startswith("HTTP/1.1 ") for each in answers)
    assert "moongate_attempts_total" in answers[-1]
    assert any('"status":429' in text for text in files)
    assert not set().union(*map(found_in, answers))
    assert not set().union(*(found_in(line) for text in files for line in text.splitlines()))


def test_the_search_would_find_them() -> None:
    for secret in SECRETS:
        shown = (secret, quote(secret, safe=""), b64encode(f"Bearer {secret}".encode()).decode())
        assert all(found_in(f"x{each}y") for each in shown)
