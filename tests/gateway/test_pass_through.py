"""Paths that are passed through, over real sockets: keys, limits, usage, metrics, bodies that stream both ways."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.support.background import Background
from tests.support.canary import PROVIDER_KEY
from tests.support.gateway import KEY, RunningGateway, run_gateway
from tests.support.http import Reply, get, post, request

EMBEDDINGS = {"object": "list", "data": [{"embedding": [0.1] * 9000}], "usage": {"prompt_tokens": 8, "total_tokens": 8}}
SECONDS = 60


@dataclass
class Seen:
    """One request at the provider, and the way to answer it."""

    line: str
    headers: dict[str, str]
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    received: bytearray = field(default_factory=bytearray)

    async def body(self) -> bytes:
        if self.headers.get("transfer-encoding") == "chunked":
            while size := int(await self.reader.readuntil(b"\r\n"), 16):
                self.received += (await self.reader.readexactly(size + 2))[:-2]
            await self.reader.readuntil(b"\r\n")
        else:
            left = int(self.headers["content-length"])
            while left:
                data = await self.reader.read(min(left, 65536))
                if not data:
                    raise ConnectionError
                left -= len(data)
                self.received += data
        return bytes(self.received)

    def answer(self, data: bytes, status: str = "200 OK", *headers: str) -> None:
        lines = [f"HTTP/1.1 {status}", f"content-length: {len(data)}", *headers, "", ""]
        self.writer.write("\r\n".join(lines).encode("latin-1") + data)


Play = Callable[[Seen], Awaitable[None]]


class Provider:
    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.left = 0
        self.play: Play = embeddings
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> Provider:
        def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        self._server = await asyncio.start_server(accepted, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/api/v1"
        return self

    async def stop(self) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                line, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                pairs = (each.partition(": ") for each in lines if each)
                seen = Seen(line, {name.lower(): value for name, _, value in pairs}, reader, writer)
                self.seen.append(seen)
                await self.play(seen)
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        except ConnectionError:
            self.left += 1
        finally:
            with contextlib.suppress(Exception):
                writer.close()


async def embeddings(seen: Seen) -> None:
    await seen.body()
    seen.answer(json.dumps(EMBEDDINGS).encode(), "200 OK", "content-type: application/json", "set-cookie: a=b")


@dataclass
class Setting:
    gateway: RunningGateway
    provider: Provider
    other: Provider

    @property
    def last(self) -> Seen:
        return self.provider.seen[-1]

    def post(self, path: str, body: Any = None, **headers: str) -> Reply:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return post(self.gateway.root + path, body or {"input": "x", "model": "e"}, key=KEY, headers=given)

    def metrics(self) -> str:
        return get(self.gateway.root + "/metrics", key=KEY).body.decode()

    def connect(self) -> socket.socket:
        host, _, port = self.gateway.root.removeprefix("http://").partition(":")
        return socket.create_connection((host, int(port)), timeout=SECONDS)


PATHS = ["/v1/embeddings", "/v1/files", "/v1/completions", "/tokenize", "/v1/messages/batches"]


@pytest.fixture(scope="module")
def running() -> Iterator[Setting]:
    with Background() as background:
        provider, other = (background.start(Provider().start()) for _ in range(2))
        first = {"name": "first", "api_base_url": provider.url, "models": ["m"], "passthrough": PATHS}
        second = {**first, "name": "second", "api_base_url": other.url + "?fixed=1", "models": ["n"]}
        limited = {"key": "sk-limited-0123456789", "name": "limited", "rate": 2}
        config = {
            "providers": [first, second, {**first, "name": "third", "models": ["o"], "passthrough": []}],
            "api_keys": [KEY, limited],
            "timeouts": {"head": 2, "silence": 2},
        }
        with run_gateway(config) as gateway:
            yield Setting(gateway, provider, other)


@pytest.fixture
def setting(running: Setting) -> Setting:
    for each in (running.provider, running.other):
        each.seen.clear()
        each.play = embeddings
        each.left = 0
    return running


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_body_goes_there_and_back_as_it_is(setting: Setting) -> None:
    body = b'{ "input" : "x",\t"model":"e", "model":"twice" }'
    reply = setting.post("/v1/embeddings?a=1&b=%20x", body, x_session_id="s", x_other="o", cookie="c=1", x_api_key="k")
    assert (reply.status, reply.json()) == (200, EMBEDDINGS)
    assert reply.headers["content-type"] == "application/json"
    assert "set-cookie" not in reply.headers
    assert reply.headers["x-request-id"]
    assert setting.last.line == "POST /api/v1/embeddings?a=1&b=%20x HTTP/1.1"
    assert bytes(setting.last.received) == body
    sent = setting.last.headers
    assert sent["authorization"] == f"Bearer {PROVIDER_KEY}"
    assert sent["content-type"] == "application/json"
    assert sent["x-session-id"] == "s"
    assert {"x-other", "cookie", "x-api-key", "user-agent"}.isdisjoint(sent)


def test_where_a_path_is_at_the_provider(setting: Setting) -> None:
    for path, there in [
        ("/v1/files", "/api/v1/files"),
        ("/v1/files/file-1/content", "/api/v1/files/file-1/content"),
        ("/tokenize", "/tokenize"),
    ]:
        assert setting.post(path).status == 200
        assert setting.last.line.split(" ")[1] == there
    assert setting.post("/v1/files?limit=2", x_moongate_provider="second").status == 200
    assert setting.other.seen[-1].line == "POST /api/v1/files?fixed=1&limit=2 HTTP/1.1"
    reply = setting.post("/v1/files", x_moongate_provider="third")
    assert (reply.status, "first, second" in reply.json()["error"]["message"]) == (404, True)


@pytest.mark.parametrize("method", ["DELETE", "GET", "PATCH", "PUT"])
def test_other_methods(setting: Setting, method: str) -> None:
    reply = request(method, setting.gateway.root + "/v1/files/file-1", None, key=KEY, headers={})
    assert reply.status == 200
    assert setting.last.line == f"{method} /api/v1/files/file-1 HTTP/1.1"


def test_nothing_is_open_by_default(setting: Setting) -> None:
    for path in ("/v1/images", "/v1/filesystem", "/v1/file", "/v1", "/embeddings", "/api/v1/files"):
        assert setting.post(path).status == 404
    assert post(setting.gateway.root + "/v1/embeddings", {}).status == 401
    assert request("OPTIONS", setting.gateway.root + "/v1/files", None, key=KEY, headers={}).status == 405
    assert not setting.provider.seen


@pytest.mark.parametrize(
    "path",
    [
        "/v1/files/../chat/completions",
        "/v1/files/..",
        "/v1/files/./x",
        "/v1/files//x",
        "/v1/files/",
        "/v1/files/%2e%2e/chat/completions",
        "/v1/files/%2E./x",
        "/v1/files/..%2fchat",
        "/v1/files/a%2f..%2f..%2fb",
        "/v1/files/%5c..%5cx",
        "/v1/files/a\\b",
        "/v1/files/%00",
        "/v1/files/%0d%0aHost:%20x",
        "/v1/files/%252e%252e/x",
        "/v1/files/a;b",
        "/v1/files/é",
        "/v1/files/a%20b",
    ],
)
def test_a_path_that_could_be_read_in_two_ways(setting: Setting, path: str) -> None:
    with setting.connect() as sock:
        head = (
            f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {KEY}\r\ncontent-length: 2\r\n\r\n{{}}"
        )
        sock.sendall(head.encode())
        status = sock.makefile("rb").readline()
    assert status.split(b" ")[1] in (b"400", b"404")
    assert not setting.provider.seen


def test_an_escape_that_means_itself_is_written_plainly(setting: Setting) -> None:
    assert setting.post("/v1/%66iles/%61").status == 200
    assert setting.last.line == "POST /api/v1/files/a HTTP/1.1"


@pytest.mark.parametrize("chunked", [False, True])
def test_an_upload_streams(setting: Setting, chunked: bool) -> None:
    part = b"0123456789abcdef" * 20_000
    framing = "transfer-encoding: chunked" if chunked else f"content-length: {2 * len(part)}"

    def framed(data: bytes) -> bytes:
        return b"%x\r\n%b\r\n" % (len(data), data) if chunked else data

    with setting.connect() as sock:
        head = f"POST /v1/files HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {KEY}\r\n{framing}\r\n"
        sock.sendall(head.encode() + b"content-type: multipart/form-data; boundary=x\r\n\r\n" + framed(part))
        wait_for(lambda: bool(setting.provider.seen) and len(setting.last.received) == len(part))
        sock.sendall(framed(part) + (b"0\r\n\r\n" if chunked else b""))
        assert sock.makefile("rb").readline().split(b" ")[1] == b"200"
    assert bytes(setting.last.received) == part * 2
    assert setting.last.headers["content-type"] == "multipart/form-data; boundary=x"
    assert ("content-length" in setting.last.headers) is not chunked


def upload_half(setting: Setting) -> socket.socket:
    sock = setting.connect()
    head = (
        f"POST /v1/files HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {KEY}\r\ncontent-length: 9000000\r\n\r\n"
    )
    sock.sendall(head.encode() + b"x" * 300_000)
    return sock


def test_a_client_that_leaves_during_its_upload(setting: Setting) -> None:
    with upload_half(setting):
        wait_for(lambda: bool(setting.provider.seen) and len(setting.last.received) > 200_000)
    wait_for(lambda: setting.provider.left == 1)
    wait_for(lambda: not setting.gateway.app.active_requests)


def test_an_answer_before_the_end_of_the_upload(setting: Setting) -> None:
    async def refuse(seen: Seen) -> None:
        seen.answer(b'{"error":{"message":"too big"}}', "413 Too Large", "content-type: application/json")

    setting.provider.play = refuse
    with upload_half(setting) as sock:
        data = sock.makefile("rb").read()
    assert data.startswith(b"HTTP/1.1 413 ")
    assert b"too big" in data


def test_a_provider_that_does_not_read_an_upload(setting: Setting) -> None:
    async def sleep(_: Seen) -> None:
        await asyncio.sleep(SECONDS)

    setting.provider.play = sleep
    with upload_half(setting) as sock:
        with contextlib.suppress(OSError):
            sock.settimeout(1)
            sock.sendall(b"x" * 8_700_000)
        sock.settimeout(SECONDS)
        assert sock.makefile("rb").readline().split(b" ")[1] == b"504"
    assert setting.gateway.app.state.pass_through.find("/v1/files", {}) is not None


def test_an_answer_streams_and_its_usage_is_counted(setting: Setting) -> None:
    go_on = asyncio.Event()

    async def stream(seen: Seen) -> None:
        await seen.body()
        seen.writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        for event in (b'data: {"text":"a"}\n\n', b'data: {"usage":{"prompt_tokens":5,"completion_tokens":70000}}\n\n'):
            seen.writer.write(b"%x\r\n%b\r\n" % (len(event), event))
            await seen.writer.drain()
            await go_on.wait()
        seen.writer.write(b"0\r\n\r\n")

    setting.provider.play = stream
    with setting.connect() as sock:
        head = f"POST /v1/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {KEY}\r\n"
        sock.sendall(head.encode() + b"content-type: application/json\r\ncontent-length: 2\r\n\r\n{}")
        data = b""
        while b'"a"' not in data:
            data += sock.recv(4096)
        setting.provider._server.get_loop().call_soon_threadsafe(go_on.set)
        while not data.endswith(b"0\r\n\r\n"):
            data += sock.recv(4096)
    assert b"70000" in data
    labels = 'model="/v1/completions",provider="first"'
    wait_for(lambda: f'moongate_tokens_total{{{labels},kind="output"}} 70000' in setting.metrics())
    assert f'moongate_requests_total{{{labels},front="passthrough",status="200"}}' in setting.metrics()


def test_a_client_that_leaves_during_the_answer(setting: Setting) -> None:
    async def endless(seen: Seen) -> None:
        seen.writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        while True:
            seen.writer.write(b"4\r\ndata\r\n")
            await seen.writer.drain()
            await asyncio.sleep(0.01)

    setting.provider.play = endless
    with setting.connect() as sock:
        head = f"GET /v1/files HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {KEY}\r\n\r\n"
        sock.sendall(head.encode())
        assert sock.recv(10)
    wait_for(lambda: setting.provider.left == 1)


@pytest.mark.parametrize(
    ("raw", "status", "words"),
    [
        (b"HTTP/1.1 401 No\r\ncontent-length: 4\r\n\r\nnope", 401, "'first' refused its API key; your moongate key is"),
        (b"HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n", 502, "not followed"),
        (b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nxxxx", 502, "compressed"),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 70_000 + b"\r\n\r\n", 502, "head is too large"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxy", 502, "not valid HTTP"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", 502, "HTTP"),
        (b"HTTP/1.1 200 OK\r\netag: a\rset-cookie: b\r\ncontent-length: 0\r\n\r\n", 502, "not valid HTTP"),
        (b"HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", 502, "HTTP"),
        (b"rubbish\r\n\r\n", 502, "not valid HTTP"),
        (b"", 502, "closed the connection"),
    ],
)
def test_a_hostile_provider(setting: Setting, raw: bytes, status: int, words: str) -> None:
    async def play(seen: Seen) -> None:
        await seen.body()
        seen.writer.write(raw)
        await seen.writer.drain()
        seen.writer.close()

    setting.provider.play = play
    reply = setting.post("/v1/embeddings")
    assert reply.status == status
    assert words in reply.json()["error"]["message"]


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\nrubbish\r\n",
    ],
)
def test_a_cut_answer_is_not_taken_for_a_whole_one(setting: Setting, raw: bytes) -> None:
    async def play(seen: Seen) -> None:
        await seen.body()
        seen.writer.write(raw)
        await seen.writer.drain()
        await asyncio.sleep(0.1)
        seen.writer.close()

    setting.provider.play = play
    with contextlib.suppress(ConnectionError):  # a reset says the same
        reply = setting.post("/v1/embeddings")
        assert (reply.status, reply.cut) in ((200, True), (502, False))
    wait_for(lambda: not setting.gateway.app.active_requests)


def test_silence_has_a_deadline(setting: Setting) -> None:
    async def play(seen: Seen) -> None:
        await asyncio.sleep(SECONDS)

    setting.provider.play = play
    reply = setting.post("/v1/embeddings")
    assert (reply.status, "the provider sent no answer in time" in reply.json()["error"]["message"]) == (504, True)


def test_limits_hold(setting: Setting) -> None:
    statuses = [post(setting.gateway.root + "/v1/embeddings", {}, key="sk-limited-0123456789").status for _ in range(3)]
    assert statuses == [200, 200, 429]
