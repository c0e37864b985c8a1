"""The application under another ASGI server, and mounted in another application."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from tests.gateway.scripted import COMPLETION, DONE, Asked, Scripted, chunk, forever
from tests.support.background import Background
from tests.support.canary import CLIENT_KEY, PROVIDER_KEY, WATCH
from tests.support.http import get, post

from moongate.gateway.app import Gateway
from moongate.gateway.config.load import parse_config
from moongate.gateway.record.access_log import AccessLog
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.record.shared_counters import SharedCounters
from moongate.gateway.state import GatewayState

KEY = CLIENT_KEY
PATH = "/v1/chat/completions"
ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
TIMEOUT = 60.0


async def play(asked: Asked) -> None:
    wanted = asked.json.get("user")
    if wanted == "wait":
        asked.begin_stream()
        asked.send(chunk("Hel"))
        await forever(asked)
    elif wanted == "endless":
        asked.begin_stream()
        while True:
            asked.send(chunk("x" * 60_000))
            await asked.writer.drain()
    elif asked.json.get("stream"):
        asked.begin_stream()
        asked.send(chunk("Hel") + chunk("lo.", "stop") + DONE)
        asked.end_stream()
    else:
        asked.document()


class Quiet(uvicorn.Server):
    """Leaves signals to the test runner."""

    def capture_signals(self) -> Any:
        return contextlib.nullcontext()


@pytest.fixture(scope="module")
def background() -> Iterator[Background]:
    with Background() as running:
        yield running


@pytest.fixture(scope="module")
def upstream(background: Background) -> Scripted:
    return background.start(Scripted(play).start())


@pytest.fixture(scope="module")
def gateway(upstream: Scripted) -> Gateway:
    provider: dict[str, Any] = {"name": "p", "api_base_url": upstream.url, "api_key": PROVIDER_KEY, "models": ["m"]}
    provider["transformer"] = {"use": ["Kimi"]}
    text = json.dumps({"providers": [provider], "api_keys": [KEY]})
    config = parse_config(text, "config.json", Path.cwd(), {})
    WATCH.know(config.secrets)
    metrics = Metrics(SharedCounters())
    return Gateway(GatewayState(config, config.client_keys, metrics, None), metrics, AccessLog(1, style="off"))


@pytest.fixture(scope="module", params=["httptools", "h11"])
def root(request: pytest.FixtureRequest, gateway: Gateway, background: Background) -> Iterator[str]:
    sock = socket.create_server(("127.0.0.1", 0))
    server = Quiet(uvicorn.Config(gateway, http=request.param, ws="none", log_config=None, access_log=False))
    serving = asyncio.run_coroutine_threadsafe(server.serve(sockets=[sock]), background.loop)
    yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    server.should_exit = True
    serving.result(TIMEOUT)
    sock.close()


def until(condition: Any) -> None:
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_whole_and_streamed(root: str) -> None:
    assert post(root + PATH, ASK, key=KEY).body == json.dumps(COMPLETION).encode()
    assert post(root + PATH, ASK | {"stream": True}, key=KEY).body == chunk("Hel") + chunk("lo.", "stop") + DONE
    assert post(root + PATH, ASK, key="wrong").status == 401
    assert get(root + "/health").json() == {"status": "ok"}


def connect(root: str, user: str) -> socket.socket:
    host, port = root.removeprefix("http://").split(":")
    client = socket.create_connection((host, int(port)), timeout=TIMEOUT)
    body = json.dumps(ASK | {"stream": True, "user": user}).encode()
    head = f"POST {PATH} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {KEY}\r\ncontent-length: {len(body)}\r\n\r\n"
    client.sendall(head.encode() + body)
    return client


def test_when_the_client_leaves_the_upstream_is_closed(root: str, upstream: Scripted, gateway: Gateway) -> None:
    before = upstream.left
    client = connect(root, "wait")
    got = b""
    while b"Hel" not in got:
        got += client.recv(4096)
    client.close()
    until(lambda: upstream.left == before + 1)
    until(lambda: not gateway.active_requests)


def test_a_slow_client_pauses_the_upstream(root: str, upstream: Scripted, gateway: Gateway) -> None:
    before = upstream.left
    client = connect(root, "endless")
    until(lambda: any(handler.writer.paused for handler in list(gateway.active_requests)))
    for _ in range(100):
        assert client.recv(1 << 16)
    client.close()
    until(lambda: upstream.left == before + 1)
    until(lambda: not gateway.active_requests)


def test_it_can_be_mounted(gateway: Gateway, background: Background) -> None:
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/llm/health",
        "root_path": "/llm",
        "headers": [(b"host", b"localhost")],
    }
    background.run(gateway(scope, receive, send))
    assert sent[0]["status"] == 200
    assert sent[-1]["more_body"] is False


@pytest.mark.parametrize("pieces", [1, 3])
def test_a_body_without_a_length_is_limited_too(gateway: Gateway, background: Background, pieces: int) -> None:
    sent: list[Any] = []
    left = [b"x" * (gateway.state.limits.request_body // pieces + 1)] * pieces

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": left.pop(), "more_body": bool(left)}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {KEY}".encode())]
    scope = {"type": "http", "method": "POST", "path": PATH, "headers": headers}
    background.run(gateway(scope, receive, send))
    assert sent[0]["status"] == 413


@pytest.mark.parametrize("flags", [(1, 0), (True, None)])
def test_more_body_may_be_any_value(gateway: Gateway, background: Background, flags: tuple[Any, Any]) -> None:
    sent: list[Any] = []
    text = json.dumps(ASK).encode()
    parts = zip((memoryview(text[:9]), bytearray(text[9:])), flags, strict=True)

    async def receive() -> dict[str, Any]:
        part = next(parts, None)
        while part is None:  # the client stays
            await asyncio.sleep(TIMEOUT)
        return {"type": "http.request", "body": part[0], "more_body": part[1]}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {KEY}".encode())]
    scope = {"type": "http", "method": "POST", "path": PATH, "headers": headers}
    background.run(gateway(scope, receive, send))
    assert sent[0]["status"] == 200


def test_a_websocket_is_refused(gateway: Gateway, background: Background) -> None:
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    background.run(gateway({"type": "websocket"}, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]
