"""A plain HTTP client for tests: one request, one connection, all bytes of the answer."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tests.support.canary import WATCH

PATIENCE = 30.0  # far above what any test needs: a hang is a failure, not a wait


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes
    cut: bool = False  # the connection ended before the body did

    def json(self) -> Any:
        return json.loads(self.body)


def post(url: str, body: Any, *, key: str = "", headers: dict[str, str] | None = None) -> Reply:
    """POST a JSON body (bytes go as they are)."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return request("POST", url, data, key=key, headers={"content-type": "application/json", **(headers or {})})


def get(url: str, *, key: str = "", headers: dict[str, str] | None = None) -> Reply:
    return request("GET", url, None, key=key, headers=headers or {})


def request(method: str, url: str, data: bytes | None, *, key: str, headers: dict[str, str]) -> Reply:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE)
    if key:
        headers = {"authorization": f"Bearer {key}", **headers}
    try:
        connection.request(method, parts.path + (f"?{parts.query}" if parts.query else ""), data, headers)
        response = connection.getresponse()
        told = {name.lower(): value for name, value in response.getheaders()}
        try:
            return _searched(Reply(response.status, told, response.read()))
        except http.client.IncompleteRead as short:
            return _searched(Reply(response.status, told, short.partial, cut=True))
    finally:
        connection.close()


def _searched(reply: Reply) -> Reply:
    """Gateways in other processes are only seen from here."""
    WATCH.search(repr(reply.headers).encode() + reply.body, "an answer")
    return reply
