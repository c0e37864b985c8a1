"""A plain HTTP client for tests: one request per connection, all bytes of the response."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tests.support.canary import WATCH

TIMEOUT = 30.0  # seconds; far more than any test needs, so that a hang is a failure


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes
    cut: bool = False  # the connection ended before the body did

    def json(self) -> Any:
        return json.loads(self.body)


def post(url: str, body: Any, *, key: str = "", headers: dict[str, str] | None = None) -> Reply:
    """POST a JSON body; bytes are sent as they are."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return request("POST", url, data, key=key, headers={"content-type": "application/json", **(headers or {})})


def get(url: str, *, key: str = "", headers: dict[str, str] | None = None) -> Reply:
    return request("GET", url, None, key=key, headers=headers or {})


def request(method: str, url: str, data: bytes | None, *, key: str, headers: dict[str, str]) -> Reply:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=TIMEOUT)
    if key:
        headers = {"authorization": f"Bearer {key}", **headers}
    try:
        connection.request(method, parts.path + (f"?{parts.query}" if parts.query else ""), data, headers)
        response = connection.getresponse()
        received = {name.lower(): value for name, value in response.getheaders()}
        try:
            return _searched(Reply(response.status, received, response.read()))
        except http.client.IncompleteRead as short:
            return _searched(Reply(response.status, received, short.partial, cut=True))
    finally:
        connection.close()


def _searched(reply: Reply) -> Reply:
    """Search a reply for secrets: it may come from a gateway in another process, which no tap sees."""
    WATCH.search(repr(reply.headers).encode() + reply.body, "an answer")
    return reply
