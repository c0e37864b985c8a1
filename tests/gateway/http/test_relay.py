"""Streams over real sockets: when status 200 is sent, how they end, and what happens when one side disconnects."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.gateway.scripted import COMPLETION, DONE, Asked, Play, Scripted, chunk, forever, whole
from tests.support.background import Background
from tests.support.gateway import KEY, RunningGateway, run_gateway
from tests.support.http import Reply, get, post

from moongate.gateway.server.connection_limits import ConnectionLimits

TIMEOUT = 60.0
FRONTS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": [{"role": "user", "content": "Hi"}]},
    "/v1/messages": {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 9},
    "/v1/responses": {"input": "Hi"},
}
CHAT = "/v1/chat/completions"
SUCCESS = (b"[DONE]", b"message_stop", b"response.completed", b'"finish_reason": "stop"', b'"stop_reason":"end_turn"')


@pytest.fixture(scope="module")
def upstream() -> Iterator[Scripted]:
    with Background() as background:
        yield background.start(Scripted().start())


@contextlib.contextmanager
def serving(
    upstream: Scripted, play: Play, *, connection: ConnectionLimits | None = None, **settings: Any
) -> Iterator[RunningGateway]:
    upstream.play = play
    upstream.seen.clear()
    upstream.left = 0
    provider = {"name": "p", "api_base_url": upstream.url, "models": ["m"], "transformer": {"use": ["Kimi"]}}
    with run_gateway({"providers": [provider], "retries": {"retries": 0}, **settings}, limits=connection) as running:
        running.app.ticker.seconds = 0.02
        yield running


def ask(gateway: RunningGateway, path: str = CHAT, *, stream: bool = True) -> Reply:
    return post(gateway.root + path, {"model": "m", "stream": stream, **FRONTS[path]}, key=KEY)


def eventually(condition: Any, what: str) -> None:
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.005)


def assert_ended_with_one_error(body: bytes) -> None:
    assert b"error" in body
    assert not [mark for mark in SUCCESS if mark in body]


async def cut_at_once(asked: Asked) -> None:
    asked.begin_stream()
    await asked.writer.drain()
    asked.writer.close()


async def cut_after_comment(asked: Asked) -> None:
    asked.begin_stream()
    asked.send(b": waiting\n\n")
    await asked.writer.drain()
    asked.writer.close()


async def error_first(asked: Asked) -> None:
    asked.begin_stream()
    asked.send(b'data: {"error": {"message": "too much", "code": 429}}\n\n')
    asked.end_stream()


async def garbage_first(asked: Asked) -> None:
    asked.begin_stream()
    asked.send(b"data: {nonsense\n\n")
    asked.end_stream()


async def done_only(asked: Asked) -> None:
    asked.begin_stream()
    asked.send(DONE)
    asked.end_stream()


@pytest.mark.parametrize("path", FRONTS)
@pytest.mark.parametrize(
    ("play", "status"),
    [(cut_at_once, 502), (cut_after_comment, 502), (error_first, 429), (garbage_first, 502), (done_only, 502)],
)
def test_a_failure_before_the_first_event_has_its_own_status(
    upstream: Scripted, path: str, play: Play, status: int
) -> None:
    with serving(upstream, play) as gateway:
        reply = ask(gateway, path)
    assert reply.status == status
    assert reply.json()["error"]["message"]


class GatewayAddress:
    """Keeps the upstream waiting until the client has read something, so that no test depends on timing."""

    def __init__(self) -> None:
        self._open = threading.Event()

    def close(self) -> None:
        self._open.clear()

    def open(self) -> None:
        self._open.set()

    async def passed(self) -> None:
        while not self._open.is_set():
            await asyncio.sleep(0.005)


GATE = GatewayAddress()


async def cut_in_the_middle(asked: Asked) -> None:
    asked.begin_stream()
    asked.send(chunk("Hel"))
    await GATE.passed()
    asked.writer.close()


async def ends_in_the_middle(asked: Asked) -> None:
    asked.begin_stream()
    asked.send(chunk("Hel"))
    await GATE.passed()
    asked.end_stream()


async def garbage_in_the_middle(asked: Asked) -> None:
    asked.begin_stream()
    asked.send(chunk("Hel"))
    await GATE.passed()
    asked.send(b"data: {nonsense\n\n" + DONE)
    asked.end_stream()


async def too_large_in_the_middle(asked: Asked) -> None:
    asked.begin_stream()
    asked.send(chunk("Hel"))
    await GATE.passed()
    asked.send(b"data: " + b"x" * 5000)
    await forever(asked)


async def silent_in_the_middle(asked: Asked) -> None:
    asked.begin_stream()
    asked.send(chunk("Hel"))
    await forever(asked)


def ask_in_two(gateway: RunningGateway, path: str, until: bytes) -> tuple[int, bytes]:
    """Read until some text has arrived, then let the upstream continue, and read the rest."""
    GATE.close()
    host, port = gateway.root.removeprefix("http://").split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=TIMEOUT)
    with contextlib.closing(connection):
        body = json.dumps({"model": "m", "stream": True, **FRONTS[path]})
        connection.request("POST", path, body, {"authorization": f"Bearer {KEY}"})
        response = connection.getresponse()
        got = b""
        while until not in got:
            piece = response.read1()
            assert piece, got
            got += piece
        GATE.open()
        return response.status, got + response.read()


@pytest.mark.parametrize("path", FRONTS)
@pytest.mark.parametrize(
    "play",
    [cut_in_the_middle, ends_in_the_middle, garbage_in_the_middle, too_large_in_the_middle, silent_in_the_middle],
)
def test_a_failure_in_the_middle_is_one_error_in_the_stream(upstream: Scripted, path: str, play: Play) -> None:
    with serving(upstream, play, timeouts={"silence": 0.5}, limits={"event": 4096}) as gateway:
        status, body = ask_in_two(gateway, path, b"Hel")
    assert status == 200
    assert_ended_with_one_error(body)


PROVIDER_KEY = "sk-provider-canary-0123456789"


async def quotes_the_key(asked: Asked) -> None:
    asked.begin_stream()
    asked.send(chunk("Hel"))
    await GATE.passed()
    asked.send(b'data: {"error": {"message": "revoked: %b", "code": 401}}\n\n' % PROVIDER_KEY.encode())
    asked.end_stream()


async def quotes_the_key_in_a_late_document(asked: Asked) -> None:
    asked.begin_stream("application/json")
    asked.send(b" ")
    await GATE.passed()
    asked.send(b'{"error": {"message": "revoked: %b", "code": 401}}' % PROVIDER_KEY.encode())
    asked.end_stream()


@pytest.mark.parametrize("path", FRONTS)
@pytest.mark.parametrize(
    ("play", "until"), [(quotes_the_key, b"Hel"), (quotes_the_key_in_a_late_document, b"\n")], ids=["event", "document"]
)
def test_a_providers_error_in_the_stream_shows_no_secret(
    upstream: Scripted, path: str, play: Play, until: bytes
) -> None:
    provider = {"name": "p", "api_base_url": upstream.url, "models": ["m"], "api_key": PROVIDER_KEY}
    timeouts = {"commit": 0.05, "keep_alive": 0.04}
    with serving(upstream, play, providers=[provider], timeouts=timeouts) as gateway:
        status, body = ask_in_two(gateway, path, until)
    assert status == 200
    assert b"revoked: [secret]" in body
    assert PROVIDER_KEY.encode() not in body
    assert_ended_with_one_error(body)


async def late_error(asked: Asked) -> None:
    asked.begin_stream()
    await GATE.passed()
    asked.send(b'data: {"error": {"message": "too much", "code": 429}}\n\n')
    asked.end_stream()


@pytest.mark.parametrize("path", FRONTS)
def test_status_200_is_sent_in_time_and_keep_alives_follow(upstream: Scripted, path: str) -> None:
    timeouts = {"commit": 0.05, "keep_alive": 0.04}
    with serving(upstream, late_error, timeouts=timeouts) as gateway:
        status, body = ask_in_two(gateway, path, b"event: ping" if path == "/v1/messages" else b": keep-alive")
    assert status == 200
    assert b"too much" in body
    assert_ended_with_one_error(body)


async def never_an_event(asked: Asked) -> None:
    asked.begin_stream()
    while True:
        asked.send(b": processing\n\n")
        await asyncio.sleep(0.02)


def test_comments_do_not_count_as_events(upstream: Scripted) -> None:
    with serving(upstream, never_an_event, timeouts={"commit": 0.05, "first_event": 0.3}) as gateway:
        reply = ask(gateway)
        counted = get(gateway.root + "/metrics", key=KEY).body
    assert reply.status == 200
    assert b"first event" in reply.body
    # A committed status is no good answer of the provider.
    assert b'moongate_attempts_total{provider="p",model="m",outcome="first_timeout"} 1' in counted
    assert b'moongate_attempts_total{provider="p",model="m",outcome="ok"} 0' in counted
    assert_ended_with_one_error(reply.body)


async def late_head_and_comments(asked: Asked) -> None:
    await asyncio.sleep(0.6)
    await never_an_event(asked)


async def late_head_and_nothing(asked: Asked) -> None:
    await asyncio.sleep(0.6)
    asked.begin_stream()
    await forever(asked)


@pytest.mark.parametrize("commit", [0.05, 10.0])
@pytest.mark.parametrize("play", [late_head_and_comments, late_head_and_nothing])
def test_the_first_event_must_come_in_time_after_the_request(upstream: Scripted, play: Play, commit: float) -> None:
    """Whether the head came late, and whether or not status 200 was sent already."""
    with serving(upstream, play, timeouts={"commit": commit, "first_event": 1.0}) as gateway:
        for _ in range(3):  # a busy machine may be late
            began = time.monotonic()
            reply = ask(gateway)
            took = time.monotonic() - began
            assert took > 0.9
            if took < 1.5:
                break
    assert took < 1.5  # 1.6 if it counted from the head
    assert b"first event" in reply.body
    assert reply.status == (200 if commit < 1 else 504)


def test_an_answer_that_is_no_stream_has_no_first_event(upstream: Scripted) -> None:
    async def slow(asked: Asked) -> None:
        data = json.dumps(COMPLETION).encode()
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n\r\n"
        asked.writer.write(head.encode())
        await asyncio.sleep(0.6)
        asked.writer.write(data)

    with serving(upstream, slow, timeouts={"first_event": 0.2}) as gateway:
        assert ask(gateway, stream=False).status == 200


@pytest.mark.parametrize("stream", [True, False])
def test_no_head_in_time_is_a_504(upstream: Scripted, stream: bool) -> None:
    with serving(upstream, forever, timeouts={"head": 0.1}) as gateway:
        assert ask(gateway, stream=stream).status == 504


def test_no_provider_is_a_502() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    provider = {"name": "p", "api_base_url": f"http://127.0.0.1:{port}", "models": ["m"]}
    with run_gateway({"providers": [provider], "retries": {"backoff": 0}}) as gateway:
        reply = ask(gateway)
    assert reply.status == 502
    assert reply.headers["x-should-retry"] == "false"  # it was asked three times already


async def goes_on_after_done(asked: Asked) -> None:
    asked.begin_stream()
    asked.send(chunk("Hello.", "stop") + DONE)
    asked.send(b'data: {"choices":[{"index":0,"delta":{"content":"more"}}]}\n\n')
    await forever(asked)


def test_after_done_nothing_is_read(upstream: Scripted) -> None:
    with serving(upstream, goes_on_after_done) as gateway:
        reply = ask(gateway)
        assert reply.body == chunk("Hello.", "stop") + DONE
        eventually(lambda: upstream.left == 1, "the upstream was not closed")


async def stays_open_after_done(asked: Asked) -> None:
    asked.begin_stream()
    asked.send(chunk("Hello.", "stop") + DONE)
    await forever(asked)


def test_after_done_the_client_does_not_wait_for_the_provider(upstream: Scripted) -> None:
    with serving(upstream, stays_open_after_done) as gateway:
        assert ask(gateway).body == chunk("Hello.", "stop") + DONE
        eventually(lambda: upstream.left == 1, "the upstream was not closed")


async def half_a_document(asked: Asked) -> None:
    asked.writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{")
    await forever(asked)


async def stream_without_an_event(asked: Asked) -> None:
    asked.begin_stream()
    await forever(asked)


async def refuses(asked: Asked) -> None:
    asked.document({"error": {"message": "later"}}, 503, retry_after="9")


def connect(gateway: RunningGateway, *, stream: bool = True, receive_buffer: int = 0) -> socket.socket:
    """Send a request and read nothing."""
    host, port = gateway.root.removeprefix("http://").split(":")
    client = socket.socket()
    client.settimeout(TIMEOUT)
    if receive_buffer:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    client.connect((host, int(port)))
    body = json.dumps({"model": "m", "stream": stream, **FRONTS[CHAT]}).encode()
    head = f"POST {CHAT} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {KEY}\r\ncontent-length: {len(body)}\r\n\r\n"
    client.sendall(head.encode() + body)
    return client


@pytest.mark.parametrize("way", ["close", "reset"])
@pytest.mark.parametrize(
    ("play", "stream"),
    [
        (forever, True),
        (forever, False),
        (half_a_document, False),
        (stream_without_an_event, True),
        (silent_in_the_middle, True),
        (never_an_event, True),
    ],
    ids=["no-head", "no-head-whole", "half-a-document", "no-event", "in-the-middle", "comments"],
)
def test_when_the_client_leaves_the_upstream_is_closed(upstream: Scripted, play: Play, stream: bool, way: str) -> None:
    with serving(upstream, play) as gateway:
        client = connect(gateway, stream=stream)
        eventually(lambda: len(upstream.seen) == 1, "nothing was asked")
        time.sleep(0.05)
        if way == "reset":
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        client.close()
        eventually(lambda: upstream.left == 1, "the upstream did not notice")
        eventually(lambda: not gateway.app.active_requests, "the request did not end")
        text = get(gateway.root + "/metrics", key=KEY).body.decode()
    assert "moongate_client_left_total 1\n" in text
    assert "moongate_requests_in_flight 0\n" in text
    assert "moongate_streams_open 0\n" in text
    assert 'status="499"' in text


def test_a_client_that_leaves_between_attempts_ends_them(upstream: Scripted) -> None:
    with serving(upstream, refuses, retries={"retries": 2}) as gateway:
        client = connect(gateway)
        eventually(lambda: len(upstream.seen) == 1, "nothing was asked")
        client.close()
        eventually(lambda: not gateway.app.active_requests, "the request did not end")
    assert len(upstream.seen) == 1


def test_a_client_that_leaves_before_its_body_is_whole(upstream: Scripted) -> None:
    with serving(upstream, whole) as gateway:
        host, port = gateway.root.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=TIMEOUT) as client:
            head = f"POST {CHAT} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {KEY}\r\ncontent-length: 99\r\n\r\n"
            client.sendall(head.encode() + b"{")
            eventually(lambda: len(gateway.app.active_requests) == 1, "no request")
        eventually(lambda: not gateway.app.active_requests, "the request did not end")
    assert not upstream.seen


def test_a_slow_client_pauses_the_upstream(upstream: Scripted) -> None:
    sent = [0]

    async def endless(asked: Asked) -> None:
        asked.begin_stream()
        piece = chunk("x" * 60_000)
        while True:
            asked.send(piece)
            await asked.writer.drain()
            sent[0] += len(piece)

    with serving(upstream, endless) as gateway:
        client = connect(gateway)
        eventually(lambda: sent[0] > 0, "nothing was sent")
        before = -1
        while before != sent[0]:  # until it stands still
            before = sent[0]
            time.sleep(0.5)
        assert sent[0] < 64 << 20  # what the sockets' buffers hold, not what the provider has
        for _ in range(200):
            client.recv(1 << 20)
        eventually(lambda: sent[0] > before, "it did not go on")
        client.close()
        eventually(lambda: upstream.left == 1, "the upstream did not notice")


def test_a_client_that_never_reads_is_disconnected(upstream: Scripted) -> None:
    async def endless(asked: Asked) -> None:
        asked.begin_stream()
        while True:
            asked.send(chunk("x" * 60_000))
            await asked.writer.drain()

    with serving(upstream, endless, timeouts={"client_unread": 0.3}) as gateway:
        client = connect(gateway)
        eventually(lambda: upstream.left == 1, "the upstream did not notice")
        eventually(lambda: not gateway.app.active_requests, "the request did not end")
        client.close()
        text = get(gateway.root + "/metrics", key=KEY).body.decode()
        assert "moongate_client_left_total 1\n" in text
        assert 'status="499"} 1\n' in text


def test_a_client_that_reads_slowly_is_not_disconnected(upstream: Scripted) -> None:
    async def long(asked: Asked) -> None:
        asked.begin_stream()
        for _ in range(100):
            asked.send(chunk("x" * 60_000))
            await asked.writer.drain()
        asked.send(chunk("", "stop") + DONE)
        asked.end_stream()

    limits = ConnectionLimits(unread=0.5)
    with serving(upstream, long, connection=limits, timeouts={"client_unread": 0.5}) as gateway:
        client = connect(gateway, receive_buffer=4096)
        got, end = b"", time.monotonic() + 3
        while time.monotonic() < end:  # far less than the buffers hold: the gateway's writes wait all the time
            got += client.recv(2048)
            time.sleep(0.02)
        assert len(got) < 1_000_000
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        while more := client.recv(1 << 20):
            got += more
            if got.endswith(b"0\r\n\r\n"):
                break
        client.close()
    assert got.count(b"xxxxxxxx") > 0
    assert b"[DONE]" in got


def test_a_document_for_a_stream_and_the_reverse(upstream: Scripted) -> None:
    async def turned(asked: Asked) -> None:
        if asked.json.get("stream"):
            await whole(asked)
            return
        asked.begin_stream()
        asked.send(chunk("Hel") + chunk("lo.", "stop") + DONE)
        asked.end_stream()

    with serving(upstream, turned) as gateway:
        streamed = ask(gateway)
        assert streamed.headers["content-type"].startswith("text/event-stream")
        assert streamed.body.endswith(DONE)
        assert b"Hello." in streamed.body
        reply = ask(gateway, stream=False).json()
        assert reply["choices"][0]["message"]["content"] == "Hello."


def test_a_stream_of_lines_becomes_events(upstream: Scripted) -> None:
    async def lines(asked: Asked) -> None:
        asked.begin_stream("application/x-ndjson")
        asked.send(chunk("Hel")[6:-1] + chunk("lo.", "stop")[6:-1])
        asked.end_stream()

    with serving(upstream, lines) as gateway:
        assert ask(gateway).body == chunk("Hel") + chunk("lo.", "stop") + DONE
