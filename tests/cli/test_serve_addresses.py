"""Limits per client address on the real gateway, over sockets."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest
from tests.cli.served import ASK, CLIENT, PATH, config, serving, write
from tests.gateway.scripted import Scripted, whole
from tests.support.http import get, post


def test_wrong_keys_and_requests_are_counted_by_the_address_behind_a_proxy(tmp_path: Path, upstream: Scripted) -> None:
    upstream.play = whole
    limits = {"wrong_keys": 2}
    write(tmp_path, config(upstream, trusted_proxies=["127.0.0.0/8"], limits=limits, metrics="clients"))
    with serving(tmp_path) as served:
        root = served.root()

        def ask(address: str, key: str = "a-wrong-key-of-a-client") -> int:
            return post(root + PATH, ASK, key=key, headers={"x-forwarded-for": address}).status

        assert [ask("1.1.1.1") for _ in range(4)] == [401, 401, 429, 429]
        assert ask("6.6.6.6, 1.1.1.1") == 429
        assert ask("2.2.2.2", CLIENT) == 200
        refused = post(root + PATH, ASK, key="x" * 20, headers={"x-forwarded-for": "1.1.1.1"})
        assert refused.json()["error"]["code"] == "wrong_keys"
        assert 1 <= int(refused.headers["retry-after"]) <= 30
        assert "1.1.1.1 has sent 2 wrong client keys within a minute" in served.err
        assert 'moongate_limited_total{limit="wrong_keys"} 4' in get(f"{root}/metrics", key=CLIENT).body.decode()


@pytest.mark.parametrize("trusted", [False, True])
def test_connections_of_an_address_are_limited_unless_it_is_a_proxy(
    tmp_path: Path, upstream: Scripted, trusted: bool
) -> None:
    more = {"trusted_proxies": ["127.0.0.1"]} if trusted else {}
    write(tmp_path, config(upstream, limits={"connections_per_address": 5}, **more))
    with serving(tmp_path) as served:
        port = int(served.root().rpartition(":")[2])
        sockets = [socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(8)]
        answers = []
        for sock in sockets:
            sock.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            answers.append(sock.recv(65536).split(b"\r\n")[0])
        good, bad = b"HTTP/1.1 200 OK", b"HTTP/1.1 429 Too Many Requests"
        assert answers == [good] * 8 if trusted else answers == [good] * 5 + [bad] * 3
        for sock in sockets:
            sock.close()
        end = time.monotonic() + 10
        while get(f"{served.root()}/health").status != 200:  # the gateway has not noticed yet
            assert time.monotonic() < end
