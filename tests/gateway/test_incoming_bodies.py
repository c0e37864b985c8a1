"""The bytes of bodies that are still being received are limited over all connections; over real sockets."""

from __future__ import annotations

import json
import socket
import time

from tests.gateway.scripted import Scripted
from tests.support.background import Background
from tests.support.gateway import KEY, run_gateway
from tests.support.http import post

PATH = "/v1/chat/completions"
BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x" * 60_000}]}).encode()


def test_bodies_beyond_the_limit_get_503_until_others_are_complete() -> None:
    with Background() as background:
        provider = {"name": "p", "api_base_url": background.start(Scripted().start()).url, "models": ["m"]}
        with run_gateway({"providers": [provider], "limits": {"incoming_bodies": 100_000}}) as gateway:
            host, port = gateway.root.removeprefix("http://").split(":")
            head = f"POST {PATH} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {KEY}\r\n"
            with socket.create_connection((host, int(port)), timeout=20) as slow:
                slow.sendall(f"{head}content-length: {len(BODY)}\r\n\r\n".encode() + BODY[:-1])
                end = time.monotonic() + 20
                while gateway.app.incoming.size < len(BODY) - 1:
                    assert time.monotonic() < end
                    time.sleep(0.01)
                with socket.create_connection((host, int(port)), timeout=20) as refused:
                    refused.sendall(f"{head}content-length: {len(BODY)}\r\n\r\n".encode() + BODY[:-1])
                    assert refused.recv(12) == b"HTTP/1.1 503"
                slow.sendall(BODY[-1:])
                assert slow.recv(12) == b"HTTP/1.1 200"
            assert gateway.app.incoming.size == 0
            assert post(gateway.root + PATH, BODY, key=KEY).status == 200
            with socket.create_connection((host, int(port)), timeout=20) as gone:
                gone.sendall(f"{head}content-length: {len(BODY)}\r\n\r\n".encode() + BODY[:-1])
            end = time.monotonic() + 20
            while gateway.app.incoming.size:
                assert time.monotonic() < end
                time.sleep(0.01)
