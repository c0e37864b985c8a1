"""Clients that stop sending: those that wait still get their answer, those that have left end the provider's work."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from pathlib import Path

import pytest
from tests.cli.served import ASK, CLIENT, PATH, config, serving, write
from tests.gateway.scripted import DONE, Asked, Play, Scripted, chunk

INTERIM = b"HTTP/1.1 100 Continue\r\n\r\n"


def begun(root: str, *, stream: bool) -> socket.socket:
    """A request whose sender has closed its side of the connection."""
    host, _, port = root.removeprefix("http://").rpartition(":")
    body = json.dumps(ASK | {"stream": stream}).encode()
    sock = socket.create_connection((host, int(port)), timeout=20)
    head = (
        f"POST {PATH} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {CLIENT}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    sock.sendall(head.encode() + body)
    sock.shutdown(socket.SHUT_WR)
    return sock


def everything(sock: socket.socket) -> bytes:
    data = b""
    while more := sock.recv(65536):
        data += more
    return data


def answer_after(seconds: float) -> Play:
    async def play(asked: Asked) -> None:
        await asyncio.sleep(seconds)
        if not asked.json.get("stream"):
            asked.document()
            return
        asked.begin_stream()
        asked.send(chunk("Hel"))
        await asyncio.sleep(seconds)
        asked.send(chunk("lo.", "stop") + DONE)
        asked.end_stream()

    return play


@pytest.mark.parametrize("seconds", [0.0, 0.5])
@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_half_closes_gets_its_answer(
    tmp_path: Path, upstream: Scripted, stream: bool, seconds: float
) -> None:
    upstream.play = answer_after(seconds)
    write(tmp_path, config(upstream))
    with serving(tmp_path) as served, begun(served.root(), stream=stream) as sock:
        answer = everything(sock)
    before, status, _ = answer.partition(b"HTTP/1.1 200 OK\r\n")
    assert status
    # Interim responses, before each of which the client might have left.
    assert before == INTERIM * before.count(INTERIM)
    assert bool(before) is bool(seconds)
    assert b"connection: close" in answer
    assert answer.endswith(b"0\r\n\r\n" if stream else b"}")
    assert b"[DONE]" in answer if stream else b"Hello." in answer


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_has_left_ends_the_provider_s_work(tmp_path: Path, upstream: Scripted, stream: bool) -> None:
    async def endless(asked: Asked) -> None:
        if stream:
            asked.begin_stream()
        while True:
            if stream:
                asked.send(chunk("more"))
            await asyncio.sleep(0.05)

    upstream.play, upstream.left = endless, 0
    write(tmp_path, config(upstream))
    with serving(tmp_path) as served:
        with begun(served.root(), stream=stream):
            time.sleep(0.3)
        at = time.monotonic()
        while not upstream.left:
            assert time.monotonic() < at + 30
            time.sleep(0.01)
        assert served.stop() == 0
        assert served.lines[0]["error"] == "the client left"


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_waits_for_a_while_and_leaves_then(tmp_path: Path, upstream: Scripted, stream: bool) -> None:
    """It has read all that was sent, so that its machine tells nothing of its own accord."""

    async def silent(asked: Asked) -> None:
        if stream:
            asked.begin_stream()
            asked.send(chunk("more"))
        await asyncio.sleep(600)

    upstream.play, upstream.left = silent, 0
    write(tmp_path, config(upstream, timeouts={"keep_alive": 600}))
    with serving(tmp_path) as served:
        with begun(served.root(), stream=stream) as sock:
            seen = b""
            while (b"more" if stream else INTERIM) not in seen:
                seen += sock.recv(65536)
        at = time.monotonic()
        while not upstream.left:
            assert time.monotonic() < at + 30
            time.sleep(0.01)
        assert served.stop() == 0
